"""What of the market's texts is worth remembering, in which layer, and what to look for among it.

News goes to the short layer, one item each; a quarterly filing to the middle one, an annual filing
to the long one. A filing comes as a story of that kind, or is put together from fundamentals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from arena.agents.blocks import SUSPECT, cell, is_suspect
from arena.agents.memory.layered import Note
from arena.agents.memory.layers import Layer
from arena.agents.prompt import show
from arena.core.types import MarketContext

NOTE_CHARS = 300
FILING_CHARS = 600
QUERY_CHARS = 300
STORIES_A_SLOT = 20
"""Of more stories than these in one slot, the latest are remembered."""

MAIN_FIGURES = (
    "revenue", "operating_income", "net_income", "eps", "operating_cash_flow", "cash", "debt",
)  # fmt: skip
"""The figures of a filing that are worth remembering."""

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
    if is_suspect(story):
        text = f"({SUSPECT}) {text}"  # a memory outlives the block that says so
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
    """One digest a period with something new of its main figures; periods are `2025Q2` or `FY2024`.

    Others (TTM) are no filing. Figures new in a period that was read before were restated, or came late.
    """
    table: dict[str, dict[str, _Fundamental]] = {}
    for datum in fundamentals:
        if datum["field"] in MAIN_FIGURES and datum["value"] is not None:
            table.setdefault(str(datum["period"]), {})[str(datum["field"])] = datum
    new = [p for p, row in table.items() if any(_is_new(d, read_until_utc) for d in row.values())]
    by_layer: dict[Layer, list[str]] = {
        "mid": sorted(p for p in new if p[4:5] == "Q"),
        "long": sorted(p for p in new if p.startswith("FY")),
    }
    newest = slice(None) if read_until_utc else slice(-1, None)
    return [
        _digest(layer, period, table, read_until_utc)
        for layer, names in by_layer.items()
        for period in names[newest]
    ]


def _digest(
    layer: Layer,
    period: str,
    table: Mapping[str, Mapping[str, _Fundamental]],
    read_until_utc: datetime | None,
) -> Note:
    row, before = table[period], table.get(_year_before(period), {})
    new = {f: row[f] for f in MAIN_FIGURES if f in row and _is_new(row[f], read_until_utc)}
    known = max(d["known_at_utc"] for d in new.values())
    was_read = len(new) < len(row)
    title = f"Figures for {period} restated or added" if was_read else f"Figures filed for {period}"
    figures = ", ".join(
        f"{field.replace('_', ' ')} {_amount(d['value'])}{_on_a_year(d, before.get(field))}"
        for field, d in new.items()
    )
    source = f"filing:{period}:{known:%Y-%m-%d}" if was_read else f"filing:{period}"
    return Note(layer, _clean(f"{title}: {figures}", FILING_CHARS), source, known)


def _year_before(period: str) -> str:
    if period.startswith("FY"):
        return f"FY{int(period[2:]) - 1}"
    return f"{int(period[:4]) - 1}{period[4:]}"


def _amount(value: float) -> str:
    """Four digits that count, in millions or billions where large."""
    for size, word in ((1e9, " bn"), (1e6, " m")):
        if abs(value) >= size:
            return f"{value / size:.4g}{word}"
    return show(float(f"{value:.4g}"))


def _on_a_year(datum: _Fundamental, before: _Fundamental | None) -> str:
    """The change on the same period of the year before, where that was above zero."""
    if before is None or before["value"] <= 0:
        return ""
    return f" ({100.0 * (datum['value'] / before['value'] - 1.0):+z.0f} % on a year)"
