"""A market with news, brief and figures as a run seals them: over the wire, and behind a mask."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from arena.agents.remote.wire import ContextPart, decode_context, encode_context
from arena.agents.wrappers.masking import Mask
from arena.core.clock import utc_now
from arena.core.hashing import canonical_json
from arena.core.types import MarketContext
from arena.market.calendars import slots
from arena.market.filings.known import known_facts
from arena.market.history import load_history
from arena.market.news.digest import digest
from arena.market.seal import seal
from arena.market.sources import open_source
from arena.runner.intelligence import from_files

NAMES = ("ZORVANE", "QUBIXCOIN")


@cache
def sealed(name: str) -> tuple[MarketContext, ...]:
    """The August of one asset of the sample: days with news only."""
    source = open_source("sample")
    asset = source.assets()[name]
    due = slots(asset, date(2025, 8, 1), date(2025, 8, 31))
    found, _ = from_files("sample", [asset], due[-1].as_of_utc, utc_now())
    history = load_history(source, asset, date(2024, 7, 1), date(2025, 8, 31), utc_now())
    made = []
    for slot in due:
        day, bar = found.day(asset, slot, "default"), history.bar(slot.session)
        if day is None or not day.stories or bar is None:
            continue
        figures = known_facts(found.facts.get(name, ()), slot.as_of_utc, bar.close)
        brief = digest(asset, day).facts(day)
        made.append(
            seal(history, slot, stories=day.facts(), brief=brief, fundamentals=figures)
        )  # fmt: skip
    return tuple(made)


def sent_and_read(market: MarketContext) -> MarketContext:
    text = encode_context(market).model_dump_json()
    return decode_context(ContextPart.model_validate_json(text))


@pytest.mark.parametrize("name", NAMES)
def test_it_arrives_with_its_hash_as_it_is_and_masked(name: str) -> None:
    markets = sealed(name)
    assert len(markets) > 10
    assert bool(markets[-1].fundamentals) is (name == "ZORVANE")
    for market in markets:
        assert sent_and_read(market) == market
        assert sent_and_read(market).market_hash == market.market_hash
        masked = Mask(market).context
        assert sent_and_read(masked).market_hash == masked.market_hash != market.market_hash


@pytest.mark.parametrize("name", NAMES)
def test_nothing_behind_the_mask_can_be_looked_up(name: str) -> None:
    for market in sealed(name):
        masked = Mask(market).context
        told = canonical_json([masked.stories, masked.brief, masked.fundamentals])
        assert market.brief is not None
        real = [market.brief["id"], market.brief["news_sha256"]]
        real += [row["id"] for row in (*market.stories, *market.fundamentals)]
        assert [text for text in real if text in told] == []
        assert name.casefold() not in told.casefold()
        assert f'"{market.as_of_utc.year}' not in told, "no day of the real year"


def test_the_page_about_the_view_names_every_key(root: Path) -> None:
    page = (root / "docs/agent-view.md").read_text("utf-8")
    part = page.split("## What is read, key by key")[1].split("## The answer")[0]
    stories, brief, figures = (
        {key for row in found for key in row} if not isinstance(found, dict) else set(found)
        for found in (sealed("ZORVANE")[-1].stories, sealed("ZORVANE")[-1].brief or {},
                      sealed("ZORVANE")[-1].fundamentals)
    )  # fmt: skip
    about_stories, about_brief = part.split("The `brief`")
    about_brief, about_figures = about_brief.split("A figure of")
    for keys, about in ((stories, about_stories), (brief, about_brief)):
        rows = [line.split("|")[1] for line in about.splitlines() if line.startswith("| `")]
        assert keys == {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert figures == set(re.findall(r"`(\w+)`", about_figures)) - {"fundamentals"}
