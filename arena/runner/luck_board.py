"""Is it luck? Intervals, floors, tests and flags of board rows, from what the store has of their run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from arena.analytics.bootstrap import Interval, return_interval, sharpe_interval
from arena.analytics.decision_score import decision_score
from arena.analytics.degenerate import Call, Flag, account_flags, track_flags
from arena.analytics.entry_curve import Curve, curves_of, entry_curve
from arena.analytics.luck import (
    curve_difference,
    daily_returns,
    paired_returns,
    same_rank,
    verdict,
)
from arena.analytics.market_model import break_even_fee_bps, market_model
from arena.analytics.random_floor import Draws, draw_account, floor_of
from arena.analytics.random_timing import Tape
from arena.analytics.sharpe_tests import deflation, session_sharpe, sharpe_probability
from arena.core.ids import TrackId
from arena.core.season import RunSpec
from arena.portfolio import Costs
from arena.runner.boards import BoardData
from arena.store import live_reader, reader
from arena.store.actions_reader import run_bars
from arena.store.store import Store

Row = dict[str, Any]


def row_key(row: Row) -> str:
    """Name of a board row within its board: the account id, or run, entry and strategy."""
    return str(row.get("account") or f"{row['run']}|{row['entry']}|{row['strategy']}")


def luck_board(store: Store, data: BoardData, rows: Sequence[Row]) -> dict[str, Row]:
    """What chance could explain of each row, by `row_key`; plain JSON-able dicts (docs/metrics.md).

    Args:
        data: the frames that `rows` were made from (`select_board`).
        rows: the board, or those rows of it that are shown: ranks and deflation are among these.
    """
    board = _Board(store, data)
    curves = [board.curve(row) for row in rows]
    place = {row_key(row): i for i, row in enumerate(rows)}

    def difference(row: Row, leader: Row) -> Interval:
        a, b = row_key(row), row_key(leader)
        return curve_difference(curves[place[a]], curves[place[b]], f"{a} against {b}")

    labels = same_rank(rows, difference)
    thresholds = _thresholds(rows, curves)
    return {
        row_key(row): {
            "rank_label": label,
            **board.of_curve(row, curve, thresholds[_field(row)]),
            **board.of_decisions(row),
        }
        for row, curve, label in zip(rows, curves, labels, strict=True)
    }


def _field(row: Row) -> tuple[Any, ...]:
    """Rows that were tried beside each other: one group over one window."""
    return row["group"], row["start"], row["end"]


def _thresholds(rows: Sequence[Row], curves: Sequence[Curve]) -> dict[tuple[Any, ...], float]:
    """Ratio of one session that the best of each field had to pass."""
    trials: dict[tuple[Any, ...], list[float]] = {}
    for row, curve in zip(rows, curves, strict=True):
        known = trials.setdefault(_field(row), [])
        sharpe = session_sharpe(daily_returns(curve.values))
        if sharpe is not None:
            known.append(sharpe)
    return {tried: deflation(found) for tried, found in trials.items()}


@dataclass(frozen=True)
class _Run:
    """What one run was: rules, its bars by asset, and what `agents` decided on `assets` by track."""

    store: Store
    run: str
    agents: frozenset[str]
    assets: frozenset[str]
    _bars: dict[str, pd.DataFrame] = field(default_factory=dict)
    _moves: dict[str, dict[str, float]] = field(default_factory=dict)
    _tapes: dict[tuple[str, pd.Timestamp, int], Tape] = field(default_factory=dict)

    @cached_property
    def _row(self) -> dict[str, Any]:
        return live_reader.run_as_settled(self.store, self.run)

    @cached_property
    def spec(self) -> RunSpec:
        return RunSpec.model_validate_json(self._row["spec_json"])

    @cached_property
    def calls(self) -> dict[str, list[Call]]:
        frame = reader.track_actions(
            self.store, self.run, sorted(self.agents), sorted(self.assets)
        )
        days = frame["session"].dt.strftime("%Y-%m-%d")
        found: dict[str, list[Call]] = {}
        for track, *call in zip(
            frame["track"], days, frame["intent"], frame["action"], frame["status"], strict=True
        ):
            found.setdefault(track, []).append(Call(*call))
        return found

    @cached_property
    def costs(self) -> dict[str, Costs]:
        season, classes = self.spec.season, reader.assets(self.store)
        return {
            asset: Costs(season.fee_bps[kind], season.slippage_bps, season.borrow_bps_year)
            for asset, kind in zip(classes["asset"], classes["asset_class"], strict=True)
        }

    def bars(self, asset: str) -> pd.DataFrame:
        """Open and close by session, as the run saw them, with what came before and after."""
        if asset not in self._bars:
            frame = run_bars(self.store, self._row, asset)
            self._bars[asset] = frame.set_index("session")[["open", "close"]]
        return self._bars[asset]

    def moves(self, asset: str) -> dict[str, float]:
        """Return from the close of each ISO day to the next close."""
        if asset not in self._moves:
            closes = self.bars(asset)["close"]
            move = (closes.shift(-1) / closes - 1.0).dropna()
            days = pd.DatetimeIndex(move.index).strftime("%Y-%m-%d")
            self._moves[asset] = dict(zip(days, move.tolist(), strict=True))
        return self._moves[asset]

    def tape(self, asset: str, sessions: pd.Series) -> Tape:
        """Prices over an account's sessions; accounts of one start and length share theirs."""
        key = (asset, sessions.iloc[0], len(sessions))
        if key not in self._tapes:
            bars = self.bars(asset).reindex(sessions)
            days = sessions.diff().dt.days.fillna(1).to_numpy(float)
            self._tapes[key] = Tape(
                bars["open"].to_numpy(float), bars["close"].to_numpy(float), days,
                self.costs[asset], self.spec.season.fill,
            )  # fmt: skip
        return self._tapes[key]

    @cached_property
    def _by_agent(self) -> dict[tuple[str, str], dict[str, list[Call]]]:
        found: dict[tuple[str, str], dict[str, list[Call]]] = {}
        for name, calls in self.calls.items():
            track = TrackId.parse(name)
            found.setdefault((track.agent, track.asset), {})[track.model] = calls
        return found

    def siblings(self, track: TrackId) -> dict[str, list[Call]]:
        """Decisions of the same agent on the same asset with other models, by model."""
        models = self._by_agent.get((track.agent, track.asset), {})
        return {model: calls for model, calls in models.items() if model != track.model}


class _Board:
    """Answers for rows, reading each run and drawing each account once."""

    def __init__(self, store: Store, data: BoardData) -> None:
        self.store = store
        self.curves = curves_of(data.summaries, data.equity, data.capital)
        self.equity = {str(k): f for k, f in data.equity.groupby("account", sort=False)}
        self.hold = {
            (str(s.run), str(s.asset)): str(s.account)
            for s in data.summaries[data.summaries["grp"] == "benchmark"].itertuples()
        }
        self.last_side = dict(
            zip(data.summaries["account"], data.summaries["position"], strict=True)
        )
        self.agents = frozenset(map(str, data.summaries["agent"]))
        self.assets = frozenset(map(str, data.summaries["asset"]))
        self._runs: dict[str, _Run] = {}
        self._draws: dict[str, Draws] = {}

    def run(self, run: str) -> _Run:
        if run not in self._runs:
            # All models of these: an account is compared with its siblings, whether shown or not.
            self._runs[run] = _Run(self.store, run, self.agents, self.assets)
        return self._runs[run]

    def accounts(self, row: Row) -> list[str]:
        """Accounts of a row that have a curve."""
        named = [row["account"]] if "account" in row else row["accounts"]
        return [a for a in named if a in self.curves]

    def sides(self, account: str) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
        """Side after the fills of each session; of the last one before a forced close, whose row says 0."""
        sides = self.equity[account]["side"].to_numpy(np.int8).copy()
        sides[-1] = self.last_side[account]
        return sides

    def curve(self, row: Row) -> Curve:
        """The row's curve, as the board makes it."""
        return entry_curve([self.curves[a] for a in self.accounts(row)])

    def of_curve(self, row: Row, curve: Curve, threshold: float) -> Row:
        """Everything that the row's curve and its timing tell."""
        name, returns = row_key(row), daily_returns(curve.values)
        excess = self._excess(row, curve)
        gross, turnover = (row["metrics"][m]["value"] for m in ("CR_gross", "turnover"))
        fee_bps, no_fee = break_even_fee_bps(gross, turnover)
        return {
            "return_interval": return_interval(returns, name).to_json(),
            "sharpe_interval": sharpe_interval(returns, curve.base, name).to_json(),
            "excess_interval": None if excess is None else excess.to_json(),
            "verdict": verdict(excess),
            "floor": floor_of([self._draw(a) for a in self.accounts(row)]).to_json(),
            "probabilistic_sharpe": sharpe_probability(returns),
            "deflated_sharpe": (
                None if row["group"] == "benchmark" else sharpe_probability(returns, threshold)
            ),
            "market_model": self._model(row, curve),
            "break_even_fee": {"value_bps": fee_bps, "reason": no_fee},
        }

    def of_decisions(self, row: Row) -> Row:
        """Score of the row's calls, and what makes it no contest; nothing of Buy & Hold."""
        if row["group"] == "benchmark":
            return {"decision_score": None, "flags": []}
        scored, flags = [], []
        run = self.run(row["run"])
        for account in self.accounts(row):
            track = TrackId.parse(account)
            calls = run.calls.get(str(track), [])
            moves = run.moves(track.asset)
            scored += [(c.action, moves.get(c.session)) for c in calls]
            flags += [{**f.to_json(), "asset": track.asset} for f in self._flags(run, account, calls)]
        return {"decision_score": decision_score(scored).to_json(), "flags": flags}

    def _flags(self, run: _Run, account: str, calls: list[Call]) -> list[Flag]:
        track, strategy = TrackId.parse(account), account.rsplit(":", 1)[-1]
        frame = self.equity[account]
        days = frame["session"].dt.strftime("%Y-%m-%d").tolist()
        tape = run.tape(track.asset, frame["session"])
        lost = np.isnan(tape.closes) | (np.isnan(tape.opens) & (tape.fill == "next"))
        sides = self.sides(account).tolist()
        solvent = frame["balance"].to_numpy(float) > 0.0
        n = len(days) if solvent.all() else int(np.argmin(solvent))
        return [
            *track_flags(calls, run.siblings(track)),
            *account_flags(
                calls, days[:n], sides[:n], strategy, tape.fill,
                frozenset(d for d, gone in zip(days, lost, strict=True) if gone),
            ),
        ]  # fmt: skip

    def _draw(self, account: str) -> Draws:
        if account not in self._draws:
            track, frame = TrackId.parse(account), self.equity[account]
            tape = self.run(track.run).tape(track.asset, frame["session"])
            self._draws[account] = draw_account(self.sides(account), tape, account)
        return self._draws[account]

    def _held(self, row: Row) -> list[str] | None:
        """Buy & Hold accounts of the row's assets; None where one is missing."""
        assets = {TrackId.parse(a).asset for a in self.accounts(row)}
        found = [self.hold.get((row["run"], a)) for a in sorted(assets)]
        known = [a for a in found if a in self.curves]
        return [str(a) for a in known] if known and len(known) == len(found) else None

    def _excess(self, row: Row, curve: Curve) -> Interval | None:
        held = self._held(row)
        if row["group"] == "benchmark" or held is None:
            return None
        other = entry_curve([self.curves[a] for a in held])
        return curve_difference(curve, other, f"{row_key(row)} against Buy & Hold")

    def _model(self, row: Row, curve: Curve) -> Row:
        """Against the mean of the assets' own prices; nobody holds anything before the first mark."""
        prices = [self._price_curve(a) for a in self.accounts(row)]
        own, asset = paired_returns(curve, entry_curve(prices))
        return market_model(own[1:], asset[1:], curve.base).to_json()

    def _price_curve(self, account: str) -> Curve:
        frame, base = self.equity[account], self.curves[account].base
        marks = frame["price"].to_numpy(float)
        values = np.concatenate([marks[:1], marks]) / marks[0]
        return Curve(pd.DatetimeIndex(frame["session"]), values, values, base)


def with_luck(rows: Sequence[Row], luck: Mapping[str, Row]) -> list[Row]:
    """Board rows, each with its answers under `luck`."""
    return [{**row, "luck": luck[row_key(row)]} for row in rows]
