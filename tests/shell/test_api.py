"""The addresses for programs: the same rows as the command line, and nothing that only the host may know."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.cli import reading
from arena.core.errors import StoreError
from arena.core.rows import WriteUnit
from arena.runner import public_board
from arena.runner.service import ServiceState
from arena.shell import api
from arena.store.store import open_store
from tests.browser.harness import serve
from tests.ui import made_store
from tests.ui.made_store import HOSTILE, HOSTILE_RUN, MODELS_RUN, RULES_RUN

SVG = "{http://www.w3.org/2000/svg}"
NOW = datetime(2025, 9, 3, 12, tzinfo=UTC)


def rows(reply: httpx.Response) -> list[dict[str, Any]]:
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()
    return found


@pytest.mark.parametrize("by", ["entry", "account"])
def test_the_leaderboard_is_that_of_the_command_line(
    client: TestClient, made: Path, capsys: pytest.CaptureFixture[str], by: Any
) -> None:
    for options in ({}, {"run": RULES_RUN}, {"models": "m-one", "assets": "AAA", "strategies": "baseline"}):
        reading.leaderboard(made, by=by, fmt="json", **options)  # type: ignore[arg-type]
        said = json.loads(capsys.readouterr().out)
        assert rows(client.get("/api/leaderboard.json", params={"by": by, **options})) == said


def test_the_leaderboard_has_the_chosen_numbers(client: TestClient) -> None:
    found = rows(client.get("/api/leaderboard.json?strategies=baseline"))
    ranked = {r["entry"]: (r["rank"], round(r["metrics"]["CR"]["value"], 12)) for r in found}
    # Means of both coins over 100,000: 120,000; 100,000; 90,000; the stand-in has no rank.
    assert ranked == {
        "trade@m-one": (1, 0.2), "trade@m-two": (2, 0.0), "hedge@m-one": (3, -0.1),
        "trade@offline/trend": (None, 0.5), "buy_hold": (None, 0.0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("strategies=baselin", "Did you mean `baseline`?"),
        ("agents=nobody", "Unknown agent `nobody`"),
        ("models=x", "Unknown model `x`"),
        ("assets=ZZZ", "Known: AAA, BBB"),
        ("run=replay-x", "Unknown run `replay-x`"),
        ("by=colour", "Known: account, entry"),
        ("sort=CR", "Unknown parameter `sort`"),
        ("run=a&run=b", "each parameter once"),
    ],
)
def test_what_is_not_known_is_refused_in_words(client: TestClient, query: str, words: str) -> None:
    reply = client.get(f"/api/leaderboard.json?{query}")
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/json"
    assert words in reply.json()["error"]


def test_a_query_without_end_is_refused(client: TestClient) -> None:
    assert client.get("/api/leaderboard.json?agents=" + "x" * 2_001).status_code == 414


def test_nothing_is_written_by_any_address(client: TestClient) -> None:
    for path in ("/api/health", "/api/leaderboard.json", "/api/badge/a.svg", "/feed.xml"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert client.request(method, path).status_code == 405


def test_an_address_that_is_not_there_says_which_are(client: TestClient) -> None:
    reply = client.get("/api/leaderboard")
    assert (reply.status_code, "/api/leaderboard.json" in reply.json()["error"]) == (404, True)


@pytest.mark.parametrize("path", ["/api/leaderboard.json", "/api/badge/trade@m-one.svg", "/feed.xml"])
def test_a_copy_is_good_until_the_data_change(
    client: TestClient, state: ServiceState, path: str
) -> None:
    first = client.get(path)
    etag = first.headers["etag"]
    assert "max-age" in first.headers["cache-control"]
    for sent in (etag, f'W/{etag}, "other"'):
        again = client.get(path, headers={"If-None-Match": sent})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert state.store is not None
    state.store.update_run(RULES_RUN, note=f"changed for {path}")
    renewed = client.get(path, headers={"If-None-Match": etag})
    assert renewed.status_code == 200
    assert renewed.headers["etag"] != etag


def test_a_board_is_made_once_for_all_who_ask(
    state: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    real = public_board.board

    def slow(*words: Any, **more: Any) -> Any:
        made.append(1)
        time.sleep(0.05)
        return real(*words, **more)

    monkeypatch.setattr(public_board, "board", slow)

    async def eight() -> list[httpx.Response]:
        transport = httpx.ASGITransport(Starlette(routes=api.ROUTES))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as web:
            return await asyncio.gather(*(web.get("/api/leaderboard.json") for _ in range(8)))

    replies = asyncio.run(eight())
    assert {r.status_code for r in replies} == {200}
    assert len({r.content for r in replies}) == len(made) == 1


def test_a_slow_board_keeps_nobody_else_waiting(
    state: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    real = api.board_rows

    def held(*words: Any) -> Any:
        assert go_on.wait(20)
        return real(*words)

    monkeypatch.setattr(api, "board_rows", held)

    async def both() -> tuple[int, int]:
        transport = httpx.ASGITransport(Starlette(routes=api.ROUTES))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as web:
            board = asyncio.create_task(web.get("/api/leaderboard.json"))
            health = await web.get("/api/health")
            assert not board.done()
            go_on.set()
            return health.status_code, (await board).status_code

    assert asyncio.run(both()) == (200, 200)


def test_a_crowd_does_not_take_the_threads_of_the_pages(
    state: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    real = public_board.board

    def held(*words: Any, **more: Any) -> Any:
        assert go_on.wait(20)
        return real(*words, **more)

    assert state.store is not None
    public_board.board_rows(state.store, "account", RULES_RUN, {})
    monkeypatch.setattr(public_board, "board", held)

    async def crowd() -> tuple[list[int], int]:
        transport = httpx.ASGITransport(Starlette(routes=api.ROUTES))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as web:
            asked = [asyncio.create_task(web.get("/api/leaderboard.json")) for _ in range(20)]
            answers = asyncio.as_completed(asked)
            for _ in range(20 - public_board.MOST_WAITING):
                await next(answers)
            # One that is made already waits for none of them.
            known = await web.get(f"/api/leaderboard.json?by=account&run={RULES_RUN}")
            go_on.set()
            return sorted([(await task).status_code for task in asked]), known.status_code

    statuses, known = asyncio.run(crowd())
    assert statuses == [200] * 8 + [503] * 12
    assert known == 200
    public_board.board_rows(state.store, "entry", None, {})  # and all places are free again


def test_boards_that_are_kept_are_bounded_by_their_rows(
    state: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = state.store
    assert store is not None
    n = len(public_board.board_rows(store, "account", RULES_RUN, {}))
    monkeypatch.setattr(public_board, "MOST_ACCOUNTS", n + 1)
    public_board.board_rows(store, "entry", RULES_RUN, {})
    # Two boards of more rows together: the older one went, and the new one stays however large.
    assert [key[2] for key in public_board._kept] == ["entry"]


def test_too_many_accounts_are_not_worked_out(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 18 accounts of the models' run, 6 of the rule's, 6 of the import: 2 of Buy & Hold in each.
    monkeypatch.setattr(public_board, "MOST_ACCOUNTS", 29)
    reply = client.get("/api/leaderboard.json?run=all")
    assert reply.status_code == 400
    assert "3 runs with 30 accounts" in reply.json()["error"]
    assert client.get(f"/api/leaderboard.json?run={MODELS_RUN}").status_code == 200


def test_before_there_is_anything_to_show(
    client: TestClient, state: ServiceState, tmp_path: Path
) -> None:
    store, state.store = state.store, None
    assert client.get("/api/leaderboard.json").status_code == 503
    starting = client.get("/api/health")
    assert (starting.status_code, starting.json()["reasons"]) == (200, ["starting"])
    assert store is not None
    store.close()
    state.store = open_store(tmp_path / "empty.duckdb")
    assert client.get("/api/leaderboard.json").status_code == 404
    assert client.get("/api/leaderboard.json?run=all").status_code == 404
    assert client.get("/feed.xml").status_code == 404
    assert client.get("/api/badge/trade@m-one.svg").status_code == 404
    assert client.get("/api/health").json()["last_round"] is None


@pytest.mark.parametrize(
    ("error", "status"), [(StoreError("The store `/srv/x/live.duckdb` is closed."), 503), (RuntimeError("sk-12345678901234"), 500)],
)  # fmt: skip
def test_a_failure_says_neither_path_nor_key(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    error: Exception, status: int,
) -> None:  # fmt: skip
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(api, "liveness", fail)
    with caplog.at_level(logging.WARNING, "arena.api"):
        reply = client.get("/api/health")
    assert reply.status_code == status
    assert set(reply.json()) == {"error"}
    assert "srv" not in reply.text
    assert "sk-" not in reply.text
    assert caplog.records


def test_without_a_name_the_first_to_show_is_shown(
    client: TestClient, state: ServiceState, tmp_path: Path
) -> None:
    """Live with accounts, then replays, then ad-hoc runs; a live run that has just begun is not the one."""
    assert state.store is not None
    state.store.close()
    state.store = store = open_store(made_store.build(tmp_path / "s.duckdb"))

    def shown() -> str:
        boards = rows(client.get("/api/leaderboard.json"))
        feed = ET.fromstring(client.get("/feed.xml").text).findtext("channel/title") or ""
        (run,) = {r["run"] for r in boards}
        assert feed.endswith(run)
        return run

    assert shown() == MODELS_RUN
    store.update_run(MODELS_RUN, workbench=True)
    assert shown() in (RULES_RUN, HOSTILE_RUN)
    fresh = made_store.run_row("live-00000000ee-e1", made_store.spec("live"), day=2)
    store.write([WriteUnit(rows=(fresh,))])
    assert shown() in (RULES_RUN, HOSTILE_RUN)
    made_store.write_run(store, "live-00000000ff-e1", {("trade", "m-one"): (101_000.0, 99_000.0)})
    store.update_run("live-00000000ff-e1", kind="live")
    assert shown() == "live-00000000ff-e1"


# Health


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    assert {e.tag for e in root.iter()} == {SVG + t for t in ("svg", "title", "rect", "g", "text")}
    return [e.text or "" for e in root.iter(SVG + "text")]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("trade@m-one", "#1 of 3 · +20.0 %"),
        ("trade@m-two", "#2 of 3 · 0.0 %"),
        ("hedge@m-one", "#3 of 3 · −10.0 %"),
        ("trade@offline%2Ftrend", "+50.0 % · stand-in"),
        ("buy_hold", None),
    ],
)
def test_badge(client: TestClient, entry: str, words: str | None) -> None:
    reply = client.get(f"/api/badge/{entry}.svg")
    assert reply.headers["content-type"] == "image/svg+xml"
    assert reply.status_code == (200 if words else 404)
    label = entry.replace("%2F", "/")
    assert texts(reply.text) == [label, words or "not found"]


def test_badge_of_another_strategy_and_run(client: TestClient) -> None:
    # `flip_on_reversal` ends 1,000 lower each: 119,000 on average.
    flip = client.get("/api/badge/trade@m-one.svg?strategy=flip_on_reversal")
    assert texts(flip.text)[1] == "#1 of 3 · +19.0 %"
    rule = client.get(f"/api/badge/trade@offline/trend.svg?run={RULES_RUN}")
    assert texts(rule.text)[1] == "#1 of 1 · +50.0 % · stand-in"
    assert client.get("/api/badge/trade@m-one.svg?run=nope").status_code == 404
    assert client.get("/api/badge/trade@m-one.svg?strategy=nope").status_code == 404


def test_badge_of_a_hostile_name_is_text(client: TestClient) -> None:
    name = '"><script>alert(1)</script>'
    reply = client.get(f"/api/badge/{name}.svg")
    assert reply.status_code == 404
    assert texts(reply.text)[0] == name
    own = client.get(f"/api/badge/{HOSTILE}@{HOSTILE}.svg?run={HOSTILE_RUN}")
    assert own.status_code == 200
    # 120,000 and 90,000: +5 % on average.
    assert texts(own.text)[1] == "#1 of 1 · +5.0 %"


# The app itself


def test_the_app_serves_them_beside_its_pages(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    copy = folder / "s.duckdb"
    copy.write_bytes(made.read_bytes())
    with serve(copy, tmp_path / "log", ARENA_PUBLIC_URL="https://arena.example/") as address:
        deadline_s = time.monotonic() + 20
        while "starting" in (health := httpx.get(f"{address}/api/health")).json()["reasons"]:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        assert (health.status_code, health.json()["status"]) == (200, "viewer")
        assert len(rows(httpx.get(f"{address}/api/leaderboard.json"))) == 9
        assert texts(httpx.get(f"{address}/api/badge/trade@m-one.svg").text)[1] == "#1 of 3 · +20.0 %"
        feed = ET.fromstring(httpx.get(f"{address}/feed.xml").text)
        link = feed.findtext("channel/item/link") or ""
        assert link.startswith(f"https://arena.example/decisions?run={MODELS_RUN}&entry=")
        assert "<title>" in httpx.get(address).text
        assert os.fspath(folder) not in health.text
