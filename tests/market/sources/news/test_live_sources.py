"""Which sources a live run asks, and that none of them leaves the machine when it must not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.sources.news import live
from arena.market.sources.news.base import poll
from arena.market.sources.news.live import live_news

NOW = datetime(2025, 8, 2, 9, tzinfo=UTC)
ASSETS = load_assets()
KEYS = {
    "finnhub": ("FINNHUB_API_KEY",),
    "newsdata": ("NEWSDATA_API_KEY",),
    "cryptonews": ("CRYPTONEWS_API_KEY",),
    "reddit": ("REDDIT_CLIENT_ID", "REDDIT_CLIENT_SECRET"),
    "x": ("X_BEARER_TOKEN",),
}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (key for keys in KEYS.values() for key in keys):
        monkeypatch.delenv(name, raising=False)


def names(*assets: Asset) -> list[str]:
    return [source.name for source in live_news(assets)]


def test_sources_without_a_key_by_class() -> None:
    stock, coin = names(ASSETS["TSLA"]), names(ASSETS["BTC"])
    assert stock[:2] == ["yahoo", "edgar"]
    assert coin[0] == "yahoo"
    assert "edgar" not in coin
    assert {"rss:electrek", "rss:sec"} <= set(stock)
    assert {"rss:coindesk", "rss:sec"} <= set(coin)
    assert not {"rss:coindesk", "rss:fda"} & set(stock)
    assert "rss:nasdaq-halts" not in stock  # switched off in the list


def test_every_source_once_for_all_assets() -> None:
    together = names(*ASSETS.values())
    assert len(together) == len(set(together))
    assert set(together) == {n for asset in ASSETS.values() for n in names(asset)}


def test_made_up_assets_have_no_news_in_the_world() -> None:
    assert names(Asset("SYN", "Synthetic", "stock", synthetic=True)) == []


@pytest.mark.parametrize("module", live.KEYED)
def test_a_keyed_source_joins_where_its_key_is_set(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    before = names(*ASSETS.values())
    for key in KEYS[module]:
        monkeypatch.setenv(key, "k")
    after = names(*ASSETS.values())
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_with_the_network_off_every_source_says_so() -> None:
    assets = list(ASSETS.values())
    told = poll(live_news(assets, lambda: NOW), assets, NOW, NOW, lambda: NOW)
    assert len(told) >= 20
    assert {p.status for p in told} == {"failed"}
    assert all("network is off" in (p.error or "") for p in told)
