"""What the host is told first: each kind of trouble from the rows that show it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from arena.audit import health
from arena.audit.background_check import BackgroundCheck, LastCheck
from arena.audit.check import Report
from arena.audit.finding import Finding
from arena.core.errors import ConfigError
from arena.runner.voiding import MAX_REASON_CHARS, void_run
from arena.store import reader
from arena.store.store import open_store
from tests.live.made_arena import LAST_SLOT, small
from tests.ui.made_store import RULES_RUN, build


def runs(*rows: tuple[str, str, str, str | None]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["run", "kind", "status", "voided_reason"])
    return frame.assign(workbench=frame["run"].str.startswith("w"))


def test_unfinished_runs_by_kind() -> None:
    frame = runs(
        ("a", "replay", "failed", None), ("b", "replay", "stopped", None), ("c", "replay", "done", None),
        ("d", "replay", "failed", "wrong prices"), ("e", "replay", "running", None),
    )  # fmt: skip
    found = [(t.level, t.what) for t in health._runs(frame, working=False)]
    assert found == [
        ("error", "A run is failed: a."),
        ("warning", "A run is stopped: b."),
        ("warning", "A run is left unfinished: e."),
    ]
    # What is being worked on, and a live run, are running as they should.
    assert len(health._runs(frame, working=True)) == 2
    live = ("l", "live", "running", None)
    assert health._runs(runs(live), working=False) == []
    # A live season hides no replay that was cut off; jobs tell of ad-hoc runs themselves.
    beside = runs(live, ("e", "replay", "running", None), ("w", "replay", "stopped", None))
    assert [t.what for t in health._runs(beside, working=False)] == ["A run is left unfinished: e."]


def test_the_newest_round_is_the_live_one_whatever_was_made_after_it(tmp_path: Path) -> None:
    with open_store(small(tmp_path / "live.duckdb"), read=True) as store:
        assert reader.runs(store)["kind"].iloc[0] == "replay"
        last = health.newest_round(store)
        assert last is not None
        assert (last["run"].split("-")[0], last["as_of_utc"]) == ("live", LAST_SLOT)
        (failed,) = health._round(store)
        assert "1 of 2 decisions of the newest round failed (20 Mar 2026 00:05 UTC)" in failed.what


def test_sources_are_an_error_only_when_none_answers() -> None:
    ok, bad = {"source": "a", "status": "ok"}, {"source": "b", "status": "limited"}
    assert health._sources([]) == health._sources([ok]) == []
    (one,) = health._sources([ok, bad])
    assert (one.level, "1 of 2" in one.what, "b (limited)" in one.what) == ("warning", True, True)
    assert health._sources([bad])[0].level == "error"


def test_quarantine_is_told_and_gaps_are_not() -> None:
    frame = pd.DataFrame({"asset": ["A", "B", "A"], "kind": ["gap", "quarantine", "quarantine"]})
    (one,) = health._prices(frame)
    assert "2 days" in one.what
    assert "A, B" in one.what
    assert health._prices(frame.head(1)) == []


def test_a_breach_is_named_with_the_age_of_the_check() -> None:
    at = datetime(2025, 9, 1, tzinfo=UTC)
    report = Report([Finding("warning", "head", "w"), Finding("breach", "chain", "x was altered")], 9)
    (one,) = health._check(LastCheck("s", 4, at, 1.0, report), 5)
    assert one.level == "error"
    assert "1 breach of" in one.what
    assert "older state" in one.what
    assert one.what.endswith("chain: x was altered")
    assert health._check(LastCheck("s", 5, at, 1.0, Report([], 9)), 5) == []
    (broken,) = health._check(LastCheck("s", 5, at, 1.0, None, "OSError: gone"), 5)
    assert "OSError: gone" in broken.what


def test_a_check_that_breaks_off_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(store: object) -> Report:
        raise OSError("the disk is gone")

    monkeypatch.setattr("arena.audit.background_check.check_store", fail)
    checks = BackgroundCheck()
    with open_store(build(tmp_path / "a.duckdb")) as store:
        assert checks.last(store) is None
        assert checks.start(store)
        checks.wait(30)
        last = checks.last(store)
        assert last is not None
        assert (last.report, last.error) == (None, "OSError: the disk is gone")


def test_voiding_wants_a_reason_and_keeps_the_run(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "a.duckdb")) as store:
        before = len(reader.runs(store))
        for reason in ("", " \u200b ", "x" * (MAX_REASON_CHARS + 1)):
            with pytest.raises(ConfigError, match="reason"):
                void_run(store, RULES_RUN, reason)
        with pytest.raises(ConfigError):
            void_run(store, "replay-none-e1", "x")
        assert void_run(store, RULES_RUN, " two\nlines\u202e ") == "two lines"
        assert reader.run(store, RULES_RUN)["voided_reason"] == "two lines"
        assert len(reader.runs(store)) == before
