"""Money: a call's worst case is reserved before it leaves, and settled with what it cost."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.llm.failure import AttemptFailed
from arena.llm.roster import ModelInfo
from arena.llm.types import BudgetStop, ChatModel, ChatReply, ChatRequest, ModelKind
from arena.llm.web_search import FOUND_TOKENS, MOST_SEARCHES, asks_to_search, search_cost_usd

DEFAULT_ANSWER_TOKENS = 1024
TOKENS_PER_CALL, TOKENS_PER_MESSAGE = 500, 16
"""Room for what a provider adds to a prompt: its own instructions, and marks around each message."""


@dataclass(frozen=True, slots=True)
class Spend:
    """Money and tokens. Unknown prices count as 0 USD, which is why they need a cap on tokens."""

    usd: float
    tokens: int


NOTHING = Spend(0.0, 0)


class Budget:
    """What may be spent, shared by all models of a run.

    Args:
        usd: cap in USD; None for no such cap.
        tokens: cap on tokens, prompt and answer together; None for no such cap.
        allow_unpriced: models of unknown price may be used, within the cap on tokens.
        spent_usd, spent_tokens: what earlier executions of the run spent (`Journal`).

    Refusals follow the order in which calls arrive: once one did not fit, `stopped` says so and
    every later one is refused too, however small. So what is undecided is the end of a list.
    """

    def __init__(
        self, usd: float | None = None, tokens: int | None = None, allow_unpriced: bool = False,
        spent_usd: float = 0.0, spent_tokens: int = 0,
    ) -> None:  # fmt: skip
        self.usd, self.tokens, self.allow_unpriced = usd, tokens, allow_unpriced
        self.spent_usd, self.spent_tokens = spent_usd, spent_tokens
        self.reserved_usd, self.reserved_tokens = 0.0, 0
        self.stopped = ""
        self.overruns: list[str] = []
        self._lock = threading.Lock()

    def reserve(self, worst: Spend, model_id: str) -> None:
        """Set `worst` aside.

        Raises:
            BudgetStop: it does not fit, or an earlier one did not.
        """
        with self._lock:
            if not self.stopped:
                self.stopped = self._objection(worst, model_id)
            if self.stopped:
                raise BudgetStop(self.stopped)
            self.reserved_usd += worst.usd
            self.reserved_tokens += worst.tokens

    def settle(self, worst: Spend, charged: Spend, model_id: str) -> None:
        """Give `worst` back and book what was charged; more than the worst case is noted."""
        with self._lock:
            self.reserved_usd -= worst.usd
            self.reserved_tokens -= worst.tokens
            self.spent_usd += charged.usd
            self.spent_tokens += charged.tokens
            if charged.usd > worst.usd or charged.tokens > worst.tokens:
                self.overruns.append(
                    f"`{model_id}` reported {charged.tokens} tokens, {charged.usd:.6f} USD; "
                    f"its worst case was {worst.tokens}, {worst.usd:.6f} USD"
                )

    def _objection(self, worst: Spend, model_id: str) -> str:
        usd = self.spent_usd + self.reserved_usd
        if self.usd is not None and worst.usd > 0 and usd + worst.usd > self.usd:
            return (
                f"A call of `{model_id}` may cost {worst.usd:.4f} USD; {usd:.4f} of {self.usd:g} USD "
                "are spent or set aside. Raise the budget (--budget-usd) and run again to go on."
            )
        tokens = self.spent_tokens + self.reserved_tokens
        if self.tokens is not None and tokens + worst.tokens > self.tokens:
            return (
                f"A call of `{model_id}` may take {worst.tokens} tokens; {tokens} of {self.tokens} "
                "are spent or set aside. Raise the cap (--token-cap) and run again to go on."
            )
        return ""


def check_price(info: ModelInfo, budget: Budget) -> None:
    """Refuse, before the first call, a model whose bill nothing would bound.

    A retired model passes: no call of it leaves.

    Raises:
        ConfigError: its price is unknown and the budget does not allow that; or it costs money and
            the budget has no cap.
    """
    price = info.cost_usd(1_000_000, 1_000_000)
    if info.runs_here or price == 0 or info.retired_on(utc_now().date()):
        return
    if price is None and not (budget.allow_unpriced and budget.tokens is not None):
        raise ConfigError(
            f"The price of `{info.id}` is not known, so a budget in USD cannot hold it. Add its "
            "prices to data/models.toml, or give --allow-unpriced with --token-cap N."
        )
    if budget.usd is None and budget.tokens is None:
        raise ConfigError(
            f"`{info.id}` costs money and nothing bounds the bill. Give --budget-usd U."
        )


def answer_cap(info: ModelInfo, req: ChatRequest) -> int:
    """The longest answer that is asked for, in tokens: the season's, or the model's if shorter."""
    asked = int(req.params.get("max_tokens") or DEFAULT_ANSWER_TOKENS)
    return min(asked, info.max_answer_tokens or asked)


def worst_case(info: ModelInfo, req: ChatRequest) -> Spend:
    """The most that one attempt can cost.

    A prompt is taken for as many tokens as it has UTF-8 bytes: tokenisers start from bytes, so none
    makes more, while any rule by characters breaks on tables of digits or on Chinese.
    """
    tokens_in = TOKENS_PER_CALL + sum(
        TOKENS_PER_MESSAGE + len(m.content.encode("utf-8", "replace")) for m in req.messages
    )
    tokens_out = answer_cap(info, req)
    searches_usd = 0.0
    if asks_to_search(req.params):
        tokens_in += FOUND_TOKENS
        searches_usd = search_cost_usd(info, MOST_SEARCHES)
    usd = (info.cost_usd(tokens_in, tokens_out) or 0.0) + searches_usd
    return Spend(usd, tokens_in + tokens_out)


def charge_of(worst: Spend, outcome: ChatReply | BaseException) -> Spend:
    """What an attempt is booked with: what was reported, nothing, or, where nobody knows, the worst."""
    if isinstance(outcome, ChatReply):
        if outcome.tokens_in is None or outcome.tokens_out is None:
            return worst
        return Spend(outcome.cost_usd or 0.0, outcome.tokens_in + outcome.tokens_out)
    if isinstance(outcome, ConfigError):
        return NOTHING
    if isinstance(outcome, AttemptFailed) and not outcome.maybe_charged:
        return NOTHING
    return worst


class Budgeted:
    """Lets an attempt leave only with its worst case reserved."""

    def __init__(self, inner: ChatModel, info: ModelInfo, budget: Budget) -> None:
        self.inner, self.info, self.budget = inner, info, budget
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        worst = worst_case(self.info, req)
        self.budget.reserve(worst, self.id)
        try:
            reply = await self.inner.complete(req)
        except BaseException as error:
            self.budget.settle(worst, charge_of(worst, error), self.id)
            raise
        self.budget.settle(worst, charge_of(worst, reply), self.id)
        return reply
