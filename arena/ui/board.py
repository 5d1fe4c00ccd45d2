"""The leaderboard as a table: one frame, the words of its cells and its colours by sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from arena.ui import format as fmt
from arena.ui.board_columns import columns
from arena.ui.tokens import ACTION_MARK, BENCHMARK_MARK, POSITION_MARK, TOKENS, VOTE_MARK, Theme

__all__ = ["columns"]

Row = dict[str, Any]

ROW_HEIGHT = 34
HEADER_HEIGHT = 32
SIGNED = ("net", "mark", "other", "excess", "bh", "gross", "alpha")
MARKS = ("tint", "short", "void")
"""Columns of the frame that say how a row is drawn, and are not shown."""

STROKE = "\u0336"
VERDICTS = {
    "above Buy & Hold": "above", "below Buy & Hold": "below",
    "not distinguishable from Buy & Hold": "not distinguishable", "too short to tell": "too short to tell",
}  # fmt: skip

PERCENT: Callable[[float], str] = lambda v: fmt.percent(v / 100)  # noqa: E731
WHOLE: Callable[[float], str] = lambda v: fmt.percent(v / 100, 0, sign=False)  # noqa: E731
WORDS: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(("net", "mark", "other", "bh", "gross", "drawdown", "alpha"), PERCENT),
    "excess": lambda v: fmt.points(v / 100).removesuffix(" pp"),
    "volatility": lambda v: fmt.percent(v / 100, sign=False),
    **dict.fromkeys(("sharpe", "beta", "calmar"), fmt.ratio),
    **dict.fromkeys(("win", "score", "invested"), WHOLE),
    "balance": fmt.money,
    "turnover": lambda v: f"{v:.1f}\u00d7",
    "break_even": lambda v: f"{v:,.0f} bps".replace("-", fmt.MINUS),
    "cost": lambda v: f"${v:.4f}" if 0 < v < 0.1 else f"${v:.2f}",
}
"""How a number is written: by the Styler, as formats of the table print a hyphen for a minus and -0.0%."""


def value(row: Row, metric: str, factor: float = 1.0) -> float | None:
    """A metric's number, or None where it is undefined."""
    found = row["metrics"][metric]["value"]
    return None if found is None else factor * float(found)


def is_vote(row: Row) -> bool:
    return bool(row["group"] == "vote" or str(row["model"]).rsplit("/", 1)[-1] == "vote")


def name(row: Row) -> str:
    """Buy & Hold and votes carry their marks; everyone else its id."""
    if row["group"] == "benchmark":
        return f"{BENCHMARK_MARK} Buy & Hold"
    own = str(row.get("entry") or f"{row['agent']}@{row['model']}")
    return f"{VOTE_MARK} {own}" if is_vote(row) else own


def key_of(row: Row) -> str:
    """What the address calls a row: the entry, or the account's entry and asset."""
    own = str(row.get("entry") or f"{row['agent']}@{row['model']}")
    return f"{own}:{row['asset']}" if "asset" in row else own


def struck(text: str) -> str:
    """Struck through, letter by letter: cells of a table know no other way."""
    return "".join(c + STROKE for c in text)


def last_action(row: Row) -> str | None:
    """▲ BUY TSLA · 2 d: the newest decision and its age in days at the end of the row's window."""
    word = row["last_action"]
    if word is None:
        return None
    asset = "" if "asset" in row else f" {row['last_action_asset']}"
    age = fmt.age_days(row["last_action_session"], row["end"])
    return f"{ACTION_MARK[word]} {word}{asset} · {age}"


def interval(found: Mapping[str, Any] | None, *, percent: bool = True) -> str | None:
    """−4 … +92: an interval in whole percent, or with one decimal for a ratio."""
    if not found or found["low"] is None or found["high"] is None:
        return None
    if percent:
        return " … ".join(fmt.percent(found[k], 0).removesuffix("%") for k in ("low", "high"))
    return " … ".join(f"{found[k]:.1f}".replace("-", fmt.MINUS) for k in ("low", "high"))


def score_words(score: Mapping[str, Any] | None) -> str | None:
    """44 … 75, n 33: Wilson interval of a decision score in percent, and its calls."""
    if not score or score["n"] == 0:
        return None
    low, high = (round(100 * score[k]) for k in ("low_frac", "high_frac"))
    return f"{low} … {high}, n {score['n']}"


def frame(rows: Sequence[Row], luck: Mapping[int, Row] | None = None) -> pd.DataFrame:
    """One line a row; ratios in percent, drawdown negative, as they are read.

    Args:
        luck: answers of `runner.luck_board` by position in `rows`; columns of those without stay empty.
    """
    return pd.DataFrame([_line(r, (luck or {}).get(i)) for i, r in enumerate(rows)])


def _line(r: Row, luck: Row | None) -> dict[str, Any]:
    benchmark = r["group"] == "benchmark"
    chance = luck or {}
    model = chance.get("market_model") or {}
    score = chance.get("decision_score") or {}
    alpha, share = model.get("alpha_annual_frac"), score.get("share_frac")
    floor = (chance.get("floor") or {}).get("better_than_frac")
    own = name(r)
    return {
        "rank": str(chance.get("rank_label") or r["rank"] or fmt.MISSING),
        "name": struck(own) if r["voided"] and not benchmark else own,
        "asset": r.get("asset"),
        "net": value(r, "CR", 100),
        "gross": value(r, "CR_gross", 100),
        "excess": None if benchmark else value(r, "excess_bh", 100),
        "sharpe": value(r, "SR"),
        "sharpe_ci": interval(chance.get("sharpe_interval"), percent=False),
        "drawdown": value(r, "MDD", -100),
        "volatility": value(r, "AV", 100),
        "calmar": value(r, "Calmar"),
        "alpha": None if alpha is None or benchmark else 100 * alpha,
        "beta": None if benchmark else model.get("beta"),
        "invested": value(r, "time_in_market", 100),
        "win": value(r, "win_rate_trades", 100),
        "net_ci": interval(chance.get("return_interval")),
        "beats": None if floor is None or benchmark else 100 * floor,
        "verdict": VERDICTS.get(chance.get("verdict") or ""),
        "score": None if share is None else 100 * share,
        "score_ci": score_words(score),
        "curve": [100 * v for v in r["sparkline"]],
        "balance": r["balance"],
        "now": "".join(POSITION_MARK[p] for _, p in sorted(r["position"].items())),
        "last": last_action(r),
        "turnover": value(r, "turnover"),
        "break_even": (chance.get("break_even_fee") or {}).get("value_bps"),
        "decided": None if benchmark else r["n_decisions"],
        "failed": None if benchmark else r["n_failed"],
        "tint": benchmark or is_vote(r),
        "short": "short_sample" in r["metrics"]["SR"]["flags"],
        "void": bool(r["voided"]),
    }  # fmt: skip


def account_frame(
    rows: Sequence[Row], held: Mapping[str, float | None], luck: Mapping[int, Row] | None = None
) -> pd.DataFrame:
    """The accounts behind an entry; `held` is the Buy & Hold return by asset, a fraction."""
    table = frame(rows, luck).assign(name=[r["asset"] for r in rows], tint=False)
    table.insert(3, "bh", [None if held[r["asset"]] is None else 100 * held[r["asset"]] for r in rows])  # type: ignore[operator]
    return table.drop(columns=["rank", "asset"])


def styled(table: pd.DataFrame, theme: Theme) -> Styler:
    """Text colour by sign, marked rows tinted, voided ones grey, and the words of numbers."""
    tokens = TOKENS[theme]
    rules = {c: np.full(len(table), "", dtype=object) for c in table}
    for column in (c for c in SIGNED if c in table):
        # By what is written: 0.0% is neither a gain nor a loss.
        number = pd.to_numeric(table[column]).to_numpy(float).round(1)
        rules[column][number > 0] = f"color: {tokens.gain};"
        rules[column][number < 0] = f"color: {tokens.loss};"
    every = tuple(str(c) for c in table)
    for mark, columns_of, rule in (
        ("short", ("sharpe",), f"color: {tokens.muted};"),
        ("void", every, f"color: {tokens.muted};"),
        ("tint", every, f"background-color: {tokens.panel};"),
    ):
        if mark in table:
            hit = table[mark].to_numpy(bool)
            for column in (c for c in columns_of if c in table):
                rules[column][hit] = rule if mark != "tint" else rules[column][hit] + rule
    shown = table.drop(columns=[m for m in MARKS if m in table])
    css = pd.DataFrame({c: rules[c] for c in shown}, index=table.index)
    words = {c: _missing_or(w) for c, w in WORDS.items() if c in shown}
    return shown.style.apply(lambda _: css, axis=None).format(words)  # type: ignore[arg-type]


def _missing_or(words: Callable[[float], str]) -> Callable[[Any], str]:
    return lambda v: fmt.MISSING if v is None or pd.isna(v) else words(v)


def height(n_rows: int, most: int = 26) -> int:
    return HEADER_HEIGHT + ROW_HEIGHT * min(n_rows, most) + 1


def window_words(accounts: Sequence[Row]) -> str:
    """`61 days (42 exchange sessions)` where coins and exchange-traded assets stand together."""
    counts = sorted({r["n_sessions"] for r in accounts if r["group"] == "benchmark"} or {0})
    most = f"{counts[-1]} days" if len(counts) > 1 else f"{counts[0]} sessions"
    fewer = f" ({counts[0]} exchange sessions)" if len(counts) > 1 else ""
    start, end = min(r["start"] for r in accounts), max(r["end"] for r in accounts)
    return f"{most}{fewer}, {fmt.span(start, end)}"
