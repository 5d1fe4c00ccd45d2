"""The paper's Table 1: retyped whole, and its slips found by recomputation."""

from __future__ import annotations

import math

import pytest

from arena.analytics.reference import (
    BASES,
    Printed,
    implied_range,
    implied_sessions,
    implied_sharpe,
    printed,
    slips,
)


def test_every_row_is_there_once() -> None:
    rows = printed()
    # 4 Buy & Hold, and 4 agents x (5 models and their vote) x 4 assets.
    assert len({(r.agent, r.model, r.asset) for r in rows}) == len(rows) == 4 + 4 * 6 * 4
    (hold,) = [r for r in rows if (r.agent, r.asset) == ("Buy & Hold", "TSLA")]
    assert hold.values == pytest.approx(
        {"CR": 0.4688, "AR": 9.6213, "AV": 0.4089, "SR": 6.00, "MDD": 0.0634}
    )


def test_sessions_by_hand() -> None:
    # 10 % in half a year of 252 is 21 % a year: 1.1^(252 / 126) = 1.21.
    assert implied_sessions(0.10, 0.21, 252) == pytest.approx(126)
    assert implied_sessions(0.0, 0.0, 252) is None
    # Buy & Hold of TSLA: 252 ln 1.4688 / ln 10.6213 = 252 x 0.38445 / 2.36286 = 41.0.
    assert implied_sessions(0.4688, 9.6213, 252) == pytest.approx(41.0, abs=0.01)


def test_sharpe_by_hand() -> None:
    # AR of e^0.2 - 1 with AV 0.4: (0.2 + 0.08) / 0.4.
    assert implied_sharpe(0.02, math.exp(0.2) - 1, 0.4, 252) == pytest.approx(0.7)
    assert implied_sharpe(0.02, 0.2, 0.0, 252) is None


def test_coin_rows_fit_61_days_and_agree_with_their_sharpe() -> None:
    """The two formulas are worth what they explain: every coin row that can be tested."""
    coins = [r for r in printed() if BASES[r.asset] == 365]
    spans = [(r, span) for r in coins if (span := implied_range(r))]
    assert len(spans) >= 45
    assert [r for r, (low, high) in spans if not low - 0.1 <= 61 <= high + 0.1] == []
    for r in coins:
        implied = implied_sharpe(r.values["CR"], r.values["AR"], r.values["AV"], 365)
        assert implied is None or implied == pytest.approx(r.values["SR"], abs=0.07)


def test_known_slips_are_found_and_no_others() -> None:
    assert [s.where for s in slips()] == [
        "HedgeFundAgent, all models",
        "TradeAgent, Claude-3.5-haiku, BMRN",
        "InvestorAgent, Claude-sonnet-4, BMRN",
        "All stock rows",
        "DeepFundAgent, GPT-4.1, BTC",
        "DeepFundAgent, Gemini-2.0-flash, BTC",
        "DeepFundAgent, Vote, BTC",
    ]
    words = {s.where: s.what for s in slips()}
    assert "imply -3.02" in words["TradeAgent, Claude-3.5-haiku, BMRN"]
    assert "42.4 sessions" in words["InvestorAgent, Claude-sonnet-4, BMRN"]
    assert "14 to 54" in words["All stock rows"]


def test_a_sound_table_has_no_slip() -> None:
    # 21 sessions, 252 / 21 = 12: AR = 1.01^12 - 1; SR from the formula above.
    ar = 1.01**12 - 1
    sr = (math.log1p(ar) + 0.3**2 / 2) / 0.3
    values = {"CR": 0.01, "AR": round(ar, 4), "AV": 0.3, "SR": sr, "MDD": 0.05}
    rows = [Printed("A", model, "TSLA", values | {"MDD": mdd}) for model, mdd in (("m", 0.05), ("n", 0.06))]
    assert slips(rows) == []
    same = [Printed("A", model, "TSLA", values) for model in ("m", "n")]
    assert [s.where for s in slips(same)] == ["A, all models"]
