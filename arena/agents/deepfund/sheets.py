"""What each of DeepFund's roles reads. An analyst without material has no sheet, and is not asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.agents.blocks import (
    VOICE_CHARS,
    Voice,
    brief_block,
    cell,
    filings_block,
    stories_block,
    voices_block,
)
from arena.agents.deepfund import roles
from arena.agents.deepfund.signals import code_signals, risk_figures
from arena.agents.desk import Desk, Role
from arena.agents.fundamentals import period_order
from arena.agents.measures import closes_of, measure, z_score
from arena.agents.memory.decision_log import DecisionLog
from arena.agents.prompt import (
    Sheet,
    account_blocks,
    asset_block,
    closes_block,
    percent,
    rounded,
    rounded_price,
)

STORIES_SHOWN = 10
INSIDER_SHOWN = 10
PERIODS_SHOWN = 3
INSIDER_FIELDS = ("insider_bought_shares", "insider_sold_shares")
CATEGORIES = ("macro", "policy")
"""Categories of stories with an analyst of their own; all other stories are about the asset."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Analyst:
    """One who may be heard: the role, a line for the planner, and the sheet, or None without material."""

    role: Role[roles.Signal]
    does: str
    sheet: Callable[[Desk], Sheet | None]


def about(desk: Desk) -> Sheet:
    """A sheet that says what it is about."""
    sheet = Sheet()
    asset_block(sheet, desk.context)
    return sheet


def technical_sheet(desk: Desk) -> Sheet:
    """The signals by code, and the figures that a fund with a month's view goes by."""
    market = desk.context
    signals = desk.compute("code_signals", code_signals, bars=market.bars)
    sheet = about(desk)
    closes_block(sheet, market.bars)
    rows = [[name, s["says"], s["figures"]] for name, s in signals.items()]
    sheet.table("Signals by fixed rules", "code_signals", ("signal", "says", "figures"), rows)
    m = measure(market.bars, market.asset.annual_base)
    z_20 = z_score(closes_of(market.bars), 20)
    sheet.values(
        "Figures at that close",
        [
            ("return_20_pct", "Return over 20 sessions", percent(m.return_20_frac), " %"),
            ("z_20", "Deviations from the 20-session mean", rounded(z_20, 2), ""),
            ("rsi_14", "RSI over 14 sessions, 0 to 100", rounded(m.rsi_14, 1), ""),
            (
                "volatility_session_pct",
                "Volatility of a session, last 60",
                percent(m.volatility_session_frac),
                " %",
            ),
        ],
    )
    return sheet


def news_sheet(desk: Desk) -> Sheet | None:
    stories = [s for s in desk.context.stories if s.get("category") not in CATEGORIES]
    if not stories and not desk.has("brief"):
        return None
    sheet = about(desk)
    brief_block(sheet, desk.context.brief)
    stories_block(sheet, "Stories about the asset, newest first", _newest(stories, STORIES_SHOWN))
    return sheet


def category_sheet(desk: Desk, category: str) -> Sheet | None:
    """Stories of one category."""
    stories = [s for s in desk.context.stories if s.get("category") == category]
    if not stories:
        return None
    sheet = about(desk)
    stories_block(sheet, "Stories, newest first", _newest(stories, STORIES_SHOWN))
    return sheet


def fundamental_sheet(desk: Desk) -> Sheet | None:
    """The newest three periods of every figure."""
    by_field: dict[str, list[Row]] = {}
    for row in desk.context.fundamentals:
        if row["field"] not in INSIDER_FIELDS:
            by_field.setdefault(str(row["field"]), []).append(row)
    rows = [r for name in sorted(by_field) for r in _last(by_field[name], PERIODS_SHOWN)]
    return _filed_sheet(desk, "Filed figures, newest first", rows)


def insider_sheet(desk: Desk) -> Sheet | None:
    rows = [r for r in desk.context.fundamentals if r["field"] in INSIDER_FIELDS]
    return _filed_sheet(desk, "Dealings of insiders, newest first", _last(rows, INSIDER_SHOWN))


ANALYSTS = (
    Analyst(roles.TECHNICAL, "price, trend, extremes, volume", technical_sheet),
    Analyst(roles.COMPANY_NEWS, "stories about the asset", news_sheet),
    Analyst(roles.FUNDAMENTAL, "the company's filed accounts", fundamental_sheet),
    Analyst(roles.INSIDER, "shares bought and sold by the company's officers", insider_sheet),
    Analyst(roles.MACRO, "growth, inflation, rates, work", lambda d: category_sheet(d, "macro")),
    Analyst(roles.POLICY, "governments and central banks", lambda d: category_sheet(d, "policy")),
)  # fmt: skip


def planner_sheet(desk: Desk, analysts: Sequence[Analyst]) -> Sheet:
    """Asset, and who has material; no market data."""
    sheet = about(desk)
    sheet.table(
        "Analysts with material",
        "analysts",
        ("id", "works on"),
        [[a.role.name, a.does] for a in analysts],
    )
    sheet.offer([a.role.name for a in analysts])
    return sheet


def risk_sheet(desk: Desk, heard: Sequence[Voice], low: float, high: float) -> Sheet:
    market, sheet = desk.context, about(desk)
    voices_block(sheet, "What the analysts say", heard)
    figures = desk.compute(
        "risk_figures", risk_figures, bars=market.bars, annual_base=market.asset.annual_base
    )
    labels = {
        "volatility_year_pct": "Volatility of a year, last 60 sessions",
        "drawdown_pct": "Below (-) the highest close of the history",
    }
    known = [(n, label, figures[n], " %") for n, label in labels.items() if figures[n] is not None]
    sheet.values(
        "Risk",
        [
            *known,
            (
                "exposure",
                "Exposure now, signed part of equity",
                round(desk.view.exposure_frac, 2) + 0.0,
                "",
            ),
            ("lowest_target", "Lowest target allowed", low, ""),
            ("highest_target", "Highest target allowed", high, ""),
        ],
    )
    return sheet


def manager_sheet(
    desk: Desk,
    heard: Sequence[Voice],
    target: roles.Target | None,
    trade: Row,
    log: DecisionLog | None,
) -> Sheet:
    """For the final order; `trade` is what code made of the target, `log` the agent's own memory."""
    sheet = about(desk)
    closes_block(sheet, desk.context.bars)
    voices_block(sheet, "What the analysts say", heard)
    if target is not None:
        sheet.table(
            "What risk control asks for",
            "trade_voices",
            ("who", "trade from -1 (sell) to 1 (buy)", "confidence 0 to 1", "in short"),
            [["risk_control", max(-1.0, min(1.0, trade["change"])), round(target.confidence, 2),
              cell(target.reason, VOICE_CHARS)]],
        )  # fmt: skip
    kept = "" if target is not None else " (as now: risk control gave none)"
    sheet.values(
        "The trade in figures",
        [
            ("exposure", "Exposure now, signed part of equity", trade["exposure"], ""),
            ("target_ratio", f"Target exposure{kept}", trade["target"], ""),
            ("change", "Change to get there", trade["change"], ""),
            ("shares", "The same in units of the asset", trade["shares"], ""),
            ("n_against", "Analysts that contradict the position", trade["n_against"], ""),
        ],
    )
    # The log tells the same decisions with more about each.
    account_blocks(sheet, desk.view if log is None else replace(desk.view, past=()))
    if log is not None:
        _log_block(sheet, log)
    return sheet


def _log_block(sheet: Sheet, log: DecisionLog) -> None:
    sheet.table(
        "Your latest orders, and what came of them (given: by a warm-up, with the move known)",
        "orders",
        (
            "session",
            "order",
            "exposure after",
            "close",
            "target",
            "next change in %",
            "result so far in %",
        ),
        [
            [
                e.session.isoformat(),
                f"{e.action} (given)" if e.given else e.action,
                round(e.exposure_after_frac, 2) + 0.0,
                rounded_price(e.price),
                "-" if e.target_frac is None else e.target_frac,
                percent(e.next_return_frac),
                percent(e.result_frac),
            ]
            for e in log.entries
        ],
    )


def _newest(stories: Sequence[Row], n: int) -> list[Row]:
    return sorted(stories, key=lambda s: (s["known_at_utc"], str(s["id"])))[::-1][:n]


def _last(filed: Sequence[Row], n: int) -> list[Row]:
    """Of the last periods, not of the last filings: those repeat the year before and restate it."""
    return sorted(
        filed, key=lambda r: (period_order(str(r["period"])), r["known_at_utc"], str(r["id"]))
    )[::-1][:n]


def _filed_sheet(desk: Desk, title: str, rows: Sequence[Row]) -> Sheet | None:
    if not rows:
        return None
    sheet = about(desk)
    filings_block(sheet, title, rows)
    return sheet
