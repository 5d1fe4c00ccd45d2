"""A month of a host's life, with a change of the clocks: every due slot decided once, nothing lost."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.live.soak import Plan, soak


@pytest.mark.timeout(300)
def test_a_month_with_kills_outages_and_a_sleep(tmp_path: Path) -> None:
    # New York puts its clocks forward on 9 March 2025.
    result = soak(Plan(date(2025, 2, 24), days=30, kills=5, outages=3, sleeps=1), tmp_path, forked=True)
    assert result.faults == []
    assert result.n_kills == 5
    # Six entries and two votes of stand-ins by 30 days... by hand: sessions due by 25 March 14:35 UTC.
    # Coins: 24 February to 24 March, 29 days. Stocks: 24 February to 24 March, 21 sessions.
    assert result.n_decisions == 2 * 4 * (2 * 29 + 2 * 21)
    assert {"ok", "no_data", "provider_error", "no_quorum"} >= set(result.statuses)
    assert result.statuses["provider_error"] > 0
    assert result.n_late > 0
