"""A visitor's own key pays for their run and is written nowhere; a budget stops a run with what it did."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from arena.core.rows import TABLES
from arena.core.rows_host import HOST_TABLES
from arena.llm.gateway import load_litellm
from arena.llm.registry import known_models
from arena.llm.roster import roster
from arena.runner.asker import RefusedError
from arena.runner.jobs import Jobs
from arena.store import jobs_reader, reader
from arena.store.export import export
from arena.store.store import Store, open_store
from tests.llm.mock_provider import Asked, MockProvider, Say
from tests.runner.made_jobs import ADMIN, ANNA, BEN, ended, small

OWN = "own-key-of-a-visitor-31415926"
MODELS = """
[[model]]
id = "offline/trend"
label = "Trend"
kind = "stand_in"

[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0
"""
USAGE = (1_000, 100)  # 1,000 x 10 + 100 x 50 millionths: 0.015 USD a call


def repeats_the_key(asked: Asked, n: int) -> Say:
    """Every third answer quotes the key, as some providers' errors do."""
    if n % 3 == 2:
        return Say(text=f"your key is {asked.headers['authorization']}", usage=USAGE)
    return Say(usage=USAGE)


@pytest.fixture
def mock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockProvider]:
    with MockProvider(repeats_the_key) as provider:
        path = tmp_path / "models.toml"
        path.write_text(MODELS.format(url=provider.url))
        monkeypatch.setenv("ARENA_MODELS", str(path))
        monkeypatch.delenv("MOCK_API_KEY", raising=False)
        roster.cache_clear()
        known_models.cache_clear()
        yield provider
    monkeypatch.undo()
    roster.cache_clear()
    known_models.cache_clear()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "k.duckdb") as opened:
        yield opened


@pytest.fixture
def jobs(store: Store) -> Iterator[Jobs]:
    found = Jobs(store, "sample")
    found.start()
    yield found
    found.stop(30)


def priced(**fields: Any) -> Any:
    return small(models=("mock/priced",), end=date(2025, 8, 9), **fields)


def everything(store: Store) -> str:
    """Every value of every table."""
    text = []
    with store.cursor() as cur:
        for kind in (*TABLES, *HOST_TABLES):
            cur.execute(f"SELECT * FROM {kind.TABLE}")
            text.append(str(cur.fetchall()))
    return "".join(text)


def test_the_key_pays_and_is_nowhere_afterwards(
    store: Store, jobs: Jobs, mock: MockProvider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    row = ended(store, jobs.submit(priced(budget_usd=5.0), ANNA, {"MOCK_API_KEY": OWN}))
    assert row["status"] == "done", row["error"]
    assert {a.headers["authorization"] for a in mock.asked} == {f"Bearer {OWN}"}
    # Six days; an answer that quotes the key is sent back, and comes back better.
    assert len(mock.asked) > 6
    assert row["spent_usd"] == pytest.approx(len(mock.asked) * 0.015)
    found = everything(store)
    assert "[secret]" in found
    assert OWN not in found
    assert '"own_keys":["MOCK_API_KEY"]' in row["request_json"]
    export(store, tmp_path / "out", with_timing=True)
    store.snapshot()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or OWN.encode() not in path.read_bytes(), path
    assert OWN not in caplog.text
    assert OWN not in str(dict(os.environ))
    while jobs._worker._own_keys:  # let go of when the job's end is written down already
        time.sleep(0.01)
    time.sleep(0.2)
    assert OWN not in str(load_litellm().in_memory_llm_clients_cache.cache_dict)


def test_a_refusal_that_quotes_the_key_is_stored_without_it(
    store: Store, jobs: Jobs, mock: MockProvider
) -> None:
    # Explained on the loop of the gateway, in another thread than the job's.
    body = f'{{"error": {{"message": "Incorrect API key provided: {OWN}.", "code": "invalid_api_key"}}}}'
    mock.script = lambda _asked, _n: Say(status=401, raw=body.encode())
    ended(store, jobs.submit(priced(budget_usd=5.0), ANNA, {"MOCK_API_KEY": OWN}))
    found = everything(store)
    assert "Incorrect API key provided: [secret]" in found
    assert OWN not in found


def test_nobody_spends_the_hosts_key_but_its_admin(
    store: Store, jobs: Jobs, mock: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_API_KEY", "key-of-the-host-271828")
    with pytest.raises(RefusedError, match="needs the admin or a key of your own"):
        jobs.submit(priced(budget_usd=5.0), ANNA)
    with pytest.raises(RefusedError, match="what your own key may spend"):
        jobs.submit(priced(), ANNA, {"MOCK_API_KEY": OWN})
    assert mock.asked == []
    assert ended(store, jobs.submit(priced(budget_usd=5.0), ADMIN))["status"] == "done"
    assert {a.headers["authorization"] for a in mock.asked} == {"Bearer key-of-the-host-271828"}


def test_a_budget_stops_the_run_with_a_part_and_more_money_finishes_it(
    store: Store, jobs: Jobs, mock: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_API_KEY", "key-of-the-host-271828")
    mock.script = lambda _asked, _n: Say(usage=USAGE)
    # The worst case of a call is some cents: a few fit, six do not.
    job = jobs.submit(priced(budget_usd=0.14), ADMIN)
    row = ended(store, job)
    assert row["status"] == "stopped"
    assert "of 0.14 USD are spent or set aside" in row["error"]
    n_before, decided = len(mock.asked), len(reader.decisions(store, row["run"]))
    assert 0 < decided < 6
    assert row["n_done"] == decided
    assert row["spent_usd"] == pytest.approx(n_before * 0.015)
    assert row["spent_usd"] <= 0.14
    assert reader.runs(store)["note"].str.startswith("budget_stop").all()
    with pytest.raises(RefusedError):
        jobs.again(job, BEN, budget_usd=5.0)
    jobs.again(job, ADMIN, budget_usd=5.0)
    row = ended(store, job)
    assert (row["status"], row["n_done"], row["error"]) == ("done", 6, None)
    # Nothing was asked twice: one call a day.
    assert len(mock.asked) == 6


def test_a_run_on_an_own_key_does_not_outlive_the_process(
    store: Store, mock: MockProvider
) -> None:
    first = Jobs(store, "sample")
    job = first.submit(priced(budget_usd=5.0), ANNA, {"MOCK_API_KEY": OWN})
    later = Jobs(store, "sample")
    later.start()
    row = ended(store, job)
    assert row["status"] == "interrupted"
    assert "MOCK_API_KEY was kept in memory only" in row["error"]
    assert mock.asked == []
    with pytest.raises(RefusedError, match="a key of your own"):
        later.again(job, ANNA)
    later.again(job, ANNA, own_keys={"MOCK_API_KEY": OWN})
    while (row := ended(store, job))["status"] == "interrupted":
        continue
    later.stop(30)
    assert row["status"] == "done"
    assert jobs_reader.spent_usd(store, [row["run"]]) > 0
