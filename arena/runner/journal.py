"""The journal of paid attempts, kept in the store: written before a request leaves, and when it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json
from arena.core.rows import AttemptRow, WriteUnit
from arena.llm.budgeted import Budget, check_price
from arena.llm.gateway import trouble
from arena.llm.journal import AttemptClosed, AttemptOpened, reply_from_dict, reply_to_dict
from arena.llm.redact import redacted
from arena.llm.registry import model_info
from arena.llm.stack import RunModels
from arena.llm.switch import ensure_network
from arena.llm.types import ChatReply
from arena.store import reader
from arena.store.store import Store


@dataclass(frozen=True, slots=True)
class Spending:
    """What a command may spend: USD and tokens over all its epochs, resumed executions included.

    `api_keys` are the asker's own, by name of the variable that they stand for; others come from the
    environment. They are shown and written nowhere.
    """

    usd: float | None = None
    tokens: int | None = None
    allow_unpriced: bool = False
    api_keys: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )


class StoreJournal:
    """A `Journal` over the table of attempts of one run."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run
        self._opened: dict[str, AttemptOpened] = {}
        self.answers: dict[str, ChatReply] = {}
        self.spent_usd, self.spent_tokens = 0.0, 0
        stored = reader.attempts(store, run)
        closed = {row["attempt"] for row in stored if row["event"] == "closed"}
        for row in stored:
            if row["event"] == "closed" or row["attempt"] not in closed:
                self.spent_usd += row["usd"]
                self.spent_tokens += row["tokens_in"] + row["tokens_out"]
            if row["answer"] is not None:
                self.answers[row["request_key"]] = reply_from_dict(json.loads(row["answer"]))

    async def opened(self, attempt: AttemptOpened) -> None:
        self._opened[attempt.attempt_id] = attempt
        self.spent_usd += attempt.reserved_usd
        self.spent_tokens += attempt.reserved_tokens
        await self._write(self._row(attempt, "opened", "open", attempt.reserved_usd))

    async def closed(self, attempt: AttemptClosed) -> None:
        before = self._opened.pop(attempt.attempt_id)
        self.spent_usd += attempt.charged_usd - before.reserved_usd
        self.spent_tokens += attempt.charged_tokens - before.reserved_tokens
        if attempt.reply is not None:
            self.answers[attempt.key] = attempt.reply
        await self._write(
            self._row(before, "closed", attempt.ending, attempt.charged_usd, attempt)
        )

    def _row(
        self, opened: AttemptOpened, event: str, status: str, usd: float,
        closed: AttemptClosed | None = None,
    ) -> AttemptRow:  # fmt: skip
        reply = closed.reply if closed else None
        total = closed.charged_tokens if closed else opened.reserved_tokens
        tokens_in = (reply.tokens_in if reply else None) or 0
        return AttemptRow(
            attempt=opened.attempt_id,
            event=event,
            run=self._run,
            decision=opened.scope,
            request_key=opened.key,
            role=opened.role,
            model=opened.model,
            status=status,
            usd=usd,
            tokens_in=tokens_in,
            tokens_out=total - tokens_in,
            answer=canonical_json(redacted(reply_to_dict(reply))) if reply else None,
            params_json=canonical_json(redacted(reply.params)) if reply else None,
            error=(closed.error or None) if closed else None,
            at_utc=utc_now(),
        )

    async def _write(self, row: AttemptRow) -> None:
        await asyncio.wrap_future(self._store.submit(WriteUnit(rows=(row,))))


def check_models(models: Iterable[str], spending: Spending) -> None:
    """Refuse, before anything is written, models that could not answer or whose bill has no bound.

    Raises:
        ConfigError: a retired model, a missing key, the network switched off, a price that is
            unknown, or money without a cap; with what to do.
    """
    for info in map(model_info, models):
        check_price(info, Budget(spending.usd, spending.tokens, spending.allow_unpriced))
        if info.runs_here:
            continue
        if said := trouble(info, spending.api_keys.get(info.key_env or "")):
            raise ConfigError(said)
        if not info.stays_here:
            ensure_network(info.id)


def open_models(
    store: Store, models: Iterable[str], runs: Iterable[str], spending: Spending
) -> Mapping[str, RunModels]:
    """The models of each run of a command, under one budget that knows what was spent before.

    Raises:
        ConfigError: a model's bill would have no bound.
    """
    journals = {run: StoreJournal(store, run) for run in runs}
    budget = Budget(
        spending.usd, spending.tokens, spending.allow_unpriced,
        sum(j.spent_usd for j in journals.values()),
        sum(j.spent_tokens for j in journals.values()),
    )  # fmt: skip
    infos = [model_info(m) for m in models]
    return {
        run: RunModels(infos, budget, journal, api_keys=spending.api_keys)
        for run, journal in journals.items()
    }
