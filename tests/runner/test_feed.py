"""The feed: well formed whatever a model wrote, in order, with links only where a host has an address."""

from __future__ import annotations

import html
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.ids import TrackId
from arena.runner.feed import REASON_CHARS, rss
from arena.store import rounds
from arena.store.store import open_store
from arena.ui.links import decision_params
from tests.ui import made_store
from tests.ui.made_store import HOSTILE, HOSTILE_RUN, MODELS_RUN

AT = datetime(2025, 8, 2, 0, 6, 30, tzinfo=UTC)


def row(**changes: Any) -> dict[str, Any]:
    track = TrackId("live-1", changes.get("agent", "trade"), changes.get("model", "gpt-4.1"), "BTC")
    return {
        "decision": track.decision("2025-08-01"), "run": "live-1", "agent": "trade",
        "model": "gpt-4.1", "asset": "BTC", "slot_key": "2025-08-01", "action": "BUY",
        "status": "ok", "late": False, "reason": "It rises.", "decided_at_utc": AT, **changes,
    }  # fmt: skip


def parsed(*rows: dict[str, Any], base: str | None = "https://arena.example") -> ET.Element:
    return ET.fromstring(rss("Arena", rows, base))


def test_an_item_says_what_who_and_when() -> None:
    feed = parsed(row(), row(decided_at_utc=AT - timedelta(days=1)))
    item = feed.find("channel/item")
    assert item is not None
    assert item.findtext("title") == "BUY BTC · trade · gpt-4.1 · 2025-08-01"
    assert item.findtext("link") == (
        "https://arena.example/decisions?run=live-1&entry=trade%40gpt-4.1&asset=BTC&slot=2025-08-01"
    )
    assert item.findtext("guid") == "live-1:trade@gpt-4.1:BTC:2025-08-01"
    assert item.findtext("description") == "It rises."
    assert parsedate_to_datetime(item.findtext("pubDate") or "") == AT
    # The feed is as new as its newest item.
    assert feed.findtext("channel/lastBuildDate") == "Sat, 02 Aug 2025 00:06:30 GMT"


def test_a_failure_is_no_hold_and_a_late_one_no_evidence() -> None:
    item = parsed(row(status="provider_error", action="HOLD", late=True)).find("channel/item")
    assert item is not None
    assert (item.findtext("title") or "").startswith("no answer (provider error) BTC")
    assert "not live evidence" in (item.findtext("description") or "")


def test_without_an_address_there_are_no_links() -> None:
    feed = parsed(row(), base=None)
    assert feed.find("channel/item/link") is None
    assert feed.find("channel/item/guid[@isPermaLink='false']") is not None


@given(reason=st.text(max_size=1_500), name=st.text(min_size=1, max_size=40))
def test_any_text_comes_out_as_text(reason: str, name: str) -> None:
    item = parsed(row(reason=reason, agent=name, model=name)).find("channel/item")
    assert item is not None
    told = item.findtext("description") or ""
    # What a reader that draws HTML would show has no tag of anybody's.
    assert "<" not in told
    assert ">" not in told
    assert len(html.unescape(told)) <= REASON_CHARS
    assert not set("<>") & set(item.findtext("title") or "")


def test_markup_of_a_model_is_shown_and_not_drawn() -> None:
    told = parsed(row(reason=HOSTILE)).findtext("channel/item/description") or ""
    assert told.startswith("&lt;script&gt;alert(1)&lt;/script&gt;")
    assert html.unescape(told) == HOSTILE


def test_the_store_gives_the_newest_first_and_only_so_many(tmp_path: Path) -> None:
    with open_store(made_store.build(tmp_path / "s.duckdb")) as store:
        found = rounds.newest_decisions(store, MODELS_RUN, 9)
        # Five sessions of eight tracks: eight of 5 August, due on the 6th, then one of the day before.
        assert [r["slot_key"] for r in found] == ["2025-08-05"] * 8 + ["2025-08-04"]
        assert parsed(*rounds.newest_decisions(store, HOSTILE_RUN, 50)).findall("channel/item")


@pytest.mark.parametrize("decision", ["r:a@m%2Fx:BTC:2025-08-01", "r:a@m:B%3AC:2025-08-01T04"])
def test_links_of_feed_and_pages_are_one(decision: str) -> None:
    from arena.core.permalink import decision_path
    from arena.ui.links import decision_url

    assert decision_url(decision) == decision_path(decision)
    assert decision_params(decision)["slot"] == decision.split(":", 3)[3]
