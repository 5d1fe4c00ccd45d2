"""The newest decisions as RSS 2.0, for readers that follow an arena without opening it.

Names and reasons are text from elsewhere. Readers draw a description as HTML, so what is in it is
escaped twice: once for HTML, once for XML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from typing import Any
from xml.sax.saxutils import escape as for_xml

from arena.core.clock import utc_now
from arena.core.permalink import decision_path
from arena.core.text import clean_foreign

N_ITEMS = 50
REASON_CHARS, TITLE_CHARS = 1_000, 300

HARMLESS = str.maketrans("<>", "‹›")
"""Titles are plain text to some readers and HTML to others: no escape is right for both."""


def rss(title: str, decisions: Sequence[Mapping[str, Any]], base_url: str | None) -> str:
    """A feed of decisions, the newest first.

    Args:
        decisions: rows of `rounds.newest_decisions`.
        base_url: where the host is reached; without one items have no link, as a feed has no page
            that a relative one could start from.
    """
    home = for_xml(base_url or "about:blank")
    self_link = (
        f'<atom:link rel="self" type="application/rss+xml" href="{escape(base_url)}/feed.xml"/>'
        if base_url
        else ""
    )
    built = max((d["decided_at_utc"] for d in decisions), default=utc_now())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>{_name(title)}</title><link>{home}</link>{self_link}"
        "<description>What the agents decided, and why. Paper money; not advice.</description>"
        f"<lastBuildDate>{_stamp(built)}</lastBuildDate><ttl>30</ttl>"
        + "".join(_item(d, base_url) for d in decisions)
        + "</channel></rss>\n"
    )


def _item(row: Mapping[str, Any], base_url: str | None) -> str:
    link = f"<link>{for_xml(base_url + decision_path(row['decision']))}</link>" if base_url else ""
    return (
        f"<item><title>{headline(row)}</title>{link}"
        f'<guid isPermaLink="false">{for_xml(row["decision"])}</guid>'
        f"<pubDate>{_stamp(row['decided_at_utc'])}</pubDate>"
        f"<description>{for_xml(escape(_told(row)))}</description></item>"
    )


def _stamp(at_utc: datetime) -> str:
    return format_datetime(at_utc.astimezone(UTC), usegmt=True)


def headline(row: Mapping[str, Any]) -> str:
    """`BUY BTC · trade · gpt-4.1 · 2025-10-01`; what became of it where it is no plain answer."""
    status = str(row["status"])
    fate = "" if status in ("ok", "repaired") else f" ({status.replace('_', ' ')})"
    word = "no answer" if fate else str(row["action"])
    return _name(
        f"{word}{fate} {row['asset']} · {row['agent']} · {row['model']} · {row['slot_key']}"
    )


def _told(row: Mapping[str, Any]) -> str:
    late = " Decided late, so not live evidence." if row["late"] else ""
    return f"{clean_foreign(str(row['reason'] or ''), REASON_CHARS)}{late}"


def _name(text: str) -> str:
    return for_xml(clean_foreign(text, TITLE_CHARS).translate(HARMLESS))
