"""Ad-hoc runs go when their time is over, with all that was theirs and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.core.clock import utc_now
from arena.core.errors import ConfigError, StoreError
from arena.runner import workbench
from arena.runner.jobs import Jobs
from arena.store import jobs_reader, reader
from arena.store.head import read_head
from arena.store.store import Store, open_store
from tests.runner.made_jobs import ADMIN, ANNA, audit, ended, small

TABLES = (
    "runs", "decisions", "calls", "blobs", "contexts", "fills", "equity", "account_summary", "memory",
    "attempts",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "w.duckdb") as opened:
        yield opened


@pytest.fixture
def jobs(store: Store) -> Iterator[Jobs]:
    found = Jobs(store, "sample")
    found.start()
    yield found
    found.stop(30)


def counts(store: Store) -> dict[str, int]:
    with store.cursor() as cur:
        found = {}
        for table in TABLES:
            cur.execute(f"SELECT count(*) FROM {table}")
            found[table] = cur.fetchall()[0][0]
        return found


def in_days(days: float) -> object:
    return utc_now() + timedelta(days=days)


def test_an_expired_run_leaves_what_others_share(store: Store, jobs: Jobs) -> None:
    kept = ended(store, jobs.submit(small(agents=("investor", "vanilla")), ADMIN))
    before = counts(store)
    # Two of its four days are those of the run that stays: the same contexts, other decisions.
    gone = ended(
        store,
        jobs.submit(small(agents=("investor",), start=date(2025, 8, 6), end=date(2025, 8, 9), seed=1), ANNA),
    )
    both = counts(store)
    assert (both["decisions"] - before["decisions"], both["contexts"] - before["contexts"]) == (4, 2)
    assert workbench.sweep(store, in_days(6.9)) == []
    assert workbench.sweep(store, in_days(7.1)) == [gone["run"]]
    assert counts(store) == before
    assert reader.runs(store)["run"].tolist() == [kept["run"]]
    assert check_store(store).findings == []
    head = read_head(store.path)
    assert head is not None
    assert {t.split(":")[0] for t in head["heads"]} == {kept["run"]}  # type: ignore[union-attr]
    assert head["n_decisions"] == before["decisions"]
    assert audit(store)[-1][:3] == ("host", "delete", "")


def test_a_run_that_a_job_is_at_stays(store: Store) -> None:
    jobs = Jobs(store, "sample")
    jobs.start()
    job = jobs.submit(small(), ANNA)
    ended(store, job)
    jobs.stop(30)
    jobs._worker._update(job, status="running")
    assert workbench.sweep(store, in_days(8)) == []
    with pytest.raises(ConfigError, match="A job is at"):
        workbench.delete(store, str(jobs_reader.job(store, job)["run"]), ADMIN)


def test_all_epochs_go_together_and_only_for_the_admin(store: Store, jobs: Jobs) -> None:
    run = str(ended(store, jobs.submit(small(epochs=2), ANNA))["run"])
    with pytest.raises(ConfigError, match="needs the admin"):
        jobs.delete(run, ANNA)
    assert jobs.delete(run, ADMIN) == [run, run.replace("-e1", "-e2")]
    assert sum(counts(store).values()) == 0
    assert check_store(store).n_breaches == 0


def test_an_official_run_is_never_deleted(store: Store, jobs: Jobs) -> None:
    run = str(ended(store, jobs.submit(small(), ADMIN))["run"])
    store.update_run(run, workbench=False, expires_at_utc=in_days(-1))
    assert workbench.sweep(store, in_days(0)) == []
    with pytest.raises(ConfigError, match="no ad-hoc run"):
        jobs.delete(run, ADMIN)
    with pytest.raises(ConfigError, match="Unknown run"):
        jobs.delete("replay-0000000000-e1", ADMIN)
    assert len(reader.runs(store)) == 1


def test_a_delete_that_fails_changes_nothing(
    store: Store, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(ended(store, jobs.submit(small(), ADMIN))["run"])
    before = counts(store)

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(store._engine.writer._head, "write", full)
    with pytest.raises(StoreError, match="no space left"):
        jobs.delete(run, ADMIN)
    monkeypatch.undo()
    assert store._engine.writer._head.heads
    assert counts(store) == before
    assert check_store(store).n_breaches == 0


def test_the_store_opens_clean_after_a_deletion(store: Store, jobs: Jobs) -> None:
    run = str(ended(store, jobs.submit(small(), ADMIN))["run"])
    ended(store, jobs.submit(small(seed=1), ADMIN))
    jobs.delete(run, ADMIN)
    jobs.stop(30)
    store.close()
    with open_store(store.path) as again:
        assert check_store(again).findings == []
