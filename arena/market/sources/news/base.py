"""The protocol of a news source, and one poll of several of them.

A source that fails is "failed", never "no news": `poll` keeps what each one said of itself.
"""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Literal, Protocol

from arena.core.clock import Clock, utc_now
from arena.core.errors import ArenaError, SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust

log = logging.getLogger("arena.news")

AT_ONCE = 6
"""Sources polled at a time: one that hangs until its deadline must not hold up all others."""


class NewsSource(Protocol):
    """Where news comes from. `name` is its id on the health table, e.g. `rss:coindesk`."""

    name: str
    trust: Trust

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime
    ) -> list[RawItem]:
        """What it has about the assets between the two moments; it may hand over more.

        Raises:
            LimitedError: it asks us to wait.
            SourceError: it cannot be reached, refuses, or answers with something unreadable.
        """
        ...


class LimitedError(SourceError):
    """A source has had enough of us; `retry_after_s` where it says for how long."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class Polled:
    """What one source answered at one moment. `error` is for people, never for a prompt."""

    source: str
    at_utc: datetime
    status: Literal["ok", "limited", "failed"]
    items: tuple[RawItem, ...] = ()
    error: str | None = None
    retry_after_s: float | None = None


def poll(
    sources: Sequence[NewsSource],
    assets: Sequence[Asset],
    since_utc: datetime,
    until_utc: datetime,
    clock: Clock = utc_now,
) -> list[Polled]:
    """Ask every source once, several at a time; one that fails takes nothing from the others.

    Answers stand in the order of `sources`. How long it takes is theirs to bound.

    Raises:
        ArenaError: other than SourceError: a file or the store, which are ours, cannot be used.
    """
    waiting = deque((source, Future[Polled]()) for source in sources)
    answers = [answer for _, answer in waiting]

    def work() -> None:
        while True:
            try:
                source, answer = waiting.popleft()
            except IndexError:
                return
            try:
                answer.set_result(_ask(source, assets, since_utc, until_utc, clock))
            except BaseException as error:  # noqa: BLE001 - handed over to the caller's thread
                answer.set_exception(error)

    try:
        # Daemons: whoever gives up waiting is not held by a source that is slow, or that costs money.
        for _ in range(min(AT_ONCE, len(sources))):
            Thread(target=work, name="arena-news", daemon=True).start()
        return [answer.result() for answer in answers]
    finally:
        waiting.clear()


def _ask(
    source: NewsSource, assets: Sequence[Asset], since: datetime, until: datetime, clock: Clock
) -> Polled:
    try:
        items = tuple(source.fetch(assets, since, until))
    except LimitedError as error:
        log.warning("%s: %s", source.name, error)
        return Polled(
            source.name, clock(), "limited", error=str(error), retry_after_s=error.retry_after_s
        )
    except SourceError as error:
        log.warning("%s: %s", source.name, error)
        return Polled(source.name, clock(), "failed", error=str(error))
    except ArenaError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect of one source is no trouble of the others
        said = defect(source.name, error)
        log.error("%s", said)  # noqa: TRY400 - the text of the error may hold a key
        return Polled(source.name, clock(), "failed", error=said)
    return Polled(source.name, clock(), "ok", items)


def defect(name: str, error: Exception) -> str:
    """An error that a source should not have let out, by its kind and place. Its own words, which may
    quote an address with a key, are left out."""
    frames = traceback.extract_tb(error.__traceback__)[:-4:-1]
    at = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames)
    return f"{name}: {type(error).__name__} at {at}. This is a defect of the source; report it."
