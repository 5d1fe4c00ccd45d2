"""One run whose decisions have all that stands behind them: five sessions of trade@m-one on AAA.

    session  phase   action  status    position   close -> next   what it is for
    1 Aug    warmup  BUY     ok        0 -> 1     10 -> 11        a warm-up row
    2 Aug    live    BUY     ok        0 -> 1     11 -> 12        eleven voices, evidence, +9.1 %
    3 Aug    live    SELL    repaired  1 -> -1    12 -> 13        a flip and a large loss: 13 / 12 - 1 = 8.3 %
    4 Aug    live    HOLD    timeout   -1 -> 0    13 -> 14        nothing came back
    5 Aug    live    BUY     ok        0 -> 1     14 -> none      hostile texts, ten million characters

hedge@m-one decides the same slots without calls, and answered `timeout` at the last one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.core.hashing import canonical_json, sha256_text
from arena.core.ids import TrackId
from arena.core.rows import BlobRow, CallRow, DecisionRow, WriteUnit
from arena.store.store import Store, open_store
from tests.ui.made_store import (
    HOSTILE,
    MODELS_RUN,
    SESSIONS,
    account_rows,
    decision_row,
    run_row,
    spec,
)
from tests.ui.made_store import (
    build as build_boards,
)

TALK_RUN = "replay-00000000dd-e1"
TRACK = TrackId(TALK_RUN, "trade", "m-one", "AAA")
HEDGE = TrackId(TALK_RUN, "hedge", "m-one", "AAA")
IDS = [TRACK.decision(s.isoformat()) for s in SESSIONS]

LONG_WORD = "W" * 20_000
RIGHT_TO_LEFT = "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"
ZERO_WIDTH = "in\u200bvis\u200dible\ufeff"
BIG_CHARS = 10_000_000
NEEDLE = "quixotic heron"
"""Stands once, behind a whole prompt, in an answer of 2 August, in other letters of case."""

Step = tuple[str, str, dict[str, Any] | None, str, int, str, str | None]


def talk() -> list[Step]:
    """kind, role, parsed, answer, attempt, status, error."""
    view = {"confidence": 0.6, "argument": "Gains outweigh.", "rating": "Overweight"}
    said: list[tuple[str, dict[str, Any]]] = [
        ("market_analyst", {"confidence": 0.61, "lean": 0.4, "summary": "Steady above the mean."}),
        ("news_analyst", {"cites": ["n-01", "n-04"], "confidence": 0.57, "lean": -0.2, "summary": "Vote ahead."}),
        ("bull", {"claims": "Buyers are spot.", "rebuts": "", "strength": 0.68}),
        ("bear", {"claims": "Two days are no trend.", "rebuts": "Flows turn.", "strength": 0.55}),
        ("research_manager", view),
        ("trader", {"action": "BUY", "confidence": 0.63, "reasoning": "Buy at the close."}),
        ("aggressive_risk", view),
        ("conservative_risk", {**view, "rating": "Hold"}),
        ("neutral_risk", view),
        ("portfolio_manager", {"rating": "Overweight", "thesis": "Spot-led inflow outweighs risk."}),
    ]  # fmt: skip
    head: list[Step] = [("compute", "figures", {"rsi_14": 61.0}, "", 1, "ok", None)]
    return head + [
        ("model", role, parsed, f"{canonical_json(parsed)} A Quixotic Heron." if role == "bear" else canonical_json(parsed), 1, "ok", None)
        for role, parsed in said
    ]  # fmt: skip


REPAIRED: list[Step] = [
    ("model", "portfolio_manager", None, "SELL!!", 1, "invalid_output", "no JSON object"),
    ("model", "portfolio_manager", {"rating": "Sell", "thesis": "Second try."}, "{}", 2, "repaired", None),
]
TIMED_OUT: list[Step] = [("model", "portfolio_manager", None, "", 1, "timeout", "no answer in 60 s")]


def hostile() -> list[Step]:
    words = {
        "market_analyst": HOSTILE, "news_analyst": LONG_WORD, "bull": RIGHT_TO_LEFT, "bear": ZERO_WIDTH,
    }  # fmt: skip
    made: list[Step] = [
        ("model", role, {"summary": text, "cites": [HOSTILE], "lean": 0.1}, text, 1, "ok", None)
        for role, text in words.items()
    ]
    big = ("~x~ $1$ <img src=x> " * (BIG_CHARS // 20))[:BIG_CHARS]
    return [*made, ("model", "portfolio_manager", {"rating": "Buy", "thesis": "ok"}, big, 1, "ok", None)]


def call_rows(decision: str, steps: list[Step]) -> list[CallRow | BlobRow]:
    rows: list[CallRow | BlobRow] = []
    for seq, (kind, role, parsed, answer, attempt, status, error) in enumerate(steps):
        prompt = f"[system]\nYou are {role}.\n\n[user]\nprompt {seq} of {decision}" if kind == "model" else ""
        rows += [BlobRow(sha256_text(t), t) for t in (prompt, answer)]
        rows.append(
            CallRow(
                decision, seq, kind, role, "m-one" if kind == "model" else "-", status, attempt,
                sha256_text(prompt), sha256_text(answer), None if parsed is None else canonical_json(parsed),
                error, "{}", 100, 20, 0.01, 5.0,
            )
        )  # fmt: skip
    return rows


def decisions() -> list[tuple[DecisionRow, list[Step]]]:
    facts: list[tuple[str, str, str, str, int, list[Step]]] = [
        ("warmup", "long", "BUY", "ok", 0, []),
        ("live", "long", "BUY", "ok", 0, talk()),
        ("live", "short", "SELL", "repaired", 1, REPAIRED),
        ("live", "hold", "HOLD", "timeout", -1, TIMED_OUT),
        ("live", "long", "BUY", "ok", 0, hostile()),
    ]
    made = []
    for i, (phase, intent, action, status, before, steps) in enumerate(facts):
        reason = HOSTILE if i == 4 else f"reason of day {i}"
        row = replace(
            decision_row(TRACK, i), phase=phase, intent=intent, action=action, status=status,
            price=10.0 + i, position_before=before, reason=reason, n_calls=len(steps),
            conviction=None if status == "timeout" else 0.64, evidence_json='["n-01"]',
        )  # fmt: skip
        made.append((row, steps))
    return made


def write_talk(store: Store) -> None:
    rows: list[Any] = [run_row(TALK_RUN, spec(), 5)]
    view = canonical_json(
        {"equity": 101_000.0, "side": 0, "past": [["2025-07-31", "SELL", 9.0, 0.1111]], "memory": None}
    )
    rows.append(BlobRow(sha256_text(view), view))
    summaries = []
    for track, group in ((TRACK, "model"), (HEDGE, "model"), (TrackId(TALK_RUN, "buy_hold", "-", "AAA"), "benchmark")):
        strategy = "buy_hold" if group == "benchmark" else "baseline"
        equity, summary = account_rows(track, strategy, group, 120_000.0, 110_000.0)
        rows += equity
        summaries.append(summary)
    for row, steps in decisions():
        rows.append(replace(row, view_hash=sha256_text(view)))
        rows += call_rows(row.decision, steps)
    rows += [decision_row(HEDGE, i) for i in range(len(SESSIONS))]
    store.write([WriteUnit(tuple(rows), tuple(summaries))])


def build(path: Path) -> Path:
    """`made_store` and the run above, which is the newest."""
    build_boards(path)
    with open_store(path) as store:
        write_talk(store)
    return path


__all__ = ["IDS", "MODELS_RUN", "NEEDLE", "TALK_RUN", "build"]
