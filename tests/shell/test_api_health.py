"""`/api/health`: one word, the reasons behind it, and nothing that only the host may know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from arena.core.hashing import canonical_json
from arena.core.season import OPEN_END
from arena.runner import liveness
from arena.runner.service import ServiceState
from arena.shell import api
from arena.store.damage import StoreTrouble
from arena.store.store import Store, open_store
from tests.ui import made_store
from tests.ui.made_store import MODELS_RUN

SVG = "{http://www.w3.org/2000/svg}"
NOW = datetime(2025, 9, 3, 12, tzinfo=UTC)


def test_health_of_an_owner_at_rest(client: TestClient, state: ServiceState) -> None:
    answer = client.get("/api/health").json()
    store = state.store
    assert store is not None
    assert answer["store_id"] == store.store_id
    # The newest run's last slot: session 5 August, so 00:05 UTC on the 6th; 28 days and 11:55 h before
    # noon of 3 September. Two of its eight decisions timed out.
    assert answer["last_round"] == {
        "run": MODELS_RUN, "as_of_utc": "2025-08-06T00:05:00+00:00",
        "age_s": 28 * 86_400 + 11 * 3_600 + 55 * 60.0, "n_decisions": 8, "n_failed": 2,
    }  # fmt: skip
    assert (answer["status"], answer["reasons"]) == ("degraded", ["round_failed"])
    assert answer["next_due_utc"] is None


def test_health_names_no_path_and_no_message(client: TestClient, state: ServiceState) -> None:
    state.say("error", "The store `/srv/arena/data/live.duckdb` is damaged: sk-abcdefghijklmnopq")
    reply = client.get("/api/health")
    assert (reply.status_code, reply.json()["status"]) == (503, "paused")
    assert reply.json()["reasons"][0] == "worker_failed"
    assert "/srv" not in reply.text
    assert "sk-" not in reply.text


def test_health_without_a_store_that_opens_is_paused(
    client: TestClient, state: ServiceState
) -> None:
    assert state.store is not None
    state.store.close()
    state.store = None
    state.say("error", "damaged")
    reply = client.get("/api/health")
    assert (reply.status_code, reply.json()["reasons"]) == (503, ["no_store"])


def test_health_of_a_viewer(client: TestClient, state: ServiceState, made: Path) -> None:
    assert state.store is not None
    state.store.close()
    state.store = open_store(made, read=True)
    reply = client.get("/api/health")
    assert (reply.status_code, reply.json()["status"]) == (200, "viewer")


def test_a_visitors_failures_are_no_state_of_the_arena(
    client: TestClient, state: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = liveness.reader.runs
    monkeypatch.setattr(
        liveness.reader, "runs",
        lambda store: (runs := real(store)).assign(workbench=runs["run"] == MODELS_RUN),
    )  # fmt: skip
    answer = client.get("/api/health").json()
    assert answer["last_round"]["run"] != MODELS_RUN
    assert (answer["status"], answer["reasons"]) == ("ok", [])


def test_health_says_low_disk_and_dead_sources(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "FREE_BYTES", 10**18)
    monkeypatch.setattr(
        liveness.news_reader, "source_health",
        lambda _: [{"source": s, "status": "error", "at_utc": NOW} for s in "ab"],
    )  # fmt: skip
    answer = client.get("/api/health").json()
    assert answer["reasons"] == ["round_failed", "sources_fail", "disk_low"]
    assert answer["sources"][1] == {"source": "b", "status": "error", "at_utc": NOW.isoformat()}


def test_health_says_how_far_the_data_are_safe(client: TestClient) -> None:
    # 40 decisions of the models' run and 10 of each other, and no copy of any.
    assert client.get("/api/health").json()["safe"] == {
        "until_utc": None, "where": None, "n_decisions_since": 60, "upload_ok": None,
    }  # fmt: skip


def test_health_passes_on_what_the_runner_knows_as_fixed_words(
    client: TestClient, state: ServiceState
) -> None:
    trouble = StoreTrouble("full", "3 MB are free at /srv/arena.", "Make room.")
    hook, live = SimpleNamespace(trouble="answered 404"), SimpleNamespace(troubles={"live-1": "no key"})
    state.ticker = SimpleNamespace(  # type: ignore[assignment]
        paused=None, keeper=SimpleNamespace(trouble=None), live=live,
        follower=SimpleNamespace(webhook=hook),
    )  # fmt: skip
    reply = client.get("/api/health")
    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert reply.json()["reasons"][:2] == ["season_waits", "webhook_fails"]
    state.ticker.keeper.trouble, state.ticker.paused = trouble, str(trouble)  # type: ignore[union-attr,misc]
    paused = client.get("/api/health")
    assert (paused.status_code, paused.json()["status"]) == (503, "paused")
    assert paused.json()["reasons"][:2] == ["paused", "store_full"]
    assert "/srv" not in paused.text


def live_store(path: Path) -> Store:
    """A live run of two coins whose newest decisions are those of the session of 5 August."""
    store = open_store(path)
    made_store.ground(store)
    made_store.write_run(store, "live-00000000dd-e1", {("trade", "m-one"): (101_000.0, 99_000.0)})
    spec = made_store.spec("live").model_copy(update={"end": OPEN_END})
    store.update_run(
        "live-00000000dd-e1", kind="live", status="running",
        spec_json=canonical_json(spec.model_dump(mode="json")),
    )  # fmt: skip
    return store


@pytest.mark.parametrize(
    ("hours", "late_s"),
    # The slot after the newest is 00:05 on 7 August; it is missed when 2.5 h have passed.
    [(0.0, None), (24 + 2.4, None), (24 + 2.6, 2.6 * 3600)],
)
def test_health_of_a_live_run(
    client: TestClient, state: ServiceState, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    hours: float, late_s: float | None,
) -> None:  # fmt: skip
    now = datetime(2025, 8, 6, 0, 5, tzinfo=UTC) + timedelta(hours=hours)
    monkeypatch.setattr(api, "utc_now", lambda: now)
    assert state.store is not None
    state.store.close()
    state.store = live_store(tmp_path / "live.duckdb")
    answer = client.get("/api/health").json()
    assert answer["live_runs"] == ["live-00000000dd-e1"]
    assert answer["overdue_s"] == late_s
    assert ("round_overdue" in answer["reasons"]) == (late_s is not None)
    day = 7 if hours == 0 else 8
    assert answer["next_due_utc"] == f"2025-08-{day:02}T00:05:00+00:00"


# Badges
