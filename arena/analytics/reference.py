"""The paper's Table 1 as printed, and what in it does not agree with itself."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from arena.analytics.table1 import METRICS, PAPER_ASSETS
from arena.core.settings import DATA

FILE = DATA / "reference" / "table1.csv"
START, END = date(2025, 8, 1), date(2025, 9, 30)
ASSETS = PAPER_ASSETS
FEE_BPS = 5.0
"""Not stated in the paper; the rows fit it."""
BASES = {"TSLA": 252, "BMRN": 252, "BTC": 365, "ETH": 365}
SESSIONS = {"TSLA": 42, "BMRN": 42, "BTC": 61, "ETH": 61}
"""Sessions of each asset from START to END."""

AGENT_IDS = {
    "Buy & Hold": "buy_hold", "InvestorAgent": "investor", "TradeAgent": "trade",
    "HedgeFundAgent": "hedge", "DeepFundAgent": "deepfund",
}  # fmt: skip

SHARPE_TOLERANCE = 0.1
"""All printed Sharpe ratios but one lie within 0.06 of what CR, AR and AV imply."""
ONE_TRADE_AV = 0.02


@dataclass(frozen=True, slots=True)
class Printed:
    """One row of the paper's table; fractions, but SR. `model` is `-` for Buy & Hold."""

    agent: str
    model: str
    asset: str
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Slip:
    """Something in the table that cannot be, or does not say what it seems to."""

    where: str
    what: str


@cache
def printed(path: Path = FILE) -> tuple[Printed, ...]:
    """All 100 rows in the paper's order."""
    lines = [x for x in path.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    columns = ("cr_pct", "ar_pct", "av_pct", "sr", "mdd_pct")
    return tuple(
        Printed(
            row["agent"], row["model"], row["asset"],
            {
                m: float(row[c]) / (1 if m == "SR" else 100)
                for m, c in zip(METRICS, columns, strict=True)
            },
        )
        for row in csv.DictReader(lines)
    )  # fmt: skip


def implied_sessions(cr: float, ar: float, base: int) -> float | None:
    """T behind a cumulative and an annualised return (fractions): base x ln(1 + CR) / ln(1 + AR).

    From the paper's AR = (1 + CR)^(base / T) - 1. None where a return is 0 or not above -1.
    """
    if min(cr, ar) <= -1 or cr == 0 or ar == 0:
        return None
    return base * math.log1p(cr) / math.log1p(ar)


def implied_range(row: Printed, half: float = 5e-5) -> tuple[float, float] | None:
    """Smallest and largest T that the two roundings allow; None where either return may be 0."""
    cr, ar = row.values["CR"], row.values["AR"]
    if min(abs(cr), abs(ar)) <= half:
        return None
    corners = [
        implied_sessions(cr + a, ar + b, BASES[row.asset]) for a in (-half, half) for b in (-half, half)
    ]
    known = [c for c in corners if c is not None]
    return (min(known), max(known)) if known else None


def implied_sharpe(cr: float, ar: float, av: float, base: int) -> float | None:
    """Sharpe ratio that the other columns imply: (ln(1 + AR) + AV^2 / 2) / AV.

    A mean of returns is its log growth plus half its variance, to second order; a year of log growth
    is ln(1 + AR), whatever T was. None without volatility.
    """
    if implied_sessions(cr, ar, base) is None or av == 0:
        return None
    return (math.log1p(ar) + av * av / 2) / av


def slips(rows: Sequence[Printed] | None = None) -> list[Slip]:
    """What is wrong or misleading in the printed rows, found by recomputation."""
    rows = printed() if rows is None else rows
    return [*_equal_models(rows), *_sharpes(rows), *_lengths(rows), *_stock_days(rows), *_barely(rows)]


def _name(row: Printed) -> str:
    return f"{row.agent}, {row.model}, {row.asset}"


def _equal_models(rows: Sequence[Printed]) -> list[Slip]:
    found = []
    for agent in dict.fromkeys(r.agent for r in rows):
        own = [r for r in rows if r.agent == agent]
        models = {r.model for r in own}
        by_asset: dict[str, set[tuple[float, ...]]] = {}
        for r in own:
            by_asset.setdefault(r.asset, set()).add(tuple(r.values.values()))
        if len(models) > 1 and all(len(v) == 1 for v in by_asset.values()):
            found.append(
                Slip(
                    f"{agent}, all models",
                    f"The same {len(METRICS) * len(by_asset)} figures for every model and the vote, to both "
                    "decimals. Independent answers of several models cannot do that; a finding about "
                    "robustness cannot rest on it.",
                )
            )
    return found


def _sharpes(rows: Sequence[Printed]) -> list[Slip]:
    found = []
    for r in rows:
        cr, ar, av = (r.values[m] for m in ("CR", "AR", "AV"))
        implied = implied_sharpe(cr, ar, av, BASES[r.asset])
        if implied is not None and abs(implied - r.values["SR"]) > SHARPE_TOLERANCE:
            found.append(
                Slip(
                    _name(r),
                    f"SR {r.values['SR']:.2f} beside a return of {100 * cr:.2f} %: the other columns "
                    f"imply {implied:.2f}.",
                )
            )
    return found


def _lengths(rows: Sequence[Printed]) -> list[Slip]:
    found = []
    for r in rows:
        span = implied_range(r)
        if span is None or math.floor(span[1]) >= math.ceil(span[0]):
            continue
        middle = implied_sessions(r.values["CR"], r.values["AR"], BASES[r.asset])
        hold = next((h for h in rows if h.model == "-" and h.asset == r.asset), None)
        same = hold is not None and hold.values["CR"] == r.values["CR"]
        found.append(
            Slip(
                _name(r),
                f"CR {100 * r.values['CR']:.2f} % and AR {100 * r.values['AR']:.2f} % belong to "
                f"{middle:.1f} sessions, which is no whole number"
                + ("; the CR is Buy & Hold's." if same else "."),
            )
        )
    return found


def _stock_days(rows: Sequence[Printed]) -> list[Slip]:
    lengths = [
        round(n) for r in rows
        if BASES[r.asset] == 252
        and (n := implied_sessions(r.values["CR"], r.values["AR"], 252)) is not None
    ]  # fmt: skip
    if not lengths or min(lengths) == max(lengths):
        return []
    return [
        Slip(
            "All stock rows",
            f"AR is annualised from {min(lengths)} to {max(lengths)} sessions of one window of "
            f"{SESSIONS['TSLA']}: only days whose return is not 0 are counted, so that an agent which is "
            "mostly out has its AR inflated. More than 41 take trades on days the exchange was closed.",
        )
    ]


def _barely(rows: Sequence[Printed]) -> list[Slip]:
    found = []
    for r in rows:
        if all(v == 0 for v in r.values.values()):
            found.append(Slip(_name(r), "Five zeros: it never traded, and so stands above those that lost."))
        elif r.model != "-" and r.values["AV"] < ONE_TRADE_AV:
            found.append(
                Slip(
                    _name(r),
                    f"SR {r.values['SR']:.2f} with a volatility of {100 * r.values['AV']:.2f} % a year: a single "
                    "short trade at most. No skill can be read from it.",
                )
            )
    return found


IN_WORDS = (
    Slip("HOLD", "One part of the text keeps the position, another and the test bed go flat. The rows fit flat."),
    Slip("Sharpe", "Printed as a daily mean over an annual deviation; the rows fit the annual mean."),
    Slip(
        "Max drawdown",
        "Printed on the cumulative return, which is 0 at the start; the rows fit the peak of equity.",
    ),
    Slip(
        "Costs",
        "Not stated. Buy & Hold of TSLA pays 5 basis points at its exit and none at its entry, since "
        "equity is measured after the first fee.",
    ),
    Slip("Coin prices", "The rows fit Binance.US, whose closes are up to 0.33 % from Binance.com's."),
)
"""What the text of the paper and its table do not settle between them."""
