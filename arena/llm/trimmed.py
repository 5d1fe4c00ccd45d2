"""A prompt made to fit a small model: whole blocks are left out, and which ones is said."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from arena.llm.types import ChatModel, ChatReply, ChatRequest, Message, ModelKind, ProviderError

Counter = Callable[[Sequence[Message]], Awaitable[int]]
"""How many tokens the model makes of a conversation, its own marks included."""

HEAD = "## "
_BLOCK_END = re.compile(r"\n{2,}(?=## )")
EARLIER_TURN = "an earlier answer and its correction"


class Trimmed:
    """Leaves out what does not fit: first earlier repairs, then blocks of the sheet, largest first.

    The sheet is the first user message, whose blocks open with `## Title`. What always stays: the
    system message, the sheet's first block, the last repair and whatever follows it. The reply says
    what was `sent`; its params hold both limits, and under `left_out` the titles of what was not.

    Args:
        count: the model's own tokeniser. Rules by characters do not hold: tables of digits make up
            to one token a character, prose one in four or five.
    """

    def __init__(
        self, inner: ChatModel, count: Counter, *, max_prompt_tokens: int, max_answer_tokens: int
    ) -> None:
        self.inner, self.count = inner, count
        self.max_prompt_tokens, self.max_answer_tokens = max_prompt_tokens, max_answer_tokens
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        """
        Raises:
            ProviderError: too long even with everything left out that may be; nothing was sent.
        """
        messages, left_out = await self.fit(req.messages)
        asked = int(req.params.get("max_tokens") or self.max_answer_tokens)
        params = {**req.params, "max_tokens": min(asked, self.max_answer_tokens)}
        reply = await self.inner.complete(replace(req, messages=messages, params=params))
        told = {
            **reply.params,
            "max_prompt_tokens": self.max_prompt_tokens,
            "left_out": [*reply.params.get("left_out", ()), *left_out],
        }
        return replace(reply, params=told, sent=reply.sent or messages)

    async def fit(self, messages: Sequence[Message]) -> tuple[tuple[Message, ...], list[str]]:
        """`messages` within the limit, and the titles of what was left out, in that order."""
        kept, left_out = tuple(messages), []
        while (tokens := await self.count(kept)) > self.max_prompt_tokens:
            shorter = _without_earliest_repair(kept) or _without_largest_block(kept)
            if shorter is None:
                raise ProviderError(
                    f"`{self.id}` takes prompts of {self.max_prompt_tokens} tokens; with all that "
                    f"can be left out this one still has {tokens}. Choose a larger model."
                )
            kept, title = shorter
            left_out.append(title)
        return kept, left_out


Shorter = tuple[tuple[Message, ...], str]


def _sheet_at(messages: Sequence[Message]) -> int | None:
    return next((i for i, m in enumerate(messages) if m.role == "user"), None)


def _without_earliest_repair(messages: tuple[Message, ...]) -> Shorter | None:
    """Without the first answer and its correction, if another such pair follows."""
    sheet = _sheet_at(messages)
    if sheet is None:
        return None
    pairs = [
        i
        for i in range(sheet + 1, len(messages) - 1)
        if (messages[i].role, messages[i + 1].role) == ("assistant", "user")
    ]
    if len(pairs) < 2:
        return None
    return messages[: pairs[0]] + messages[pairs[0] + 2 :], EARLIER_TURN


def _without_largest_block(messages: tuple[Message, ...]) -> Shorter | None:
    """Without the longest block of the sheet but the first."""
    sheet = _sheet_at(messages)
    if sheet is None:
        return None
    blocks = _BLOCK_END.split(messages[sheet].content)
    if len(blocks) < 2:
        return None
    largest = max(blocks[1:], key=len)
    at = blocks.index(largest, 1)
    text = "\n\n".join(blocks[:at] + blocks[at + 1 :])
    title = largest.split("\n", 1)[0].removeprefix(HEAD)
    return (*messages[:sheet], Message("user", text), *messages[sheet + 1 :]), title
