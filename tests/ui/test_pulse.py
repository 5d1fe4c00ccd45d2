"""The words of the status line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.runner.next_slot import NextDecision
from arena.ui.pulse import due_words


@pytest.mark.parametrize(
    ("due", "now", "words"),
    [
        # Summer time: New York is four hours behind UTC.
        (
            "2025-10-02 00:05", "2025-10-01 09:12",
            "Next decision **Thu 2 Oct, 00:05 UTC** · Wed 20:05 New York · in 14 h 53 min",
        ),
        # Winter time: five.
        (
            "2025-12-01 14:00", "2025-12-01 13:18",
            "Next decision **Mon 1 Dec, 14:00 UTC** · Mon 09:00 New York · in 42 min",
        ),
        # A slot that is being decided just now is not due in minus one minute.
        (
            "2025-12-01 14:00", "2025-12-01 14:01",
            "Next decision **Mon 1 Dec, 14:00 UTC** · Mon 09:00 New York · in 0 min",
        ),
    ],
)  # fmt: skip
def test_when_the_next_decision_is_due(due: str, now: str, words: str) -> None:
    at, then = (datetime.fromisoformat(t).replace(tzinfo=UTC) for t in (due, now))
    assert due_words(NextDecision(at, ("BTC",)), then) == words


def test_a_run_of_unknown_assets_says_so() -> None:
    assert "not in the store" in due_words(None, datetime(2025, 12, 1, tzinfo=UTC))
