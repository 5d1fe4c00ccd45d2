"""Cells of the board: words of numbers, marks, flags, and which rows are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena.store.store import Store, open_store
from arena.ui import board, board_columns, board_queries, board_view, queries
from arena.ui.board_flags import flags_of, in_short, windows_of
from arena.ui.tokens import TOKENS
from tests.ui.made_board_store import LIVE_RUN, REPLAY_RUN, VOID_RUN, build

Row = dict[str, Any]
ALL: queries.Axis = ()
CONTENT_PX, SELECTION_PX = 1092, 34


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("board") / "board.duckdb")


@pytest.fixture
def store(path: Path) -> Any:
    with open_store(path, read=True) as opened:
        yield opened


def rows_of(store: Store, run: str = REPLAY_RUN, by: Any = "entry") -> list[Row]:
    key = queries.version(store)
    return queries.rows(key, store, run, by, ALL, ALL, ALL, ("baseline",))


def luck_of(store: Store, run: str = REPLAY_RUN) -> dict[str, Row]:
    return queries.luck(queries.version(store), store, run, "entry", ALL, ALL, ALL, ("baseline",))


def named(rows: list[Row], entry: str) -> Row:
    return next(r for r in rows if r["entry"] == entry)


@pytest.mark.parametrize(
    ("column", "number", "words"),
    [
        ("net", -28.84, "\u221228.8%"),
        ("net", -0.04, "0.0%"),
        ("drawdown", -0.0, "0.0%"),
        ("excess", 7.06, "+7.1"),
        ("excess", -0.01, "0.0"),
        ("sharpe", -1.234, "\u22121.23"),
        ("win", 54.4, "54%"),
        ("balance", 113944.6, "$113,945"),
        ("break_even", -4705.2, "\u22124,705 bps"),
        ("cost", 0.0132, "$0.0132"),
        ("cost", 0.0, "$0.00"),
        ("cost", 1.5, "$1.50"),
    ],
)
def test_words_of_numbers(column: str, number: float, words: str) -> None:
    assert board.WORDS[column](number) == words


def test_a_missing_number_is_a_dash_and_never_nan() -> None:
    table = pd.DataFrame({"net": [1.0, None], "cost": [None, 0.5], "tint": False, "short": False, "void": False})
    html = board.styled(table, "light").to_html()
    assert "nan" not in html.lower().replace("style", "")
    assert html.count(">\u2013<") == 2


def test_colours_by_sign_and_tints(store: Store) -> None:
    table = pd.DataFrame(
        {"net": [1.0, -1.0, -0.04], "sharpe": [1.0, 2.0, 3.0], "tint": [False, False, True],
         "short": [False, True, False], "void": False}
    )  # fmt: skip
    styler, tokens = board.styled(table, "dark"), TOKENS["dark"]
    styler._compute()
    css = {cell: dict(pairs) for cell, pairs in styler.ctx.items() if pairs}
    assert css[0, 0] == {"color": tokens.gain}
    assert css[1, 0] == {"color": tokens.loss}
    assert css[1, 1] == {"color": tokens.muted}
    # -0.04 is written 0.0%, which is no loss.
    assert css[2, 0] == {"background-color": tokens.panel}


def test_rank_text_marks_and_who_takes_none(store: Store) -> None:
    rows, luck = rows_of(store), luck_of(store)
    own = [r for r in rows if r["group"] != "stand_in"]
    table = board.frame(own, {i: luck[f"{r['run']}|{r['entry']}|{r['strategy']}"] for i, r in enumerate(own)})
    rank = dict(zip(table["name"], table["rank"], strict=True))
    # Drifts of 1.5, 0.25 and 0.2 %: the first stands alone, the others are within noise of each other.
    assert rank["trade@m-good"] == "1"
    assert rank["trade@m-mid"] == rank["hedge@m-good"] == "2="
    assert rank["\u25c6 Buy & Hold"] == rank["\u25c7 trade@vote"] == rank["hedge@m-mid"] == "\u2013"
    tinted = set(table.loc[table["tint"], "name"])
    assert tinted == {"\u25c6 Buy & Hold", "\u25c7 trade@vote"}
    verdicts = dict(zip(table["name"], table["verdict"], strict=True))
    assert verdicts["trade@m-good"] == "above"
    assert verdicts["trade@m-mid"] == "not distinguishable"


def test_flags_say_late_partial_and_void(store: Store) -> None:
    rows = rows_of(store)
    windows = windows_of(rows_of(store, by="account"))
    assert windows == dict.fromkeys(("AAA", "BBB"), ("2025-08-01", "2025-09-09"))
    late = flags_of(named(rows, "hedge@m-good"), None, windows)
    assert list(late) == ["4 late"]
    partial = flags_of(named(rows, "hedge@m-mid"), None, windows)
    assert partial == {"partial": "Covers 11 Aug to 9 Sep 2025 of 1 Aug to 9 Sep 2025."}
    assert flags_of(named(rows, "trade@m-good"), None, windows) == {}
    assert flags_of(named(rows, "buy_hold"), None, windows) == {}
    void = flags_of(named(rows_of(store, VOID_RUN), "hedge@m-mid"), None, windows)
    assert list(void) == ["void", "partial"]
    assert (in_short({}), in_short(partial), in_short(void)) == (None, "partial", "void +1")


def test_an_entry_without_some_asset_is_partial(store: Store) -> None:
    row = named(rows_of(store), "trade@m-good")
    fewer = row | {"position": {"AAA": 1}}
    windows = windows_of(rows_of(store, by="account"))
    assert flags_of(fewer, None, windows) == {"partial": "Plays 1 of 2 assets."}


def test_degenerate_flags_of_several_assets_share_a_word(store: Store) -> None:
    row, windows = named(rows_of(store), "trade@m-good"), windows_of(rows_of(store, by="account"))
    luck = {"flags": [{"flag": "no_trade", "reason": "No position.", "asset": a} for a in ("AAA", "BBB")]}
    assert flags_of(row, luck, windows) == {"no trade": "AAA: No position. BBB: No position."}


def test_voided_names_are_struck(store: Store) -> None:
    table = board.frame(rows_of(store, VOID_RUN))
    assert "t\u0336r\u0336a\u0336d\u0336e\u0336@\u0336" in "".join(table["name"])
    assert set(table["rank"]) == {"\u2013"}


def test_unknown_cost_is_none_and_free_is_zero(store: Store) -> None:
    spent = board_queries.spend(queries.version(store), store, REPLAY_RUN)
    costs = {r["entry"]: board_queries.cost_per_decision(r, spent) for r in rows_of(store)}
    assert costs["trade@m-good"] == pytest.approx(0.25)
    assert costs["trade@m-mid"] is None
    assert costs["trade@vote"] == 0.0
    assert costs["buy_hold"] is None


def test_one_unpriced_decision_makes_the_cost_unknown() -> None:
    track = "replay-00000000ab-e1:trade@m-good:AAA"
    row = {"accounts": [f"{track}:baseline"]}
    assert board_queries.cost_per_decision(row, {track: (4, 4, 1.0)}) == 0.25
    assert board_queries.cost_per_decision(row, {track: (4, 3, 1.0)}) is None


def test_excess_before_fees_is_against_the_mean_of_its_assets(store: Store) -> None:
    row = named(rows_of(store), "trade@m-good")
    own = board.value(row, "CR_gross")
    assert own is not None
    # (10 % + 20 %) / 2 = 15 % is what holding both earned.
    assert board_view.gross_excess(row, {"AAA": 0.1, "BBB": 0.2}) == pytest.approx(own - 0.15)
    assert board_view.gross_excess(row, {"AAA": 0.1}) is None


def test_search_wants_every_word_and_keeps_buy_and_hold(store: Store) -> None:
    found = board_view.matching(rows_of(store), "TRADE mid")
    assert [r["entry"] for r in found] == ["trade@m-mid", "buy_hold"]
    accounts = board_view.matching(rows_of(store, by="account"), "hedge aaa")
    assert {r["asset"] for r in accounts if r["group"] != "benchmark"} == {"AAA"}


def test_the_top_rows_never_cut_buy_and_hold_off() -> None:
    rows: list[Row] = [{"group": "model", "i": i} for i in range(250)]
    rows.insert(240, {"group": "benchmark", "i": -1})
    shown = board_view.top(rows)
    assert [r["i"] for r in shown] == [*range(200), -1]


@pytest.mark.parametrize("by", ["entry", "account"])
@pytest.mark.parametrize("columns", list(board_columns.SETS))
def test_every_column_set_fits_the_page(store: Store, columns: str, by: Any) -> None:
    rows = rows_of(store, LIVE_RUN, by)
    view = board_view.BoardView(by, False, columns)
    shown = board_view.Shown(rows, ["x"] * len(rows), {}, [None] * len(rows), {}, {}, len(rows))
    table, settings = board_view.table_of(shown, view), board_view.settings_of(rows, view)
    button = settings.pop("open").config
    widths = [settings[c]["width"] for c in table if c not in (*board.MARKS, "open")]
    assert SELECTION_PX + sum(widths) + button["width"] <= CONTENT_PX
    assert not set(board.MARKS) & {*settings, *board.styled(table, "light").columns}


def test_gross_puts_the_return_before_fees_first(store: Store) -> None:
    rows = rows_of(store)
    shown = board_view.Shown(rows, ["x"] * len(rows), {}, [None] * len(rows), {}, {"AAA": 0.0, "BBB": 0.0}, len(rows))
    net = board_view.table_of(shown, board_view.BoardView("entry", False, "Cost"))
    gross = board_view.table_of(shown, board_view.BoardView("entry", True, "Cost"))
    # Gross curves of the store stand 1 % above net ones.
    assert (gross["net"] + 100).tolist() == pytest.approx(((net["net"] + 100) * 1.01).tolist())
    assert gross["other"].tolist() == net["net"].tolist()
    assert gross["rank"].tolist() == net["rank"].tolist()
