"""Is it luck? Bootstrap and random floor of 50 accounts, beside the plain ways to do the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arena.analytics.bootstrap import (
    DRAWS,
    block_sessions,
    block_starts,
    return_interval,
    sharpe_interval,
)
from arena.analytics.random_floor import draw_account, floor_of
from arena.analytics.random_timing import Tape, final_values, own_spells, random_spells
from arena.portfolio import Costs, simulate

ACCOUNTS, SESSIONS, TARGET_S = 50, 500, 2.0


def _accounts() -> list[tuple[np.ndarray, np.ndarray, Tape]]:
    """Returns, sides and prices; an account changes its mind in about one session of four."""
    rng = np.random.default_rng(7)
    made = []
    for _ in range(ACCOUNTS):
        steps = rng.normal(0.0, 0.02, SESSIONS)
        closes = 100 * np.cumprod(1 + steps)
        opens = np.append(100.0, closes[:-1]) * (1 + rng.normal(0, 0.002, SESSIONS))
        change = rng.random(SESSIONS) < 0.25
        sides = rng.integers(-1, 2, SESSIONS)[np.maximum.accumulate(np.where(change, np.arange(SESSIONS), 0))]  # fmt: skip
        sides[0] = 0
        tape = Tape(opens, closes, np.ones(SESSIONS), Costs(10.0), "next")
        made.append((steps * sides, sides.astype(np.int8), tape))
    return made


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _all(accounts: list[tuple[np.ndarray, np.ndarray, Tape]]) -> None:
    for i, (returns, sides, tape) in enumerate(accounts):
        return_interval(returns, f"{i}")
        sharpe_interval(returns, 365, f"{i}")
        floor_of([draw_account(sides, tape, f"{i}")])


def _plain_bootstrap(returns: np.ndarray) -> None:
    """Every resample written out, as a textbook would."""
    n, block = len(returns), block_sessions(len(returns))
    picks = (block_starts(n, "x")[:, :, None] + np.arange(block)).reshape(DRAWS, -1)[:, :n] % n
    drawn = returns[picks]
    np.prod(1 + drawn, axis=1)
    drawn.mean(axis=1) / drawn.std(axis=1, ddof=1)


def _engine(drawn: np.ndarray, tape: Tape) -> None:
    codes = np.hstack([np.where(drawn == 0, 2, drawn), np.full((len(drawn), 1), 3)])
    simulate(tape.closes, tape.opens, codes, ["flip_on_reversal"] * len(drawn), tape.costs, 1.0, "next")


def run() -> list[dict[str, Any]]:
    """The whole against its target, and two ratios from the same run."""
    accounts = _accounts()
    _all(accounts[:2])
    whole = min(_seconds(lambda: _all(accounts)) for _ in range(3))
    returns, sides, tape = accounts[0]
    fast = min(_seconds(lambda: (return_interval(returns, "x"), sharpe_interval(returns, 365, "x"))) for _ in range(9))  # fmt: skip
    plain = min(_seconds(lambda: _plain_bootstrap(returns)) for _ in range(5))
    spells = random_spells(own_spells(sides[1:]), "x")
    by_spell = min(_seconds(lambda: final_values(spells, tape)) for _ in range(9))
    engine = min(_seconds(lambda: _engine(spells.dense(), tape)) for _ in range(3))
    return [
        {"name": f"bootstrap and random floor, {ACCOUNTS} accounts x {SESSIONS} sessions x {DRAWS:,} draws",
         "value": round(whole, 2), "unit": "s", "target": f"<= {TARGET_S:g}", "ok": whole <= TARGET_S},
        {"name": "bootstrap by running sums against resamples written out",
         "value": round(plain / fast, 1), "unit": "x", "target": None, "ok": None},
        {"name": "random accounts by spells against the account engine",
         "value": round(engine / by_spell, 1), "unit": "x", "target": None, "ok": None},
    ]  # fmt: skip


if __name__ == "__main__":
    for line in run():
        print(line)
