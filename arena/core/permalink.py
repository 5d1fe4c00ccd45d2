"""Addresses that outlive a store made anew: a decision is found by run, entry, asset and slot."""

from __future__ import annotations

from urllib.parse import urlencode

from arena.core.ids import TrackId


def decision_params(decision_id: str) -> dict[str, str]:
    """URL parameters of the Decisions page that open one decision.

    Raises:
        ConfigError: no decision id.
    """
    track = TrackId.parse(decision_id)
    slot = decision_id.split(":", 3)[3] if decision_id.count(":") >= 3 else ""
    place = {"run": track.run, "entry": track.entry, "asset": track.asset}
    return place | ({"slot": slot} if slot else {})


def decision_path(decision_id: str) -> str:
    """`/decisions?run=...` that opens a decision; a track id opens its newest.

    Raises:
        ConfigError: no decision id.
    """
    return f"/decisions?{urlencode(decision_params(decision_id))}"
