"""What strangers try on a public address: the host's keys, others' texts, the disk, the audit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, StoreError
from arena.llm.redact import HIDDEN, keeping_out, redact
from arena.runner import audit_log
from arena.runner.asker import RefusedError, Visitor
from arena.runner.job_request import JobRequest, from_run, read_request, to_spec
from arena.runner.jobs import Jobs, Refusal
from arena.store import jobs_reader
from arena.store.store import Store, open_store
from tests.runner.made_jobs import ADMIN, ANNA, BEN, audit, ended, small

HOSTS_KEY = "sk-test-0123456789abcdef"
OWN = {"OPENAI_API_KEY": "own-key-of-a-visitor-31415926"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    audit_log._refused_at_s.clear()
    with open_store(tmp_path / "v.duckdb") as opened:
        yield opened


@pytest.fixture
def idle(store: Store, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    """A queue that nobody works off, on a host that has a key."""
    monkeypatch.setenv("OPENAI_API_KEY", HOSTS_KEY)
    monkeypatch.setenv("ARENA_NETWORK", "on")
    return Jobs(store, "sample")


def test_a_brief_by_a_paid_model_needs_who_pays_for_it(idle: Jobs) -> None:
    wanted = small(brief="gpt-4.1", budget_usd=5.0)
    with pytest.raises(RefusedError, match="needs the admin or a key of your own for OPENAI_API_KEY"):
        idle.submit(wanted, ANNA)
    assert idle.submit(wanted, ANNA, OWN)
    assert idle.submit(wanted, ADMIN)


@pytest.mark.parametrize("blank", ["", "   ", "\t", "short"])
def test_a_key_that_is_none_is_not_replaced_by_the_hosts(idle: Jobs, blank: str) -> None:
    wanted = small(models=("gpt-4.1",), budget_usd=5.0)
    with pytest.raises(RefusedError, match="a key of your own for OPENAI_API_KEY"):
        idle.submit(wanted, ANNA, {"OPENAI_API_KEY": blank})
    assert idle._worker._own_keys == {}


def test_a_word_given_as_a_key_stays_in_everybody_elses_texts(idle: Jobs) -> None:
    text = "the position of BTC"
    idle.submit(small(models=("gpt-4.1",), budget_usd=5.0), ANNA, {"OPENAI_API_KEY": "position"})
    assert redact(text) == text
    with keeping_out(["position"]):
        assert redact(text) == f"the {HIDDEN} of BTC"
    assert redact(text) == text


def test_keys_of_a_job_that_never_began_are_let_go(idle: Jobs, store: Store) -> None:
    wanted = small(models=("gpt-4.1",), budget_usd=5.0)
    job = idle.submit(wanted, ANNA, OWN)
    assert list(idle._worker._own_keys) == [job]
    idle.ask_stop(job, ANNA)
    assert idle._worker._own_keys == {}
    # Another run of the same visitor waits, so this one cannot: its key is not kept for later.
    idle.submit(small(seed=1), ANNA)
    with pytest.raises(RefusedError, match="You have a run under way"):
        idle.again(job, ANNA, own_keys=OWN)
    assert OWN not in idle._worker._own_keys.values()
    assert [a for _, a, _, _ in audit(store)] == ["launch", "stop", "launch", "refused"]


def test_a_second_click_on_resume_takes_nothing_away(
    idle: Jobs, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = idle.submit(small(models=("gpt-4.1",), budget_usd=5.0), ANNA, OWN)
    idle.ask_stop(job, ANNA)
    stopped = jobs_reader.job(store, job)
    idle.again(job, ANNA, own_keys=OWN)
    # Both clicks had seen it stopped.
    monkeypatch.setattr(jobs_reader, "job", lambda *_: stopped)
    with pytest.raises(ConfigError, match="taken up again already"):
        idle.again(job, ANNA, own_keys={"OPENAI_API_KEY": "another-key-27182818"})
    assert idle._worker._own_keys == {job: OWN}


@pytest.mark.parametrize("budget", [float("nan"), -1.0, float("inf")])
def test_a_budget_that_bounds_nothing_resumes_nothing(idle: Jobs, store: Store, budget: float) -> None:
    job = idle.submit(small(models=("gpt-4.1",), budget_usd=5.0), ADMIN)
    idle.ask_stop(job, ADMIN)
    with pytest.raises(Refusal):
        idle.again(job, ADMIN, budget_usd=budget)
    assert jobs_reader.job(store, job)["status"] == "stopped"


def test_a_long_warm_up_is_not_hidden_behind_its_first_day(idle: Jobs) -> None:
    # From 7 April to 4 August 2025: 24 + 31 + 30 + 31 + 3 = 119 days; 120 are the limit.
    assert idle.submit(small(agents=("trade",), warmup_from=date(2025, 4, 7)), ANNA)
    with pytest.raises(RefusedError, match="at most 120 days of warm-up; this has 581"):
        # 1 January 2024 is 366 + 215 days before.
        idle.submit(small(agents=("trade",), warmup_from=date(2024, 1, 1)), BEN)


def test_runs_of_visitors_share_a_room_and_the_admin_needs_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_VISITOR_DECISIONS", "11")
    jobs = Jobs(store, "sample")
    jobs.start()
    ended(store, jobs.submit(small(), ANNA))  # four decisions, kept for a week
    jobs.stop(30)
    jobs.submit(small(seed=1), ANNA)  # four that wait
    with pytest.raises(RefusedError, match=r"hold 8 of 11 decisions; this one would add 4\. The first"):
        jobs.submit(small(seed=2), BEN)
    jobs.submit(small(seed=2, end=date(2025, 8, 6)), BEN)  # three fit
    jobs.submit(small(seed=3), ADMIN)


def test_a_name_in_the_audit_is_bounded() -> None:
    request, problems = read_request({"agents": ("a" * 201,), "models": ("m",), "assets": ("BTC",)})
    assert request is None
    assert "200 characters" in problems["agents"]


def test_a_run_that_does_not_fit_the_form_says_so() -> None:
    spec = to_spec(small(), "sample", date(2025, 9, 1)).model_copy(update={"seed": -1})
    with pytest.raises(ConfigError, match="does not fit the form"):
        from_run(spec, ("baseline",), 1)
    assert isinstance(from_run(spec.model_copy(update={"seed": 1}), ("baseline",), 1), JobRequest)


def test_a_season_is_bounded_by_its_day_alone(store: Store, idle: Jobs) -> None:
    season = {"kind": "season", "start": None, "end": None, "assets": ("BTC",)}
    jobs = Jobs(store, "live")
    jobs.submit(small(**season, models=("gpt-6-luna",), budget_day_usd=0.25), ADMIN)
    assert [s["budget_day_usd"] for s in jobs_reader.seasons(store)] == [0.25]
    # A live season knows no cap on tokens: enrolled, it could never ask.
    with pytest.raises(ConfigError, match="price of `openai/unheard-of` is not known"):
        jobs.submit(
            small(**season, models=("openai/unheard-of",), budget_day_usd=1.0, token_cap=1000), ADMIN
        )


def test_a_refusal_stands_where_it_cannot_be_written_down(
    idle: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("no space left")

    monkeypatch.setattr(audit_log, "add_audit", full)
    with pytest.raises(RefusedError, match="sample brings no new session"):
        idle.submit(small(kind="season", start=None, end=None), ANNA)


def test_a_key_of_origins_that_was_cut_off_is_made_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "_keys", {})
    path = audit_log.key_path(store.path)
    path.write_bytes(b"")
    first = audit_log.origin_of(store, "address 203.0.113.1")
    assert len(path.read_bytes()) == audit_log.KEY_BYTES
    monkeypatch.setattr(audit_log, "_keys", {})
    assert audit_log.origin_of(store, "address 203.0.113.1") == first


def test_a_job_that_cannot_be_read_any_more_does_not_keep_the_service_from_starting(
    store: Store, idle: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = idle.submit(small(), Visitor("aaaa"))
    idle._worker._update(job, status="running")

    def unreadable(*_: object) -> None:
        raise StoreError("the folder of prices cannot be read")

    monkeypatch.setattr("arena.runner.job_worker.to_spec", unreadable)
    idle._worker.recover()
    assert jobs_reader.job(store, job)["status"] == "interrupted"


def test_a_job_that_ends_the_process_at_the_same_place_is_not_begun_for_ever(store: Store, idle: Jobs) -> None:
    job = idle.submit(small(), ANNA)
    found = []
    for n_done in (1, 1, 2, 2, 2):
        idle._worker._update(job, status="running", n_done=n_done)
        Jobs(store, "sample")._worker.recover()
        found.append(jobs_reader.job(store, job)["status"])
    # It got on from the first to the second decision; at the second the third end is the last.
    assert found == ["queued"] * 4 + ["interrupted"]
    assert [a for _, a, _, _ in audit(store)] == ["launch"] + ["goes on"] * 4
