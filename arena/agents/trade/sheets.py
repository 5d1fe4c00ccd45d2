"""What each of TradeAgent's roles reads: figures of the price, and blocks of a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.agents.blocks import (
    Voice,
    brief_block,
    cell,
    filings_block,
    stories_block,
    voices_block,
)
from arena.agents.desk import Desk, Role
from arena.agents.fundamentals import period_order
from arena.agents.indicators import Measure as Indicator
from arena.agents.indicators import (
    atr,
    bollinger_pct_b,
    drawdown_frac,
    ema,
    macd,
    series_of,
    volume_ratio,
    vwma,
)
from arena.agents.measures import measure
from arena.agents.memory.lesson_log import PRACTICE, Entry
from arena.agents.prompt import (
    CLOSES_SHOWN,
    SIDE_WORD,
    Sheet,
    Value,
    account_blocks,
    asset_block,
    percent,
    rounded_price,
)
from arena.agents.trade.roles import (
    AGGRESSIVE,
    BULL,
    CONSERVATIVE,
    FUNDAMENTALS,
    MARKET,
    NEUTRAL,
    NEWS,
    SENTIMENT,
    Argument,
    Report,
    View,
)
from arena.core.types import Bar

Figures = dict[str, float | None]
Filed = Mapping[str, Any]

CELL_CHARS = 300

STORIES_SHOWN, FILINGS_SHOWN, YEARS_SHOWN = 12, 40, 2
MAIN_FIGURES = (
    "revenue", "gross_profit", "operating_income", "net_income", "eps", "operating_cash_flow",
    "capex", "cash", "debt", "equity", "shares", "market_cap",
)  # fmt: skip

LABELS: dict[str, tuple[str, str]] = {
    "return_5_pct": ("Return over 5 sessions", " %"),
    "return_20_pct": ("Return over 20 sessions", " %"),
    "return_60_pct": ("Return over 60 sessions", " %"),
    "sma_50_gap_pct": ("Above (+) or below (-) the 50-session mean", " %"),
    "sma_200_gap_pct": ("Above (+) or below (-) the 200-session mean", " %"),
    "ema_10_gap_pct": ("Above (+) or below (-) the 10-session exponential mean", " %"),
    "macd_histogram_pct": ("MACD(12, 26, 9) histogram, of the price", " %"),
    "rsi_14": ("RSI over 14 sessions, 0 to 100", ""),
    "bollinger_pct_b": ("Place in the Bollinger bands (20, 2): 0 lower, 1 upper", ""),
    "z_50": ("Deviations from the 50-session mean", ""),
    "drawdown_pct": ("From the highest close known here", " %"),
    "atr_14_pct": ("Average true range over 14 sessions, of the price", " %"),
    "volatility_session_pct": ("Volatility of a session, last 60", " %"),
    "vwma_20_gap_pct": ("Above (+) or below (-) the volume-weighted 20-session mean", " %"),
    "volume_ratio_21": ("Volume against its 21-session mean", ""),
}
"""Figures by fact name: label and unit."""

VOLUME_FIGURES = ("vwma_20_gap_pct", "volume_ratio_21")
MARKET_FIGURES = tuple(n for n in LABELS if n not in ("return_5_pct", "z_50", "drawdown_pct"))
CONCERNS: dict[str, tuple[str, ...]] = {
    AGGRESSIVE.name: ("return_5_pct", "ema_10_gap_pct", "volatility_session_pct"),
    CONSERVATIVE.name: ("z_50", "drawdown_pct", "atr_14_pct"),
    NEUTRAL.name: ("return_60_pct", "rsi_14", "volatility_session_pct"),
}
"""Each voice on risk gets the figures of its concern: the fresh move, how stretched, the long view.
What only it sees is what it can add."""


def figures_of(bars: Sequence[Bar], annual_base: int) -> Figures:
    """All figures at the last bar, as they are shown; None where the history is too short for one."""
    m, s, close = measure(bars, annual_base), series_of(bars), bars[-1].close

    def gap_pct(level: Indicator) -> float | None:
        return None if level.value is None else percent(close / level.value - 1.0)

    def of_price_pct(amount: Indicator) -> float | None:
        return None if amount.value is None else percent(amount.value / close)

    return {
        "return_5_pct": percent(m.return_5_frac),
        "return_20_pct": percent(m.return_20_frac),
        "return_60_pct": percent(m.return_60_frac),
        "sma_50_gap_pct": percent(m.sma_50_gap_frac),
        "sma_200_gap_pct": percent(m.sma_200_gap_frac),
        "ema_10_gap_pct": gap_pct(ema(s, 10)),
        "macd_histogram_pct": of_price_pct(macd(s)[2]),
        "rsi_14": _rounded(m.rsi_14, 1),
        "bollinger_pct_b": _rounded(bollinger_pct_b(s).value, 2),
        "z_50": _rounded(m.z_50, 2),
        "drawdown_pct": percent(drawdown_frac(s).value),
        "atr_14_pct": of_price_pct(atr(s)),
        "volatility_session_pct": percent(m.volatility_session_frac),
        "vwma_20_gap_pct": gap_pct(vwma(s)),
        "volume_ratio_21": _rounded(volume_ratio(s).value, 2),
    }


def figures(desk: Desk) -> Figures:
    """The figures of the desk's market, as a traced step."""
    market = desk.context
    return desk.compute(
        "figures", figures_of, bars=market.bars, annual_base=market.asset.annual_base
    )


def about(desk: Desk) -> Sheet:
    """A sheet that says what it is about; every role starts from it."""
    sheet = Sheet()
    asset_block(sheet, desk.context)
    return sheet


def _figures_block(sheet: Sheet, figures: Figures, names: Sequence[str]) -> None:
    """The figures called `names`; of volume only those that exist, an asset may have none."""
    told = [n for n in names if figures[n] is not None or n not in VOLUME_FIGURES]
    sheet.values(
        "Figures at that close", [(n, LABELS[n][0], figures[n], LABELS[n][1]) for n in told]
    )


def analysts(desk: Desk, figures: Figures) -> list[tuple[Role[Report], Sheet]]:
    """Who has something to read. News is always asked: that there is none is news too."""
    asked = [(MARKET, market(desk, figures))]
    if desk.has("news"):
        asked.append((SENTIMENT, _news(desk)))
    asked.append((NEWS, _news(desk)))
    if desk.has("fundamentals") and desk.context.asset.asset_class != "crypto":
        asked.append((FUNDAMENTALS, _accounts(desk)))
    return asked


def market(desk: Desk, figures: Figures) -> Sheet:
    sheet = about(desk)
    sheet.table(
        "Latest closes",
        "closes",
        ("session", "close"),
        [
            [b.session.isoformat(), rounded_price(b.close)]
            for b in desk.context.bars[-CLOSES_SHOWN:]
        ],
    )
    _figures_block(sheet, figures, MARKET_FIGURES)
    return sheet


def _news(desk: Desk) -> Sheet:
    """News and brief of the day; that there is none is a fact too."""
    sheet = about(desk)
    brief_block(sheet, desk.context.brief)
    stories_block(sheet, "News, newest first", newest_stories(desk.context.stories))
    if not (desk.has("news") or desk.has("brief")):
        sheet.values("News", [("news_today", "News at hand", "none", "")])
    return sheet


def _accounts(desk: Desk) -> Sheet:
    sheet = about(desk)
    shown = main_filings(desk.context.fundamentals)
    filings_block(sheet, "Figures the company has filed", shown)
    return sheet


def newest_stories(stories: Sequence[Filed]) -> list[Filed]:
    """As many as a prompt has room for."""
    return sorted(stories, key=lambda s: (s["known_at_utc"], str(s["id"])))[::-1][:STORIES_SHOWN]


def main_filings(rows: Sequence[Filed]) -> list[Filed]:
    """Of each figure the newest and the last fiscal years; the main figures first, while there is room."""
    by_field: dict[str, list[Filed]] = {}
    for row in sorted(rows, key=lambda r: period_order(str(r["period"])), reverse=True):
        by_field.setdefault(str(row["field"]), []).append(row)
    rank = {name: i for i, name in enumerate(MAIN_FIGURES)}
    shown = []
    for name in sorted(by_field, key=lambda n: (rank.get(n, len(rank)), n)):
        newest, *older = by_field[name]
        years = [r for r in older if str(r["period"]).startswith("FY")]
        shown += [newest, *years[:YEARS_SHOWN]]
    return shown[:FILINGS_SHOWN]


def _cost_block(sheet: Sheet, desk: Desk) -> None:
    """What a trade must earn: fee and slippage, in and out again."""
    season = desk.season
    side_bps = season.fee_bps[desk.context.asset.asset_class] + season.slippage_bps
    sheet.values(
        "Cost",
        [("round_trip_cost_pct", "Of going in and out again", round(side_bps / 50.0, 4), " %")],
    )


def debate(
    desk: Desk, role: Role[Argument], findings: Sequence[Voice], said: Sequence[Voice]
) -> Sheet:
    """For bull or bear, after what was `said` before."""
    sheet = about(desk)
    sheet.values("Your side", [("argues", "You argue for", "rise" if role is BULL else "fall", "")])
    if desk.context.asset.asset_class == "crypto":
        sheet.values("Company", [("company_accounts", "Accounts", "a coin has none", "")])
    voices_block(sheet, "What the analysts found", findings)
    _debate_block(sheet, said)
    return sheet


def research(desk: Desk, findings: Sequence[Voice], debate: Sequence[Voice]) -> Sheet:
    sheet = about(desk)
    _cost_block(sheet, desk)
    voices_block(sheet, "What the analysts found", findings, "analyst_voices")
    heard = "" if len({v.lean for v in debate}) == 2 else "; the other side was not heard"
    voices_block(sheet, f"The debate; confidence is how good a case is{heard}", debate)
    return sheet


def trader(desk: Desk, heard: Sequence[Voice]) -> Sheet:
    sheet = about(desk)
    _cost_block(sheet, desk)
    voices_block(sheet, "What research says", heard)
    account_blocks(sheet, desk.view)
    return sheet


def risk(
    desk: Desk, role: Role[View], figures: Figures, heard: Sequence[Voice], panel: Sequence[Voice]
) -> Sheet:
    """For one of the risk panel, with the figures of its concern; `heard`: analysts and trader."""
    sheet = about(desk)
    _figures_block(sheet, figures, CONCERNS[role.name])
    voices_block(sheet, "What the analysts found, and the trader's proposal", heard)
    _debate_block(sheet, panel)
    sheet.values("Your account", [("position", "Position now", SIDE_WORD[desk.view.side], "")])
    return sheet


def portfolio(desk: Desk, heard: Sequence[Voice], lessons: Sequence[Entry]) -> Sheet:
    sheet = about(desk)
    _cost_block(sheet, desk)
    voices_block(sheet, "What the firm says", heard)
    practice = any(e.rating == PRACTICE for e in lessons)
    note = f" ({PRACTICE}: nobody rated, the move was given)" if practice else ""
    sheet.table(
        f"Lessons of earlier sessions{note}",
        "lessons",
        ("session", "rating", "change in %", "lesson"),
        [
            [
                e.session.isoformat(),
                e.rating,
                percent(e.outcome_1d_frac),
                cell(e.lesson or "-", CELL_CHARS),
            ]
            for e in lessons
        ],
    )
    account_blocks(sheet, desk.view)
    return sheet


def add_outcome(sheet: Sheet, entry: Entry, move_frac: float) -> None:
    """A decision and what followed, to look back on; of a practice session, what would have paid."""
    rows: list[tuple[str, str, Value, str]] = [
        ("decided_on", "Session", entry.session.isoformat(), ""),
        ("move_pct", "Change until the next close", percent(move_frac), " %"),
    ]
    if entry.rating == PRACTICE:
        rows.append(("action", "Stance that would have paid", entry.action, ""))
    else:
        rows += [
            ("rating", "The firm's rating", entry.rating, ""),
            ("action", "Stance taken", entry.action, ""),
            ("thesis", "Why", cell(entry.thesis, CELL_CHARS), ""),
        ]
    sheet.values("The decision, and what followed", rows)


def _debate_block(sheet: Sheet, said: Sequence[Voice]) -> None:
    """What the debate has heard: no `voices`, for who debates answers the others and joins no mean."""
    voices_block(sheet, "What the debate has heard so far", said, "debate_so_far")


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits) + 0.0
