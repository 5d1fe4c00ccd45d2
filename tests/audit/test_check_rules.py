"""What `check` says of a vote that does not recount, of money nobody set aside, of time that went back."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from arena.audit.check import check_store
from arena.core.rows import AttemptRow, WriteUnit
from arena.store.store import open_store
from tests.live.test_live import SEASON, Arena

THURSDAY = datetime(2026, 3, 5, 1, 0, tzinfo=UTC)
TURNED = "CASE intent WHEN 'short' THEN 'long' ELSE 'short' END"
LATER = "UPDATE decisions SET decided_at_utc = decided_at_utc + INTERVAL 25 HOUR"
EARLY = "UPDATE decisions SET decided_at_utc = as_of_utc - INTERVAL 1 HOUR"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three sessions of a coin and two of a stock by two rules, and their vote; one paid attempt."""
    path = tmp_path_factory.mktemp("rules") / "live.duckdb"
    arena = Arena(path, SEASON.model_copy(update={"models": ("offline/trend", "offline/contrarian")}))
    arena.run_until(THURSDAY, hours=1)
    opened = AttemptRow(
        "a1", "opened", arena.run, f"{arena.run}:x", "k", "trader", "mock/m", "open", 0.02, 0, 900, None,
        None, None, THURSDAY,
    )  # fmt: skip
    closed = AttemptRow(
        "a1", "closed", arena.run, f"{arena.run}:x", "k", "trader", "mock/m", "answered", 0.01, 500, 90,
        None, None, None, THURSDAY + timedelta(seconds=1),
    )  # fmt: skip
    arena.store.write([WriteUnit(rows=(opened, closed))])
    assert arena.breaches() == []
    arena.store.close()
    return path


@pytest.mark.parametrize(
    ("sql", "rule", "level", "n"),
    [
        # Three votes of the coin and two of the stock, each turned round.
        (
            f"UPDATE decisions SET intent = {TURNED} WHERE model = 'offline/vote'", "votes", "breach", 5,
        ),
        ("UPDATE attempts SET usd = 0.03 WHERE event = 'closed'", "money", "warning", 1),
        ("DELETE FROM attempts WHERE event = 'opened'", "money", "breach", 1),
        # Monday's decisions of the coin, of two rules and their vote, after those of the day that followed.
        (f"{LATER} WHERE asset = 'XXX' AND slot_key = '2026-03-02'", "time", "breach", 3),
        # An hour before its slot, yet long after the one of the day before.
        (f"{EARLY} WHERE slot_key = '2026-03-03' AND track LIKE '%trend:XXX'", "time", "breach", 1),
    ],
)  # fmt: skip
def test_it_is_found(played: Path, tmp_path: Path, sql: str, rule: str, level: str, n: int) -> None:
    path = tmp_path / "live.duckdb"
    shutil.copy(played, path)
    with duckdb.connect(str(path)) as con:
        con.execute(sql)
    with open_store(path, read=True) as store:
        found = [(f.rule, f.level) for f in check_store(store).findings if f.rule == rule]
    assert found == [(rule, level)] * n
