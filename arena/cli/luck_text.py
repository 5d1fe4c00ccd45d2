"""What chance could explain of a row, as plain columns of a CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]


def luck_columns(luck: Mapping[str, Any]) -> Row:
    """One flat column a number; fractions as such, None where undefined, flags as `flag:ASSET`."""
    score = luck["decision_score"] or {}
    excess = luck["excess_interval"] or {}
    return {
        "rank_label": luck["rank_label"],
        "CR_low": luck["return_interval"]["low"],
        "CR_high": luck["return_interval"]["high"],
        "SR_low": luck["sharpe_interval"]["low"],
        "SR_high": luck["sharpe_interval"]["high"],
        "excess_bh_low": excess.get("low"),
        "excess_bh_high": excess.get("high"),
        "verdict": luck["verdict"],
        "better_than_frac": luck["floor"]["better_than_frac"],
        "probabilistic_sharpe": luck["probabilistic_sharpe"],
        "deflated_sharpe": luck["deflated_sharpe"],
        "decision_score_frac": score.get("share_frac"),
        "decision_score_low_frac": score.get("low_frac"),
        "decision_score_high_frac": score.get("high_frac"),
        "decision_score_n": score.get("n"),
        "alpha_annual_frac": luck["market_model"]["alpha_annual_frac"],
        "beta": luck["market_model"]["beta"],
        "break_even_bps": luck["break_even_fee"]["value_bps"],
        "luck_flags": [f"{f['flag']}:{f['asset']}" for f in luck["flags"]],
    }
