"""Board rows, ranking and entry curves, on small boards worked out by hand."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.analytics.leaderboard import board
from arena.analytics.series import AccountSeries, compute
from arena.core.errors import UnknownNameError
from arena.core.hashing import account_key
from arena.core.ids import TrackId
from arena.core.rows import EquityRow, SummaryRow

FRIDAY = date(2025, 8, 1)
RUN = "replay-0123456789-e1"


@dataclass
class Store:
    """Frames as the store's readers give them."""

    summaries: list[dict[str, Any]] = field(default_factory=list)
    equity: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        agent: str,
        model: str,
        asset: str,
        balance: list[float],
        *,
        grp: str = "model",
        strategy: str = "baseline",
        run: str = RUN,
        days: list[date] | None = None,
        trips: tuple[float, ...] = (),
        notional: list[float] | None = None,
        traded: list[float] | None = None,
        capital: float = 100.0,
        failed: int = 0,
        last: tuple[str, date] | None = ("BUY", FRIDAY),
        position: int = 1,
        flags: tuple[str, ...] = (),
    ) -> str:
        coin = asset in ("BTC", "ETH")
        days = days or sessions(len(balance), coin)
        account = TrackId(run, agent, model, asset).account(strategy)
        curve = np.array([capital, *balance])
        bankrupt = min(balance) <= 0
        metrics = compute(
            AccountSeries(
                curve, 365 if coin else 252, "crypto" if coin else "stock", curve,
                np.zeros(len(balance)) if notional is None else np.array(notional), None,
                np.zeros(len(balance)) if traded is None else np.array(traded), trips,
                flags=flags,
            )
        )  # fmt: skip
        self.summaries.append(asdict(SummaryRow(
            account, account_key(account), run, agent, model, asset, strategy, grp, days[0], days[-1],
            len(balance), len(balance), failed, 0, 0, balance[-1], balance[-1], bankrupt, position,
            last[0] if last else None, last[1] if last else None,
            json.dumps({k: r.to_json() for k, r in metrics.items()}), json.dumps([0.5]),
        )))  # fmt: skip
        for day, value in zip(days, balance, strict=True):
            row = EquityRow(account_key(account), day, 1.0, 0, 0.0, value, value, value)
            self.equity.append({"account": account, **asdict(row)})
        return account

    def board(self, **options: Any) -> list[dict[str, Any]]:
        summaries, equity = pd.DataFrame(self.summaries), pd.DataFrame(self.equity)
        for frame, names in (
            (summaries, ("start", "end", "last_action_session")), (equity, ("session",)),
        ):  # fmt: skip
            for name in names:
                frame[name] = pd.to_datetime(frame[name])
        return board(summaries, equity, **{"capital": 100.0, **options})


def sessions(n: int, coin: bool) -> list[date]:
    days = (FRIDAY + timedelta(days=i) for i in range(3 * n + 3))
    return [d for d in days if coin or d.weekday() < 5][:n]


def ranks(rows: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    return [(r["agent"], r["rank"]) for r in rows]


def value(row: dict[str, Any], name: str) -> Any:
    return row["metrics"][name]["value"]


def test_account_rows_have_the_documented_fields() -> None:
    s = Store()
    account = s.add("trade", "m", "TSLA", [110.0], failed=1)
    (row,) = s.board(by="account", fills={RUN: "next"})
    wanted = {
        "account", "agent", "model", "asset", "strategy", "run", "epoch", "fill", "start", "end",
        "n_sessions", "n_decisions", "n_failed", "n_gaps", "n_late", "bankrupt", "voided", "group",
        "rank", "balance", "metrics", "sparkline", "position", "last_action", "last_action_session",
    }  # fmt: skip
    assert wanted <= set(row)
    assert (row["account"], row["asset"], row["fill"], row["epoch"]) == (account, "TSLA", "next", 1)
    assert (row["start"], row["end"], row["n_failed"], row["rank"]) == ("2025-08-01",) * 2 + (1, 1)
    assert row["position"] == {"TSLA": 1}
    assert row["sparkline"] == [0.5]
    json.dumps(row, allow_nan=False)


def test_account_metrics_are_the_stored_ones_even_without_equity() -> None:
    s = Store()
    s.add("trade", "m", "TSLA", [110.0, 99.0])
    summaries = pd.DataFrame(s.summaries)
    (row,) = board(summaries, pd.DataFrame(s.equity).iloc[:0], by="account", capital=100.0)
    assert row["metrics"] == json.loads(summaries["metrics_json"].iloc[0])


def test_order_by_return_then_sharpe_then_drawdown_then_name() -> None:
    s = Store()
    # All end at +10 % but `low`. `smooth` has the best Sharpe; `b_deep` and `a_deep` are equal: name decides.
    s.add("b_deep", "m", "TSLA", [90.0, 110.0])
    s.add("a_deep", "m", "TSLA", [90.0, 110.0])
    s.add("smooth", "m", "TSLA", [105.0, 110.0])
    s.add("low", "m", "TSLA", [105.0, 109.0])
    # A constant return has no Sharpe: after those that have one at equal CR.
    s.add("no_sharpe", "m", "TSLA", [100 * 1.1**0.5, 110.0])
    assert ranks(s.board(by="account")) == [
        ("smooth", 1), ("a_deep", 2), ("b_deep", 3), ("no_sharpe", 4), ("low", 5),
    ]  # fmt: skip


def test_bankrupt_after_all_others_and_voided_without_rank() -> None:
    s = Store()
    s.add("blown", "m", "TSLA", [100.0, -10.0])
    s.add("poor", "m", "TSLA", [100.0, 20.0])
    s.add("void", "m", "TSLA", [100.0, 200.0], run="replay-ffffffffff-e1")
    rows = s.board(by="account", voided={"replay-ffffffffff-e1"})
    assert ranks(rows) == [("poor", 1), ("blown", 2), ("void", None)]
    assert [r["voided"] for r in rows] == [False, False, True]
    assert rows[1]["bankrupt"]


def test_only_real_models_are_ranked_where_one_played() -> None:
    s = Store()
    s.add("trade", "gpt", "TSLA", [101.0])
    s.add("trade", "offline/trend", "TSLA", [105.0], grp="stand_in")
    s.add("trade", "vote", "TSLA", [104.0], grp="vote")
    s.add("them", "x", "TSLA", [103.0], grp="import")
    s.add("buy_hold", "-", "TSLA", [102.0], grp="benchmark", strategy="buy_hold")
    rows = s.board(by="account")
    assert [(r["group"], r["rank"]) for r in rows] == [
        ("stand_in", None), ("vote", None), ("import", None), ("benchmark", None), ("model", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("grp", ["stand_in", "import", "vote"])
def test_without_a_real_model_the_others_are_ranked_among_themselves(grp: str) -> None:
    s = Store()
    s.add("a", "x", "TSLA", [101.0], grp=grp)
    s.add("b", "x", "TSLA", [103.0], grp=grp)
    s.add("buy_hold", "-", "TSLA", [102.0], grp="benchmark", strategy="buy_hold")
    rows = s.board(by="account")
    assert ranks(rows) == [("b", 1), ("buy_hold", None), ("a", 2)]
    assert {r["group"] for r in rows} == {grp, "benchmark"}


def test_runs_of_other_windows_are_ranked_apart_and_late_starters_not_at_all() -> None:
    s = Store()
    other = "replay-aaaaaaaaaa-e2"
    s.add("a", "m", "TSLA", [101.0, 102.0])
    s.add("b", "m", "TSLA", [101.0], run=other)
    late = sessions(2, coin=False)[1:]
    s.add("late", "m", "TSLA", [150.0], days=late)
    rows = s.board(by="account")
    assert ranks(rows) == [("late", None), ("a", 1), ("b", 1)]
    assert "partial_window" in rows[0]["metrics"]["CR"]["flags"]
    assert rows[2]["epoch"] == 2


def test_entry_of_stocks_is_the_mean_curve() -> None:
    s = Store()
    # Relative curves 1.1, 1.2 and .9, 1.0 -> mean 1.0, 1.1.
    s.add("trade", "m", "TSLA", [110.0, 120.0], failed=1, last=("SELL", FRIDAY + timedelta(3)))
    s.add("trade", "m", "BMRN", [90.0, 100.0], failed=2, position=-1)
    s.add("buy_hold", "-", "TSLA", [100.0, 106.0], grp="benchmark", strategy="buy_hold")
    s.add("buy_hold", "-", "BMRN", [100.0, 102.0], grp="benchmark", strategy="buy_hold")
    row, bench = s.board()
    assert (row["entry"], row["assets"], row["n_accounts"]) == ("trade@m", ["BMRN", "TSLA"], 2)
    assert value(row, "CR") == pytest.approx(0.1)
    # Mean of the curves has no drawdown although BMRN's has 10 %.
    assert value(row, "MDD") == 0.0
    assert row["metrics"]["AR"]["basis"]["B"] == 252
    assert row["metrics"]["AR"]["n"] == 2
    # Buy & Hold: mean of +6 % and +2 %.
    assert value(bench, "CR") == pytest.approx(0.04)
    assert value(row, "excess_bh") == pytest.approx(0.06)
    # Mark 1: 1.0 against 1.0 is not above; mark 2: 1.1 against 1.04 is.
    assert value(row, "days_over_bh") == 0.5
    assert (row["n_decisions"], row["n_failed"], row["balance"]) == (4, 3, 110.0)
    assert row["position"] == {"TSLA": 1, "BMRN": -1}
    assert (row["last_action"], row["last_action_asset"]) == ("SELL", "TSLA")
    assert row["sparkline"] == [0.0, 0.1]
    assert (bench["entry"], bench["rank"]) == ("buy_hold", None)


def test_entry_with_a_coin_is_marked_every_calendar_day() -> None:
    s = Store()
    # Friday 1 Aug to Monday 4 Aug: TSLA has two sessions, BTC four.
    s.add("trade", "m", "TSLA", [100.0, 120.0])
    s.add("trade", "m", "BTC", [100.0, 110.0, 120.0, 120.0])
    (row,) = s.board()
    # Means: 1.0, 1.05, 1.10 (Friday's TSLA carried), 1.20.
    assert value(row, "CR") == pytest.approx(0.2)
    assert (row["metrics"]["AR"]["basis"]["B"], row["metrics"]["AR"]["n"]) == (365, 4)
    assert row["sparkline"] == [0.0, 0.05, 0.1, 0.2]
    # Returns 0, .05, .05 / 1.05, .1 / 1.1.
    r = np.array([0, 0.05, 0.05 / 1.05, 0.1 / 1.1])
    assert value(row, "AV") == pytest.approx(r.std(ddof=1) * 365**0.5)


def test_counts_are_pooled() -> None:
    s = Store()
    # 2 of 3 and 0 of 1 trips; 1 of 2 and 2 of 2 marks invested; one exposed period each, one won.
    s.add(
        "t",
        "m",
        "TSLA",
        [100.0, 110.0],
        trips=(1.0, 2.0, -1.0),
        notional=[50.0, 0],
        traded=[50.0, 55],
    )
    s.add("t", "m", "BMRN", [100.0, 90.0], trips=(-1.0,), notional=[50.0, 60.0], traded=[50.0, 0])
    (row,) = s.board()
    assert (value(row, "win_rate_trades"), row["metrics"]["win_rate_trades"]["n"]) == (0.5, 4)
    assert value(row, "time_in_market") == 0.75
    assert value(row, "win_rate_active") == 0.5
    # 105 and 50 of 100 traded: mean .775 over the mean curve 1.0, 1.0.
    assert value(row, "turnover") == pytest.approx(0.775)


def test_ama_is_undefined_on_a_mix_and_computed_on_one_class() -> None:
    s = Store()
    s.add("mix", "m", "TSLA", [100.0, 120.0])
    s.add("mix", "m", "BTC", [100.0, 110.0, 120.0, 120.0])
    s.add("pure", "m", "TSLA", [100.0, 120.0])
    pure, mix = s.board(mode="ama")
    assert {r["reason"] for r in mix["metrics"].values()} == {"mixed_classes"}
    assert (mix["agent"], mix["rank"]) == ("mix", None)
    assert value(pure, "CR") == pytest.approx(0.2)
    # One non-zero return: 1.2^252 - 1; its deviation is degenerate, so 0 and flagged.
    assert value(pure, "AR") == pytest.approx(1.2**252 - 1)
    assert (value(pure, "SR"), value(pure, "win_rate_trades")) == (0.0, 0.0)
    assert all("compat:ama" in r["flags"] for r in pure["metrics"].values())


def test_flags_of_accounts_reach_the_entry() -> None:
    s = Store()
    s.add("t", "m", "TSLA", [100.0, 110.0], flags=("forced_close", "stale_marks:2"))
    s.add("t", "m", "BMRN", [100.0, -10.0], flags=("stale_marks:1",))
    (row,) = s.board()
    assert row["bankrupt"]
    for name in ("CR", "win_rate_trades", "turnover"):
        assert {"bankrupt", "forced_close", "stale_marks:3"} <= set(row["metrics"][name]["flags"])


def test_no_benchmark_over_all_assets_is_missing() -> None:
    s = Store()
    s.add("t", "m", "TSLA", [100.0, 110.0])
    s.add("t", "m", "BMRN", [100.0, 90.0])
    s.add("buy_hold", "-", "TSLA", [100.0, 106.0], grp="benchmark", strategy="buy_hold")
    row = next(r for r in s.board() if r["agent"] == "t")
    assert row["metrics"]["excess_bh"]["reason"] == "missing_benchmark"


def test_one_row_an_entry_and_strategy() -> None:
    s = Store()
    for strategy, end in (("baseline", 101.0), ("pyramid_exit", 103.0)):
        s.add("t", "m", "TSLA", [end], strategy=strategy)
    rows = s.board()
    assert [(r["strategy"], r["rank"]) for r in rows] == [("pyramid_exit", 1), ("baseline", 2)]


def test_capital_by_run_and_entries_without_curve() -> None:
    s = Store()
    s.add("t", "m", "TSLA", [55.0, 60.0], capital=50.0)
    s.add("t", "m", "BMRN", [50.0, 50.0], capital=50.0)
    (row,) = s.board(capital={RUN: 50.0})
    # +20 % and 0.
    assert value(row, "CR") == pytest.approx(0.1)
    s.equity = [{**e, "account": "another"} for e in s.equity]
    (row,) = s.board(capital={RUN: 50.0})
    assert (row["metrics"]["CR"]["reason"], row["rank"]) == ("no_observations", None)
    assert row["sparkline"] == []


def test_never_acted_and_empty_board() -> None:
    s = Store()
    s.add("buy_hold", "-", "TSLA", [101.0], grp="benchmark", strategy="buy_hold", last=None)
    (row,) = s.board()
    assert (row["last_action"], row["last_action_session"]) == (None, None)
    assert board(pd.DataFrame(s.summaries).iloc[:0], pd.DataFrame(s.equity)) == []


def test_unknown_options_are_refused() -> None:
    s = Store()
    s.add("t", "m", "TSLA", [101.0])
    with pytest.raises(UnknownNameError, match="Did you mean `account`"):
        s.board(by="acount")
    with pytest.raises(UnknownNameError, match="metrics mode"):
        s.board(mode="paper")


def test_a_model_that_may_know_the_window_is_said_so() -> None:
    """The window starts on 1 August; a model whose knowledge ends on that day may know its start."""
    store = Store()
    for model in ("knows", "before", "unsaid"):
        store.add("vanilla", model, "BTC", [101.0, 102.0])
    rows = board(
        pd.DataFrame(store.summaries), pd.DataFrame(store.equity), capital=100.0,
        cutoffs={"knows": FRIDAY, "before": FRIDAY - timedelta(days=1)},
    )  # fmt: skip
    assert {r["model"]: r["may_know"] for r in rows} == {
        "knows": True, "before": False, "unsaid": None,
    }  # fmt: skip
