"""Fault 35: eight million rows under the store's memory limit."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from arena.core.hashing import account_key
from arena.store import reader
from arena.store.connection import CONFIG
from arena.store.store import open_store

N_ACCOUNTS, N_SESSIONS = 16_000, 500


@pytest.mark.fault(35)
def test_fault_35_pages_answer_on_eight_million_rows(path: Path, make) -> None:
    """The questions of the pages: all summaries, ten curves, one decision, and one pass over all rows."""
    assert CONFIG["memory_limit"] == "192MB"
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0)])
    con = duckdb.connect(str(path), config={"threads": 2, "memory_limit": "512MB"})
    con.execute("DELETE FROM equity").fetchall()
    con.execute(
        "INSERT INTO equity SELECT a, DATE '2024-01-01' + CAST(s AS INTEGER), 100.0, 1, 1.0, 0.0, 100 + s / 7.0, 100 + s / 7.0 "
        "FROM range(?) t(a), range(?) u(s)",
        [N_ACCOUNTS - 1, N_SESSIONS],
    ).fetchall()
    mine = make.account()
    con.execute(
        "INSERT INTO equity SELECT ?, DATE '2024-01-01' + CAST(s AS INTEGER), 100.0, 1, 1.0, 0.0, s + 1, s + 1 FROM range(?) u(s)",
        [account_key(mine), N_SESSIONS],
    ).fetchall()
    con.execute(
        "INSERT INTO account_summary BY NAME SELECT s.* REPLACE (account || '#' || i AS account, i AS account_key) "
        "FROM account_summary s, range(?) t(i)",
        [N_ACCOUNTS - 1],
    ).fetchall()
    con.close()
    with open_store(path, read=True) as store:
        began_s = time.monotonic()
        assert len(reader.summaries(store)) == N_ACCOUNTS
        curve = reader.equity(store, [mine])
        assert curve["balance"].tolist() == [float(s + 1) for s in range(N_SESSIONS)]
        assert len(reader.decisions(store, make.run_id)) == 1
        with store.cursor() as cur:
            cur.execute(
                "SELECT count(*), max(d) FROM (SELECT balance / max(balance) OVER "
                "(PARTITION BY account_key ORDER BY session) - 1 AS d FROM equity)"
            )
            assert cur.fetchall() == [(N_ACCOUNTS * N_SESSIONS, 0.0)]
        assert time.monotonic() - began_s < 60
