"""A 4:1 split told in Yahoo's wire format, from the day before it to the day after."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from arena.core.clock import Clock
from arena.market.assets import load_assets
from arena.market.calendars import sessions, slot
from arena.market.sources.live import LiveSource
from arena.market.sources.patience import Patience
from arena.market.sources.yahoo import YahooSource
from arena.runner.live_prices import LivePrices
from arena.runner.prices import latest_revision
from arena.store import reader
from arena.store.store import open_store
from tests.wire.made_prices import MadePrices
from tests.wire.servers import YahooServer

EX = date(2025, 8, 6)
BEFORE, AFTER = date(2025, 8, 5), date(2025, 8, 7)


def test_a_split_is_kept_beside_raw_bars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.market.sources.yahoo_client.RUNTIME", tmp_path)
    tsla, now = load_assets()["TSLA"], [datetime(2025, 8, 5, 21, 0, tzinfo=UTC)]
    clock: Clock = lambda: now[0]  # noqa: E731
    prices = MadePrices(clock)
    prices.given["TSLA"] = {
        day: (250.0, 255.0, 245.0, 252.0, 1000.0) if day < EX else (62.0, 64.0, 61.0, 63.0, 4000.0)
        for day in sessions("stock", date(2024, 4, 1), date(2025, 8, 12))
    }
    with YahooServer(prices) as yahoo, open_store(tmp_path / "a.duckdb") as store:
        monkeypatch.setenv("ARENA_YAHOO_URL", yahoo.url)
        yahoo.splits = {"TSLA": {EX: (4, 1)}}
        vendor = YahooSource({"TSLA": tsla}, clock=clock, patience=Patience(clock))
        live = LivePrices(store, LiveSource(vendor, vendor, {"TSLA": tsla}, clock=clock))
        assert live.bring_up(tsla, BEFORE, now[0])
        now[0] = datetime(2025, 8, 8, 13, 5, tzinfo=UTC)
        assert live.bring_up(tsla, AFTER, now[0])

        assert [(a.ex_date, a.kind, a.value) for a in live.actions("TSLA")] == [(EX, "split", 4.0)]
        stored = live.newest("TSLA")
        assert [stored[d].close for d in (BEFORE, EX, AFTER)] == [252.0, 63.0, 63.0]
        assert latest_revision(store) == 0
        assert set(reader.price_checks(store, ["TSLA"])["kind"]) <= {"gap"}
        seen = {
            day: live.history(tsla, slot(tsla, day), 0, now[0], lesson=False).bars
            for day in (BEFORE, AFTER)
        }
        # The slot of the day before comes half an hour before the split; 252 / 4 = 63 afterwards.
        assert {b.close for b in seen[BEFORE]} == {252.0}
        assert {b.close for b in seen[AFTER]} == {63.0}
