"""What the hedge fund knows before it asks anyone: equal for all tracks, so worked out once a slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from arena.agents import indicators as ind
from arena.agents.blocks import Voice, brief_block, stories_block, voices_block
from arena.agents.desk import Role
from arena.agents.hedge.company import company_of, news_of
from arena.agents.hedge.quants.fundamental import fundamental
from arena.agents.hedge.quants.reading import Reading
from arena.agents.hedge.quants.sentiment import sentiment
from arena.agents.hedge.quants.technical import technical
from arena.agents.hedge.quants.valuation import valuation
from arena.agents.hedge.risk_limits import risk_limits
from arena.agents.hedge.roles import persona_role
from arena.agents.hedge.scoring import MIN_COVERAGE, Lens, Persona, Scorecard, score
from arena.agents.measures import closes_of, return_frac, session_volatility_frac
from arena.agents.prompt import Sheet, Value, asset_block, percent
from arena.core.types import MarketContext

STORIES_SHOWN = 4
KEPT_SLOTS = 32


@dataclass(frozen=True, slots=True)
class Seat:
    """A specialist who is asked; `card` is None where it goes by price and news alone."""

    persona: Persona
    card: Scorecard | None
    role: Role[Any]
    sheet: Sheet


@dataclass(frozen=True, slots=True)
class Research:
    """`seats` in the order of the personas; `abstained` are those with nothing to go by.

    `scores` are all scorecards and `risk` the risk limits, as they stand in the trace.
    """

    seats: tuple[Seat, ...]
    abstained: tuple[str, ...]
    readings: tuple[Reading, ...]
    scores: dict[str, Any]
    risk: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A market that is told from others by its hash alone."""

    market_hash: str
    market: MarketContext = field(compare=False)


def research(market: MarketContext, personas: tuple[Persona, ...]) -> Research:
    """Scorecards, prompts of the specialists, quant readings and risk limits for `market`.

    A specialist whose figures cover half of its creed sees its scorecard, and its lens on the price,
    without which nothing would change between two filings. Below that it abstains on a stock or
    fund; on a coin it goes by its lens and by the news.
    """
    return _research(_Slot(market.market_hash, market), personas)


@lru_cache(maxsize=KEPT_SLOTS)
def _research(slot: _Slot, personas: tuple[Persona, ...]) -> Research:
    market = slot.market
    series, company = ind.series_of(market.bars), company_of(market)
    cards = {} if company is None else {p.id: score(p, company) for p in personas}
    measured = lens_values(market, series)
    seats = [
        seat for p in personas if (seat := _seat(p, cards.get(p.id), market, measured)) is not None
    ]
    seated = {seat.persona.id for seat in seats}
    readings = [technical(series)]
    if company is not None:
        readings.append(fundamental(company))
    insiders = None if company is None else company.now.insider_buy_share
    readings.append(sentiment(insiders, news_of(market.stories, market.brief)))
    if company is not None:
        readings.append(valuation(company))
    return Research(
        tuple(seats),
        tuple(p.id for p in personas if p.id not in seated),
        tuple(readings),
        {name: _card_content(card) for name, card in cards.items()},
        risk_limits(series, market.asset.annual_base),
    )


def _seat(
    persona: Persona, card: Scorecard | None, market: MarketContext, measured: dict[Lens, float]
) -> Seat | None:
    sheet = Sheet()
    asset_block(sheet, market)
    seen = [lens for lens in persona.lens if lens in measured]
    if card is not None and card.coverage >= MIN_COVERAGE:
        _card_blocks(sheet, card)
        _lens_block(sheet, seen, measured)
        return Seat(persona, card, persona_role(persona, scored=True), sheet)
    news = market.brief is not None or bool(market.stories)
    if market.asset.asset_class != "crypto" or not (seen or news):
        return None
    _lens_block(sheet, seen, measured)
    _news_blocks(sheet, market)
    return Seat(persona, None, persona_role(persona, scored=False), sheet)


def _lens_block(sheet: Sheet, seen: Sequence[Lens], measured: Mapping[Lens, float]) -> None:
    if seen:
        rows = [(x, _LENS_WORDS[x][0], measured[x], _LENS_WORDS[x][1]) for x in seen]
        sheet.values("What your creed looks at in a price", rows)


def _news_blocks(sheet: Sheet, market: MarketContext) -> None:
    """The brief, or where there is none the latest stories."""
    if market.brief is not None:
        brief_block(sheet, market.brief)
    elif market.stories:
        latest = sorted(market.stories, key=lambda s: s["known_at_utc"], reverse=True)
        stories_block(sheet, "Latest news", latest[:STORIES_SHOWN])


def _card_blocks(sheet: Sheet, card: Scorecard) -> None:
    findings = [finding for block in card.blocks for finding in block.findings]
    sheet.table(
        "Your questions",
        "checks",
        ("id", "question", "answer", "points", "of"),
        [[f.id, f.label, f.shown, _whole(f.points), _whole(f.most)] for f in findings],
    )
    sheet.offer([f.id for f in findings])
    voices_block(
        sheet,
        "Your score by subject (its confidence is the weight of the subject)",
        [
            Voice(b.name, 2.0 * b.share - 1.0, b.weight, f"{100 * b.share:.0f} % of the points")
            for b in card.blocks
        ],
        "score_voices",
    )
    rows: list[tuple[str, str, Value, str]] = [
        ("score_pct", "Points reached of those that could be judged", percent(card.share), " %"),
        (
            "coverage_pct",
            "Part of your questions that could be judged",
            percent(card.coverage),
            " %",
        ),
        ("score_signal", "Signal of the score", card.signal, ""),
    ]
    if card.margin is not None:
        rows.insert(2, ("margin_of_safety_pct", "Margin of safety", percent(card.margin), " %"))
    sheet.values("In all", rows)


_LENS_WORDS: dict[Lens, tuple[str, str]] = {
    "return_5_pct": ("Return over 5 sessions", " %"),
    "return_20_pct": ("Return over 20 sessions", " %"),
    "return_60_pct": ("Return over 60 sessions", " %"),
    "return_250_pct": ("Return over 250 sessions", " %"),
    "z_50": ("Deviations from the 50-session mean", ""),
    "rsi_14": ("RSI over 14 sessions, 0 to 100", ""),
    "volatility_session_pct": ("Volatility of a session, last 60", " %"),
    "drawdown_pct": ("Below its highest close of the history shown", " %"),
    "from_low_pct": ("Above its lowest close of the history shown", " %"),
    "volume_ratio": ("Volume over its mean of 21 sessions", "x"),
}


def lens_values(market: MarketContext, s: ind.Series) -> dict[Lens, float]:
    """Every price measure that is known at the slot, rounded as it is told."""
    closes = closes_of(market.bars)
    found: dict[Lens, float | None] = {
        "return_5_pct": percent(return_frac(closes, 5)),
        "return_20_pct": percent(return_frac(closes, 20)),
        "return_60_pct": percent(return_frac(closes, 60)),
        "return_250_pct": percent(return_frac(closes, 250)),
        "z_50": _rounded(ind.z_score(s), 2),
        "rsi_14": _rounded(ind.rsi(s), 1),
        "volatility_session_pct": percent(session_volatility_frac(closes)),
        "drawdown_pct": percent(ind.drawdown_frac(s).value),
        "from_low_pct": _rounded(ind.pct_from_low(s), 2),
        "volume_ratio": _rounded(ind.volume_ratio(s), 2),
    }
    return {lens: value for lens, value in found.items() if value is not None}


def _rounded(m: ind.Measure, digits: int) -> float | None:
    return None if m.value is None else round(m.value, digits) + 0.0


def _whole(points: float) -> int | float:
    return int(points) if points == int(points) else points


def _card_content(card: Scorecard) -> dict[str, Any]:
    """A scorecard as plain values, for the trace."""
    return {
        "share": _six(card.share),
        "score": _six(card.score),
        "coverage": card.coverage,
        "signal": card.signal,
        "margin_of_safety_frac": _six(card.margin),
        "points": {f.id: [f.points, f.most, f.shown] for b in card.blocks for f in b.findings},
        "missing": list(card.missing),
    }


def _six(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
