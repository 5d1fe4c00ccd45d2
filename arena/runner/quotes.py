"""Prices of the moment into the store: every five minutes while a market is open, apart from all bars."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from arena.core.clock import Clock, utc_now
from arena.core.errors import ArenaError
from arena.core.hashing import canonical_json
from arena.core.rows import SourceHealthRow, WriteUnit
from arena.core.rows_host import QuoteRow
from arena.core.types import Asset
from arena.market.calendars import close_utc, is_session, open_utc
from arena.market.sources.exchanges import Exchanges
from arena.market.sources.quotes.base import Asked, Quote, QuoteSource, ask_chain
from arena.market.sources.quotes.ccxt_quotes import QUOTE_EXCHANGES, CcxtQuotes
from arena.market.sources.quotes.finnhub_quotes import finnhub_quotes
from arena.market.sources.quotes.yahoo_quotes import YahooQuotes
from arena.store.quotes_reader import last_prices
from arena.store.quotes_writer import drop_quotes
from arena.store.store import Store

log = logging.getLogger("arena.quotes")

EVERY_S = 300
KEPT_DAYS = 30
"""Older quotes are dropped, but those that an order was filled at."""

ROTATE_EVERY = timedelta(days=7)


class QuotePoller:
    """Quotes of real `assets`: coins from the first exchange that answers, then Yahoo; stocks from
    Yahoo, then from Finnhub where its key is set.

    Args:
        coins, stocks: the sources asked, in order; trials give their own.
    """

    def __init__(
        self,
        store: Store,
        assets: Mapping[str, Asset],
        clock: Clock = utc_now,
        *,
        coins: Sequence[QuoteSource] | None = None,
        stocks: Sequence[QuoteSource] | None = None,
    ) -> None:
        self._store, self._clock = store, clock
        self._assets = [a for a in assets.values() if not a.synthetic]
        yahoo = YahooQuotes()
        exchanges = Exchanges()
        self._coins = coins or (*(CcxtQuotes(n, exchanges) for n in QUOTE_EXCHANGES), yahoo)
        second = finnhub_quotes()
        self._stocks = stocks or ((yahoo,) if second is None else (yahoo, second))
        self._last_poll: int | None = None
        self._rotated_utc: datetime | None = None

    def tick(self, now_utc: datetime) -> None:
        """Poll once in each five minutes of the clock, and drop old quotes once a week. Never raises
        for what the outside world does; what it did is in `source_health`."""
        at = int(now_utc.timestamp()) // EVERY_S
        if at == self._last_poll:
            return
        self._last_poll = at
        try:
            self.poll(now_utc)
            if self._rotated_utc is None or now_utc - self._rotated_utc >= ROTATE_EVERY:
                self._rotated_utc = now_utc
                drop_quotes(self._store, now_utc - timedelta(days=KEPT_DAYS))
        except ArenaError as error:
            log.warning("quotes: %s", error)

    def poll(self, now_utc: datetime) -> list[Quote]:
        """Ask for every asset whose market is open; what was stored.

        Raises:
            StoreError: the store takes no rows.
        """
        open_now = [a for a in self._assets if market_open(a, now_utc)]
        last = last_prices(self._store) if open_now else {}
        found: list[Quote] = []
        asked: list[Asked] = []
        for chain, assets in (
            (self._coins, [a for a in open_now if a.asset_class == "crypto"]),
            (self._stocks, [a for a in open_now if a.asset_class != "crypto"]),
        ):
            if assets:
                quotes, said = ask_chain(chain, assets, last, self._clock)
                found += quotes
                asked += said
        seen_utc = self._clock()
        rows = [
            QuoteRow(q.asset, min(q.at_utc, seen_utc), q.source, q.price, seen_utc) for q in found
        ]
        health = [_health(said, seen_utc) for said in _merged(asked)]
        if rows or health:
            self._store.write([WriteUnit(rows=(*rows, *health))])
        return found


def market_open(asset: Asset, now_utc: datetime) -> bool:
    """Whether the asset trades now: coins always, stocks from the open to the close of a session."""
    if asset.asset_class == "crypto":
        return True
    day = now_utc.date()  # New York's hours lie within one UTC day
    if not is_session(asset.asset_class, day):
        return False
    return open_utc(asset.asset_class, day) <= now_utc <= close_utc(asset.asset_class, day)


def _merged(asked: Sequence[Asked]) -> list[Asked]:
    """One row a source and poll: Yahoo is asked for stocks, and for coins where exchanges fail."""
    merged: dict[str, Asked] = {}
    for said in asked:
        before = merged.get(said.source)
        if before is None:
            merged[said.source] = said
            continue
        worse = before if before.status != "ok" else said
        refused = {
            why: before.refused.get(why, 0) + said.refused.get(why, 0)
            for why in (*before.refused, *said.refused)
        }
        merged[said.source] = Asked(
            said.source, worse.status, before.n_wanted + said.n_wanted,
            before.n_kept + said.n_kept, refused, worse.error,
        )  # fmt: skip
    return list(merged.values())


def _health(said: Asked, at_utc: datetime) -> SourceHealthRow:
    return SourceHealthRow(
        f"quotes of {said.source}", at_utc, said.status, said.n_wanted, said.n_kept,
        canonical_json(dict(said.refused)), said.error, None,
    )  # fmt: skip
