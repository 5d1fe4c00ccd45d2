"""Scores of roles on a table that can be followed with a finger, and on a plain loop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena.analytics.role_league import RoleScore, role_counts, role_league, role_scores, side_of
from arena.core.actions import ActionSpec, Intent, target_side

SPEC = ActionSpec()
DAYS = pd.date_range("2025-08-01", periods=4)
MOVES = pd.DataFrame({"asset": "AAA", "session": DAYS, "move": [0.02, -0.01, 0.03, 0.0]})


def signal(
    day: int, role: str, lean: str | None, intent: str, **other: object
) -> dict[str, object]:
    return {
        "agent": "trade", "model": "m", "asset": "AAA", "session": DAYS[day], "intent": intent,
        "status": "ok", "position_before": 0, "kind": "model", "role": role, "lean": lean,
        "confidence": 0.8, "decides": False, **other,
    }  # fmt: skip


def scored(rows: list[dict[str, object]], spec: ActionSpec = SPEC) -> dict[str, RoleScore]:
    return {s.role: s for s in role_league(pd.DataFrame(rows), MOVES, spec)}


def test_right_followed_and_overruled() -> None:
    rows = [
        signal(0, "market_analyst", "0.4", "long"),  # up, right, followed
        signal(1, "market_analyst", "-0.2", "long"),  # down, right, overruled
        signal(2, "market_analyst", "-1.0", "hold"),  # down, wrong, not followed, no loss
        signal(3, "market_analyst", "1.0", "long"),  # the price did not move: not right, followed
    ]
    found = scored(rows)["market_analyst"]
    assert (found.n, found.n_right, found.n_judged, found.n_followed) == (4, 2, 4, 2)
    assert (found.n_overruled, found.n_neutral) == (1, 0)
    assert found.right_frac == pytest.approx(2 / 4)
    # p = 1/2, z^2/n = 3.8415/4: middle 1/2, reach sqrt(0.25*0.9604 + 0.9604^2/4) / 1.9604 = 0.35.
    assert found.interval == pytest.approx((0.15, 0.85), abs=1e-3)


def test_a_neutral_word_is_counted_apart() -> None:
    found = scored([signal(0, "net_net", "neutral", "long"), signal(1, "net_net", "Hold", "long")])
    assert (found["net_net"].n, found["net_net"].n_neutral) == (0, 2)
    assert found["net_net"].right_frac is None
    assert found["net_net"].interval is None


def test_a_failed_decision_judges_nobody_but_the_signal_counts() -> None:
    found = scored([signal(0, "news_analyst", "1.0", "hold", status="timeout")])["news_analyst"]
    assert (found.n, found.n_right, found.n_judged, found.n_overruled) == (1, 1, 0, 0)


def test_keep_follows_if_the_position_is_already_there() -> None:
    rows = [
        signal(0, "technical", "Bullish", "keep", position_before=1),
        signal(2, "technical", "Bullish", "keep", position_before=-1),
    ]
    found = scored(rows)["technical"]
    assert (found.n_followed, found.n_overruled) == (1, 1)


def test_without_shorting_being_out_follows_a_downward_signal() -> None:
    rows = [signal(1, "technical", "Bearish", "short")]
    assert scored(rows, ActionSpec(shorting=False))["technical"].n_followed == 1


def test_advocates_count_with_their_side_where_they_are_strong() -> None:
    rows = [
        signal(0, "bull", None, "long", confidence=0.7),
        signal(0, "bear", None, "long", confidence=0.6),
        signal(1, "bear", None, "long", confidence=0.5),
    ]
    found = scored(rows)
    assert (found["bull"].n, found["bull"].n_right) == (1, 1)
    assert (found["bear"].n, found["bear"].n_right, found["bear"].n_neutral) == (1, 0, 1)


def test_the_role_that_decides_is_read_by_the_decision() -> None:
    found = scored([signal(0, "portfolio_manager", "CLOSE_SHORT", "long", decides=True)])
    assert found["portfolio_manager"].decides
    assert found["portfolio_manager"].n_right == 1


def test_few_right_signals_do_not_lead() -> None:
    rows = [signal(0, "lucky", "1.0", "long")]
    rows += [signal(d % 3, "steady", ["1.0", "-1.0", "1.0"][d % 3], "long") for d in range(12)]
    assert [s.role for s in role_league(pd.DataFrame(rows), MOVES, SPEC)] == ["steady", "lucky"]


def test_a_session_without_a_next_close_is_in_no_count() -> None:
    assert role_league(pd.DataFrame([signal(0, "bull", "1.0", "long")]), MOVES.iloc[1:], SPEC) == []


def test_counts_of_a_selection_add_up_to_its_own_league() -> None:
    rows = [
        signal(d, role, lean, "long", model=model, decides=role == "final")
        for d in range(3)
        for model in ("m", "k")
        for role, lean in (("final", "Buy"), ("bull", "Sell" if model == "m" else "Buy"))
    ]
    counts = role_counts(pd.DataFrame(rows), MOVES, SPEC)
    own = [r for r in rows if r["model"] == "k"]
    assert role_scores(counts[counts["model"] == "k"]) == role_league(pd.DataFrame(own), MOVES, SPEC)
    # Moves +2 %, -1 %, +3 %: k's bull is right 2 of 3 times, m's 1 of 3, together 3 of 6.
    assert [(s.role, s.n, s.n_right) for s in role_scores(counts)] == [("final", 6, 4), ("bull", 6, 3)]
    assert role_scores(counts.iloc[:0]) == []


@pytest.mark.parametrize(
    ("lean", "side"),
    [
        ("Buy", 1), ("Overweight", 1), ("bullish", 1), ("0.03", 1), ("Sell", -1), ("Underweight", -1),
        ("SHORT", -1), ("-1.0", -1), ("Hold", 0), ("KEEP", 0), ("0.0", 0), ("CLOSE_LONG", 0), ("", 0),
    ],
)  # fmt: skip
def test_sides_of_words(lean: str, side: int) -> None:
    assert side_of(lean) == side


def test_agrees_with_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(400):
        rows.append(
            signal(
                int(rng.integers(0, 4)), str(rng.choice(["a", "bull", "c"])),
                str(rng.choice(["Buy", "Hold", "Sell"])), str(rng.choice([i.value for i in Intent])),
                status=str(rng.choice(["ok", "repaired", "missed"])), position_before=int(rng.integers(-1, 2)),
            )
        )  # fmt: skip
    counts: dict[str, list[int]] = {}
    moves = dict(zip(DAYS, MOVES["move"], strict=True))
    for row in rows:
        side, move = side_of(row["lean"]), moves[row["session"]]
        own = counts.setdefault(row["role"], [0] * 5)
        if side == 0:
            continue
        right = side * move > 0
        own[0] += 1
        own[1] += right
        if row["status"] != "missed":
            follows = target_side(Intent(row["intent"]), row["position_before"], SPEC) == side
            own[2] += 1
            own[3] += follows
            own[4] += right and not follows
    got = {
        r: [s.n, s.n_right, s.n_judged, s.n_followed, s.n_overruled]
        for r, s in scored(rows).items()
    }
    assert got == counts
