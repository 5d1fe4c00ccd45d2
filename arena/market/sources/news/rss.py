"""News by RSS and Atom. feedparser gets bytes of a bounded size and a plain prolog, never an address.

What feedparser 6.0 would make of the rest is kept from it: its own date guesses, XML declarations and
DOCTYPEs (its patterns for them need cubic time on a hostile line), and entities.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust
from arena.market.sources.news.feed_text import dated, decoded
from arena.market.sources.news.feeds import Feed
from arena.market.sources.news.http import Fetched, fetch

MAX_BYTES = 2_000_000
MAX_ENTRIES = 500
MAX_TAGS = 100_000
"""In the entries that are read: two seconds of parsing, ten times what a feed of long texts has."""
MAX_TITLE_CHARS, MAX_TEXT_CHARS, MAX_URL_CHARS = 2_000, 20_000, 2_000
MAX_PROLOG_CHARS = 8_000

_ENTRY_ENDS = re.compile(r"</(?:item|entry)\s*>", re.IGNORECASE)
_ROOT = re.compile(r"<[A-Za-z_]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class RssSource:
    """One feed of the list. Its items may be about anything: the text has to name an asset."""

    def __init__(self, feed: Feed, clock: Clock = utc_now) -> None:
        self.name = f"rss:{feed.id}"
        self.trust: Trust = feed.trust
        self._feed, self._clock = feed, clock

    def fetch(
        self,
        assets: Sequence[Asset],
        since_utc: datetime,  # noqa: ARG002 - a feed shows what it shows
        until_utc: datetime,  # noqa: ARG002
    ) -> list[RawItem]:
        """All that the feed shows now, whatever its dates; nothing where it covers none of `assets`."""
        if not any(self._feed.covers(asset) for asset in assets):
            return []
        answer = fetch(self.name, self._feed.url, max_bytes=MAX_BYTES)
        entries = parse(self.name, answer)
        return [self._item(entry, answer.url, self._clock()) for entry in entries]

    def _item(self, entry: Any, base: str, collected_at_utc: datetime) -> RawItem:
        quality, published = dated(entry.get("published") or dict.get(entry, "updated") or "")
        texts = [entry.get("summary"), *(c.get("value") for c in entry.get("content", ()))]
        return RawItem(
            title=(entry.get("title") or "")[:MAX_TITLE_CHARS],
            url=_joined(base, entry.get("link") or ""),
            text=max((t or "" for t in texts), key=len)[:MAX_TEXT_CHARS],
            outlet=self._feed.outlet,
            origin=self.name,
            trust=self.trust,
            ts_quality=quality,
            published_utc=published,
            collected_at_utc=collected_at_utc,
            category=self._feed.category,
        )


def parse(name: str, answer: Fetched) -> list[Any]:
    """Entries of the feed as feedparser knows them, at most `MAX_ENTRIES`; none in an empty feed.

    A feed that is cut off or not well-formed gives the entries that can be read.

    Raises:
        SourceError: nothing, a page, or anything else that is no feed.
    """
    import feedparser

    if not answer.body.strip():
        raise SourceError(f"{name}: {answer.url} answered with nothing.")
    text = _NOT_XML.sub("", decoded(answer.body, answer.encoding))
    root = _ROOT.search(text, 0, MAX_PROLOG_CHARS)
    if root is None or "<!ENTITY" in text[: root.start()].upper():
        raise SourceError(f"{name}: {answer.url} is no feed, or declares entities.")
    feed = _first_entries(text[root.start() :])
    if feed.count("<") > MAX_TAGS:
        raise SourceError(f"{name}: {answer.url} has more than {MAX_TAGS:,} tags.")
    found = feedparser.parse(
        io.BytesIO(feed.encode()),
        response_headers={"content-type": "application/xml; charset=utf-8"},
        resolve_relative_uris=False,
    )
    if not found.entries and (found.bozo or not found.version):
        shown = answer.content_type or "no media type"
        raise SourceError(f"{name}: {answer.url} is no feed that can be read ({shown}).")
    return list(found.entries[:MAX_ENTRIES])


def _first_entries(feed: str) -> str:
    """`feed` without what lies between the last entry that is read and its end: still well-formed."""
    ends = [match.end() for match in _ENTRY_ENDS.finditer(feed)]
    return feed[: ends[MAX_ENTRIES - 1]] + feed[ends[-1] :] if len(ends) > MAX_ENTRIES else feed


def _joined(base: str, link: str) -> str:
    """`link` in full; "" where it is too long to be one, or broken: half an address leads elsewhere."""
    try:
        return urljoin(base, link) if link and len(link) <= MAX_URL_CHARS else ""
    except ValueError:
        return ""
