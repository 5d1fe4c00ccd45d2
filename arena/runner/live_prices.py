"""Bars of live assets: asked for when a slot is due, kept in the store, and read back from there.

Kept is what was paid on the day: raw bars, with splits and dividends beside them. A context shows them in
the share units of its slot.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from arena.core.errors import SourceError
from arena.core.rows import ActionRow, PriceCheckRow, SourceHealthRow, WriteUnit
from arena.core.types import Asset, Bar, Slot
from arena.market.actions import adjust_bars, equal_prices, lesson_bars, raw_bars
from arena.market.history import History, load_history
from arena.market.seal import N_BARS
from arena.market.sources import PriceSource
from arena.runner.prices import latest_revision, own_revision, price_rows
from arena.store import reader
from arena.store.actions_reader import closes_before, corporate_actions, settled_over
from arena.store.store import Store

log = logging.getLogger("arena.live")

FIRST_LOOK = timedelta(days=int(N_BARS * 1.6) + 30)
LATER_LOOK = timedelta(days=40)
"""How far back a source is asked again, so that what it revised is seen."""

RETRY_S = (60, 120, 300, 900)
"""Pauses after a source failed, or had not the bar yet: the last one repeats."""


@dataclass
class _Asked:
    """How it stands with the source of one asset."""

    n_tries: int = 0
    not_before_utc: datetime | None = None
    reaches_back_to: date | None = None
    told_utc: datetime | None = None
    revision: int = -1
    """When it answered last, and the newest revision then."""


@dataclass
class LivePrices:
    """The bars of all live runs of a process. What a source says is stored before anybody sees it.

    A source that fails is asked again after a minute, two, five, then every quarter of an hour; its
    failure is a row of `source_health`.
    """

    store: Store
    source: PriceSource
    _asked: dict[str, _Asked] = field(default_factory=dict)
    _bars: dict[tuple[str, int], dict[date, Bar]] = field(default_factory=dict)
    _actions: dict[str, tuple[ActionRow, ...]] = field(default_factory=dict)

    def assets(self) -> Mapping[str, Asset]:
        return self.source.assets()

    def bring_up(self, asset: Asset, session: date, now_utc: datetime, since: date | None = None) -> bool:
        """Ask for the bar of `session` if the store has none; whether it is there now.

        Args:
            since: how far back bars are needed, where that is further than a context reaches.
        """
        asked = self._asked.setdefault(asset.id, _Asked())
        wanted = min(since or session, session) - FIRST_LOOK
        known = self.newest(asset.id)
        reaches = asked.reaches_back_to is not None and asked.reaches_back_to <= wanted
        whole = reaches and not self._written_over(asset.id, asked, wanted)
        if self._told(asked, session, known) and whole:
            return True
        if asked.not_before_utc is not None and now_utc < asked.not_before_utc:
            return self._told(asked, session, known)
        start = session - LATER_LOOK if whole else wanted
        try:
            history = load_history(self.source, asset, start, now_utc.date(), now_utc)
            actions = self._asked_actions(asset, start, now_utc.date())
        except SourceError as error:
            log.warning("%s: %s", asset.id, error)
            self._note(asset, now_utc, "failed", 0, str(error))
            self._later(asked, now_utc)
            return self._told(asked, session, known)
        self._keep(history, actions, now_utc)
        asked.told_utc, asked.revision = now_utc, latest_revision(self.store)
        if not reaches:
            asked.reaches_back_to = wanted
        if session in self.newest(asset.id):
            asked.n_tries, asked.not_before_utc = 0, None
            self._note(asset, now_utc, "ok", len(history.bars), None)
            return True
        self._note(asset, now_utc, "ok", len(history.bars), f"no final bar of {session} yet")
        self._later(asked, now_utc)
        return False

    def newest(self, asset: str) -> dict[date, Bar]:
        """Bars by session at the newest revision."""
        return self.at(asset, latest_revision(self.store))

    def at(self, asset: str, revision: int) -> dict[date, Bar]:
        """Bars by session as they stood at `revision`."""
        # Kept by the asset's own newest revision: others have new bars in between.
        revision = own_revision(self.store, asset, revision)
        if (asset, revision) not in self._bars:
            frame = reader.bars(self.store, asset, revision)
            self._bars[asset, revision] = {
                row["session"].date(): Bar(
                    row["session"].date(), row["open"], row["high"], row["low"], row["close"],
                    None if row["volume"] != row["volume"] else row["volume"],
                    row["known_at_utc"].to_pydatetime(),
                )
                for row in frame.to_dict("records")
            }  # fmt: skip
        return self._bars[asset, revision]

    def actions(self, asset: str) -> tuple[ActionRow, ...]:
        """Stored splits and dividends, by ex-date."""
        if asset not in self._actions:
            self._actions[asset] = corporate_actions(self.store, asset)
        return self._actions[asset]

    def history(
        self, asset: Asset, slot: Slot, revision: int, known_utc: datetime, *, lesson: bool
    ) -> History:
        """What the context of a slot can hold: bars as they stood at `revision`, oldest first, in the
        share units of the slot by the splits fetched until `known_utc`. A `lesson` of a warm-up also
        has the bars that followed, in the same units."""
        bars = sorted(self.at(asset.id, revision).values(), key=lambda b: b.session)
        actions = [a for a in self.actions(asset.id) if a.fetched_at_utc <= known_utc]
        known = [b for b in bars if b.session <= slot.session][-N_BARS:]
        after = [b for b in bars if b.session > slot.session] if lesson else []
        return History(
            asset,
            (
                *adjust_bars(known, actions, slot.as_of_utc),
                *lesson_bars(after, actions, slot.session),
            ),
        )

    def _told(self, asked: _Asked, session: date, known: Mapping[date, Bar]) -> bool:
        """Whether a bar is there, and the source has answered since: a replay may have kept the bar, and
        says nothing about what happened to its share."""
        bar, told = known.get(session), asked.told_utc
        return bar is not None and told is not None and told >= bar.known_at_utc

    def _written_over(self, asset: str, asked: _Asked, since: date) -> bool:
        """Whether raw bars may have been replaced: a replay keeps bars as its vendor tells them, divided
        by all splits. The next answer puts raw ones on top again."""
        split = any(a.kind == "split" and a.ex_date > since for a in self.actions(asset))
        return split and asked.revision != latest_revision(self.store)

    def _asked_actions(self, asset: Asset, start: date, end: date) -> list[ActionRow]:
        ask = getattr(self.source, "actions", None)
        found: list[ActionRow] = [] if ask is None else ask(asset, start, end)
        return found

    def _keep(self, history: History, found: list[ActionRow], now_utc: datetime) -> None:
        asset = history.asset.id
        stored = {(a.ex_date, a.kind, a.source) for a in self.actions(asset)}
        new = [
            replace(a, fetched_at_utc=now_utc) for a in found
            if (a.ex_date, a.kind, a.source) not in stored
        ]  # fmt: skip
        raw = self._as_kept(self._raw(history, (*self.actions(asset), *new)))
        _, rows = price_rows(self.store, [raw], now_utc)
        told = {key[:2] for key in stored}
        notes = [
            _too_late(a) for a in new
            if (a.ex_date, a.kind) not in told and settled_over(self.store, asset, a.ex_date)
        ]  # fmt: skip
        self.store.write([WriteUnit(rows=(*rows, *new, *notes))])
        self._bars = {k: v for k, v in self._bars.items() if k[0] != asset}
        self._actions.pop(asset, None)

    def _raw(self, history: History, actions: tuple[ActionRow, ...]) -> History:
        known = [a.known_at_utc for a in actions if a.kind == "split"]
        before = closes_before(self.store, history.asset.id, max(known)) if known else None
        return replace(history, bars=raw_bars(history.bars, actions, before))

    def _as_kept(self, history: History) -> History:
        """Bars of `history`, but those that are stored where nothing was revised: prices are the same
        but for rounding, or another venue tells them."""
        frame = reader.bars(self.store, history.asset.id, latest_revision(self.store))
        source_of = dict(zip(frame["session"].dt.date, frame["source"], strict=True))
        stored = self.newest(history.asset.id)
        return replace(
            history,
            bars=tuple(
                stored[b.session]
                if b.session in stored
                and (source_of[b.session] != history.sources[b.session] or _same(b, stored[b.session]))
                else b
                for b in history.bars
            ),
        )

    def _later(self, asked: _Asked, now_utc: datetime) -> None:
        pause_s = RETRY_S[min(asked.n_tries, len(RETRY_S) - 1)]
        asked.n_tries += 1
        asked.not_before_utc = now_utc + timedelta(seconds=pause_s)

    def _note(
        self, asset: Asset, now_utc: datetime, status: str, n_bars: int, error: str | None
    ) -> None:
        row = SourceHealthRow(
            f"{self.source.name} prices of {asset.id}", now_utc, status, n_bars, n_bars, "{}",
            error, None,
        )  # fmt: skip
        self.store.submit(WriteUnit(rows=(row,)))


def _same(a: Bar, b: Bar) -> bool:
    pairs = ((a.open, b.open), (a.high, b.high), (a.low, b.low), (a.close, b.close))
    return all(equal_prices(x, y) for x, y in pairs)


def _too_late(action: ActionRow) -> PriceCheckRow:
    return PriceCheckRow(
        action.asset, action.ex_date, "late_action", f"{action.source} {action.kind}", action.value, None,
        f"a {action.kind} of {action.value:g} became known after accounts were settled with the prices "
        "of this day; they are left as they are", action.fetched_at_utc,
    )  # fmt: skip
