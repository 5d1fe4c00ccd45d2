"""The Market chart and its frames from chosen bars and slots; no streamlit."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.analytics.events import Event
from arena.ui import market
from arena.ui.market_charts import LANES, market_figure, pins_of
from arena.ui.market_days import list_frame, state_of, strip_frame, used_first, with_gaps
from arena.ui.tokens import TOKENS
from tests.ui.made_store import HOSTILE

DAYS = pd.date_range("2025-08-01", periods=5)


def bars(sessions: pd.DatetimeIndex = DAYS, volume: float | None = 5.0) -> pd.DataFrame:
    n = np.arange(len(sessions), dtype=float)
    close = 100.0 + n
    return pd.DataFrame(
        {
            "session": sessions, "open": close - 0.5, "high": close + 1, "low": close - 1,
            "close": close, "volume": volume,
        }
    )  # fmt: skip


def slot(day: int, **more: Any) -> dict[str, Any]:
    made = {
        "session": date(2025, 8, day), "market_hash": f"h{day}", "content": None, "row": None,
        "n_stories": 0, "n_polls": 0, "n_polls_ok": 0, "scores": [],
    }  # fmt: skip
    return made | more


def read(day: int, sentiment: str, score: float) -> dict[str, Any]:
    scores = [{"rule": "coverage", "scorer": "code", "score": 1, "evidence": ""}]
    scores.append({"rule": "coverage", "scorer": "judge:m", "score": 2, "evidence": ""})
    content = {"sentiment": sentiment, "score": score}
    return slot(day, content=content, row={"status": "ok"}, n_stories=3, scores=scores)


SLOTS = [
    read(1, "bullish", 0.6),
    read(2, "bearish", -0.5),
    slot(3, row={"status": "timeout"}, n_stories=4),
    slot(4, n_polls=2),
    slot(5, n_polls=2, n_polls_ok=1),
]


def test_every_kind_of_day_has_its_own_state() -> None:
    assert [state_of(s) for s in SLOTS] == ["bullish", "bearish", "failed", "silent", "none"]
    # Stories were there: that no source answered that day does not make it a day nobody knows of.
    assert state_of(slot(6, n_stories=2, n_polls=2)) == "none"


def test_the_strip_tells_states_by_lane_and_shape_not_by_colour_alone() -> None:
    figure = market_figure(bars(), strip_frame(SLOTS), [], "light")
    marks = {t.name: (LANES[t.y[0]], t.marker.symbol) for t in figure.data if t.yaxis == "y3"}
    assert marks == {
        "▲ bullish": ("bullish", "square"), "▼ bearish": ("bearish", "square"),
        "✕ failed": ("no brief", "x"), "sources failed": ("no brief", "diamond-open"),
        "no story": ("no brief", "square-open"),
    }  # fmt: skip
    assert list(figure.layout.yaxis3.ticktext) == ["no brief", "bearish", "neutral", "bullish"]
    (bullish,) = [t for t in figure.data if t.name == "▲ bullish"]
    assert bullish.customdata[0] == "▲ bullish +0.60 · 3 stories"


def test_a_panel_without_data_is_left_out() -> None:
    assert {t.yaxis for t in market_figure(bars(), strip_frame(SLOTS), [], "dark").data} == {"y", "y2", "y3"}
    prices_only = market_figure(bars(volume=np.nan), strip_frame([]), [], "dark")
    assert {t.yaxis for t in prices_only.data} == {"y"}


def test_a_missing_session_is_a_gap_and_not_joined() -> None:
    found = with_gaps(bars(DAYS.delete(2)), [], every_day=True)
    assert found["session"].tolist() == list(DAYS)
    assert found["close"].isna().tolist() == [False, False, True, False, False]
    (line,) = [t for t in market_figure(found, strip_frame([]), [], "light").data if t.name == "close"]
    assert line.connectgaps is False
    assert np.isnan(line.y[2])


def test_a_stock_has_gaps_only_where_a_check_found_them() -> None:
    week = pd.DatetimeIndex(["2025-08-01", "2025-08-04", "2025-08-06"])  # Friday, Monday, Wednesday
    found = with_gaps(bars(week), [pd.Timestamp("2025-08-05")], every_day=False)
    assert found["session"].tolist() == list(pd.to_datetime(["2025-08-01", "2025-08-04", "2025-08-05", "2025-08-06"]))
    # A gap outside of what is drawn adds nothing.
    assert len(with_gaps(bars(week), [pd.Timestamp("2025-07-01")], every_day=False)) == 3


def test_pins_are_numbered_by_time_and_share_a_session() -> None:
    events = [
        Event(date(2025, 8, 4), "note", "note: fork"), Event(date(2025, 8, 2), "move", "+9.0%"),
        Event(date(2025, 8, 4), "move", "−8.0%"),
    ]  # fmt: skip
    pins = pins_of(events)
    assert [(p.number, p.session.day, p.words) for p in pins] == [
        (1, 2, "+9.0%"), (2, 4, "note: fork; −8.0%")
    ]  # fmt: skip
    figure = market_figure(bars(), strip_frame([]), pins, "light")
    discs = [t for t in figure.data if t.name == "pin"]
    assert [(t.text[0], t.y[0]) for t in discs] == [("1", 101.0), ("2", 103.0)]
    assert len(figure.layout.shapes) == 2


def test_words_stand_at_the_foot_only_where_there_is_room() -> None:
    """Five days on 920 px: two days from pin 1 to pin 2 hold 57 characters; none are left after pin 2."""
    pins = pins_of([Event(date(2025, 8, 3), "move", "x" * 40), Event(date(2025, 8, 5), "move", "y")])
    wide = market_figure(bars(), strip_frame([]), pins, "light")
    assert [a.text for a in wide.layout.annotations] == ["1 " + "x" * 40, "<b>$104.00</b>"]
    phone = market_figure(bars(), strip_frame([]), pins, "light", phone=True)
    assert not phone.layout.annotations
    assert [t.text[0] for t in phone.data if t.name == "pin"] == ["1", "2"]


@pytest.mark.parametrize(("n_days", "phone", "size"), [(5, False, 9), (92, False, 8), (245, False, 3), (61, True, 4)])
def test_marks_of_the_strip_do_not_run_into_each_other(n_days: int, phone: bool, size: int) -> None:
    """0.8 of a day's share of 920 px (290 on a phone), from 3 to 9: 92 days have 10 px each."""
    sessions = pd.date_range("2025-01-01", periods=n_days)
    days = pd.DataFrame({"session": sessions, "state": "none", "score": None, "n_stories": 1})
    figure = market_figure(bars(), days, [], "light", phone=phone)
    (strip,) = [t for t in figure.data if t.name == "no story"]
    assert strip.marker.size == size
    assert strip.customdata[0] == "no story · 1 story"


def test_a_note_on_a_closed_day_stands_at_the_close_before() -> None:
    gap = with_gaps(bars(DAYS.delete(2)), [], every_day=True)
    (pin,) = pins_of([Event(date(2025, 8, 3), "note", "note: x")])
    (disc,) = [t for t in market_figure(gap, strip_frame([]), [pin], "light").data if t.name == "pin"]
    assert (disc.x[0], disc.y[0]) == (pd.Timestamp("2025-08-03"), 101.0)


def test_pins_outside_of_the_drawn_sessions_are_left_out() -> None:
    (pin,) = pins_of([Event(date(2025, 7, 1), "note", "note: x")])
    assert not [t for t in market_figure(bars(), strip_frame([]), [pin], "light").data if t.name == "pin"]


def test_foreign_words_are_no_markup() -> None:
    pins = pins_of([Event(date(2025, 8, 1), "note", HOSTILE[:40])])
    figure = market_figure(bars(), strip_frame([]), pins, "light")
    (disc,) = [t for t in figure.data if t.name == "pin"]
    said = [disc.customdata[0], *(a.text for a in figure.layout.annotations[:1])]
    assert all("<" not in s and s for s in said)


def test_candles_carry_colours_of_gain_and_loss() -> None:
    figure = market_figure(bars(), strip_frame([]), [], "dark", candles=True)
    (price,) = [t for t in figure.data if t.type == "candlestick"]
    assert price.increasing.line.color == TOKENS["dark"].gain
    # Lows count for the axis: 99 is the lowest, 105 the highest; 16 % and 8 % of 6 around them.
    assert figure.layout.yaxis.range == pytest.approx((99 - 0.96, 105 + 0.48))


def test_a_range_cuts_days_and_pins_but_not_what_they_are_judged_by() -> None:
    view = market.MarketView("AAA", date(2025, 8, 2), candles=False)
    assert [s["session"].day for s in market.within(SLOTS, view)] == [2, 3, 4, 5]
    notes = pd.DataFrame({"session": DAYS[[0, 3]], "text": ["old", "new " + "x" * 60]})
    # From +0.6 on the 1st, outside, to -0.5 on the 2nd, inside.
    events = market.events_of(bars(), SLOTS, notes, date(2025, 8, 2))
    assert [(e.session.day, e.label) for e in events] == [
        (2, "news +0.6 to −0.5"), (4, "note: new " + "x" * 43 + "…")
    ]  # fmt: skip


def test_stories_of_the_brief_come_first_and_keep_their_order() -> None:
    told = [{"id": i} for i in ("a", "b", "c", "d")]
    assert [s["id"] for s in used_first(told, {"d", "b"})] == ["b", "d", "a", "c"]


def test_no_bars_is_still_a_figure() -> None:
    assert len(market_figure(bars(DAYS[:0]), strip_frame([]), [], "light").data) == 0


def test_the_list_shows_code_scores_as_dots_and_rejections_in_words() -> None:
    table = list_frame(SLOTS, {"h2"})
    assert table["news"].tolist() == ["▲ bullish", "⊘ rejected", "✕ failed", "sources failed", "no story"]
    # The judge's 2 stands beside the code's 1 and is not taken for it.
    assert table["coverage"].tolist() == ["●○", "●○", "–", "–", "–"]
    assert list_frame(SLOTS, {}, narrow=True)["scores"].tolist()[0] == "–  ●○  –  –"
