"""The live arena: which seasons go on, and what is due in each of them now.

Nothing here waits. A tick calls `reconcile`; what was not due, or could not be decided yet, is found
again by the next one. So a tick too many, a restart and a night of sleep are all the same to it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from arena.core.clock import Clock, utc_now
from arena.core.errors import ArenaError, ConfigError, SourceError, StoreError
from arena.core.settings import source_label
from arena.core.types import Asset
from arena.market.sources import PriceSource, open_source
from arena.runner.live_prices import LivePrices
from arena.runner.live_reading import LiveReading
from arena.runner.live_run import LiveRun, RoundReport
from arena.runner.live_seasons import LiveSeason, ended, live_seasons
from arena.store import live_reader
from arena.store.store import Store

log = logging.getLogger("arena.live")

BACKWARD = timedelta(minutes=1)
"""A clock that went back by more than this is not believed."""

COPY_PAUSE = 5
"""The pause after a snapshot, in times of what it took. Rounds are hours apart; where one after another
is made up for, a large store is not copied after each."""

ENDED = "ended: the season was changed or is no longer listed"

Seasons = Callable[[Store, datetime], list[LiveSeason]]


class Live:
    """All live runs of one store in one process.

    Args:
        source, reading, seasons: stand in for those of the data choice in trials.
    """

    def __init__(
        self, store: Store, choice: str = "live", clock: Clock = utc_now, *,
        source: PriceSource | None = None, reading: LiveReading | None = None,
        seasons: Seasons | None = None, stop: threading.Event | None = None,
    ) -> None:  # fmt: skip
        self._store, self._clock, self._label = store, clock, source_label(choice)
        self._prices = LivePrices(store, source or open_source(choice))
        self._reading = reading or LiveReading(store)
        self._seasons = seasons or self._listed
        self._stop = stop or threading.Event()
        self.runs: dict[str, LiveRun] = {}
        self.troubles: dict[str, str] = {}
        """Why a season does not go on, by run."""
        self.paused: str | None = None
        self.deciding = False
        """Whether rounds are being carried out: until their end what is stored is a part of them."""
        self.prepare: Callable[[Store], None] | None = None
        """What pages work out of a round before it shows; they set it."""
        self._unseen, self._next_copy_s = False, 0.0
        self.unshown: str | None = None
        """Why other processes cannot see the last rounds: the snapshot that failed."""
        self._newest_utc = live_reader.newest_decision_utc(store)

    def assets(self) -> Mapping[str, Asset]:
        """Every asset that the source has prices of."""
        return self._prices.assets()

    def reconcile(self) -> list[RoundReport]:
        """Decide all that is due, oldest first, season by season; a snapshot afterwards.

        A season that fails takes nothing from the others: its trouble is kept and told.
        """
        now = self._clock()
        if self._went_back(now):
            return []
        try:
            reports = self._decide_all(now)
            self._newest_utc = max(now, self._newest_utc or now)
            self._unseen = self._unseen or bool(reports)
            self._show()
            if reports:
                self._prepare()
        finally:
            self.deciding = False
        return reports

    def _decide_all(self, now_utc: datetime) -> list[RoundReport]:
        reports: list[RoundReport] = []
        for season in self._going_on(now_utc):
            if self._stop.is_set():
                break
            try:
                run = self.runs.get(season.run) or self._opened(season)
                for rnd in run.due(now_utc):
                    if self._stop.is_set():
                        break
                    self.deciding = True
                    report = run.carry_out(rnd)
                    if report is not None:
                        reports.append(report)
            except ArenaError as error:
                self._trouble(season, error)
            except Exception as error:
                log.exception("%s", season.run)
                self._trouble(season, error)
            else:
                self.troubles.pop(season.run, None)
        return reports

    def _show(self) -> None:
        """Renew the snapshot, unless the last one took too much time just now: then a later tick does.
        What was decided is decided, and is told of, where that fails."""
        began_s = time.monotonic()
        if not self._unseen or began_s < self._next_copy_s:
            return
        self.unshown, self._unseen = None, False
        try:
            self._store.snapshot()
        except StoreError as error:
            log.warning("%s", error)
            self.unshown = str(error)
        now_s = time.monotonic()
        self._next_copy_s = now_s + COPY_PAUSE * (now_s - began_s)

    def _prepare(self) -> None:
        if self.prepare is None or self._stop.is_set():
            return
        try:
            self.prepare(self._store)
        except Exception:
            # Nobody loses anything by it: whoever looks first waits a moment.
            log.exception("the pages could not be prepared")

    def _opened(self, season: LiveSeason) -> LiveRun:
        run = LiveRun(season, self._store, self._prices, self._reading, self._clock)
        self.runs[season.run] = run
        return run

    def _going_on(self, now_utc: datetime) -> list[LiveSeason]:
        seasons = self._seasons(self._store, now_utc)
        for run in ended(self._store, seasons):
            self._store.update_run(run, status="done", finished_at_utc=now_utc, note=ENDED)
            self.runs.pop(run, None)
            log.info("%s %s", run, ENDED)
        # A season that cannot begin has another id every day.
        listed = {season.run for season in seasons}
        self.troubles = {run: said for run, said in self.troubles.items() if run in listed}
        return seasons

    def _listed(self, store: Store, now_utc: datetime) -> list[LiveSeason]:
        return live_seasons(store, self._label, now_utc.date())

    def _trouble(self, season: LiveSeason, error: Exception) -> None:
        """A round that broke off is taken up anew from the store: what is in memory may be half done."""
        if not isinstance(error, (ConfigError, SourceError)):
            self.runs.pop(season.run, None)
        said = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
        if self.troubles.get(season.run) != said:
            log.warning("%s: %s", season.run, said)
        self.troubles[season.run] = said

    def _went_back(self, now_utc: datetime) -> bool:
        newest = self._newest_utc
        if newest is None or now_utc >= newest - BACKWARD:
            self.paused = None
            return False
        said = (
            f"The clock says {now_utc:%Y-%m-%d %H:%M} UTC, but decisions were recorded at "
            f"{newest:%Y-%m-%d %H:%M}. Nothing is decided until it is past that; set the clock right."
        )
        if self.paused != said:
            log.error("%s", said)
        self.paused = said
        return True
