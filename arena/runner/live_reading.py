"""What live runs read beside prices: news and filings, polled when a slot is due."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from arena.core.season import RunSpec
from arena.core.types import Asset
from arena.market.news.brief import NO_BRIEF
from arena.runner.collect import poll_live, stored_archives, stored_facts
from arena.runner.intelligence import PRICES_ONLY, Intelligence
from arena.store.store import Store

log = logging.getLogger("arena.live")

POLL_EVERY = timedelta(minutes=4)
"""Rounds of one moment share a poll; a retry soon after does not ask again."""

KEEP = timedelta(days=30)
"""Stories that began earlier no longer bear on a slot."""

Poll = Callable[[Store, Sequence[Asset], datetime], datetime]


@dataclass
class LiveReading:
    """News and filed figures of live runs, read back from the store as any run does.

    Args:
        poll: asks the sources, stores what they said, and returns when the last one had answered.
    """

    store: Store
    poll: Poll = poll_live
    _polled_utc: dict[str, datetime] = field(default_factory=dict)

    def of(
        self, spec: RunSpec, assets: Sequence[Asset], now_utc: datetime, seen_utc: datetime
    ) -> Intelligence:
        """What `spec` reads at a slot of these assets: all that had been collected by `seen_utc`.

        Nothing is asked for a round that had begun before: it goes on with what it began with.
        """
        if spec.brief == NO_BRIEF:
            return PRICES_ONLY
        if seen_utc >= now_utc:
            stale = [a for a in assets if self._stale(a, now_utc)]
            if stale:
                seen_utc = max(seen_utc, self.poll(self.store, stale, now_utc))
                self._polled_utc.update({a.id: now_utc for a in stale})
        chosen = {a.id: a for a in assets}
        return Intelligence(
            stored_archives(self.store, chosen, seen_utc, since_utc=seen_utc - KEEP),
            stored_facts(self.store, chosen, seen_utc),
        )

    def _stale(self, asset: Asset, now_utc: datetime) -> bool:
        last = self._polled_utc.get(asset.id)
        return last is None or now_utc - last >= POLL_EVERY
