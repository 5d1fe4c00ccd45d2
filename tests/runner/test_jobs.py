"""The queue: what is launched, stopped, taken up again, refused, and what survives a restart."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.audit.check import check_store
from arena.core.errors import ConfigError, UnknownNameError
from arena.runner import audit_log, job_run
from arena.runner.asker import Admin, RefusedError, Visitor
from arena.runner.jobs import Jobs, Refusal
from arena.store import jobs_reader, reader
from arena.store.store import Store, open_store
from tests.runner.made_jobs import ADMIN, ANNA, BEN, audit, ended, small


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    audit_log._refused_at_s.clear()
    with open_store(tmp_path / "j.duckdb") as opened:
        yield opened


@pytest.fixture
def idle(store: Store) -> Jobs:
    """A queue that nobody works off."""
    return Jobs(store, "sample")


@pytest.fixture
def working(store: Store) -> Iterator[Jobs]:
    jobs = Jobs(store, "sample")
    jobs.start()
    yield jobs
    jobs.stop(30)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Runs wait after their first tick until the event is set or they are stopped."""
    go_on = threading.Event()
    run_replay = job_run.run_replay

    def waiting(*args: Any, **options: Any) -> Any:
        tell, stop = options["progress"], options["stop"]

        def progress(tick: Any) -> None:
            tell(tick)
            while not go_on.wait(0.01) and not stop.is_set():
                pass

        return run_replay(*args, **{**options, "progress": progress})

    monkeypatch.setattr(job_run, "run_replay", waiting)
    return go_on


def test_a_visitors_job_runs_and_its_run_is_marked_and_expires(store: Store, working: Jobs) -> None:
    row = ended(store, working.submit(small(epochs=2), ANNA))
    # 4 days of one coin, one entry, two epochs.
    assert (row["status"], row["n_done"], row["n_planned"]) == ("done", 8, 8)
    assert row["spent_usd"] == 0.0
    runs = reader.runs(store)
    assert sorted(runs["epoch"]) == [1, 2]
    assert runs["workbench"].all()
    lasts = (runs["expires_at_utc"] - runs["created_at_utc"]).dt.total_seconds() / 86_400
    assert lasts.round(2).tolist() == [7.0, 7.0]
    assert [(w, a, o) for w, a, o, _ in audit(store)] == [("visitor", "launch", "aaaa")]
    assert check_store(store).n_breaches == 0


def test_an_admins_run_is_kept_also_where_a_visitor_made_it_first(store: Store, working: Jobs) -> None:
    ended(store, working.submit(small(), ANNA))
    ended(store, working.submit(small(), ADMIN))
    runs = reader.runs(store)
    assert len(runs) == 1
    assert runs["workbench"].tolist() == [True]
    assert runs["expires_at_utc"].isna().all()


def test_new_makes_another_run_and_the_job_remembers_which(store: Store, working: Jobs) -> None:
    first = ended(store, working.submit(small(), ADMIN))
    again = ended(store, working.submit(small(), ADMIN, new=True))
    assert first["run"] != again["run"]
    assert '"ordinal":2' in again["request_json"]


def test_jobs_wait_for_each_other_the_oldest_first(store: Store, idle: Jobs) -> None:
    names = [idle.submit(small(seed=n), ADMIN) for n in range(3)]
    assert [j["job"] for j in jobs_reader.open_jobs(store)] == names
    idle.start()
    rows = [ended(store, name) for name in names]
    idle.stop(30)
    began = [r["started_at_utc"] for r in rows]
    assert began == sorted(began)
    assert all(a["finished_at_utc"] <= b["started_at_utc"] for a, b in pairwise(rows))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"models": ("gpt-4.1",)}, "needs the admin or a key of your own for OPENAI_API_KEY"),
        ({"models": ("local/smollm2-135m",)}, "needs the admin"),
        ({"start": date(2025, 5, 1), "end": date(2025, 8, 29)}, "at most 120 days"),
        ({"epochs": 3}, "at most 2 epochs"),
        ({"agents": ("deepfund", "deepfund-planner", "hedge", "investor", "trade", "vanilla")}, "at most 5 agents"),
    ],
)
def test_what_a_visitor_may_not_is_refused_and_audited(
    store: Store, idle: Jobs, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        idle.submit(small(**fields), ANNA)
    assert jobs_reader.jobs(store) == []
    [(who, action, origin, detail)] = audit(store)
    assert (who, action, origin) == ("visitor", "refused", "aaaa")
    assert words in detail


def test_120_days_are_allowed(store: Store, idle: Jobs) -> None:
    # 1 May to 28 August: 31 + 30 + 31 + 28 = 120 days.
    assert idle.submit(small(start=date(2025, 5, 1), end=date(2025, 8, 28)), ANNA)


def test_one_at_a_time_and_three_of_all_visitors(
    store: Store, idle: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle.submit(small(seed=1), ANNA)
    with pytest.raises(RefusedError, match="You have a run under way"):
        idle.submit(small(seed=2), ANNA)
    idle.submit(small(seed=3), BEN)
    idle.submit(small(seed=4), Visitor("dddd"))
    with pytest.raises(RefusedError, match="3 runs of visitors are waiting"):
        idle.submit(small(seed=5), Visitor("eeee"))
    idle.submit(small(seed=6), ADMIN)
    assert len(jobs_reader.open_jobs(store)) == 4
    monkeypatch.setenv("ARENA_VISITOR_QUEUE", "0")
    with pytest.raises(RefusedError, match="closed to visitors"):
        idle.submit(small(seed=7), Visitor("ffff"))


def test_two_clicks_at_once_find_one_place(store: Store, idle: Jobs) -> None:
    refused: list[str] = []

    def click(n: int) -> None:
        try:
            idle.submit(small(seed=n), ANNA)
        except RefusedError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=click, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs_reader.open_jobs(store)) == 1
    assert len(refused) == 5


def test_a_visitor_cannot_go_on_with_an_official_run(store: Store, working: Jobs) -> None:
    row = ended(store, working.submit(small(), ADMIN))
    store.update_run(row["run"], workbench=False)
    with pytest.raises(RefusedError, match="is there already: open it instead"):
        working.submit(small(strategies=("pyramid_exit",)), ANNA)


def test_a_proof_that_no_longer_holds_is_no_proof(store: Store, idle: Jobs) -> None:
    holds = [True]
    signed_in = Admin("cccc", lambda: holds[0])
    job = idle.submit(small(), signed_in)
    holds[0] = False
    with pytest.raises(RefusedError, match="no longer signed in"):
        idle.submit(small(seed=1), signed_in)
    with pytest.raises(RefusedError, match="no longer signed in"):
        idle.ask_stop(job, signed_in)
    assert [a for _, a, _, _ in audit(store)] == ["launch", "refused", "refused"]


def test_what_is_wrong_comes_by_field(store: Store, idle: Jobs) -> None:
    wrong = small(agents=("vanila",), assets=("TSLA",), end=date(2099, 1, 1))
    with pytest.raises(Refusal) as caught:
        idle.submit(wrong, ADMIN)
    assert set(caught.value.problems) == {"agents", "assets", "window"}
    assert "Did you mean `vanilla`" in caught.value.problems["agents"]
    assert "Known: HELIQUA" in caught.value.problems["assets"]


def test_a_running_job_stops_with_what_it_did_and_goes_on_from_there(
    store: Store, working: Jobs, slow: threading.Event
) -> None:
    job = working.submit(small(end=date(2025, 8, 13)), ANNA)
    while jobs_reader.job(store, job)["n_done"] == 0:
        slow.wait(0.01)
    with pytest.raises(RefusedError, match="not yours"):
        working.ask_stop(job, BEN)
    working.ask_stop(job, ANNA)
    row = ended(store, job)
    assert (row["status"], row["error"]) == ("stopped", "stopped as asked")
    assert 0 < row["n_done"] < row["n_planned"] == 10
    kept = reader.decisions(store, row["run"])["decision"].tolist()
    slow.set()
    with pytest.raises(RefusedError, match="not yours"):
        working.again(job, BEN)
    working.again(job, ANNA)
    row = ended(store, job)
    assert (row["status"], row["n_done"], row["error"]) == ("done", 10, None)
    after = reader.decisions(store, row["run"])["decision"].tolist()
    assert after[: len(kept)] == kept
    assert len(after) == 10
    with pytest.raises(ConfigError, match="only what did not end well"):
        working.again(job, ANNA)


def test_a_waiting_job_is_stopped_at_once(store: Store, idle: Jobs) -> None:
    job = idle.submit(small(), ANNA)
    idle.ask_stop(job, ADMIN)
    assert jobs_reader.job(store, job)["status"] == "stopped"
    with pytest.raises(ConfigError, match="stopped already"):
        idle.ask_stop(job, ANNA)
    with pytest.raises(UnknownNameError):
        idle.ask_stop("job-none", ANNA)


def test_what_fails_says_why_and_can_be_retried(store: Store, working: Jobs) -> None:
    # Of 260 bars before this day the sample has none.
    job = working.submit(small(start=date(2019, 6, 3), end=date(2019, 6, 5)), ANNA)
    row = ended(store, job)
    assert row["status"] == "failed"
    assert "has no prices up to 2019-06-05" in row["error"]
    working.again(job, ANNA)
    assert ended(store, job)["status"] == "failed"


def test_progress_is_told_once_a_second_at_most(
    store: Store, working: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(
        working._worker, "_tell", lambda _job, now: told.append(now.n_done)
    )
    row = ended(store, working.submit(small(end=date(2025, 8, 23)), ADMIN))
    assert row["status"] == "done"
    # Reading prices, the first tick, the end; and whatever seconds a slow machine takes in between.
    assert told[0] == 0
    assert told[-1] == 20
    took_s = (row["finished_at_utc"] - row["started_at_utc"]).total_seconds()
    assert len(told) <= 3 + took_s


def test_a_free_job_goes_on_after_the_process_ended(
    store: Store, idle: Jobs, slow: threading.Event, tmp_path: Path
) -> None:
    idle.start()
    job = idle.submit(small(end=date(2025, 8, 13)), ANNA)
    while jobs_reader.job(store, job)["n_done"] == 0:
        slow.wait(0.01)
    idle.stop(30)
    row = jobs_reader.job(store, job)
    assert row["status"] == "interrupted"
    slow.set()
    later = Jobs(store, "sample")
    later.start()
    assert ended_as(store, job, "done")["n_done"] == 10
    later.stop(30)


def ended_as(store: Store, job: str, status: str) -> dict[str, Any]:
    while True:
        row = ended(store, job)
        if row["status"] == status:
            return row


def test_a_killed_process_leaves_running_and_the_next_start_sorts_it_out(
    store: Store, idle: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("ARENA_NETWORK", "on")
    free = idle.submit(small(), ANNA)
    paid = idle.submit(small(models=("gpt-4.1",), budget_usd=1.0), ADMIN)
    for job in (free, paid):
        idle._worker._update(job, status="running")
    Jobs(store, "sample")._worker.recover()
    rows = {name: jobs_reader.job(store, name) for name in (free, paid)}
    assert (rows[free]["status"], rows[free]["step"]) == ("queued", "goes on after a restart")
    assert (rows[paid]["status"], rows[paid]["error"]) == ("interrupted", "The process ended while this ran.")
    # A second start leaves it alone: it waits for an admin.
    Jobs(store, "sample")._worker.recover()
    assert jobs_reader.job(store, paid)["status"] == "interrupted"
    with pytest.raises(RefusedError, match="not yours"):
        idle.again(paid, ANNA)
    idle.again(paid, ADMIN, budget_usd=2.0)
    assert jobs_reader.job(store, paid)["budget_usd"] == 2.0


def test_a_season_is_enrolled_by_the_admin_with_a_bound_on_every_day(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("ARENA_NETWORK", "on")
    jobs = Jobs(store, "live")
    wanted = small(
        kind="season", start=None, end=None, models=("gpt-6-luna",), assets=("BTC",), budget_usd=5.0
    )
    with pytest.raises(ConfigError, match="budget per day"):
        jobs.submit(wanted, ADMIN)
    wanted = wanted.model_copy(update={"budget_day_usd": 0.25})
    with pytest.raises(RefusedError, match="Enrolling a live season needs the admin"):
        jobs.submit(wanted, ANNA)
    job = jobs_reader.job(store, jobs.submit(wanted, ADMIN))
    assert job["status"] == "done"
    [season] = jobs_reader.seasons(store)
    assert season["run"] == job["run"]
    assert season["run"].startswith("live-")
    assert (season["budget_day_usd"], season["budget_usd"], season["ended_at_utc"]) == (0.25, 5.0, None)
    assert season["enrolled_by"] == "admin"
    assert '"end":"2100-12-31"' in season["spec_json"]
    with pytest.raises(ConfigError, match="enrolled already"):
        jobs.submit(wanted, ADMIN)
    assert [(w, a) for w, a, _, _ in audit(store)] == [("visitor", "refused"), ("admin", "enrol")]


def test_the_sample_has_no_live_season(store: Store, idle: Jobs) -> None:
    with pytest.raises(ConfigError, match="ARENA_DATA=live"):
        idle.submit(small(kind="season", start=None, end=None), ADMIN)


def test_refusals_are_bounded(store: Store, idle: Jobs) -> None:
    for _ in range(audit_log.MOST_REFUSALS + 10):
        with pytest.raises(RefusedError):
            idle.submit(small(kind="season"), ANNA)
    assert len(audit(store)) == audit_log.MOST_REFUSALS


def test_an_origin_is_a_keyed_hash_and_the_key_is_in_no_copy(store: Store, tmp_path: Path) -> None:
    one, two = (audit_log.origin_of(store, f"address 203.0.113.{n}") for n in (1, 2))
    assert one == audit_log.origin_of(store, "address 203.0.113.1") != two
    assert len(one) == 16
    path = audit_log.key_path(store.path)
    assert path.stat().st_mode & 0o077 == 0
    with open_store(tmp_path / "other.duckdb") as other:
        assert audit_log.origin_of(other, "address 203.0.113.1") != one


def test_progress_does_not_change_the_data_version(store: Store, idle: Jobs) -> None:
    before = reader.data_version(store)
    job = idle.submit(small(), ANNA)
    idle._worker._update(job, n_done=1, step="x")
    idle.ask_stop(job, ANNA)
    assert reader.data_version(store) == before
