"""When a live run decides next, against the calendar worked out by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from arena.core.season import OPEN_END, RunSpec, Season
from arena.core.types import AssetClass
from arena.runner.next_slot import next_decision

CLASSES: dict[str, AssetClass] = {"BTC": "crypto", "TSLA": "stock"}


def live(*assets: str, fill: str = "next") -> RunSpec:
    return RunSpec(
        kind="live", season=Season(fill=fill), source="live", assets=assets, agents=("trade",),  # type: ignore[arg-type]
        models=("m",), start=date(2025, 8, 1), end=OPEN_END,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "assets", "due", "who"),
    [
        # Wednesday evening: the coin's day ends first, at 00:05 UTC.
        ("2025-10-01 18:40", ("BTC", "TSLA"), "2025-10-02 00:05", ("BTC",)),
        # Thursday morning: the stock's slot is 30 minutes before the open of 09:30 EDT (13:30 UTC).
        ("2025-10-02 09:00", ("BTC", "TSLA"), "2025-10-02 13:00", ("TSLA",)),
        # At the very moment of a slot the next one is meant.
        ("2025-10-02 13:00", ("TSLA",), "2025-10-03 13:00", ("TSLA",)),
        # Friday after the open: Monday.
        ("2025-10-03 15:00", ("TSLA",), "2025-10-06 13:00", ("TSLA",)),
        # Over Thanksgiving, and in winter time: Friday 28 Nov, 09:00 EST is 14:00 UTC.
        ("2025-11-26 15:00", ("TSLA",), "2025-11-28 14:00", ("TSLA",)),
    ],
)
def test_the_soonest_slot(now: str, assets: tuple[str, ...], due: str, who: tuple[str, ...]) -> None:
    found = next_decision(live(*assets), CLASSES, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert found is not None
    assert (found.as_of_utc, found.assets) == (datetime.fromisoformat(due).replace(tzinfo=UTC), who)


def test_fills_at_the_close_decide_just_after_midnight_together() -> None:
    # TSLA's session of 2 Oct is due at 00:05 UTC of the 3rd, as the coin's day is.
    now = datetime(2025, 10, 2, 23, 0, tzinfo=UTC)
    found = next_decision(live("BTC", "TSLA", fill="close"), CLASSES, now)
    assert found is not None
    assert (found.as_of_utc, found.assets) == (datetime(2025, 10, 3, 0, 5, tzinfo=UTC), ("BTC", "TSLA"))


def test_assets_that_nobody_knows_are_due_never() -> None:
    assert next_decision(live("GONE"), CLASSES, datetime(2025, 10, 2, tzinfo=UTC)) is None
