"""A request: the same run as the command it prints, and as the run it was filled in from."""

from __future__ import annotations

import shlex
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from arena.cli import running
from arena.cli.main import app
from arena.core.errors import ConfigError
from arena.core.season import OPEN_END
from arena.runner.job_request import (
    JobRequest,
    command,
    from_run,
    keyless,
    read_request,
    request_of,
    to_spec,
)
from arena.runner.replay import RunResult
from tests.runner.made_jobs import small

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    "request_",
    [
        small(),
        small(brief="auto", warmup=5, agents=("trade", "vanilla"), seed=3),
        small(protocol="ama-2025", fill="close", fee_bps=5.0, warmup_from=date(2025, 5, 1), warmup_mode="paper"),
        small(hold="keep", shorting=False, capital=5_000.0, epochs=2, strategies=("baseline", "pyramid_exit")),
    ],
)  # fmt: skip
def test_the_command_makes_the_same_run(
    request_: JobRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}

    def caught(spec: Any, strategies: Any, *_: Any, **options: Any) -> RunResult:
        made.update(run=spec.run_id(), strategies=strategies, epochs=options["epochs"])
        return RunResult()

    monkeypatch.setattr(running, "run_replay", caught)
    words = shlex.split(command(request_, "sample"))
    assert words[:3] == ["python", "-m", "arena"]
    done = CliRunner().invoke(app, [*words[3:], "--store", str(tmp_path / "c.duckdb")])
    assert done.exception is None, done.output
    assert made == {
        "run": to_spec(request_, "sample", TODAY).run_id(), "strategies": request_.stored_strategies,
        "epochs": request_.epochs,
    }  # fmt: skip


@given(
    some.builds(
        small,
        hold=some.sampled_from(["flat", "keep"]), fill=some.sampled_from(["next", "close"]),
        shorting=some.booleans(), seed=some.integers(0, 99), warmup=some.integers(0, 99),
        fee_bps=some.none() | some.sampled_from([0.0, 7.5]), ordinal=some.integers(1, 9),
        capital=some.sampled_from([1.0, 100_000.0]),
    )
)  # fmt: skip
def test_a_run_filled_in_again_is_the_same_run(request_: JobRequest) -> None:
    spec = to_spec(request_, "sample", TODAY)
    again = from_run(spec, request_.stored_strategies, 2)
    assert to_spec(again, "sample", TODAY) == spec
    assert (again.strategies, again.epochs) == (request_.strategies, 2)


def test_a_season_begins_today_and_has_no_end() -> None:
    spec = to_spec(small(kind="season", start=None, end=None), "live", TODAY)
    assert (spec.kind, spec.start, spec.end) == ("live", TODAY, OPEN_END)
    assert command(small(kind="season"), "live") == ""


def test_a_key_has_no_place_in_a_request() -> None:
    made, problems = read_request({**small().model_dump(), "api_key": "sk-x"})
    assert made is None
    assert set(problems) == {"api_key"}


def test_problems_carry_the_name_of_their_field() -> None:
    made, problems = read_request({**small().model_dump(), "epochs": 0, "capital": -1.0})
    assert made is None
    assert set(problems) == {"epochs", "capital"}


def test_a_row_of_another_version_is_said() -> None:
    with pytest.raises(ConfigError, match="another version"):
        request_of({"job": "job-1", "request_json": '{"agents": [], "later": 1}'})


def test_only_rules_and_our_own_agents_are_keyless() -> None:
    assert keyless(small(agents=("masked+trade",), models=("offline/trend", "offline/news")))
    assert not keyless(small(models=("offline/trend", "gpt-4.1")))
    assert not keyless(small(models=("local/smollm2-135m",)))
