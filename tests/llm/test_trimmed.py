"""Prompts made to fit: what is left out, in which order, and that it is said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.vanilla import Verdict
from arena.llm.scripted import Scripted
from arena.llm.trimmed import EARLIER_TURN, Trimmed
from arena.llm.types import ChatReply, ChatRequest, Message, ProviderError

SYSTEM = Message("system", "trade well")
SHEET = Message("user", "## Asset\nSymbol: X\n\n## Closes\n1\n2\n3\n4\n5\n\n## Account\nflat now")
# Words: system 2; Asset 4, Closes 7, Account 4. 17 in all.


async def count_words(messages: Sequence[Message]) -> int:
    return sum(len(m.content.split()) for m in messages)


def trimmed(limit: int, model: Scripted | None = None) -> Trimmed:
    return Trimmed(model or Scripted(["{}"]), count_words, max_prompt_tokens=limit, max_answer_tokens=80)


def fit(limit: int, *messages: Message) -> tuple[list[str], list[str]]:
    kept, left_out = asyncio.run(trimmed(limit).fit(messages))
    return [m.content for m in kept], left_out


def repair(n: int, words: int = 1) -> tuple[Message, Message]:
    return Message("assistant", f"bad{n} " * words), Message("user", f"wrong{n}")


@pytest.mark.parametrize(
    ("limit", "left_out"),
    [(17, []), (16, ["Closes"]), (10, ["Closes"]), (9, ["Closes", "Account"]), (6, ["Closes", "Account"])],
)
def test_whole_blocks_go_largest_first_and_the_first_one_stays(limit: int, left_out: list[str]) -> None:
    kept, said = fit(limit, SYSTEM, SHEET)
    assert said == left_out
    assert kept[0] == "trade well"
    assert kept[1].startswith("## Asset\nSymbol: X")
    assert [t for t in ("Closes", "Account") if f"## {t}\n" not in kept[1]] == left_out


def test_what_cannot_fit_is_a_failure_and_is_not_sent() -> None:
    model = Scripted(["{}"])
    with pytest.raises(ProviderError, match=r"takes prompts of 5 tokens.* still has 6"):
        asyncio.run(trimmed(5, model).complete(ChatRequest((SYSTEM, SHEET), Verdict, {})))
    assert model.history == []


def test_earlier_repairs_go_before_any_block_and_the_last_one_stays() -> None:
    ending = (Message("user", "now"), Message("assistant", "{"))
    whole = (SYSTEM, SHEET, *repair(1), *repair(2), *repair(3), *ending)
    # 17 + 3 x 2 + 2 = 25; each repair is 2, so 21 leaves the last of them.
    assert fit(25, *whole)[1] == []
    assert fit(23, *whole)[1] == [EARLIER_TURN]
    kept, left_out = fit(21, *whole)
    assert left_out == [EARLIER_TURN, EARLIER_TURN]
    assert [k.strip() for k in kept[2:]] == ["bad3", "wrong3", "now", "{"]
    kept, left_out = fit(20, *whole)
    assert left_out == [EARLIER_TURN, EARLIER_TURN, "Closes"]
    assert [k.strip() for k in kept[2:]] == ["bad3", "wrong3", "now", "{"]


def test_reply_says_what_was_sent_and_under_which_limits() -> None:
    model = Scripted(["{}"])
    req = ChatRequest((SYSTEM, SHEET), Verdict, {}, params={"max_tokens": 1024, "temperature": 0.5})
    reply: ChatReply = asyncio.run(trimmed(12, model).complete(req))
    assert reply.sent == model.history[0].messages
    assert reply.sent is not None
    assert reply.sent[1].content == "## Asset\nSymbol: X\n\n## Account\nflat now"
    assert dict(model.history[0].params) == {"max_tokens": 80, "temperature": 0.5}
    assert {k: reply.params[k] for k in ("max_tokens", "max_prompt_tokens", "left_out")} == {
        "max_tokens": 80, "max_prompt_tokens": 12, "left_out": ["Closes"],
    }  # fmt: skip


def test_a_shorter_answer_than_the_limit_may_be_asked_for() -> None:
    model = Scripted(["{}"])
    asyncio.run(trimmed(99, model).complete(ChatRequest((SYSTEM, SHEET), Verdict, {}, params={"max_tokens": 7})))
    assert model.history[0].params["max_tokens"] == 7


def test_a_paragraph_without_title_goes_with_its_block() -> None:
    sheet = Message("user", "## A\n1\n\n## B\n2\n\nmore of B\n\n## C\n3 4")
    # 2 + 3 + (3 + 3) + 4 = 15 words with the system message; B has 6.
    kept, left_out = fit(9, SYSTEM, sheet)
    assert (kept[1], left_out) == ("## A\n1\n\n## C\n3 4", ["B"])


@given(
    st.lists(st.text("abc \n", max_size=30), min_size=1, max_size=6),
    st.lists(st.integers(1, 9), max_size=3),
    st.integers(8, 60),
)
def test_it_fits_or_fails_and_keeps_what_must_stay(
    bodies: list[str], repairs: list[int], limit: int
) -> None:
    blocks = [f"## T{i}\n{body}" for i, body in enumerate(bodies)]
    turns = [m for n, words in enumerate(repairs) for m in repair(n, words)]
    messages = (SYSTEM, Message("user", "\n\n".join(blocks)), *turns)
    try:
        kept, left_out = asyncio.run(trimmed(limit).fit(messages))
    except ProviderError:
        # The least that stays: system, the first block, the last repair.
        least = (SYSTEM, Message("user", blocks[0]), *turns[-2:])
        assert asyncio.run(count_words(least)) > limit
        return
    assert asyncio.run(count_words(kept)) <= limit
    assert kept[0] == SYSTEM
    assert kept[1].content.startswith("## T0")
    assert kept[2:] == tuple(turns[len(turns) - (len(kept) - 2) :])
    assert len(kept) > 2 or not turns
    if not left_out:
        assert kept == messages
