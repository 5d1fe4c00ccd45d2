"""docs/news-sources.md: its example works as printed, and its table names what there is."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news import live
from tests.market.sources.news.keyed import BTC, NOW, SECRET, body, clock, news_of, site


@pytest.fixture
def page_text(root: Path) -> str:
    return (root / "docs/news-sources.md").read_text(encoding="utf-8")


def test_the_example_is_a_source(page_text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page_text, re.DOTALL)
    module = ModuleType("arena.market.sources.news.example_wire")
    exec(compile(code, "docs/news-sources.md", "exec"), module.__dict__)
    rows = [{"headline": "Bitcoin rises", "link": "u", "body": "It rose.", "time": 1754992800}, {}]
    with site(monkeypatch) as here:
        here.answers["/news"] = body({"news": rows})
        found = news_of(module.ExampleWire(SECRET, here.base, clock), BTC)
        here.answers["/news"] = body({"news": rows}, 401)
        with pytest.raises(SourceError, match="Check EXAMPLE_WIRE_API_KEY"):
            news_of(module.ExampleWire(SECRET, here.base, clock), BTC)
    # 1754992800 = 2025-08-12 10:00 UTC
    assert found[0] == RawItem(
        "Bitcoin rises", "u", "It rose.", "Example Wire", "example_wire", "wire", "exact",
        datetime(2025, 8, 12, 10, 0, tzinfo=UTC), NOW, "BTC",
    )  # fmt: skip
    assert (found[1].title, found[1].ts_quality) == ("", "none")
    assert here.asked[0][0].startswith("/news?ticker=BTC&since=2025-08-11T14")

    # As the page says: its name in KEYED, its key in the environment.
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(live, "KEYED", (*live.KEYED, "example_wire"))
    for name in re.findall(r"[A-Z_]+_API_KEY|REDDIT_\w+|X_BEARER_TOKEN", page_text):
        monkeypatch.delenv(name, raising=False)
    assert "example_wire" not in [s.name for s in live.live_news([BTC], clock)]
    monkeypatch.setenv("EXAMPLE_WIRE_API_KEY", SECRET)
    monkeypatch.setenv("X_BEARER_TOKEN", SECRET)
    assert [s.name for s in live.live_news([BTC], clock)][-2:] == ["x", "example_wire"]


def test_the_table_names_every_source_and_its_keys(page_text: str) -> None:
    table = page_text.partition("## What there is")[2].partition("## ")[0]
    rows = {m[1]: m[2] for m in re.finditer(r"^\| `([\w:-]+)` \|([^|]*)\|", table, re.MULTILINE)}
    assert set(rows) == {*live.KEYED, "yahoo", "rss:ID", "edgar", "web-search", "files", "sample"}
    for name in live.KEYED:
        module = import_module(f"arena.market.sources.news.{name}")
        keys = {v for k, v in vars(module).items() if k in ("KEY", "ID_KEY", "SECRET_KEY")}
        assert set(re.findall(r"`(\w+)`", rows[name])) == keys
