"""Whatever a guest's code does, its decision says so and the others go on."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.agents.desk import Desk
from arena.core.actions import ActionSpec, Intent, Status
from arena.core.errors import ConfigError, InvariantError
from arena.core.hashing import canonical_json
from arena.core.season import Season
from arena.core.types import Asset, Bar, Decision, MarketContext, TrackView
from arena.llm.scripted import Scripted
from arena.llm.types import BudgetStop
from arena.runner.guest import guarded

GOOD = Decision(Intent.LONG, Status.OK, "why")


def desk() -> Desk:
    first = datetime(2025, 1, 1, tzinfo=UTC)
    bars = tuple(
        Bar((first + timedelta(days=i)).date(), 1.0, 1.0, 1.0, 1.0, 1.0, first + timedelta(days=i + 1))
        for i in range(30)
    )
    context = MarketContext(
        Asset("Q", "Q", "crypto"), bars[-1].session, first + timedelta(days=31), bars
    )
    view = TrackView(0, 1.0, 0.0, None, (), ActionSpec())
    return Desk(context, view, Scripted([]), Season())


def outcome(act: Any) -> Decision:
    here = desk()

    async def run() -> Any:
        return act(here)

    return asyncio.run(guarded(here, run()))


def raises(error: BaseException) -> Any:
    def act(_: Desk) -> None:
        raise error

    return act


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda d: None, "returned NoneType"),
        (lambda d: sys.exit(7), "SystemExit: 7"),
        (raises(InvariantError("mine")), "InvariantError: mine"),
        (raises(ValueError("bad \ud800")), "ValueError: bad ?"),
        (lambda d: Decision("BUY", Status.OK, "x"), "must be an Intent"),  # type: ignore[arg-type]
        (lambda d: Decision(Intent.LONG, "ok!", "x"), "must be an Intent"),  # type: ignore[arg-type]
        (lambda d: d.decision(Intent.LONG, Status.OK, "x", float("nan")), "conviction is nan"),
        (lambda d: d.decision(Intent.LONG, Status.OK, "x", 7.0), "conviction is 7.0"),
        (lambda d: d.decision(Intent.LONG, Status.OK, "x", None, [1]), "evidence texts"),  # type: ignore[list-item]
        (lambda d: d.decision(Intent.LONG, Status.OK, "\ud800"), "cannot be stored"),
        (lambda d: (d.compute("c", lambda: {"x": float("nan")}), GOOD)[1:][0]
         and d.decision(Intent.LONG, Status.OK, "x"), "cannot be stored"),
    ],
)  # fmt: skip
def test_a_slip_is_a_failed_decision_that_can_be_stored(act: Any, said: str) -> None:
    decision = outcome(act)
    assert (decision.intent, decision.status) == (Intent.HOLD, Status.INVALID_OUTPUT)
    assert said in decision.reason
    canonical_json([decision.reason, [c.parsed for c in decision.calls]]).encode("utf-8")


def test_a_sound_decision_passes_and_no_doing_of_the_guest_goes_up() -> None:
    assert outcome(lambda d: GOOD) is GOOD
    for error in (BudgetStop("spent"), ConfigError("no network")):
        with pytest.raises(type(error)):
            outcome(raises(error))
