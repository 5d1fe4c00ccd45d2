"""What of the market's texts is worth remembering, in which layer, and what to look for among it.

News goes to the short layer, one item each; a quarterly filing to the middle one, an annual filing
to the long one. A filing comes as a story of that kind, or is put together from fundamentals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from arena.agents.blocks import cell
from arena.agents.memory.layered import Note
from arena.agents.memory.layers import Layer
from arena.agents.prompt import show
from arena.core.types import MarketContext

NOTE_CHARS = 300
FILING_CHARS = 600
QUERY_CHARS = 300
STORIES_A_SLOT = 20
"""Of more stories than these in one slot, the latest are remembered."""

_LAYER_OF_KIND: dict[str, Layer] = {"filing-10q": "mid", "filing-10k": "long"}

_Fundamental = Mapping[str, Any]


def notes_of(market: MarketContext, read_until_utc: datetime | None) -> list[Note]:
    """What became known after `read_until_utc`; on a first day (None) the latest filings as well.

    Without stories the themes of the brief are taken in their place.
    """
    stories = [s for s in market.stories if _is_new(s, read_until_utc)]
    filings = [s for s in stories if s.get("kind") in _LAYER_OF_KIND]
    news = [s for s in stories if s.get("kind") not in _LAYER_OF_KIND]
    latest = sorted(news, key=lambda s: (s["known_at_utc"], str(s["id"])))[-STORIES_A_SLOT:]
    return [
        *(_note_of_story(s) for s in latest),
        *(() if market.stories else _notes_of_themes(market)),
        *(_note_of_story(s) for s in filings),
        *_notes_of_fundamentals(market.fundamentals, read_until_utc),
    ]


def query_of(market: MarketContext, profile: str) -> str:
    """What to look for: what the asset is about (`profile`), and what the day is about."""
    titles = " ".join(str(s["title"]) for s in market.stories)
    today = str(market.brief["summary"]) if market.brief else titles
    return f"{profile}. {_clean(today, QUERY_CHARS)}".strip()


_clean = lru_cache(maxsize=4096)(cell)
"""Every track of a slot reads the same texts."""


def _is_new(datum: Mapping[str, Any], read_until_utc: datetime | None) -> bool:
    return read_until_utc is None or datum["known_at_utc"] > read_until_utc


def _note_of_story(story: Mapping[str, Any]) -> Note:
    layer = _LAYER_OF_KIND.get(str(story.get("kind")), "short")
    body = str(story.get("text") or "")
    text = f"{story['title']}. {body}" if body else str(story["title"])
    max_chars = NOTE_CHARS if layer == "short" else FILING_CHARS
    return Note(layer, _clean(text, max_chars), str(story["id"]), story["known_at_utc"])


def _notes_of_themes(market: MarketContext) -> Iterable[Note]:
    for i, theme in enumerate((market.brief or {}).get("themes") or (), start=1):
        words = theme if isinstance(theme, str) else str(theme["title"])
        source = f"brief:{market.session.isoformat()}:{i}"
        yield Note("short", _clean(words, NOTE_CHARS), source, market.as_of_utc)


def _notes_of_fundamentals(
    fundamentals: Iterable[_Fundamental], read_until_utc: datetime | None
) -> list[Note]:
    """One digest a period that is new; periods are `2025Q2` or `FY2024`, others (TTM) no filing."""
    periods: dict[str, list[_Fundamental]] = {}
    for datum in fundamentals:
        if _is_new(datum, read_until_utc) and datum["value"] is not None:
            periods.setdefault(str(datum["period"]), []).append(datum)
    by_layer: dict[Layer, list[str]] = {
        "mid": sorted(p for p in periods if p[4:5] == "Q"),
        "long": sorted(p for p in periods if p.startswith("FY")),
    }
    newest = slice(None) if read_until_utc else slice(-1, None)
    return [
        _digest(layer, period, periods[period])
        for layer, names in by_layer.items()
        for period in names[newest]
    ]


def _digest(layer: Layer, period: str, data: list[_Fundamental]) -> Note:
    figures = ", ".join(f"{d['field']} {show(d['value'])}" for d in data)
    known = max(d["known_at_utc"] for d in data)
    text = _clean(f"Figures filed for {period}: {figures}", FILING_CHARS)
    return Note(layer, text, f"filing:{period}", known)
