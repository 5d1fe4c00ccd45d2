"""From a day of the Market page to the decisions made at its slot."""

from __future__ import annotations

import pytest

from tests.pages.test_market import _no_memory_of_other_copies, market  # noqa: F401 - fixtures
from tests.ui.made_news_store import NEWS_RUN


@pytest.mark.parametrize("day", ["2025-08-10", "2025-08-05"])
def test_a_day_leads_to_its_decisions_with_and_without_a_brief(market, day: str) -> None:  # noqa: F811
    (link,) = market(day=day).get("page_link")
    assert link.proto.label == "1 decision at this slot"
    assert link.proto.page == "decisions"
    for part in (f"run={NEWS_RUN}", "asset=AAA", f"slot={day}", "entry=trade%40m-one"):
        assert part in link.proto.query_string
