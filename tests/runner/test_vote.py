"""The vote: counted by hand (definitions 3.6), and as a track of a run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from arena.core.actions import Intent, Status
from arena.runner.track import Logged
from arena.runner.vote import tally
from arena.store import reader
from arena.store.store import open_store
from tests.runner.test_replay import play, spec

DAY = date(2025, 8, 1)
BUY, SELL, HOLD = Intent.LONG, Intent.SHORT, Intent.HOLD


def vote(*said: Intent | Status) -> tuple[Intent, Status]:
    """What models that said this decide together; a status stands for a model that failed."""
    votes = {
        f"m{i}": Logged(DAY, s, Status.OK, 1.0)
        if isinstance(s, Intent)
        else Logged(DAY, Intent.HOLD, s, 1.0)
        for i, s in enumerate(said)
    }
    decision = tally(votes)
    return decision.intent, decision.status


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((BUY, BUY, SELL), (BUY, Status.OK)),  # 2 of 3
        ((BUY, BUY, SELL, HOLD, SELL), (HOLD, Status.OK)),  # 2, 2, 1: a tie for the first place
        ((BUY, BUY, SELL, HOLD), (BUY, Status.OK)),  # a plurality, not a majority
        ((BUY, SELL), (HOLD, Status.OK)),
        # Of five, two answered; half of five is three.
        ((BUY, BUY, Status.TIMEOUT, Status.INVALID_OUTPUT, Status.PROVIDER_ERROR),
         (Intent.KEEP, Status.NO_QUORUM)),
        # Of four, two answered: enough. The failed ones do not vote HOLD.
        ((SELL, SELL, Status.TIMEOUT, Status.TIMEOUT), (SELL, Status.OK)),
        ((Status.NO_DATA, Status.NO_DATA), (Intent.KEEP, Status.NO_QUORUM)),
        # All three print HOLD; two mean flat and one keep: what was meant is not agreed on.
        ((Intent.FLAT, Intent.FLAT, Intent.KEEP), (HOLD, Status.OK)),
        ((Intent.FLAT, Intent.FLAT, BUY), (Intent.FLAT, Status.OK)),
        ((Status.REPAIRED, Status.REPAIRED), (HOLD, Status.OK)),  # repaired answers do count
    ],
)  # fmt: skip
def test_tally(said: tuple[Intent | Status, ...], expected: tuple[Intent, Status]) -> None:
    assert vote(*said) == expected


def test_the_vote_is_a_track_of_its_own_and_recounts_to_the_same(tmp_path: Path) -> None:
    run = spec(models=("offline/contrarian", "offline/trend", "scripted/cycle"))
    result = play(tmp_path / "v.duckdb", run)
    assert result.n_decisions == 3 * (15 + 11)  # votes are counted, not asked for
    with open_store(tmp_path / "v.duckdb", read=True) as store:
        rows = reader.decisions(store, run.run_id()).to_dict("records")
    by_slot: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        by_slot.setdefault((row["asset"], row["slot_key"]), {})[row["model"]] = row["action"]
    assert len(by_slot) == 26
    outcomes = set()
    for said in by_slot.values():
        voted = said.pop("offline/vote")
        counts = {w: list(said.values()).count(w) for w in ("BUY", "HOLD", "SELL")}
        top = [w for w, n in counts.items() if n == max(counts.values())]
        assert voted == (top[0] if len(top) == 1 else "HOLD")
        outcomes.add((voted, len(top)))
    assert len(outcomes) > 2  # majorities of both sides and ties did occur
    with open_store(tmp_path / "v.duckdb", read=True) as store:
        groups = reader.summaries(store).groupby("model")["grp"].first()
    assert groups["offline/vote"] == "stand_in"


def test_one_model_does_not_vote(tmp_path: Path) -> None:
    run = spec(models=("offline/trend",))
    play(tmp_path / "one.duckdb", run)
    with open_store(tmp_path / "one.duckdb", read=True) as store:
        assert set(reader.decisions(store, run.run_id())["model"]) == {"offline/trend"}
