"""A run that is killed pays for no answer twice and never more than its budget."""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.llm.budgeted import Budget
from arena.llm.journal import AttemptOpened, MemoryJournal, reply_from_dict, reply_to_dict
from arena.llm.types import ChatReply, Message, ProviderError
from tests.llm.mock_provider import Asked, MockProvider, Say, refusal
from tests.llm.paid import KEY, FileJournal, request, row, run_of

DRIVER = Path(__file__).with_name("paid_driver.py")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_API_KEY", KEY)


def test_a_stored_answer_is_not_asked_for_again() -> None:
    with MockProvider() as mock:
        journal = MemoryJournal()
        first = asyncio.run(
            run_of(row(mock.url), journal=journal).of("mock/m", "d1").complete(request())
        )
        again = run_of(row(mock.url), journal=journal, budget=Budget(usd=0.0))
        assert asyncio.run(again.of("mock/m", "d1").complete(request())) == first
    assert len(mock.asked) == 1
    assert journal.spent_usd == pytest.approx(140e-6)


@pytest.mark.parametrize(
    ("scope", "fields"),
    [
        ("d2", {}),
        ("d1", {"role": "judge"}),
        ("d1", {"seed": 4}),
        ("d1", {"params": {"temperature": 0.6}}),
        ("d1", {"messages": (Message("user", "up or down?"),)}),
    ],
    ids=["decision", "role", "seed", "parameters", "messages"],
)
def test_another_question_is_another_call(scope: str, fields: dict[str, object]) -> None:
    with MockProvider() as mock:
        run = run_of(row(mock.url))
        asyncio.run(run.of("mock/m", "d1").complete(request()))
        asyncio.run(run.of("mock/m", scope).complete(replace(request(), **fields)))
    assert len(mock.asked) == 2


def test_the_same_question_twice_in_a_decision_has_two_answers_and_keeps_them() -> None:
    with MockProvider(lambda _asked, n: Say(text=f"answer {n}")) as mock:
        journal = MemoryJournal()
        for _ in range(2):
            model = run_of(row(mock.url), journal=journal).of("mock/m", "d1")
            texts = [asyncio.run(model.complete(request())).text for _ in range(2)]
            assert texts == ["answer 0", "answer 1"]
    assert len(mock.asked) == 2


def test_a_failure_is_no_answer_and_is_asked_again() -> None:
    with MockProvider([refusal(400), Say()]) as mock:
        journal = MemoryJournal()
        with pytest.raises(ProviderError):
            asyncio.run(run_of(row(mock.url), journal=journal).of("mock/m", "d1").complete(request()))
        asyncio.run(run_of(row(mock.url), journal=journal).of("mock/m", "d1").complete(request()))
    assert [a.ending for a in journal.ended] == ["failed", "answered"]
    assert len({a.key for a in journal.ended}) == 1
    assert len({a.attempt_id for a in journal.ended}) == 2


def test_the_journal_is_written_before_the_request_leaves() -> None:
    order: list[str] = []

    class Slow(MemoryJournal):
        async def opened(self, attempt: AttemptOpened) -> None:
            await asyncio.sleep(0.05)
            order.append("opened")
            await super().opened(attempt)

    def script(_asked: Asked, _n: int) -> Say:
        order.append("asked")
        return Say()

    with MockProvider(script) as mock:
        asyncio.run(run_of(row(mock.url), journal=Slow()).of("mock/m", "d1").complete(request()))
    assert order == ["opened", "asked"]


def test_an_attempt_without_an_end_counts_with_its_reservation(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    asyncio.run(FileJournal(path).opened(AttemptOpened("a1", "k", "d1", "m", "trader", 0.25, 700)))
    with path.open("a") as file:
        file.write('{"attempt_id": "a2", "key": "k2", "sco')
    assert (FileJournal(path).spent_usd, FileJournal(path).spent_tokens) == (0.25, 700)
    memory = MemoryJournal()
    asyncio.run(memory.opened(AttemptOpened("a1", "k", "d1", "m", "trader", 0.25, 700)))
    assert (memory.spent_usd, memory.spent_tokens) == (0.25, 700)


def test_a_reply_survives_being_written() -> None:
    reply = ChatReply("é", "m", 1, None, None, 2.5, {"seed": 3}, (Message("user", "x"),))
    assert reply_from_dict(json.loads(json.dumps(reply_to_dict(reply)))) == reply


class Driver:
    """The driver's process; `ended` is how its child ended, or "" if it still runs."""

    def __init__(self) -> None:
        env = {**os.environ, "MOCK_API_KEY": KEY, "ARENA_NETWORK": "off"}
        self.process = subprocess.Popen(
            [sys.executable, str(DRIVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        assert self.stdout.readline() == b"ready\n"

    def tell(self, line: str) -> None:
        self.stdin.write(f"{line}\n".encode())
        self.stdin.flush()

    def ended(self, wait_s: float) -> str:
        if not select.select([self.stdout], [], [], wait_s)[0]:
            return ""
        return self.stdout.readline().decode().strip()


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    started = Driver()
    yield started
    started.process.kill()
    started.process.wait(10)
    started.stdin.close()
    started.stdout.close()


@pytest.mark.parametrize(
    ("usd", "seed", "end"), [(1.0, 1, "done"), (0.025, 2, "stopped")], ids=["enough", "too little"]
)
def test_killed_at_random_moments(
    driver: Driver, tmp_path: Path, usd: float, seed: int, end: str
) -> None:
    """16 in flight, SIGKILL up to five times, then on to the end. A worst case is about 0.0008 USD,
    an answer 0.00014: 60 calls fit into 1 USD, whatever is lost; 0.025 are used up by what is lost.
    """
    rng, path = random.Random(seed), tmp_path / "journal.jsonl"

    def script(_asked: Asked, _n: int) -> Say:
        return Say(delay_s=rng.uniform(0, 0.05))

    kills = 0
    with MockProvider(script) as mock:
        for kill in (True, True, True, True, True, False):
            answered, before = _answered(path), len(mock.asked)
            driver.tell(f"go {mock.url} {path} {usd}")
            ended = ""
            if kill:
                goal = before + rng.randint(1, max(1, min(20, 60 - len(answered))))
                while len(mock.asked) < goal and not ended:
                    ended = driver.ended(0.001)
                time.sleep(rng.uniform(0, 0.02))
                if not ended:
                    driver.tell("kill")
            ended = ended or driver.ended(30)
            kills += ended == "killed"
            assert ended in ("killed", end)
            again = {_number(a) for a in mock.asked[before:]} & answered
            assert not again, "an answer that was on disk was asked for again"
        charged = sum(n_in + 2 * n_out for n_in, n_out in mock.bill) / 1e6
    journal = FileJournal(path)
    # With too little, money may run out before the second kill; which comes first is timing.
    assert kills >= (2 if end == "done" else 1)
    assert charged <= journal.spent_usd <= usd
    assert (len(journal.answers) == 60) == (end == "done")
    # Whatever was asked beyond once a decision was under way when the run was killed.
    assert len(mock.asked) <= 60 + 16 * kills


def _number(asked: Asked) -> int:
    return int(asked.body["messages"][-1]["content"].split()[1])


def _answered(path: Path) -> set[int]:
    """Numbers of the decisions whose answer is on disk."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else ():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    scopes = {x["attempt_id"]: x["scope"] for x in lines if "scope" in x}
    return {int(scopes[x["attempt_id"]][1:]) for x in lines if x.get("reply")}
