"""Unrealised marks: by hand, with their age, and from a store; never where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.core.actions import Intent
from arena.core.hashing import account_key, canonical_json
from arena.core.ids import TrackId
from arena.core.rows import AssetRow, BarRow, EquityRow, RunRow, SummaryRow, WriteUnit
from arena.core.rows_host import QuoteRow
from arena.core.season import OPEN_END, RunSpec, Season
from arena.store.standing import standings
from arena.store.store import Store, open_store
from arena.ui import marks
from arena.ui.marks import BEING_FILLED, NOTHING_NEWER, QuoteNow, Quotes, Standing, marks_of
from tests.ui.made_store import decision_row

CLOSE = datetime(2025, 8, 6, 0, 0, tzinfo=UTC)
NOW = datetime(2025, 8, 6, 12, 0, tzinfo=UTC)
SLOT = CLOSE + timedelta(minutes=5)
SEASON = Season()  # coins 10 bp, stocks 5 bp


def standing(**changes: Any) -> Standing:
    """10 BTC bought with everything; worth 1000 at the close of 100."""
    return replace(
        Standing("trade@m", "BTC", "crypto", "baseline", 1, 10.0, 0.0, 1000.0, 100.0, CLOSE),
        **changes,
    )


def quotes(newest: dict[str, tuple[float, float]], first: float | None = None) -> Quotes:
    """Newest quotes as (price, age in minutes); `first` is the price orders fill at."""
    return Quotes(
        {a: QuoteNow(p, NOW - timedelta(minutes=m)) for a, (p, m) in newest.items()},
        lambda _asset, due: None if first is None else QuoteNow(first, due),
    )


def test_one_account_with_its_age() -> None:
    (mark,) = marks_of([standing()], quotes({"BTC": (100.4, 3.5)}), NOW, SEASON)
    assert mark.change_frac == pytest.approx(0.004)
    assert (mark.age_s, mark.n_quoted, mark.n_accounts) == (210.0, 1, 1)
    assert mark.text == "+0.4% now, 3 min old"


def test_an_entry_is_the_mean_of_its_accounts_and_as_old_as_the_oldest_quote() -> None:
    rows = [
        standing(),
        standing(asset="ETH", units=-5.0, cash=1100.0, balance=600.0, side=-1),
        standing(asset="SOL", units=0.0, cash=500.0, balance=500.0, side=0),
        standing(entry="hedge@m"),
    ]
    seen = quotes({"BTC": (110.0, 1.0), "ETH": (98.0, 300.0)})
    first, second = marks_of(rows, seen, NOW, SEASON)
    # 1100 + (1100 - 490) + 500 = 2210 against 1000 + 600 + 500 = 2100: +5.238 %.
    assert first.change_frac == pytest.approx(2210 / 2100 - 1)
    assert (first.n_quoted, first.n_accounts) == (2, 3)
    assert first.text == "+5.2% now, 5 h old"
    assert (second.entry, second.change_frac) == ("hedge@m", pytest.approx(0.1))


def test_an_order_that_filled_since_counts() -> None:
    row = standing(order=Intent.HOLD, due_utc=SLOT)
    # Sold at 101 for 0.1 % of 1010 = 1.01: 1008.99, wherever the price is now.
    (mark,) = marks_of([row], quotes({"BTC": (120.0, 1.0)}, first=101.0), NOW, SEASON)
    assert mark.change_frac == pytest.approx(0.00899)
    (waiting,) = marks_of([row], quotes({"BTC": (120.0, 1.0)}), NOW, SEASON)
    assert waiting.change_frac == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("row", "seen", "reason"),
    [
        (standing(), quotes({}), NOTHING_NEWER),
        (standing(), quotes({"BTC": (101.0, 720.0)}), NOTHING_NEWER),  # of the close itself
        (standing(settled_utc=None), quotes({"BTC": (101.0, 1.0)}), NOTHING_NEWER),
        (standing(), quotes({"BTC": (25.0, 1.0)}), NOTHING_NEWER),  # a split, as it looks
        (
            standing(strategy="pyramid_exit", order=Intent.SHORT, due_utc=SLOT),
            quotes({"BTC": (101.0, 1.0)}, first=100.0), BEING_FILLED,
        ),
    ],
)  # fmt: skip
def test_no_mark_says_why(row: Standing, seen: Quotes, reason: str) -> None:
    (mark,) = marks_of([row], seen, NOW, SEASON)
    assert (mark.change_frac, mark.age_s, mark.reason, mark.text) == (None, None, reason, "\u2013")


def test_no_rows_no_marks() -> None:
    assert marks_of([], quotes({}), NOW, SEASON) == []


RUN = "live-00000000aa-e1"
DAYS = [date(2025, 8, 4), date(2025, 8, 5)]


def build(store: Store, status: str = "running") -> None:
    """A live run of one track: flat on 4 August, long 10 at 100 on the 5th, then told to SELL."""
    spec = RunSpec(
        kind="live", season=SEASON, source="live", assets=("BTC",), agents=("trade",), models=("m",),
        start=DAYS[0], end=OPEN_END,
    )  # fmt: skip
    run = RunRow(
        RUN, "live", 1, SEASON.season_id, None, canonical_json(spec.model_dump(mode="json")), "next",
        "live", False, DAYS[0], OPEN_END, 0, 0, status, None, None, "0", CLOSE, None,
    )  # fmt: skip
    track = TrackId(RUN, "trade", "m", "BTC")
    account = track.account("baseline")
    key = account_key(account)
    summary = SummaryRow(
        account, key, RUN, "trade", "m", "BTC", "baseline", "model", DAYS[0], DAYS[1], 2, 2, 0, 0, 0,
        1000.0, 1000.0, False, 1, "SELL", DAYS[1], "{}", "[]",
    )  # fmt: skip
    sold = replace(
        decision_row(track, 2), decision=track.decision("2025-08-05"), slot_key="2025-08-05",
        session=DAYS[1], as_of_utc=SLOT, decided_at_utc=SLOT, seq=1,
    )  # fmt: skip
    rows = [
        run, AssetRow("BTC", "Bitcoin", "crypto", False, 365, "{}"), sold,
        *(BarRow("BTC", d, 0, 99, 101, 98, 100.0, None, 1.0, "ccxt:kraken",
                 datetime(d.year, d.month, d.day, tzinfo=UTC) + timedelta(days=1), CLOSE) for d in DAYS),
        EquityRow(key, DAYS[0], 100.0, 0, 0.0, 1000.0, 1000.0, 1000.0),
        EquityRow(key, DAYS[1], 100.0, 1, 10.0, 0.0, 1000.0, 1000.0),
    ]  # fmt: skip
    store.write([WriteUnit(rows=tuple(rows), summaries=(summary,))])  # type: ignore[arg-type]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "utc_now", lambda: NOW)
    marks.current.clear()


def ask(store: Store) -> list[marks.Mark]:
    marks.current.clear()
    return marks.current((store.store_id, 1), store, RUN, "baseline", ("trade",), ("m",), ("BTC",))


def test_marks_of_a_store(tmp_path: Path, now: None) -> None:
    with open_store(tmp_path / "a.duckdb") as store:
        build(store)
        (row,) = standings(store, RUN).to_dict("records")
        assert (row["session"].date(), row["units"], row["settled_utc"]) == (DAYS[1], 10.0, CLOSE)
        assert (row["intent"], row["as_of_utc"]) == ("short", SLOT)
        (mark,) = ask(store)
        assert mark.reason == NOTHING_NEWER
        at = [SLOT + timedelta(seconds=20), NOW - timedelta(minutes=3)]
        store.write([WriteUnit(rows=tuple(
            QuoteRow("BTC", t, "ccxt:kraken", p, t) for t, p in zip(at, (100.0, 90.0), strict=True)
        ))])  # fmt: skip
        (mark,) = ask(store)
        # Turned short at the first quote after the slot, 100: worth 1097.8011 at 90 (test_marking.py).
        assert mark.change_frac == pytest.approx(0.0978011)
        assert mark.text == "+9.8% now, 3 min old"
        store.update_run(RUN, status="done")
        assert ask(store) == []
