"""The protocol of a news source, and one poll of several of them.

A source that fails is "failed", never "no news": `poll` keeps what each one said of itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
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

    Answers stand in the order of `sources`.
    """
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="arena-news") as pool:
        return list(pool.map(lambda s: _ask(s, assets, since_utc, until_utc, clock), sources))


def _ask(
    source: NewsSource, assets: Sequence[Asset], since: datetime, until: datetime, clock: Clock
) -> Polled:
    try:
        items = source.fetch(assets, since, until)
    except LimitedError as error:
        log.warning("%s: %s", source.name, error)
        return Polled(
            source.name, clock(), "limited", error=str(error), retry_after_s=error.retry_after_s
        )
    except SourceError as error:
        log.warning("%s: %s", source.name, error)
        return Polled(source.name, clock(), "failed", error=str(error))
    return Polled(source.name, clock(), "ok", tuple(items))
