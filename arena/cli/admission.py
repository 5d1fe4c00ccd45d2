"""check-agent: what a remote or file agent does before it is let in."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.external import blame, load_file
from arena.agents.remote.agent import Elsewhere, RemoteAgent
from arena.agents.remote.client import post
from arena.agents.remote.entry import RemoteEntry
from arena.agents.remote.protocol import Outcome, ReplyError, read_reply
from arena.agents.remote.wire import MAX_REPLY_BYTES
from arena.cli.options import AsJson
from arena.cli.output import print_json
from arena.cli.serving import AllowUnpriced, BudgetUsd, TokenCap
from arena.core.actions import ACTION_WORD, Intent, Status
from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json
from arena.core.season import Season
from arena.core.types import Asset, Bar, Decision, MarketContext, Slot, TrackView
from arena.llm.budgeted import Budget
from arena.llm.journal import MemoryJournal
from arena.llm.registry import model_info
from arena.llm.stack import RunModels
from arena.llm.types import ChatModel
from arena.market.calendars import sessions, slot
from arena.market.filings.known import known_facts
from arena.market.history import History, load_history
from arena.market.news.digest import digest
from arena.market.seal import seal
from arena.market.sources import open_source
from arena.runner.intelligence import LONGEST_CLOSURE, Intelligence, from_files

FIRST_SESSION, LAST_SESSION = date(2025, 5, 5), date(2025, 12, 19)
"""The sample has news in these months."""

SCALE = 8.0
"""A power of two, so that every ratio of prices stays the same to the last bit."""

NO_MONEY = frozenset(
    {"shares", "insider_bought_shares", "insider_sold_shares", "tax_rate", "beta"}
)  # fmt: skip
"""Filed figures that stay as they are in another unit of money."""


@dataclass(frozen=True)
class Finding:
    """`FAIL` keeps an agent out; `note` is for the person who decides."""

    level: Literal["ok", "note", "FAIL"]
    check: str
    text: str


@dataclass(frozen=True)
class Sample:
    """One slot of the sample with its news and figures, sealed twice: as it is, and with other prices
    after the slot."""

    market: MarketContext
    poisoned: MarketContext


@dataclass
class Candidate:
    """An agent under examination: each ask is one decision at a fresh desk."""

    agent: Agent
    model_of: Callable[[str], ChatModel]
    timeout_s: float
    path: Path | None = None
    seconds: list[float] = field(default_factory=list)

    def desk(self, market: MarketContext) -> Desk:
        """A desk with a flat account and an empty memory."""
        season = Season()
        view = TrackView(0, season.capital, 0.0, None, (), season.action_spec)
        # A name of its own for each ask, or a repeated question would be answered from the journal.
        model = self.model_of(f"check:{len(self.seconds)}:{market.market_hash}")
        memory = self.agent.memory(None)
        return Desk(market, view, model, season, memory=memory, deadline_s=self.timeout_s)

    async def ask(self, market: MarketContext) -> Decision | str:
        """The decision, or what went wrong instead of one."""
        began = monotonic()
        try:
            decision = await self.agent.decide(self.desk(market))
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a candidate raises is a finding
            return blame(error, self.path) if self.path else f"{type(error).__name__}: {error}"
        self.seconds.append(monotonic() - began)
        if not isinstance(decision, Decision):
            return f"decide returned {type(decision).__name__}, not a Decision"
        good = decision.status in (Status.OK, Status.REPAIRED)
        return decision if good else f"{decision.status.value}: {decision.reason}"


def check_agent(
    target: Annotated[str, typer.Argument(metavar="URL|FILE", help="Remote agent, or Python file.")],
    model: Annotated[str, typer.Option("--model", help="For a file.")] = "offline/trend",
    protocol: Annotated[str, typer.Option("--protocol", help="For a URL: ama/1 or arena/2.")] = "ama/1",
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=0.1, max=600)] = 180.0,
    slots: Annotated[int, typer.Option("--slots", min=1, max=60, help="Slots of each asset class.")] = 4,
    budget_usd: BudgetUsd = None,
    token_cap: TokenCap = None,
    allow_unpriced: AllowUnpriced = False,
    as_json: AsJson = False,
) -> int:
    """Ask an agent about made-up prices and report how it behaves; exit 1 if it should stay out."""
    samples = make_samples(slots)
    if target.startswith(("http://", "https://")):
        findings = asyncio.run(examine_url(_entry(target, protocol, timeout_s), samples))
    else:
        path = Path(target)
        budget = Budget(budget_usd, token_cap, allow_unpriced)
        run = RunModels([model_info(model)], budget, MemoryJournal())
        candidate = Candidate(load_file(path), partial(run.of, model), timeout_s, path)
        findings = asyncio.run(examine(candidate, samples))
    if as_json:
        print_json([asdict(f) for f in findings])
    else:
        for f in findings:
            print(f"{f.level:<5} {f.check:<13} {f.text}")
    return 1 if any(f.level == "FAIL" for f in findings) else 0


async def examine_url(entry: RemoteEntry, samples: Sequence[Sample]) -> list[Finding]:
    """`examine`, and what concerns the wire."""
    candidate = Candidate(RemoteAgent(entry), lambda _: Elsewhere("remote"), entry.timeout_s)
    found: list[Finding] = []
    if entry.names_private:
        text = "a private one: its entry needs allow_private = true"
        found.append(Finding("note", "address", text))
    found += await examine(candidate, samples)
    if not any(f.level == "FAIL" for f in found):
        found.append(await _extra_keys(candidate, entry, samples[0].market))
    return found


async def examine(candidate: Candidate, samples: Sequence[Sample]) -> list[Finding]:
    """Ask about each sample and compare; without answers there is nothing to compare."""
    found: list[Finding] = []
    if candidate.path is not None:
        found.append(Finding("ok", "loads", f"{candidate.agent.label} (`{candidate.agent.id}`)"))
    first = [await candidate.ask(s.market) for s in samples]
    bad = [said for said in first if isinstance(said, str)]
    if bad:
        text = f"{len(bad)} of {len(first)} slots without an answer; the first: {bad[0]}"
        return [*found, Finding("FAIL", "answers", text)]
    found.append(Finding("ok", "answers", f"{len(first)} of {len(first)} slots"))
    spent = candidate.seconds
    took = f"median {statistics.median(spent):.2f} s, slowest {max(spent):.2f} s"
    level: Literal["ok", "FAIL"] = "ok" if max(spent) <= candidate.timeout_s else "FAIL"
    found.append(Finding(level, "timing", f"{took}; limit {candidate.timeout_s:g} s"))
    again = [await candidate.ask(s.market) for s in samples]
    steady = [_core(a) for a in first] == [_core(a) for a in again]
    found.append(
        Finding("ok", "repeatable", "the same requests, the same decisions") if steady
        else Finding("note", "repeatable", "the same requests gave other decisions")
    )  # fmt: skip
    found.append(await _poison(candidate, samples, first, steady))
    scaled = [await candidate.ask(_scaled(s.market)) for s in samples]
    moved = sum(_word(a) != _word(b) for a, b in zip(first, scaled, strict=True))
    found.append(
        Finding("note", "price scale", f"{moved} of {len(first)} actions change if all prices are {SCALE:g} times as high")
        if moved else Finding("ok", "price scale", "actions do not hang on the unit of prices")
    )  # fmt: skip
    words = {_word(a) for a in first}
    found.append(
        Finding("note", "variety", f"every answer was {words.pop()}") if len(words) == 1
        else Finding("ok", "variety", f"answers were {', '.join(sorted(words))}")
    )  # fmt: skip
    return found


async def _poison(
    candidate: Candidate, samples: Sequence[Sample], first: Sequence[Decision | str], steady: bool
) -> Finding:
    """Prices after the slot were changed; neither the sealed context nor the decision may notice."""
    if any(s.market.market_hash != s.poisoned.market_hash for s in samples):
        return Finding("FAIL", "sealed input", "later prices changed the sealed context")
    later = [await candidate.ask(s.poisoned) for s in samples]
    differ = sum(_core(a) != _core(b) for a, b in zip(first, later, strict=True))
    if not differ:
        return Finding("ok", "sealed input", "changed prices after the slot change nothing")
    if not steady:
        return Finding("note", "sealed input", "cannot be told: the agent is not repeatable")
    return Finding("FAIL", "sealed input", f"{differ} decisions changed with prices after the slot")


async def _extra_keys(
    candidate: Candidate, entry: RemoteEntry, market: MarketContext
) -> Finding:
    request = RemoteAgent(entry).request(candidate.desk(market))
    body = canonical_json(request | {"unknown_key": {"a": [1]}}).encode()
    got = await post(
        entry.url, body, timeout_s=entry.timeout_s, total_s=entry.timeout_s,
        allow_private=entry.allow_private, max_bytes=MAX_REPLY_BYTES,
    )  # fmt: skip
    problem = got.problem
    if got.outcome is Outcome.OK:
        try:
            read_reply(got.body)
        except ReplyError as error:
            problem = str(error)
    if problem:
        return Finding("note", "extra keys", f"a key it does not know makes it refuse ({problem})")
    return Finding("ok", "extra keys", "a key it does not know is ignored")


def make_samples(n_slots: int) -> list[Sample]:
    """`n_slots` sessions, spread over seven months, of one made-up stock and of one made-up coin."""
    source = open_source("sample")
    chosen = {a.asset_class: a for a in reversed(source.assets().values())}
    both, made = (chosen["stock"], chosen["crypto"]), []
    last = datetime.combine(LAST_SESSION, time(), UTC) + LONGEST_CLOSURE
    found, _ = from_files("sample", both, last, utc_now())
    for asset in both:
        history = load_history(source, asset, date(2023, 7, 1), date(2025, 12, 31), utc_now())
        days = sessions(asset.asset_class, FIRST_SESSION, LAST_SESSION)
        for session in days[len(days) % n_slots :: len(days) // n_slots]:
            due = slot(asset, session)
            read = _read(found, asset, due, history)
            made.append(Sample(seal(history, due, **read), seal(_poisoned(history, due), due, **read)))
    return made


def _read(found: Intelligence, asset: Asset, due: Slot, history: History) -> dict[str, Any]:
    """What stands beside prices: stories, their digest, and what was filed."""
    day, bar = found.day(asset, due, "default"), history.bar(due.session)
    return {
        "stories": day.facts() if day else (),
        "brief": digest(asset, day).facts(day) if day and day.stories else None,
        "fundamentals": known_facts(
            found.facts.get(asset.id, ()), due.as_of_utc, bar.close if bar else None
        ),
    }


def _poisoned(history: History, due: Slot) -> History:
    bars = tuple(b if b.known_at_utc <= due.as_of_utc else _times(b, 3.0) for b in history.bars)
    return replace(history, bars=bars)


def _scaled(market: MarketContext) -> MarketContext:
    """All money times `SCALE`, as in another currency."""
    figures = tuple(
        f if f["field"] in NO_MONEY else {**f, "value": f["value"] * SCALE}
        for f in market.fundamentals
    )
    return replace(market, bars=tuple(_times(b, SCALE) for b in market.bars), fundamentals=figures)


def _times(bar: Bar, factor: float) -> Bar:
    return replace(
        bar, open=bar.open * factor, high=bar.high * factor, low=bar.low * factor, close=bar.close * factor
    )


def _core(said: Decision | str) -> tuple[Intent, float | None] | str:
    return said if isinstance(said, str) else (said.intent, said.conviction)


def _word(said: Decision | str) -> str:
    return said if isinstance(said, str) else ACTION_WORD[said.intent]


def _entry(url: str, protocol: str, timeout_s: float) -> RemoteEntry:
    given: dict[str, Any] = {
        "id": "candidate", "label": "Candidate", "url": url, "protocol": protocol,
        "timeout_s": timeout_s, "allow_private": True,
    }  # fmt: skip
    try:
        return RemoteEntry.model_validate(given)
    except ValidationError as error:
        raise ConfigError("; ".join(e["msg"] for e in error.errors())) from error
