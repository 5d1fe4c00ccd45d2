"""Addresses of decisions."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as some

from arena.core.errors import ConfigError
from arena.core.ids import TrackId
from arena.ui.links import decision_params, decision_url, equity_params

NAMES = some.text(min_size=1, max_size=12).filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t))


@given(NAMES, NAMES, NAMES)
def test_an_address_leads_back_to_its_decision(agent: str, model: str, asset: str) -> None:
    track = TrackId("replay-00000000aa-e1", agent, model, asset)
    url = decision_url(track.decision("2025-08-01T04"))
    found = {k: v[0] for k, v in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}
    assert urlsplit(url).path == "/decisions"
    assert found == {"run": track.run, "entry": f"{agent}@{model}", "asset": asset, "slot": "2025-08-01T04"}


def test_a_track_alone_opens_without_a_slot() -> None:
    assert "slot" not in decision_params("r-1:trade@m:AAA")


def test_other_text_is_refused() -> None:
    with pytest.raises(ConfigError):
        decision_url("no id")


def test_a_curve_is_addressed_by_run_strategy_entry_and_asset() -> None:
    assert equity_params("r-1", "flip_on_reversal", "trade@m", "AAA") == {
        "run": "r-1", "strategy": "Flip on Reversal", "eq_entries": "trade@m", "eq_asset": "AAA",
    }  # fmt: skip
    assert equity_params("r-1", "baseline", None, None) == {"run": "r-1", "strategy": "Baseline"}
