"""When a live run decides next, by the calendars of its assets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.core.season import RunSpec
from arena.core.types import Asset, AssetClass, Slot
from arena.market.calendars import next_session, sessions, slot
from arena.runner.plan import convention

LOOK_BACK = timedelta(days=10)
"""Longer than any closure of an exchange, so that a session lies within."""


@dataclass(frozen=True)
class NextDecision:
    """The nearest moment at which a decision is due, and the assets that are due then."""

    as_of_utc: datetime
    assets: tuple[str, ...]


def next_decision(
    spec: RunSpec, classes: Mapping[str, AssetClass], now_utc: datetime
) -> NextDecision | None:
    """The first slot after `now_utc` of any of the run's assets; None where no class is known.

    Args:
        classes: asset class by asset.
    """
    due = [_next_slot(spec, a, classes[a], now_utc) for a in spec.assets if a in classes]
    if not due:
        return None
    soonest = min(s.as_of_utc for s in due)
    return NextDecision(soonest, tuple(s.asset for s in due if s.as_of_utc == soonest))


def _next_slot(spec: RunSpec, name: str, kind: AssetClass, now_utc: datetime) -> Slot:
    asset, rule = Asset(name, name, kind), convention(spec)
    session = sessions(kind, now_utc.date() - LOOK_BACK, now_utc.date())[0]
    found = slot(asset, session, rule)
    while found.as_of_utc <= now_utc:
        session = next_session(kind, session)
        found = slot(asset, session, rule)
    return found
