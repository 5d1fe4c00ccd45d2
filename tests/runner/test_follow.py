"""Messages of rounds: what they say, and how they reach (or do not reach) a server on this machine."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import ConfigError
from arena.core.season import RunSpec, Season
from arena.llm.redact import redact
from arena.runner import webhook as webhook_module
from arena.runner.follow import MOST_NAMED, Follower, messages
from arena.runner.webhook import MOST_LINES, MOST_WAITING, SIGNATURE, Webhook
from arena.store.store import Store, open_store
from tests.ui import made_store
from tests.ui.made_store import HOSTILE, HOSTILE_RUN, MODELS_RUN

AT = datetime(2025, 8, 6, 0, 5, tzinfo=UTC)


class Receiver(ThreadingHTTPServer):
    """Keeps what is posted; answers with `answers` in order, then 200."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.got: list[tuple[bytes, dict[str, str]]] = []
        self.at_s: list[float] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/hook/T0KEN-of-the-channel"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body, _ in self.got]

    @property
    def texts(self) -> list[str]:
        return [body["text"] for body in self.bodies]


class Taking(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.at_s.append(time.monotonic())
        self.server.got.append((body, {k.lower(): v for k, v in self.headers.items()}))
        status, headers = self.server.answers.pop(0) if self.server.answers else (200, {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hook(receiver: Receiver) -> Iterator[Callable[..., Webhook]]:
    made: list[Webhook] = []

    def make(**more: Any) -> Webhook:
        hook = Webhook(receiver.url, **{"gap_s": 0.0, "waits_s": (0.01, 0.01, 0.01), **more})
        made.append(hook)
        return hook

    yield make
    for one in made:
        one.stop(5)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_store.build(tmp_path_factory.mktemp("follow") / "made.duckdb")


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    copy = tmp_path / "s.duckdb"
    shutil.copyfile(made, copy)
    with open_store(copy) as opened:
        yield opened


def audit(store: Store) -> list[tuple[str, str]]:
    with store.cursor() as cur:
        cur.execute("SELECT action, detail_json FROM audit ORDER BY seq")
        return cur.fetchall()


def row(**changes: Any) -> dict[str, Any]:
    return {
        "decision": "live-1:trade@gpt-4.1:BTC:2025-08-05", "as_of_utc": AT, "agent": "trade",
        "model": "gpt-4.1", "asset": "BTC", "intent": "long", "action": "BUY", "status": "ok",
        "late": False, "position_before": 1, **changes,
    }  # fmt: skip


def told(*rows: dict[str, Any], base: str | None = None, **season: Any) -> dict[str, str]:
    spec = RunSpec(
        kind="live", season=Season(**season), source="live", assets=("BTC",), agents=("trade",),
        models=("gpt-4.1",), start=AT.date(), end=AT.date(),
    )  # fmt: skip
    return {kind: text for kind, text, _ in messages("live-1", rows, spec, base)}


# What is said


def test_a_quiet_round_is_one_message() -> None:
    found = told(row(), row(intent="short", action="SELL", position_before=-1, late=True))
    assert found == {"round": "live-1, 2025-08-06 00:05 UTC: 2 decisions (1 BUY, 1 SELL, 1 late)."}


def test_flips_failures_and_budgets_are_messages_of_their_own() -> None:
    found = told(
        row(position_before=-1),
        row(intent="hold", action="HOLD"),
        row(intent="hold", action="HOLD", status="timeout"),
        row(intent="keep", action="HOLD", status="budget_stop", model="o3"),
        base="https://arena.example",
    )
    assert set(found) == {"round", "flips", "failed", "budget_stop"}
    # HOLD means out of the market here: from long to flat is a change of sides as well.
    assert found["flips"].startswith(
        "live-1, 2025-08-06 00:05 UTC: 2 change sides: BUY BTC by trade with gpt-4.1; HOLD BTC"
    )
    assert "1 failed: timeout BTC by trade with gpt-4.1." in found["failed"]
    assert "1 not asked: budget: budget stop BTC by trade with o3." in found["budget_stop"]
    assert "https://arena.example/decisions?run=live-1&entry=trade%40gpt-4.1" in found["failed"]
    assert found["round"].endswith("https://arena.example/?run=live-1")
    # A failure that acts as HOLD is not the model's change of mind.
    assert found["round"].count("HOLD") == 1


def test_hold_that_keeps_the_position_is_no_flip() -> None:
    assert "flips" in told(row(intent="hold", action="HOLD"))
    assert "flips" not in told(row(intent="hold", action="HOLD"), hold="keep")
    assert "flips" not in told(row(intent="short", position_before=0), shorting=False)


def test_many_are_counted_and_few_are_named() -> None:
    found = told(*[row(status="timeout")] * (MOST_NAMED + 3))
    assert found["failed"].count("timeout BTC") == MOST_NAMED
    assert "and 3 more" in found["failed"]


def test_no_word_of_a_model_and_no_mention_leaves(store: Store, hook: Callable[..., Webhook], receiver: Receiver) -> None:
    follower = Follower(store, hook())
    with store.cursor() as cur:
        cur.execute("SELECT decision FROM decisions WHERE run = ?", [HOSTILE_RUN])
        ids = [name for (name,) in cur.fetchall()]
    follower.after_round(HOSTILE_RUN, ids)
    assert follower.drain(10)
    assert receiver.got
    for body in receiver.bodies:
        assert HOSTILE not in body["text"]
        assert not set("<>") & set(body["text"])
        assert body["allowed_mentions"] == {"parse": []}
        assert body["text"] == body["content"]


# How it arrives


def test_a_round_of_the_store_arrives_once_a_kind(
    store: Store, hook: Callable[..., Webhook], receiver: Receiver
) -> None:
    follower = Follower(store, hook())
    ids = [f"{MODELS_RUN}:hedge@m-one:{a}:2025-08-05" for a in ("AAA", "BBB")]
    follower.after_round(MODELS_RUN, [*ids, f"{MODELS_RUN}:trade@m-one:AAA:2025-08-05", "none:a@b:C:x"])
    assert follower.drain(10)
    found = {body["arena"]["kind"]: body["arena"]["events"][0] for body in receiver.bodies}
    # On the fifth session hedge timed out on both coins; the word of day 5 (index 4) is HOLD.
    assert found["round"]["n_decisions"] == 3
    assert found["round"]["n_failed"] == 2
    assert found["round"]["actions"] == {"HOLD": 1}
    assert found["failed"]["decisions"] == ids
    assert len(receiver.got) == 2


def test_the_body_is_signed(hook: Callable[..., Webhook], receiver: Receiver) -> None:
    made = hook(secret="s3cret-of-ours")
    made.say("round", "hello", {})
    assert made.drain(10)
    body, headers = receiver.got[0]
    mac = hmac.new(b"s3cret-of-ours", body, hashlib.sha256).hexdigest()
    assert headers[SIGNATURE.lower()] == f"sha256={mac}"
    assert headers["content-type"] == "application/json"


def test_no_key_leaves_in_the_text_nor_in_the_facts(
    hook: Callable[..., Webhook], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-host-271828")
    made = hook()
    made.say("failed", "key-of-the-host-271828 is wrong", {"reason": "key-of-the-host-271828 is wrong"})
    assert made.drain(10)
    [body] = receiver.bodies
    assert body["arena"]["events"] == [{"reason": "[secret] is wrong"}]
    assert "271828" not in str(body)


def test_a_passing_failure_is_tried_again_and_no_other(
    hook: Callable[..., Webhook], receiver: Receiver
) -> None:
    made = hook()
    for statuses, n_tries, trouble in (
        ([500, 429], 3, None),
        ([404], 1, "answered 404"),
        ([503] * 4, 4, "answered 503"),
        ([302], 1, "answered 302"),
    ):
        receiver.got.clear()
        receiver.answers = [(s, {"location": receiver.url + "-else"}) for s in statuses]
        made.say("round", "x", {})
        assert made.drain(10)
        assert len(receiver.got) == n_tries, statuses
        assert made.trouble == trouble


def test_retry_after_is_waited_for(hook: Callable[..., Webhook], receiver: Receiver) -> None:
    receiver.answers = [(429, {"retry-after": "1"})]
    made = hook()
    made.say("round", "x", {})
    assert made.drain(10)
    assert receiver.at_s[1] - receiver.at_s[0] >= 1.0


def test_of_a_kind_there_is_one_message_a_minute(
    hook: Callable[..., Webhook], receiver: Receiver
) -> None:
    made = hook(gap_s=0.6)
    made.say("round", "first", {})
    deadline_s = time.monotonic() + 10
    while not receiver.got and time.monotonic() < deadline_s:
        time.sleep(0.01)
    for n in range(12):
        made.say("round", f"round {n}", {"n": n})
    made.say("failed", "at once", {})
    while len(receiver.got) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert receiver.texts[:2] == ["first", "at once"]
    # The first took a moment to arrive; unpaced they would be together.
    assert receiver.at_s[2] - receiver.at_s[0] >= 0.4
    # Twelve became one: the last eight in words, all of them for programs.
    lines = receiver.texts[2].splitlines()
    assert lines[0] == f"({12 - MOST_LINES} earlier)"
    assert lines[1:] == [f"round {n}" for n in range(12 - MOST_LINES, 12)]
    assert [e["n"] for e in receiver.bodies[2]["arena"]["events"]] == list(range(12))


def test_what_waits_is_bounded(hook: Callable[..., Webhook], receiver: Receiver) -> None:
    made = hook(gap_s=600.0)
    made.say("round", "first", {})
    deadline_s = time.monotonic() + 10
    while not receiver.got and time.monotonic() < deadline_s:
        time.sleep(0.01)
    for n in range(MOST_WAITING + 7):
        made.say("round", f"{n}", {})
    assert made.drain(10)
    assert receiver.bodies[1]["arena"]["n_left_out"] == 7
    assert len(receiver.bodies[1]["arena"]["events"]) == MOST_WAITING
    assert receiver.texts[1].startswith(f"({MOST_WAITING + 7 - MOST_LINES} earlier)")


def test_a_long_text_fits_where_it_goes(hook: Callable[..., Webhook], receiver: Receiver) -> None:
    made = hook()
    made.say("round", "x" * 5_000, {})
    assert made.drain(10)
    assert len(receiver.texts[0]) == webhook_module.MOST_CHARS <= 2_000


def test_a_server_that_hangs_holds_nobody_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(webhook_module, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        made = Webhook(f"http://127.0.0.1:{silent.getsockname()[1]}/", waits_s=(0.01,), gap_s=0.0)
        began_s = time.monotonic()
        Follower(store, made).after_round(MODELS_RUN, [f"{MODELS_RUN}:trade@m-one:AAA:2025-08-05"])
        assert time.monotonic() - began_s < 0.15
        assert made.drain(10)
        assert made.trouble == "ReadTimeout"
        made.stop(5)


def test_trouble_and_its_end_are_written_down_once(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setenv("ARENA_WEBHOOK_URL", receiver.url)
    monkeypatch.setattr(webhook_module, "GAP_S", 0.0)
    follower = Follower(store)
    assert follower.webhook is not None
    with caplog.at_level(logging.INFO, "arena"):
        for status in (404, 404, 200, 200):
            receiver.answers = [(status, {})]
            follower.round_failed(f"live-{status}", f"broken at {time.monotonic()}")
            assert follower.drain(10)
    follower.stop(5)
    assert audit(store) == [
        ("webhook fails", '{"problem":"answered 404"}'), ("webhook works", '{"problem":null}'),
    ]  # fmt: skip
    # The address is a key: neither the log nor anything that is redacted shows it.
    assert "T0KEN" not in caplog.text
    assert "T0KEN" not in redact(f"posting to {receiver.url} failed")


def test_a_season_that_stands_still_is_told_once(
    store: Store, hook: Callable[..., Webhook], receiver: Receiver
) -> None:
    follower = Follower(store, hook())
    for reason in ("no prices", "no prices", "no key", "no prices"):
        follower.round_failed("live-1", reason)
        assert follower.drain(10)
    assert [t.split(". ")[-1] for t in receiver.texts] == ["no prices", "no key", "no prices"]
    follower.after_round("live-1", ["live-1:a@m:B:2025-08-05"])
    follower.round_failed("live-1", "no prices")
    assert follower.drain(10)
    assert len(receiver.got) == 4


# When nothing leaves


def test_nothing_leaves_with_the_network_off(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_WEBHOOK_URL", receiver.url)
    follower = Follower(store)
    assert follower.webhook is None
    follower.after_round(MODELS_RUN, [f"{MODELS_RUN}:trade@m-one:AAA:2025-08-05"])
    assert follower.drain(0.1)
    assert receiver.got == []


@pytest.mark.parametrize(
    "url", ["http://hooks.example/x", "ftp://127.0.0.1/x", "hooks.example", "https://", "http://10.0.0.1/x", "http://localhost.evil.example/", "http://[::2]/"],
)  # fmt: skip
def test_an_address_that_could_be_overheard_is_refused(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="ARENA_WEBHOOK_URL"):
        Webhook(url)
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setenv("ARENA_WEBHOOK_URL", url)
    follower = Follower(store)
    follower.after_round(MODELS_RUN, ["x"])
    assert follower.webhook is None
    assert [action for action, _ in audit(store)] == ["webhook fails"]


@pytest.mark.parametrize("url", ["https://hooks.example/x", "http://localhost:9/x", "http://[::1]:9/"])
def test_an_address_that_is_fine(url: str) -> None:
    Webhook(url).stop()


def test_a_follower_never_raises(
    store: Store, hook: Callable[..., Webhook], caplog: pytest.LogCaptureFixture
) -> None:
    follower = Follower(store, hook())
    follower.after_round("no-such-run", ["no-such-run:a@m:B:2025-08-05"])
    store.close()
    follower.after_round(MODELS_RUN, [f"{MODELS_RUN}:trade@m-one:AAA:2025-08-05"])
    assert sum("could not be told" in r.message for r in caplog.records) == 2
