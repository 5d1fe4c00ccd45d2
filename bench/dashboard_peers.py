"""The board's numbers from the same rows by pandas and by window SQL, in one process with ours.

Each gives return, Sharpe ratio and largest fall of the mean curve of every entry; they must agree with
ours to a billionth, else the comparison would be of different things. Prints JSON: name -> ratio.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.analytics.entry_curve import curves_of
from arena.analytics.leaderboard import board
from arena.runner.boards import select_board
from arena.store import reader
from arena.store.store import Store, open_store

REPEATS, TEN, BASE, CAPITAL = 3, 10, 365, 100_000.0
Board = dict[str, tuple[float, float, float]]
"""Entry -> CR, SR, MDD."""

WINDOW_SQL = """
WITH mean AS (
  SELECT s.agent || '@' || s.model AS entry, e.session, avg(e.balance) / $capital AS v
  FROM equity e JOIN account_summary s USING (account_key)
  WHERE s.run = $run AND s.strategy = 'baseline' GROUP BY ALL
), steps AS (
  SELECT entry, session, v, v / lag(v, 1, 1.0) OVER w - 1 AS r,
         greatest(1.0, max(v) OVER (PARTITION BY entry ORDER BY session)) AS peak
  FROM mean WINDOW w AS (PARTITION BY entry ORDER BY session)
)
SELECT entry, arg_max(v, session) - 1, avg(r) / stddev_samp(r) * sqrt($base), max((peak - v) / peak)
FROM steps GROUP BY entry
"""


def ours(store: Store, run: str) -> Board:
    data = select_board(store, run, strategies=("baseline",), with_equity=False)
    rows = reader.equity(store, data.summaries["account"].tolist(), ("balance", "balance_gross"))
    made = board(
        data.summaries, rows, capital=data.capital,
        curves=curves_of(data.summaries, rows, data.capital),
    )  # fmt: skip
    found = {r["entry"]: [r["metrics"][m]["value"] for m in ("CR", "SR", "MDD")] for r in made}
    return {e: (v[0], v[1], v[2]) for e, v in found.items() if e != "buy_hold"}


def by_sql(store: Store, run: str) -> Board:
    with store.cursor() as cur:
        cur.execute(WINDOW_SQL, {"run": run, "capital": CAPITAL, "base": BASE})
        return {entry: (cr, sr, mdd) for entry, cr, sr, mdd in cur.fetchall()}


def by_pandas(store: Store, run: str) -> Board:
    """Rows of the run's accounts with their texts, then groupby, as a notebook would."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT s.account, s.agent || '@' || s.model AS entry, e.session, e.balance FROM equity e "
            "JOIN account_summary s USING (account_key) WHERE s.run = ? AND s.strategy = 'baseline' "
            "ORDER BY s.account, e.session",
            [run],
        )
        rows = cur.fetchdf()
    mean = rows.groupby(["entry", "session"])["balance"].mean() / CAPITAL
    found = {}
    for entry, curve in mean.groupby("entry"):
        values = pd.concat([pd.Series([1.0]), curve.droplevel("entry")])
        returns, peak = values.pct_change().dropna(), values.cummax()
        sharpe = returns.mean() / returns.std() * np.sqrt(BASE)
        fall = ((peak - values) / peak).max()
        found[str(entry)] = (float(values.iloc[-1] - 1), float(sharpe), float(fall))
    return found


def agree(a: Board, b: Board) -> None:
    """Raises AssertionError where two boards are not the same."""
    assert a.keys() == b.keys()
    for entry, values in a.items():
        assert np.allclose(values, b[entry], rtol=1e-9, atol=1e-12), (entry, values, b[entry])


def seconds(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(path: Path) -> dict[str, float]:
    with open_store(path, read=True) as store:
        run = str(reader.runs(store)["run"].iloc[0])
        mine = ours(store, run)
        agree(mine, by_sql(store, run))
        agree(mine, by_pandas(store, run))
        own = seconds(lambda: ours(store, run))
        names = reader.accounts(store, run)["account"].tolist()[:TEN]
        ten = seconds(lambda: reader.equity(store, names, ("balance",)))
        with store.cursor() as cur:
            cur.execute("SELECT account_key, session, balance FROM equity")
            table = cur.fetchdf()
        keys = [reader.account_key(name) for name in names]

        def filtered() -> pd.DataFrame:
            return table[table["account_key"].isin(keys)].sort_values(["account_key", "session"])

        assert len(filtered()) == len(reader.equity(store, names, ("balance",)))
        return {
            "sql": seconds(lambda: by_sql(store, run)) / own,
            "pandas": seconds(lambda: by_pandas(store, run)) / own,
            "curves pandas": seconds(filtered) / ten,
        }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
