"""The decision tape: what stands for an opinion, and what does not."""

from __future__ import annotations

import pandas as pd
import pytest

from arena.ui.market_charts import Pin
from arena.ui.tape_charts import NEUTRAL, tape_figure

DAYS = pd.date_range("2025-08-01", periods=6)
BARS = pd.DataFrame({"session": DAYS, "close": [1.0, 2, 3, 4, 5, 6]})


def made(**columns: object) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "decision": [f"r:e@m:AAA:{d.date()}" for d in DAYS], "entry": "e", "session": DAYS,
            "action": ["BUY", "HOLD", "SELL", "HOLD", "HOLD", "BUY"],
            "status": ["ok", "repaired", "ok", "timeout", "missed", "ok"],
            "late": [False, False, False, False, False, True], "rejected": False,
        }
    )  # fmt: skip
    return frame.assign(**columns)


def marks(figure) -> dict[str, int]:
    return {t.marker.symbol: len(t.x) for t in figure.data if t.mode == "markers"}


def test_failures_gaps_and_late_calls_are_hollow() -> None:
    figure = tape_figure(BARS, made(), ["e"], "light")
    assert marks(figure) == {
        "triangle-up": 1, "square": 1, "triangle-down": 1, "x-open": 1, "line-ew-open": 1,
        "triangle-up-open": 1,
    }  # fmt: skip
    names = {t.name for t in figure.data}
    assert {"BUY, late", "failed, acts as HOLD", "no decision, position kept"} <= names


def test_a_late_hold_is_not_taken_for_a_gap() -> None:
    figure = tape_figure(BARS, made(late=[False, True, False, False, False, False]), ["e"], "light")
    (late,) = [t for t in figure.data if t.name == "HOLD, late"]
    (gap,) = [t for t in figure.data if t.name == "no decision, position kept"]
    assert late.marker.symbol != gap.marker.symbol


def test_a_failed_late_call_is_a_failure_once() -> None:
    figure = tape_figure(BARS, made(status="timeout", late=True), ["e"], "light")
    assert marks(figure) == {"x-open": 6}


def test_a_mark_carries_its_decision_and_its_words() -> None:
    figure = tape_figure(BARS, made(rejected=True, entry="<i>"), ["<i>"], "light")
    (failed,) = [t for t in figure.data if t.name.startswith("failed")]
    assert list(failed.customdata[0]) == [
        "r:e@m:AAA:2025-08-04", ", timeout, read a rejected brief", "&lt;i>",
    ]  # fmt: skip
    assert list(figure.layout.yaxis2.ticktext) == ["&lt;i>"]


def test_rows_keep_the_given_order_from_the_top() -> None:
    rows = pd.concat([made(entry="one"), made(entry="two")])
    figure = tape_figure(BARS, rows, ["two", "one"], "light")
    assert list(figure.layout.yaxis2.ticktext) == ["two", "one"]
    assert figure.layout.yaxis2.range == (1.6, -0.6)
    (sold,) = [t for t in figure.data if t.name == "SELL"]
    assert list(sold.y) == [1, 0]


def test_news_go_up_down_and_across() -> None:
    news = pd.DataFrame(
        {
            "session": DAYS, "n_stories": [3, 1, 2, 0, 4, 0],
            "state": ["bullish", "neutral", "bearish", "none", "failed", "silent"],
            "score": [0.6, 0.1, -0.5, None, None, None],
        }
    )  # fmt: skip
    figure = tape_figure(BARS, made(), ["e"], "light", news=news)
    (bars,) = [t for t in figure.data if t.type == "bar"]
    assert list(bars.y) == [0.6, 2 * NEUTRAL, -0.5]
    assert list(bars.base) == [0.0, -NEUTRAL, 0.0]
    assert bars.width == 64_800_000  # three quarters of a day, in ms
    assert bars.hovertext[0] == "▲ bullish +0.60 · 3 stories"
    symbols = {t.marker.symbol for t in figure.data if t.type == "scatter" and t.yaxis == "y2"}
    assert symbols == {"circle", "x-open", "diamond-open"}
    # Without news the tape has two panels.
    assert "yaxis3" not in tape_figure(BARS, made(), ["e"], "light").layout.to_plotly_json()


def test_a_gap_of_prices_is_not_joined() -> None:
    bars = BARS.assign(close=[1.0, 2, None, 4, 5, 6])
    price = tape_figure(bars, made(), ["e"], "light").data[0]
    assert price.connectgaps is False
    assert pd.isna(price.y[2])


@pytest.mark.parametrize(("session", "side"), [(DAYS[0], "left"), (DAYS[5], "right")])
def test_a_pin_writes_where_there_is_room(session: pd.Timestamp, side: str) -> None:
    figure = tape_figure(BARS, made(), ["e"], "light", pins=[Pin(1, session, ("<up>",))])
    (label,) = [a for a in figure.layout.annotations if "up" in a.text]
    assert (label.text, label.xanchor) == ("1 &lt;up>", side)
    assert len(figure.layout.shapes) == 1


def test_no_price_and_no_decision_is_still_a_figure() -> None:
    figure = tape_figure(BARS.iloc[:0], made().iloc[:0], [], "dark")
    assert len(figure.data) == 0
