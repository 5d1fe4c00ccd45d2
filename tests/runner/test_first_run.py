"""The first run on live prices, with both clients replaced by ones that only know recent days."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.audit.check import check_store
from arena.core.settings import store_path
from arena.market.assets import load_assets
from arena.market.calendars import sessions
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.live import LiveSource
from arena.market.sources.yahoo import YahooSource
from arena.runner import first_run
from arena.store import reader
from arena.store.store import open_store

REACH_DAYS = 720
"""Kraken serves no more daily candles than that."""


def close(day_number: int) -> float:
    return 100.0 + 10.0 * np.sin(day_number / 9)


class Yahoo:
    def Ticker(self, symbol: str) -> Any:
        def history(start: str, end: str, **_: Any) -> pd.DataFrame:
            first, last = (datetime.fromisoformat(x).date() for x in (start, end))
            days = sessions("crypto" if "-" in symbol else "stock", first, last - timedelta(days=1))
            prices = [close(d.toordinal()) for d in days]
            index = pd.DatetimeIndex(days).tz_localize("America/New_York")
            columns = dict.fromkeys(("Open", "High", "Low", "Close", "Adj Close"), prices)
            return pd.DataFrame({**columns, "Volume": 1.0}, index)

        return SimpleNamespace(history=history)


class Exchange:
    def fetch_ohlcv(self, pair: str, step: str, since: int, limit: int) -> list[list[float]]:
        now = datetime.now(UTC).date().toordinal()
        first = max(datetime.fromtimestamp(since / 1000, UTC).date().toordinal(), now - REACH_DAYS)
        rows = []
        for day in range(first, min(first + limit, now + 1)):
            at = datetime.fromordinal(day).replace(tzinfo=UTC).timestamp() * 1000
            rows.append([at, *[close(day)] * 4, 1.0])
        return rows


def test_an_empty_live_store_is_filled_with_the_default_assets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assets = load_assets()
    source = LiveSource(YahooSource(assets, Yahoo()), CcxtSource(assets, lambda _: Exchange()), assets)
    monkeypatch.setattr(first_run, "open_source", lambda _: source)
    monkeypatch.setattr(first_run, "FIRST_RUN_DAYS", 10)
    spec = first_run.first_spec(source, "live")
    assert spec.assets == ("BMRN", "BTC", "ETH", "TSLA")
    assert (spec.source, (spec.end - spec.start).days) == ("live", 9)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    # Ten calendar days up to the older of the stocks' and the coins' last final session.
    assert yesterday - timedelta(days=5) <= spec.end <= yesterday
    ticks: list[float] = []
    with open_store(tmp_path / "live.duckdb") as store:
        first_run.fill_store(
            store, "live", None, lambda t: ticks.append(t.done / t.planned), threading.Event()
        )
        runs = reader.runs(store)
        assert runs["status"].tolist() == ["done"]
        assert not runs["synthetic"].iloc[0]
        assert set(reader.bars(store, "BTC", 0)["source"]) == {"ccxt:kraken"}
        assert set(reader.bars(store, "TSLA", 0)["source"]) == {"yahoo"}
        assert check_store(store).n_breaches == 0
    assert ticks[-1] == 1.0


def test_each_choice_has_a_store_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_STORE", raising=False)
    paths = {store_path(c) for c in ("live", "sample", "files:/a", "files:/b")}
    assert len(paths) == 4
