"""A real model on this machine: form, limits, its process, and a run from end to end."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import pytest
from pydantic import BaseModel

from arena.agents.desk import Desk
from arena.agents.registry import get_agent
from arena.agents.vanilla import Verdict
from arena.core.actions import ActionSpec, Status
from arena.core.errors import ConfigError
from arena.core.season import Generation, RunSpec, Season
from arena.core.types import Asset, Bar, MarketContext, Past, TrackView
from arena.llm import local_process
from arena.llm.fields import Cites, Lean
from arena.llm.local import MAX_ANSWER_TOKENS, MAX_PROMPT_TOKENS, form_again, local_model
from arena.llm.local_process import SERVER, count_tokens, weights
from arena.llm.registry import get_model, model_info
from arena.llm.scripted import Scripted
from arena.llm.trimmed import EARLIER_TURN, Trimmed
from arena.llm.types import ChatReply, ChatRequest, Message
from arena.market.sources import open_source
from arena.runner.replay import run_replay
from arena.store import reader
from arena.store.store import open_store

MODEL = "local/smollm2-135m"


def _missing() -> str:
    try:
        weights()
    except ConfigError as error:
        return str(error)
    return ""


installed = pytest.mark.skipif(bool(_missing()), reason=_missing() or "installed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    yield SERVER.address("smollm2-135m")
    SERVER.stop()


def test_form_is_told_in_words_that_cannot_be_copied_as_an_answer() -> None:
    class View(BaseModel):
        lean: Annotated[float, Lean()]
        rating: Annotated[Literal["Sell", "Hold", "Buy"], Lean()]
        sources: Annotated[list[str], Cites()] = []
        note: str = ""

    assert form_again(Verdict, ()) == (
        'Now answer with one JSON object, in one line: "action" (BUY, HOLD or SELL), '
        '"confidence" (number from 0 to 1), "reason" (one short sentence).'
    )
    assert form_again(View, ("s1",)).endswith(
        '"lean" (number from -1 to 1), "rating" (Buy, Hold or Sell), '
        '"sources" (list of ids, such as ["s1"]), "note" (value).'
    )


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_process, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="run `make local-llm`"):
        local_model(model_info(MODEL))


def test_weights_that_cannot_be_loaded_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"no weights")
    monkeypatch.setattr(local_process, "weights", lambda: wrong)
    with pytest.raises(ConfigError, match=r"cannot be loaded.*make local-llm"):
        local_process._Server().address("x")


def market(folder: Path, symbol: str, session: date) -> MarketContext:
    frame = pd.read_csv(folder / "csv" / f"{symbol}_daily.csv")
    bars = [
        Bar(
            date.fromisoformat(r.date), r.open, r.high, r.low, r.close, r.volume,
            datetime.fromisoformat(r.date).replace(tzinfo=UTC) + timedelta(days=1),
        )
        for r in frame.itertuples()
        if date.fromisoformat(r.date) <= session
    ][-260:]  # fmt: skip
    kind = "crypto" if symbol == "BTC" else "stock"
    return MarketContext(Asset(symbol, symbol, kind), session, bars[-1].known_at_utc, tuple(bars))


@installed
@pytest.mark.parametrize("symbol", ["TSLA", "BTC"])
def test_real_prompts_fit_with_two_repairs_in_them(
    shared_market: Path, address: str, symbol: str
) -> None:
    """By the model's own tokeniser, so that the limit holds whatever stands in the prompt."""
    context = market(shared_market, symbol, date(2025, 8, 14))
    past = tuple(Past(b.session, "SELL", b.close, -0.0123) for b in context.bars[-8:-1])
    view = TrackView(1, 101_234.56, 0.9995, context.bars[-4].close, past, ActionSpec())
    rambling = '{"action": "BUY" or "HOLD", "reason": "' + "the price went up and then " * 12
    script = Scripted([rambling, rambling, rambling])
    asyncio.run(get_agent("vanilla").decide(Desk(context, view, script, Season())))
    first, _, last = (r.messages for r in script.history)

    async def count(messages: object) -> int:
        return await count_tokens(address, messages)  # type: ignore[arg-type]

    trimmed = Trimmed(
        script, count, max_prompt_tokens=MAX_PROMPT_TOKENS, max_answer_tokens=MAX_ANSWER_TOKENS
    )
    ending = (Message("user", form_again(Verdict, ())), Message("assistant", "{"))
    kept, left_out = asyncio.run(trimmed.fit((*first, *ending)))
    assert (kept, left_out) == ((*first, *ending), []), "the plain prompt fits as it is"
    kept, left_out = asyncio.run(trimmed.fit((*last, *ending)))
    assert asyncio.run(count(kept)) <= MAX_PROMPT_TOKENS < asyncio.run(count((*last, *ending)))
    assert left_out[0] == EARLIER_TURN
    assert kept[-4:] == (*last[-2:], *ending)
    assert kept[0] == first[0], "the mission and the form of the answer are whole"


def ask(seed: int) -> tuple[ChatReply, ChatRequest]:
    messages = (Message("system", "You trade."), Message("user", "## Asset\nThe price rose by 3 %."))
    params = {"temperature": 0.5, "top_p": 1.0, "max_tokens": 1024}
    req = ChatRequest(messages, Verdict, {}, seed, params, deadline_s=120.0)
    return asyncio.run(get_model(MODEL).complete(req)), req


@installed
def test_reply_says_what_was_sent_and_what_took_effect(address: str) -> None:
    reply, req = ask(seed=3)
    assert (reply.model, model_info(MODEL).kind, reply.cost_usd) == (MODEL, "model", 0.0)
    ending = (Message("user", form_again(Verdict, ())), Message("assistant", "{"))
    assert reply.sent == (*req.messages, *ending)
    assert reply.text.startswith("{")
    # The count that trimming goes by is the one that the server works with.
    assert reply.tokens_in == asyncio.run(count_tokens(address, reply.sent))
    assert 0 < (reply.tokens_out or 0) <= MAX_ANSWER_TOKENS
    assert reply.params.pop("finish_reason") in ("stop", "length")  # type: ignore[attr-defined]
    assert reply.params == {
        "temperature": 0.5, "top_p": 1.0, "top_k": 40, "min_p": 0.05, "seed": 3, "max_tokens": 80,
        "max_prompt_tokens": 1000, "left_out": [],
    }  # fmt: skip


@installed
def test_same_request_same_answer_even_with_another_in_between(address: str) -> None:
    texts = [ask(seed)[0].text for seed in (1, 2, 1)]
    assert texts[0] == texts[2]


@installed
def test_requests_at_once_are_served_in_turn(address: str) -> None:
    async def both() -> list[ChatReply]:
        model = get_model(MODEL)
        req = ask_for("Down.")
        return list(await asyncio.gather(model.complete(req), model.complete(req)))

    def ask_for(text: str) -> ChatRequest:
        return ChatRequest((Message("user", text),), Verdict, {}, 5, {"temperature": 0.5})

    first, second = asyncio.run(both())
    assert first.text == second.text


HOLDER = """
import signal, sys, threading, time, httpx
from arena.llm.local_process import SERVER
address = SERVER.address("x")
print(address, flush=True)
body = {"prompt": "word " * 1500, "n_predict": 500, "ignore_eos": True}
threading.Thread(
    target=lambda: httpx.post(address + "/completion", json=body, timeout=60), daemon=True
).start()
time.sleep(0.5)
if sys.argv[1] == "killed":
    signal.raise_signal(signal.SIGKILL)
"""


@installed
@pytest.mark.parametrize(("how", "code"), [("exits", 0), ("killed", -signal.SIGKILL)])
def test_server_is_on_loopback_and_ends_with_its_owner_while_it_answers(
    root: Path, how: str, code: int
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLDER, how], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert owner.stdout is not None
    host, _, port = owner.stdout.readline().strip().removeprefix("http://").partition(":")
    assert host == "127.0.0.1"
    time.sleep(0.5)
    began = time.monotonic()
    assert owner.wait(10) == code
    owner.stdout.close()
    while _listens(host, int(port)):
        assert time.monotonic() - began < 5, "the server outlived its owner"
        time.sleep(0.05)
    # The owner waits half a second itself; the rest is the end of both processes.
    assert time.monotonic() - began < 2.5


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except ConnectionRefusedError:
        return False
    return True


@installed
def test_a_crashed_server_is_started_again(address: str) -> None:
    process = SERVER._process
    assert process is not None
    process.kill()
    process.wait()
    assert SERVER.address("smollm2-135m") != ""
    assert SERVER._process is not process
    assert ask(seed=1)[0].tokens_in


@installed
def test_a_run_from_end_to_end(tmp_path: Path, address: str) -> None:
    carry_out(tmp_path / "a.duckdb", "sample", "QUBIXCOIN", ("vanilla",))


@installed
def test_two_agents_on_real_prices(
    tmp_path: Path, address: str, shared_market: Path
) -> None:
    carry_out(tmp_path / "a.duckdb", f"files:{shared_market}", "BTC", ("investor", "vanilla"))


def carry_out(path: Path, data: str, asset: str, agents: tuple[str, ...]) -> None:
    """One session: every decision has a status, and every call all that a call must have."""
    run = RunSpec(
        kind="replay", season=Season(generation=Generation(tries=2)), source="sample",
        assets=(asset,), agents=agents, models=(MODEL,),
        start=date(2025, 8, 5), end=date(2025, 8, 5), warmup=0,
    )  # fmt: skip
    with open_store(path) as store:
        result = run_replay(run, ("baseline",), open_source(data), store, workers=1)
    assert result.n_decisions == len(agents)
    with open_store(path, read=True) as store:
        decided = reader.decisions(store, result.runs[0])
        calls = [c for d in decided["decision"] for c in reader.decision(store, d)["calls"]]
    asked = [c for c in calls if c["kind"] == "model"]
    assert len(decided) == len(agents)
    assert set(decided["status"]) <= {Status.OK, Status.REPAIRED, Status.INVALID_OUTPUT}
    assert len(agents) <= len(asked) <= 2 * len(agents)
    for call in asked:
        assert (call["model"], call["cost_usd"]) == (MODEL, 0.0)
        assert 0 < call["tokens_in"] <= MAX_PROMPT_TOKENS
        assert 0 < call["tokens_out"] <= MAX_ANSWER_TOKENS
        assert call["latency_ms"] > 0
        assert asset in call["prompt"]
        assert call["prompt"].endswith("[assistant]\n{")
        assert call["answer"].startswith("{")
        params = json.loads(call["params_json"])
        assert (params["max_prompt_tokens"], params["max_tokens"]) == (
            MAX_PROMPT_TOKENS, MAX_ANSWER_TOKENS,
        )  # fmt: skip
