"""From what a source hands over to a clean, dated item about one asset, or the reason it stays out."""

from __future__ import annotations

import re
from datetime import datetime

from arena.core.hashing import sha256_json
from arena.core.text import clean_foreign
from arena.core.tone import tone
from arena.market.news.dating import Refused, known_at
from arena.market.news.drivers import drivers_of
from arena.market.news.hostile import suspicion
from arena.market.news.items import Item, RawItem
from arena.market.news.markup import plain_text
from arena.market.news.outlets import outlet_of
from arena.market.news.subjects import Subject, mentions, only_confused
from arena.market.news.urls import canonical_url, title_key

__all__ = ["Refused", "admit"]

MAX_TITLE_CHARS, MAX_TEXT_CHARS, MAX_URL_CHARS, MAX_ORIGIN_CHARS = 300, 1_200, 500, 60
READ_TITLE_CHARS, READ_TEXT_CHARS = 2_000, 12_000
"""So much of a raw title and text is looked at, markup included; a 100 KB title costs no more."""

LEAD_CHARS = 400
"""A text about an asset names it this early."""

MAX_ERROR_CHARS = 300
"""What a wall or a failed fetch leaves is short; a longer text is an article that begins like one."""

_ERROR_PAGE = re.compile(
    r"""(?:error\s?:?\s)?(?:
        (?:40[0-9]|410|429|50[0-4]|52\d)(?:\s?[:|–—-])?\s(?:bad\ request|unauthori[sz]ed|payment\ required
            |forbidden|(?:page\ )?not\ found|gone|too\ many\ requests|(?:internal\ )?server\ error|bad\ gateway
            |service\ (?:temporarily\ )?unavailable|gateway\ time-?out)
        |just\ a\ moment\s?(?:\.\.\.|…)?|access\ (?:is\ )?(?:denied|forbidden)|attention\ required!?
        |access\ to\ this\ page\ has\ been\ denied|are\ you\ (?:a\ robot|human)\s?\??|robot\ check
        |(?:page|file)\ not\ found|(?:an?\ )?error\ (?:occurred|processing\ (?:data|request|your\ request))
        |(?:human|security)\ (?:verification|check)|verif(?:y|ying)\ (?:that\ )?you\ are\ (?:a\ )?human
        |(?:service\ (?:temporarily\ )?unavailable|too\ many\ requests|bad\ gateway|gateway\ time-?out)
        |(?:please\ )?(?:enable|turn\ on)\ java\s?script(?:\ and\ cookies)?(?:\ to\ continue)?
        |oops,?\ something\ went\ wrong|request\ (?:blocked|timed\ out)|failed\ to\ (?:fetch|load)(?:\ \w+)?
        |untitled(?:\ document)?|null|none|undefined|nan
    )[.!]?(?:\s[|–—-]\s.{2,60})?""",
    re.IGNORECASE | re.VERBOSE,
)
_ERROR_TEXT = re.compile(
    r"""(?:please\ )?(?:enable|turn\ on)\ java\s?script|checking\ (?:if\ the\ site|your\ browser)
    |error\ processing\ (?:data|request)|error:?\ (?:40\d|429|50\d)\b|http\ (?:error\ )?(?:40\d|429|50\d)\b
    |(?:403|404|429|500|502|503)\s(?:forbidden|not\ found|too\ many|internal|bad\ gateway|service)
    |access\ denied\b.{0,40}(?:permission|reference\ \#|server)|(?:please\ )?verify\ (?:that\ )?you\ are\ (?:a\ )?human
    |you\ (?:don['’]t|do\ not)\ have\ permission\ to\ access|our\ systems\ have\ detected\ unusual\ traffic
    |just\ a\ moment\.\.\.|to\ continue,\ please\ click\ the\ box|\{\s?"(?:error|errors|message)"\s?:
    |traceback\ \(most\ recent|failed\ to\ (?:fetch|load|retrieve)\b""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip


def admit(raw: RawItem, subject: Subject, now_utc: datetime) -> Item | Refused:
    """The item as it enters for `subject`, or why it does not.

    Titles and texts are one clean line each, without markup. `now_utc` is the moment of intake: what is
    dated after it is `FUTURE`. A day, or an hour without a zone, may still run then: `known_at_utc` lies
    after `now_utc` for such an item, and keeps it out of every context until it has come.
    """
    written_title = plain_text(raw.title[:READ_TITLE_CHARS])[: 2 * MAX_TITLE_CHARS]
    title = clean_foreign(written_title, MAX_TITLE_CHARS)
    if not any(map(str.isalnum, title)):
        return Refused.NO_TITLE
    known = known_at(raw.ts_quality, raw.published_utc, raw.collected_at_utc)
    if isinstance(known, Refused):
        return known
    if (raw.published_utc or known) > now_utc:
        return Refused.FUTURE
    written_text = plain_text(raw.text[:READ_TEXT_CHARS])[: 2 * MAX_TEXT_CHARS]
    text = clean_foreign(written_text, MAX_TEXT_CHARS)
    if _is_error(title, text):
        return Refused.ERROR_TEXT
    if not _is_about(raw, subject, title, text):
        return Refused.OTHER_SUBJECT
    outlet, trust = outlet_of(raw.outlet, raw.url, raw.origin, raw.trust)
    score, flags = suspicion(written_title, written_text)
    return Item(
        id=_id(raw, subject, title, outlet),
        asset=subject.asset,
        title=title,
        url=_link(raw.url),
        text=text,
        outlet=outlet,
        origin=clean_foreign(raw.origin[: 4 * MAX_ORIGIN_CHARS], MAX_ORIGIN_CHARS),
        trust=trust,
        kind=raw.kind,
        category=raw.category,
        ts_quality=raw.ts_quality,
        published_at_utc=raw.published_utc,
        known_at_utc=known,
        collected_at_utc=raw.collected_at_utc,
        suspicion=score,
        flags=flags,
        drivers=drivers_of(subject.asset_class, title, text),
        tone=tone(f"{title}. {text}"),
    )


def _id(raw: RawItem, subject: Subject, title: str, outlet: str) -> str:
    """The same for copies. Without a page of its own, a headline of every day ("Bitcoin price today") is
    another item on another day."""
    page = canonical_url(raw.url)
    content = [subject.asset, page, title_key(title), outlet]
    if "/" not in page and raw.published_utc:
        content.append(raw.published_utc.date().isoformat())
    return sha256_json(content)[:12]


def _is_error(title: str, text: str) -> bool:
    """A failed fetch or a wall against robots in place of an article; a headline about one is not."""
    return _ERROR_PAGE.fullmatch(title) is not None or (
        len(text) <= MAX_ERROR_CHARS
        and (_ERROR_TEXT.match(text) is not None or _ERROR_PAGE.fullmatch(text) is not None)
    )


def _is_about(raw: RawItem, subject: Subject, title: str, text: str) -> bool:
    """What moves the whole market is about every asset; a source's tag counts unless the text says
    plainly that it means something else; a search proves nothing, so the text has to name the asset."""
    if raw.asset is None and raw.category:
        return True
    if raw.asset is None or raw.must_mention:
        return raw.asset in (None, subject.asset) and mentions(
            subject, f"{title}\n{text[:LEAD_CHARS]}"
        )
    return raw.asset == subject.asset and not only_confused(subject, f"{title}\n{text}")


def _link(url: str) -> str:
    """A web address as it was written, or "": half an address leads nowhere."""
    link = url[: MAX_URL_CHARS + 1].strip()
    plain = link.isprintable() and not any(map(str.isspace, link))
    web = link.lower().startswith(("http://", "https://"))
    return link if web and plain and len(link) <= MAX_URL_CHARS else ""
