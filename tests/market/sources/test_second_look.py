"""Another vendor's closes beside ours: what is remarked, how often, and that nothing changes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import DataError
from arena.market.history import load_history
from arena.market.second_look import second_look
from arena.market.sources import open_source

DAY = date(2025, 8, 4)
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def days(*values: float, start: date = DAY) -> dict[date, float]:
    return {start + timedelta(days=n): value for n, value in enumerate(values)}


def test_close_enough_is_no_remark() -> None:
    # 100.9 is 0.9 % away; 99.1 too, on the other side.
    assert second_look("X", "other", days(100, 100), days(100.9, 99.1)) == []
    assert second_look("X", "other", days(100), days(150, start=date(2024, 1, 1))) == []


def test_single_bars_are_remarked_one_by_one() -> None:
    (check,) = second_look("X", "other", days(100, 100, 100), days(100, 102, 100))
    assert (check.kind, check.session, check.value, check.other) == (
        "disagree", date(2025, 8, 5), 100, 102,
    )  # fmt: skip
    assert check.detail == "a second source is +2.00% away"


def test_a_split_is_one_remark_at_its_first_bar() -> None:
    # 1500 / 100 = 15 on five bars, then 100 / 100.
    ours, theirs = days(*[100.0] * 7), days(*[1500.0] * 5, 100.0, 100.0)
    (check,) = second_look("X", "other", ours, theirs)
    assert (check.kind, check.session, check.value, check.other) == ("scale", DAY, 100, 1500)
    assert check.detail == (
        "from 2025-08-04 to 2025-08-08, 5 bars, a second source is 15 times ours, "
        "as if only ours are adjusted for a 15:1 split"
    )


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        # 4 / 100 = 1/25.
        (4.0, "0.04 times ours, as if only theirs are adjusted for a 25:1 split"),
        # 66.8 / 100: 1 / 0.668 = 1.497, 0.2 % from 3:2.
        (66.8, "0.668 times ours, as if only theirs are adjusted for a 3:2 split"),
        # 98 / 100: dividends, not a split.
        (98.0, "0.98 times ours"),
        # 1.94 is 3 % from 2:1.
        (194.0, "1.94 times ours"),
    ],
)
def test_a_ratio_is_named_after_a_split_only_where_one_is_near(theirs: float, words: str) -> None:
    (check,) = second_look("X", "other", days(*[100.0] * 6), days(*[theirs] * 6))
    assert check.kind == "scale"
    assert check.detail.endswith(f"a second source is {words}")


def test_four_bars_in_one_ratio_may_be_chance() -> None:
    checks = second_look("X", "other", days(*[100.0] * 4), days(*[200.0] * 4))
    assert [c.kind for c in checks] == ["disagree"] * 4


def test_ratios_that_wander_are_no_stretch() -> None:
    # 1.02, 1.03 ... 1.07: each 1 % from the one before, more than 0.2 % around any number.
    checks = second_look("X", "other", days(*[100.0] * 6), days(102, 103, 104, 105, 106, 107))
    assert [c.kind for c in checks] == ["disagree"] * 6


def test_two_scales_after_each_other_are_two_remarks() -> None:
    theirs = days(*[98.0] * 5, *[97.0] * 6)
    checks = second_look("X", "other", days(*[100.0] * 11), theirs)
    assert [(c.kind, c.session.day) for c in checks] == [("scale", 4), ("scale", 9)]


@given(
    st.lists(st.floats(1.0, 1_000.0), min_size=1, max_size=40),
    st.sampled_from([1.0, 1.005, 0.98, 2.0, 15.0, 0.04]),
)
def test_one_constant_ratio_gives_one_remark_or_none(ours: list[float], ratio: float) -> None:
    checks = second_look("X", "o", days(*ours), days(*[ratio * v for v in ours]))
    if abs(ratio - 1.0) <= 0.01:
        assert checks == []
    elif len(ours) >= 5:
        assert [(c.kind, c.session) for c in checks] == [("scale", DAY)]
    else:
        assert [c.kind for c in checks] == ["disagree"] * len(ours)


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=40))
def test_every_bar_far_away_is_covered_by_a_remark(ratios: list[float]) -> None:
    """Slow and obvious: a bar more than 1 % away has its own remark, or lies within a scale's dates."""
    checks = second_look("X", "o", days(*[1.0] * len(ratios)), days(*ratios))
    keys = [(c.session, c.kind) for c in checks]
    assert len(set(keys)) == len(keys)
    spans = [
        (c.session, date.fromisoformat(c.detail.split(" to ")[1][:10]))
        for c in checks if c.kind == "scale"
    ]  # fmt: skip
    alone = {c.session for c in checks if c.kind == "disagree"}
    for day, ratio in days(*ratios).items():
        if abs(ratio - 1.0) > 0.01:
            assert (day in alone) is not any(first <= day <= last for first, last in spans)


PRICES = "symbol,asset_class,date,open,high,low,close,adj_close,volume,source"
SECOND = "symbol,date,close,adj_close,source"


def market(folder: Path, second: list[str]) -> str:
    rows = [f"TSLA,stock,2025-08-0{d},100,101,99,100,,5,ours" for d in (4, 5, 6)]
    (folder / "daily.csv").write_text("\n".join([PRICES, *rows]) + "\n")
    (folder / "daily_alt_sources.csv").write_text("\n".join([SECOND, *second]) + "\n")
    return f"files:{folder}"


def test_the_folders_other_vendors_are_looked_at_and_nothing_changes(tmp_path: Path) -> None:
    choice = market(
        tmp_path,
        [
            "TSLA,2025-08-04,100.5,,vendor a", "TSLA,2025-08-05,103,,vendor a",
            # No close: the adjusted one is compared. 2025-08-09 is no session of ours.
            "TSLA,2025-08-06,,97,vendor b", "TSLA,2025-08-09,500,,vendor b",
            # Nothing to compare, and somebody else's row.
            "TSLA,2025-08-05,,,vendor b", "BMRN,2025-08-05,1,,vendor a",
        ],
    )  # fmt: skip
    source = open_source(choice)
    asset = source.assets()["TSLA"]
    history = load_history(source, asset, date(2025, 8, 1), date(2025, 8, 31), NOW)
    assert [(c.kind, c.source, c.session.day, c.value, c.other) for c in history.checks] == [
        ("disagree", "vendor a", 5, 100.0, 103.0),
        ("disagree", "vendor b", 6, 100.0, 97.0),
    ]
    assert [bar.close for bar in history.bars] == [100.0, 100.0, 100.0]
    assert history.gaps == frozenset()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["TSLA,04/08/2025,1,,v"], r"TSLA of v \(04/08/2025\): this is no date"),
        (["TSLA,2025-08-04,-1,,v"], "a close must be a number > 0"),
        (["TSLA,2025-08-04,inf,,v"], "a close must be a number > 0"),
        (["TSLA,2025-08-04,about ten,,v"], "a close must be a number > 0"),
        (["TSLA,2025-08-04,1,,v", "TSLA,2025-08-04,1,,v"], "has this date twice"),
    ],
)
def test_a_bad_row_of_another_vendor_is_refused(
    tmp_path: Path, rows: list[str], words: str
) -> None:
    source = open_source(market(tmp_path, rows))
    with pytest.raises(DataError, match=words) as caught:
        load_history(source, source.assets()["TSLA"], DAY, date(2025, 8, 31), NOW)
    assert "daily_alt_sources.csv" in str(caught.value)


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    choice = market(tmp_path, [])
    (tmp_path / "daily_alt_sources.csv").write_text("symbol,date,close,source\n")
    source = open_source(choice)
    with pytest.raises(DataError, match="column `adj_close` is missing"):
        load_history(source, source.assets()["TSLA"], DAY, date(2025, 8, 31), NOW)


def test_real_splits_dividends_and_another_venue(shared_market: Path) -> None:
    """Disagreements that are known to be in the real prices, each for its reason."""
    source = open_source(f"files:{shared_market}")

    def seen(symbol: str) -> list[tuple[str, str, date, str]]:
        asset = source.assets()[symbol]
        history = load_history(source, asset, date(2024, 8, 1), date(2025, 12, 31), NOW)
        return [
            (c.kind, c.source.split("(")[0].split(" ")[0], c.session, c.detail)
            for c in history.checks if c.kind in ("scale", "disagree")
        ]  # fmt: skip

    ((kind, vendor, first, detail),) = seen("ORLY")
    assert (kind, vendor, first) == ("scale", "alphavantage-raw", date(2025, 6, 2))
    assert detail.startswith("from 2025-06-02 to 2025-06-09, 6 bars, ")
    assert "15 times ours, as if only ours are adjusted for a 15:1 split" in detail
    ((kind, vendor, _, detail),) = seen("NFLX")
    assert (kind, vendor) == ("scale", "alphavantage-raw")
    assert "10 times ours, as if only ours are adjusted for a 10:1 split" in detail
    ((kind, vendor, _, detail),) = seen("BKNG")
    assert (kind, vendor) == ("scale", "adjusted-close")
    assert "as if only theirs are adjusted for a 25:1 split" in detail
    # Dividends, taken out by one vendor and left in by the other: 0.967 and 1.017, no split is near.
    assert [s[0] for s in seen("PAYX")] == ["scale", "scale"]
    assert not any("split" in s[3] for s in seen("PAYX"))
    # A dividend of half a percent, revised by 0.1 % once, and bitcoin in dollars instead of tether.
    assert seen("COST") == seen("SPY") == seen("BTC") == seen("TSLA") == []
    # One day on which a coin's venues were apart.
    assert Counter(s[0] for s in seen("ADA")) == {"disagree": 1}
