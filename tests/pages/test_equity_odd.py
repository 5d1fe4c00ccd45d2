"""The Equity page on curves that are easy to get wrong: `made_equity_store`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.runner import service
from arena.store.store import Store
from arena.ui import equity_view, page, session
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.pages.test_equity import EQUITY, figures, labels, numbers
from tests.ui.made_equity_store import GOING, ONE, RUN, build


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("store") / "odd.duckdb")


@pytest.fixture
def visit(odd: Path, serve: Callable[[Path], None]) -> Iterator[Callable[..., AppTest]]:
    serve(odd)

    def go(**params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        for name, value in params.items():
            app.query_params[name] = value
        app.switch_page(str(SHELL.parents[2] / EQUITY))
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    yield go
    service.stop()


def said(app: AppTest) -> str:
    return " ".join(m.value for m in app.markdown)


def test_what_is_odd_is_said(visit) -> None:
    app = visit(run=RUN)
    words = said(app)
    assert "1 session without an equity row is a gap, not joined: a2@m on 31 Aug 2025" in words
    assert "Partial, as begun later than the run, from 0 % there: a3@m (on 21 Aug 2025)" in words
    assert "Bankrupt, closed, and kept on the chart: a8@m" in words
    assert "2 of them in grey" in words
    table = numbers(app)
    assert table.loc["a8@m", "balance"] == 0
    assert table.loc["a8@m", "flags"] == "bankrupt"
    assert table.loc["a2@m", "flags"] == "1 gap"


def test_a_missing_day_breaks_the_line(visit) -> None:
    (curves, *_) = figures(visit(run=RUN, eq_entries="a2@m"))
    gap, whole = (next(t for t in curves["data"] if t["name"] == n) for n in ("a2@m", "Buy & Hold"))
    assert gap["connectgaps"] is False
    assert len(gap["customdata"]) == len(whole["customdata"]) == 70
    assert gap["customdata"][30] == ""
    assert whole["customdata"][30] != ""


def test_epochs_are_a_band_that_can_be_left_out(visit) -> None:
    (curves, *_) = figures(visit(run=RUN, eq_entries="a4@m"))
    assert [t["name"] for t in curves["data"]].count("range") == 4  # a4 and Buy & Hold, low and high
    assert "lowest to highest of 2 epochs" in said(visit(run=RUN, eq_entries="a4@m"))
    (plain, *_) = figures(visit(run=RUN, eq_entries="a4@m", eq_epochs="false"))
    assert "range" not in [t["name"] for t in plain["data"]]


def test_a_reference_needs_prices_of_the_whole_run(visit) -> None:
    app = visit(run=RUN, eq_entries="a1@m", eq_ref=["SPY", "QQQ"])
    # SPY ends at 1.05 of its first close; QQQ stops in the middle and is no choice.
    assert "SPY (not traded) <b>+5.0%</b>" in labels(figures(app)[0])
    assert not [x for x in labels(figures(app)[0]) if "QQQ" in x]
    assert set(numbers(app).index) == {"a1@m", "◆ Buy & Hold"}


def test_marks_tell_late_failed_and_missing(visit) -> None:
    *_, tape = figures(visit(run=RUN, eq_entries="a1@m"))
    marks = {t["name"]: (t["marker"]["symbol"], len(t["customdata"])) for t in tape["data"] if t["name"] not in ("close", "pin")}
    assert marks == {
        "BUY": ("triangle-up", 7), "BUY, late": ("triangle-up-open", 1),
        "failed, acts as HOLD": ("x-open", 1), "no decision, position kept": ("line-ew-open", 1),
    }  # fmt: skip


def test_one_session_only(visit) -> None:
    app = visit(run=ONE)
    (curves, *_) = figures(app)
    assert curves["data"][0]["mode"] == "lines+markers"
    assert numbers(app)["flags"].unique().tolist() == ["one session"]
    assert "2 entries, 1 Aug 2025 ·" in said(app)


def test_a_run_that_goes_on_says_so_and_looks_for_more(visit) -> None:
    app = visit(run=GOING)
    assert "Up to date" in said(app)
    assert "running" in said(app)
    assert numbers(app).loc["a1@m", "days"] == 10
    assert "Up to date" not in said(visit(run=RUN))


def test_a_cut_window_has_its_own_numbers(visit) -> None:
    app = visit(run=RUN, eq_entries="a1@m", eq_range="Dates", eq_dates=["2025-08-20", "2025-09-05"])
    table = numbers(app)
    # From 1 Aug on a1 rises by 0.3 / 69 a day: 1 + 18 x 0.3 / 69 at the close of 19 Aug, 35 on 5 Sep.
    before, after = 1 + 18 * 0.3 / 69, 1 + 35 * 0.3 / 69
    assert table.loc["a1@m", "net"] == pytest.approx(100 * (after / before - 1), abs=0.05)
    assert table.loc["a1@m", "days"] == 17
    assert "trades" not in table
    assert "20 Aug to 5 Sep 2025, from the close before" in said(app)
    (label,) = [x for x in labels(figures(app)[0]) if x.startswith("a1")]
    assert label == f"a1 <b>+{100 * (after / before - 1):.1f}%</b>"


def test_a_bankrupt_line_on_a_log_scale(visit) -> None:
    app = visit(run=RUN, eq_entries=["a8@m", "a1@m"], eq_log="true", eq_range="1M")
    assert "A log scale cannot show its end" in said(app)
    assert not [x for x in labels(figures(app)[0]) if x.startswith("a8")]


def test_new_data_is_offered_and_drawn_on_request(visit, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    stored = session.version

    def version(store: Store) -> tuple[str, int]:
        """As stored for the page's first question; one more for all that follow."""
        calls.append(1)
        name, number = stored(store)
        return name, number + (len(calls) > 1)

    for module in (page, equity_view):
        monkeypatch.setattr(module, "version", version)
    app = visit(run=GOING)
    (chip,) = [b for b in app.button if b.label == "New data"]
    assert figures(app)
    chip.click().run()
    assert not app.exception
    assert "Up to date" in said(app)
