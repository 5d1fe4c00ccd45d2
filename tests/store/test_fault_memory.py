"""Fault 35: eight million rows under the store's memory limit."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError
from arena.core.hashing import account_key
from arena.store import reader, snapshot
from arena.store.connection import memory_limit_mb
from arena.store.store import open_store

N_ACCOUNTS, N_SESSIONS = 16_000, 500


@pytest.mark.fault(35)
def test_fault_35_pages_answer_on_eight_million_rows(path: Path, make) -> None:
    """The questions of the pages: all summaries, ten curves, one decision, and one pass over all rows."""
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
        with store.cursor() as cur:
            # 96 MB are 91.55 MiB.
            assert cur.execute("SELECT current_setting('memory_limit')").fetchall() == [("91.5 MiB",)]
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


def test_an_owner_gets_a_third_of_its_file_and_a_reader_a_seventh(tmp_path: Path) -> None:
    small, large = tmp_path / "small.duckdb", tmp_path / "large.duckdb"
    small.write_bytes(b"-")
    with large.open("wb") as file:
        file.truncate(900_000_000)
    assert [memory_limit_mb(small, read_only=r) for r in (False, True)] == [192, 96]
    assert [memory_limit_mb(large, read_only=r) for r in (False, True)] == [300, 129]
    assert memory_limit_mb(tmp_path / "none.duckdb", read_only=False) == 192


def test_a_copy_that_memory_cannot_hold_is_refused_and_the_store_goes_on(
    path: Path, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0)])
        store.snapshot()
        # As if a copy of this small store took a thousand times as much as the 192 MB there are.
        monkeypatch.setattr(snapshot, "COPY_SHARE", 192e9 / 1e6)
        with pytest.raises(StoreError, match=r"too large for a copy within the 192 MB .* within a week by itself"):
            store.snapshot()
        store.write([make.unit(1)])
        assert len(reader.decisions(store, make.run_id)) == 2
