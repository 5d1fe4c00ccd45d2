"""For twenty accounts drawn by lot, pages and command line say what decisions, fills and bars say."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from arena.analytics.registry import BOARD_METRICS
from arena.cli.main import app
from arena.core.ids import TrackId
from arena.core.season import RunSpec, Season
from arena.market.sources import open_source
from arena.runner.replay import run_replay
from arena.store import reader
from arena.store.store import Store, open_store
from arena.ui import queries
from arena.ui.equity_lines import account_name
from arena.ui.links import DECISIONS_PAGE, decision_params
from arena.ui.tokens import strategy_label
from tests.audit.recompute import Recomputed, figures, recompute
from tests.pages.conftest import SHELL, TIMEOUT_S, serve

__all__ = ["serve"]

N_ACCOUNTS = 20
STRATEGIES = ("baseline", "flip_on_reversal", "pyramid_exit")
REL = 1e-9


def spec(source: str, assets: tuple[str, ...], last: date, season: Season) -> RunSpec:
    return RunSpec(
        kind="replay", season=season, source=source, assets=assets, agents=("deepfund", "vanilla"),
        models=("offline/contrarian", "offline/trend"), start=date(2025, 8, 1), end=last, warmup=0,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["sample", "real"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with slippage and fills at the next open; real prices with the paper's fills."""
    path = tmp_path_factory.mktemp("played") / "a.duckdb"
    if request.param == "sample":
        source = open_source("sample")
        run = spec("sample", ("QUBIXCOIN", "ZORVANE"), date(2025, 8, 20), Season(slippage_bps=3))
    else:
        source = open_source(f"files:{request.getfixturevalue('shared_market')}")
        run = spec("files", ("BTC", "TSLA"), date(2025, 8, 29), Season(fill="close"))
    with open_store(path) as store:
        run_replay(run, STRATEGIES, source, store)
    return path


@pytest.fixture
def store(played: Path) -> Iterator[Store]:
    with open_store(played, read=True) as opened:
        yield opened


def drawn(store: Store) -> list[str]:
    """2 assets x (2 agents x 2 models + 2 votes) x 3 strategies and 2 times Buy & Hold."""
    every = sorted(reader.summaries(store)["account"])
    assert len(every) == 2 * (2 * 2 + 2) * 3 + 2
    return random.Random(5).sample(every, N_ACCOUNTS)


def expected(store: Store, account: str) -> tuple[Recomputed, dict[str, float | None]]:
    track = TrackId.parse(account)
    own = recompute(store, account)
    hold = recompute(store, TrackId(track.run, "buy_hold", "-", track.asset).account("buy_hold"))
    return own, figures(own, hold)


def said(*words: str) -> Any:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def same_metrics(row: dict[str, Any], wanted: dict[str, float | None], who: str) -> None:
    assert set(row["metrics"]) == set(wanted) == set(BOARD_METRICS)
    for name, value in wanted.items():
        got = row["metrics"][name]["value"]
        assert (got is None) == (value is None), (who, name)
        assert value is None or got == pytest.approx(value, rel=REL, abs=REL), (who, name)


def test_the_command_line(store: Store, played: Path) -> None:
    run = reader.runs(store)["run"].iloc[0]
    board = {
        row["account"]: row
        for row in said(
            "leaderboard", "--store", str(played), "--run", run, "--by", "account", "--format", "json"
        )
    }
    for account in drawn(store):
        own, wanted = expected(store, account)
        same_metrics(board[account], wanted, account)
        assert board[account]["balance"] == pytest.approx(own.curve[-1], rel=REL)
        assert board[account]["position"] == {TrackId.parse(account).asset: own.rows[-1].side}
        curve = said("equity", "--store", str(played), "--account", account, "--format", "json")
        assert [row["session"] for row in curve] == [s.isoformat() for s in own.sessions]
        assert [row["price"] for row in curve] == list(own.closes)
        for name, values in (("balance", own.curve[1:]), ("balance_gross", own.gross[1:])):
            assert [row[name] for row in curve] == pytest.approx(list(values), rel=REL), account
        assert [row["balance"] for row in curve] == pytest.approx(list(own.from_fills), rel=REL)


def test_the_position_of_a_decision(played: Path, serve: Callable[[Path], None]) -> None:
    """The table of the Decisions page on the reference account, at the end of the run too, where it
    shows what stood before everything was closed."""
    with open_store(played, read=True) as store:
        run = reader.run(store, str(reader.runs(store)["run"].iloc[0]))
        made = reader.decisions(store, run["run"])
        tracks = random.Random(7).sample(sorted(set(made["track"])), 3)
        wanted = {t: recompute(store, f"{t}:baseline") for t in tracks}
    serve(played)
    for track, own in wanted.items():
        last = len(own.sessions) - 1
        for at in (last, last - 1, random.Random(track).randrange(last)):
            table = position_table(f"{track}:{own.sessions[at]}")
            # Filled at the close of the session itself, or at the open of the next one.
            after = at if run["fill"] == "close" else at + 1
            row = own.before_end[after] if after <= last else None
            assert table.loc["Units", "after"] == ("–" if row is None else f"{row.units:,.4g}"), track
            assert table.loc["Equity", "after"] == (
                "–" if row is None else f"${row.balance:,.0f}"
            ), track
            if run["fill"] == "next":
                assert table.loc["Units", "before"] == f"{own.before_end[at].units:,.4g}"
                assert table.loc["Equity", "before"] == f"${own.before_end[at].balance:,.0f}"


def opened(file: str, **params: str) -> AppTest:
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    for name, value in params.items():
        app.query_params[name] = value
    app.switch_page(str(SHELL.parents[2] / file))
    app.run()
    assert not app.exception, app.exception[0].stack_trace
    return app


def table_with(app: AppTest, *columns: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if set(columns) <= set(d.value.columns))


def position_table(decision: str) -> pd.DataFrame:
    app = opened(DECISIONS_PAGE, **decision_params(decision))
    return table_with(app, "what", "before", "after").set_index("what")


SHOWN = {
    "net": ("CR", 100), "gross": ("CR_gross", 100), "other": ("CR_gross", 100), "excess": ("excess_bh", 100), "sharpe": ("SR", 1),
    "drawdown": ("MDD", -100), "volatility": ("AV", 100), "calmar": ("Calmar", 1),
    "invested": ("time_in_market", 100), "win": ("win_rate_trades", 100), "turnover": ("turnover", 1),
}  # fmt: skip
"""Columns of tables, and the metric that each shows times a factor."""


def same_line(
    line: pd.Series, wanted: dict[str, float | None], who: str, digits: dict[str, int], seen: Counter[str]
) -> None:
    """A line of a table; `digits` are decimals that a column is rounded to before it is shown."""
    for column in set(SHOWN) & set(line.index):
        metric, factor = SHOWN[column]
        value, got = wanted[metric], line[column]
        assert pd.isna(got) == (value is None), (who, column)
        if value is not None:
            assert float(got) == pytest.approx(
                factor * value, rel=REL, abs=0.51 * 10.0 ** -digits[column] if column in digits else REL
            ), (who, column)
            seen[column] += 1


def test_tables_of_overview_and_equity(played: Path, serve: Callable[[Path], None]) -> None:
    with open_store(played, read=True) as store:
        accounts = drawn(store)
        wanted = {a: expected(store, a) for a in accounts}
    serve(played)
    seen: dict[str, Counter[str]] = {"overview": Counter(), "equity": Counter()}
    for strategy in STRATEGIES:
        own = [a for a in accounts if a.rsplit(":", 1)[1] == strategy]
        label = strategy_label(strategy)
        boards = [
            table_with(opened("pages/results/overview.py", strategy=label, ov_by="Account", ov_columns=c), "rank", "asset")
            for c in ("Return", "Risk", "Cost")
        ]  # fmt: skip
        lines = table_with(
            opened("pages/results/equity.py", strategy=label, eq_by="Accounts"), "net", "gross", "trades"
        ).set_index("name")
        for account in own:
            track, (made, figure) = TrackId.parse(account), wanted[account]
            for board in boards:
                name = board["name"].str.removeprefix("◇ ")
                (row,) = (r for _, r in board[(name == track.entry) & (board["asset"] == track.asset)].iterrows())
                same_line(row, figure, account, {}, seen["overview"])
                if "balance" in row:
                    assert row["balance"] == pytest.approx(made.curve[-1], rel=REL)
            row = lines.loc[account_name(account)]
            rounded = {"net": 1, "gross": 1, "excess": 1, "drawdown": 1, "sharpe": 2, "volatility": 1}
            same_line(row, figure, account, rounded, seen["equity"])
            assert row["balance"] == pytest.approx(made.curve[-1], rel=REL)
    # Nothing was passed over: every figure of every account stood in each table that has its column.
    for page, columns in (("overview", set(SHOWN) - {"gross"}), ("equity", set(rounded) | {"win", "invested"})):
        for column in columns:
            n = sum(f[SHOWN[column][0]] is not None for a, (_, f) in wanted.items() if ":buy_hold" not in a)
            assert n > 0, column
            assert seen[page][column] in (n, 2 * n, 3 * n), (page, column)


def test_what_pages_read(store: Store) -> None:
    key, run = queries.version(store), str(reader.runs(store)["run"].iloc[0])
    rows = queries.rows(key, store, run, "account", (), (), (), ())
    board = {row["account"]: row for row in rows}
    for account in drawn(store):
        _, wanted = expected(store, account)
        same_metrics(board[account], wanted, account)
