"""Shared by the tests of sources with a key: a clock that stands, assets, and what may go wrong anywhere."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem
from arena.market.sources.news.base import LimitedError, NewsSource
from tests.market.sources.news.server import Answer, Site, page, running

NOW = datetime(2025, 8, 12, 14, 0, tzinfo=UTC)
SINCE = datetime(2025, 8, 11, 14, 0, tzinfo=UTC)
SECRET = "k3y-0123456789-very-secret"
TSLA = Asset("TSLA", "Tesla", "stock", symbols={"yahoo": "TSLA"})
BTC = Asset("BTC", "Bitcoin", "crypto", symbols={"yahoo": "BTC-USD", "ccxt": "BTC/USD"})
ETH = Asset("ETH", "Ethereum", "crypto", symbols={"yahoo": "ETH-USD", "ccxt": "ETH/USD"})
MADE_UP = Asset("ACME", "Acme", "stock", synthetic=True)


def clock() -> datetime:
    return NOW


def body(value: Any, code: int = 200, **headers: str) -> Answer:
    return page(json.dumps(value).encode(), code, "application/json", **headers)


@contextmanager
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site on loopback, with the network switched on."""
    monkeypatch.setenv("ARENA_NETWORK", "on")
    with running() as found:
        yield found


def news_of(source: NewsSource, *assets: Asset) -> list[RawItem]:
    return source.fetch(assets, SINCE, NOW)


PAGE_OF_HTML = page(b"<html><body>Sign in</body></html>", 200, "text/html")

BAD_ANSWERS: dict[str, tuple[Answer, str]] = {
    "empty": (page(b"", 200), "no JSON"),
    "html": (PAGE_OF_HTML, "no JSON"),
    "cut off": (page(b'{"data": [{"title": "x', 200), "no JSON"),
    "deep": (page(b"[" * 200_000, 200), "no JSON"),
    "a number": (page(b"7", 200), "form may have changed"),
    "server error": (page(b"<html>500</html>", 500, "text/html"), "answered 500"),
    "redirect": (page(b"", 302, Location="https://elsewhere.example/"), "redirects"),
}


def check_failures(
    path: str, make: Callable[[str], NewsSource], asset: Asset, variable: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Every bad answer is a SourceError that says which, and nothing anywhere holds the key."""
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    with site(monkeypatch) as here:
        source = make(here.base)
        for name, (answer, words) in BAD_ANSWERS.items():
            here.answers[path] = answer
            with pytest.raises(SourceError, match=words) as caught:
                news_of(source, asset)
            said.append(f"{name}: {caught.value!r} {caught.value.__cause__!r}")
        echo = {"error": f"Invalid API key {SECRET}", "message": SECRET, "detail": SECRET}
        here.answers[path] = body(echo, 401)
        with pytest.raises(SourceError, match=rf"refused \(401\).*{variable}") as refused:
            news_of(source, asset)
        here.answers[path] = body(echo)
        with pytest.raises(SourceError) as odd:
            news_of(source, asset)
        here.answers[path] = body(echo, 429, Retry_After="90")
        with pytest.raises(LimitedError) as limited:
            news_of(source, asset)
        assert limited.value.retry_after_s == 90.0
        assert len(here.asked) >= len(BAD_ANSWERS) + 3, "every failure came from an answer"
    said += [repr(e.value) for e in (refused, odd, limited)] + [repr(source), caplog.text]
    assert SECRET not in "\n".join(said)
    monkeypatch.setenv("ARENA_NETWORK", "off")
    with pytest.raises(SourceError, match="network is off"):
        news_of(source, asset)
