"""A store as large as the arena is meant to carry, made up from a seed: 8 million equity rows.

16,324 accounts of 500 sessions in 13 runs, and 101,568 decisions with about 5,000 characters of
prompts and answers each. The newest run, which pages open first, is the largest: 300 entries on four
coins under three strategies, 3,604 accounts. Curves come from the account engine and figures from
`analytics`, so that pages meet what they meet in a real store; texts are sentences of made-up words,
and hash chains are not kept. Rows lie as live rounds leave them: by session, accounts interleaved.

`python -m bench.big_store` makes it (or finds it) and prints its path.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from arena.analytics.series import AccountSeries, compute
from arena.core.actions import INTENT_CODE, Intent
from arena.core.hashing import account_key, canonical_json, sha256_json, sha256_text
from arena.core.ids import TrackId
from arena.core.rows import (
    AssetRow,
    BarRow,
    BlobRow,
    CallRow,
    ContextRow,
    DecisionRow,
    EquityRow,
    FillRow,
    Row,
    RunRow,
    SeasonRow,
    SummaryRow,
    WriteUnit,
)
from arena.core.season import RunSpec, Season
from arena.portfolio import Costs, Curves, simulate
from arena.runner.summary import sparkline
from arena.store.connection import CONFIG
from arena.store.migrations import MIGRATIONS
from arena.store.schema import ARROW_TYPE, INCOMING, columns, insert_sql
from arena.store.store import open_store

STRATEGIES = ("baseline", "flip_on_reversal", "pyramid_exit")
ASSETS = ("AAA", "BBB", "CCC", "DDD")
FIRST, HISTORY, BASE = date(2024, 1, 1), 260, 365
MADE = datetime(2025, 9, 1, tzinfo=UTC)
RARE = "zymurgeon"
"""A word that stands in few texts; COMMON stands in nearly all of them, ABSENT in none."""
COMMON, ABSENT = "the", "nowhere-to-be-found"
WORDS = {INTENT_CODE[Intent.LONG]: ("long", "BUY", "bullish"),
         INTENT_CODE[Intent.SHORT]: ("short", "SELL", "bearish"),
         INTENT_CODE[Intent.HOLD]: ("hold", "HOLD", "neutral")}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """One run: agents x models, and how many of its last sessions have decisions."""

    agents: int
    models: int
    decided: int


@dataclass(frozen=True)
class Size:
    """The `newest` run, and `n_older` runs like `older` before it, all over `sessions` days."""

    newest: Field = Field(12, 25, 60)
    older: Field = Field(8, 11, 7)
    n_older: int = 12
    sessions: int = 500


FULL = Size()


def big_store(size: Size = FULL) -> Path:
    """Path of the store, made in about a minute unless it is there. Its folder is named by schema and
    size; stores of another schema are removed."""
    name = sha256_json([asdict(size), Path(__file__).read_text("utf-8")])[:8]
    root = Path(tempfile.gettempdir())
    folder = root / f"arena-bench-store-{MIGRATIONS[-1].__name__}-{name}"
    path = folder / "big.duckdb"
    if path.exists():
        return path
    for old in root.glob("arena-bench-store-*"):
        shutil.rmtree(old)
    print("making the large store, once ...", file=sys.stderr, flush=True)
    began = time.perf_counter()
    part = folder / "part" / "big.duckdb"
    build(part, size)
    part.replace(path)
    shutil.rmtree(part.parent)
    print(f"made in {time.perf_counter() - began:.0f} s: {path}", file=sys.stderr, flush=True)
    return path


def build(path: Path, size: Size = FULL) -> Path:
    """Write the store at `path`."""
    rng = np.random.default_rng(11)
    market = _Market(rng, size.sessions)
    with open_store(path) as store:
        store.write([WriteUnit(tuple(market.rows()))])
    # Not through `connect`: half a million texts at once need more memory than an arena is given.
    con = duckdb.connect(str(path), config=CONFIG)
    try:
        said = _Sentences(rng)
        for i in range(size.n_older):
            _Run(size.older, i, rng, market, said).write(con)
        _Run(size.newest, size.n_older, rng, market, said).write(con)
        con.execute("UPDATE meta SET value = '1' WHERE key = 'data_version'")
        con.execute("CHECKPOINT")
    finally:
        con.close()
    return path


class _Market:
    """Prices of every asset, and what every run sees of them."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        moves = rng.normal(0.0004, 0.022, (len(ASSETS), HISTORY + n))
        self.closes = 100.0 * np.exp(np.cumsum(moves, axis=1))
        self.opens = np.column_stack([np.full(len(ASSETS), 100.0), self.closes[:, :-1]])
        self.sessions = [FIRST + timedelta(i) for i in range(n)]
        self.season = Season()

    def rows(self) -> Iterator[Row]:
        yield SeasonRow(
            self.season.season_id, canonical_json(self.season.model_dump(mode="json"))
        )
        for asset, opens, closes in zip(ASSETS, self.opens, self.closes, strict=True):
            yield AssetRow(asset, f"{asset} coin", "crypto", True, BASE, "{}")
            for i, (o, c) in enumerate(zip(opens.tolist(), closes.tolist(), strict=True)):
                day = FIRST + timedelta(i - HISTORY)
                yield BarRow(asset, day, 0, o, 1.01 * max(o, c), 0.99 * min(o, c), c, None, 1e6,
                             "sample", _slot(day), MADE)  # fmt: skip
            for day in self.sessions:
                yield ContextRow(f"{asset}{day}", asset, day, _slot(day), day - timedelta(HISTORY),
                                 HISTORY, 0)  # fmt: skip


def _slot(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 0, 5, tzinfo=UTC) + timedelta(1)


class _Sentences:
    """Texts of made-up words that are as hard to pack as prose, no two alike."""

    def __init__(self, rng: np.random.Generator) -> None:
        parts = ["ra", "ne", "to", "li", "mar", "ket", "vo", "sel", "un", "der", "pri", "ce", "go"]
        words = ["".join(rng.choice(parts, rng.integers(1, 5))) for _ in range(4_000)]
        words[0] = COMMON
        # Few words are used often, as in any language.
        ranks = np.minimum(rng.zipf(1.15, (30_000, 14)), 4_000) - 1
        self.pool = [" ".join([words[i] for i in line]).capitalize() + "." for line in ranks.tolist()]
        self.mean = sum(map(len, self.pool)) / len(self.pool) + 1
        self.rng = rng

    def texts(self, n: int, chars: int) -> list[str]:
        """`n` texts of about `chars` characters."""
        picks = self.rng.integers(0, len(self.pool), (n, max(1, round(chars / self.mean))))
        return [" ".join([self.pool[i] for i in line]) for line in picks.tolist()]


class _Run:
    """One run: every account simulated at once, then written table by table."""

    def __init__(
        self, field: Field, ordinal: int, rng: np.random.Generator, market: _Market, said: _Sentences
    ) -> None:
        self.field, self.market, self.said, self.rng = field, market, said, rng
        agents = tuple(f"agent-{i + 1:02}" for i in range(field.agents))
        models = tuple(f"maker/model-{i + 1:02}" for i in range(field.models - 1))
        self.models = (*models, "offline/trend")
        self.spec = RunSpec(
            kind="replay", season=market.season, source="sample", assets=ASSETS, agents=agents,
            models=self.models, start=market.sessions[0], end=market.sessions[-1],
            ordinal=ordinal + 1,
        )  # fmt: skip
        self.run, self.made = self.spec.run_id(1), MADE + timedelta(hours=ordinal)
        self.tracks = [
            TrackId(self.run, a, m, x) for a in agents for m in self.models for x in ASSETS
        ]
        n = len(market.sessions)
        change = rng.random((len(self.tracks), n)) < rng.uniform(0.05, 0.5, (len(self.tracks), 1))
        since = np.maximum.accumulate(np.where(change, np.arange(n), 0), axis=1)
        drawn = rng.choice(list(WORDS), (len(self.tracks), n), p=(0.4, 0.35, 0.25))
        self.codes = np.take_along_axis(drawn, since, axis=1).astype(np.int8)

    def write(self, con: duckdb.DuckDBPyConnection) -> None:
        spec, market = self.spec, self.market
        con.begin()
        row = RunRow(
            self.run, spec.kind, 1, spec.season.season_id, None,
            canonical_json(spec.model_dump(mode="json")), "next", "sample", True, spec.start,
            spec.end, len(self.tracks) * len(market.sessions), 0, "done", None, None, "0",
            self.made, self.made,
        )  # fmt: skip
        _insert(con, RunRow, {name: [getattr(row, name)] for name in columns(RunRow)})
        self._accounts(con)
        self._decisions(con)
        con.commit()

    def _accounts(self, con: duckdb.DuckDBPyConnection) -> None:
        """Equity, fills and summaries of every account and of Buy & Hold."""
        n = len(self.market.sessions)
        tracks = [(t, s) for t in self.tracks for s in STRATEGIES]
        codes = np.repeat(self.codes, len(STRATEGIES), axis=0)
        held = [(TrackId(self.run, "buy_hold", "-", x), "buy_hold") for x in ASSETS]
        plays = [*held, *tracks]
        codes = np.vstack([np.full((len(held), n), INTENT_CODE[Intent.LONG], np.int8), codes])
        asset_of = np.array([ASSETS.index(t.asset) for t, _ in plays])
        closes = self.market.closes[:, HISTORY:][asset_of]
        opens = self.market.opens[:, HISTORY:][asset_of]
        rules = ["baseline" if s == "buy_hold" else s for _, s in plays]
        net, gross = (
            simulate(closes, opens, codes, rules, costs, self.spec.season.capital, "next")
            for costs in (Costs(self.spec.season.fee_bps["crypto"]), Costs.GROSS)
        )
        names = [track.account(strategy) for track, strategy in plays]
        keys = np.array([account_key(name) for name in names])
        self.side = net.side[len(held) :: len(STRATEGIES)]
        days = np.array(self.market.sessions, "datetime64[D]")
        side = net.side.astype(np.int64)
        side[:, -1] = 0
        flat = [m.T.ravel() for m in (closes, side, net.units, net.cash, net.balance, gross.balance)]
        _insert(con, EquityRow, dict(zip(columns(EquityRow), (
            np.tile(keys, n), np.repeat(days, len(keys)), *flat), strict=True)))  # fmt: skip
        self._fills(con, names, net)
        rows = self._summaries(plays, names, keys, net, gross, closes)
        _insert(con, SummaryRow, {c: [getattr(r, c) for r in rows] for c in columns(SummaryRow)})

    def _fills(self, con: duckdb.DuckDBPyConnection, names: list[str], net: Curves) -> None:
        account, session, leg = np.nonzero(net.legs.units)
        order = np.argsort(session, kind="stable")
        account, session, leg = account[order], session[order], leg[order]
        at, days = (account, session, leg), self.market.sessions
        slots = pa.array([d.isoformat() for d in days])
        _insert(con, FillRow, {
            "account": pa.array(names).take(account),
            "session": np.array(days, "datetime64[D]")[session],
            "leg": leg, "slot_key": slots.take(np.maximum(session - 1, 0)),
            "filled_at_utc": pa.array([_slot(d) for d in days]).take(session),
            "units": net.legs.units[at], "price": net.legs.price[at], "fee": net.legs.fee[at],
            "rule": pa.array(["next_open"]).take(np.zeros(len(leg), int)),
        })  # fmt: skip

    def _summaries(
        self, plays: list[tuple[TrackId, str]], names: list[str], keys: Any, net: Curves,
        gross: Curves, closes: Any,
    ) -> list[SummaryRow]:  # fmt: skip
        capital, sessions = self.spec.season.capital, self.market.sessions
        traded, notional = net.traded_notional, net.units * closes
        last = {c: word for c, (_, word, _) in WORDS.items()}
        rows, hold = [], {}
        for i, (track, strategy) in enumerate(plays):
            benchmark = strategy == "buy_hold"
            curve = np.concatenate([[capital], net.balance[i]])
            if benchmark:
                hold[track.asset] = curve
            metrics = compute(
                AccountSeries(
                    equity=curve, base=BASE, asset_class="crypto",
                    equity_gross=np.concatenate([[capital], gross.balance[i]]),
                    notional=notional[i], side=net.side[i], traded=traded[i],
                    trip_pnl=tuple(np.diff(curve[1::10])), benchmark=hold[track.asset],
                )
            )  # fmt: skip
            stand_in = track.model.startswith("offline/")
            decided = 0 if benchmark else self.field.decided
            rows.append(
                SummaryRow(
                    names[i], int(keys[i]), self.run, track.agent, track.model, track.asset,
                    strategy, "benchmark" if benchmark else "stand_in" if stand_in else "model",
                    sessions[0], sessions[-1], len(sessions), decided, decided // 20, 0, 0,
                    float(net.balance[i, -1]), float(gross.balance[i, -1]),
                    bool(net.bankrupt_at[i] >= 0), int(net.side[i, -1]),
                    None if benchmark else last[int(self._codes_of(i)[-1])],
                    None if benchmark else sessions[-1],
                    canonical_json({k: v.to_json() for k, v in metrics.items()}),
                    canonical_json(sparkline(net.balance[i].tolist(), capital)),
                )
            )  # fmt: skip
        return rows

    def _codes_of(self, play: int) -> Any:
        return self.codes[(play - len(ASSETS)) // len(STRATEGIES)]

    def _decisions(self, con: duckdb.DuckDBPyConnection) -> None:
        """Decisions of every track on the last sessions, each with an analyst's and a trader's call."""
        sessions = self.market.sessions
        first = len(sessions) - self.field.decided
        at = [(t, d) for d in range(first, len(sessions)) for t in range(len(self.tracks))]
        n = len(at)
        tracks = [self.tracks[t] for t, _ in at]
        days = [sessions[d] for _, d in at]
        words = [WORDS[int(self.codes[t, d])] for t, d in at]
        before = [int(self.side[t, d - 1]) if d else 0 for t, d in at]
        ids = [t.decision(s.isoformat()) for t, s in zip(tracks, days, strict=True)]
        reasons = self.said.texts(n, 150)
        view = canonical_json({"entry_price": None, "equity": 1e5, "exposure_frac": 0.0,
                               "hold": "flat", "past": [], "shorting": True, "side": 0})  # fmt: skip
        confidence = self.rng.random(n).round(2).tolist()
        slots = [_slot(s) for s in days]
        prices = [float(self.market.closes[ASSETS.index(t.asset), HISTORY + d]) for t, (_, d) in zip(tracks, at, strict=True)]  # fmt: skip
        made: dict[str, Any] = {
            "decision": ids, "run": [self.run] * n, "track": [str(t) for t in tracks],
            "agent": [t.agent for t in tracks], "model": [t.model for t in tracks],
            "asset": [t.asset for t in tracks], "slot_key": [s.isoformat() for s in days],
            "session": days, "as_of_utc": slots, "seq": [d - first for _, d in at],
            "phase": ["live"] * n, "intent": [w[0] for w in words], "action": [w[1] for w in words],
            "status": ["ok" if i % 20 else "timeout" for i in range(n)], "late": [False] * n,
            "conviction": confidence, "reason": reasons, "evidence_json": ["[]"] * n,
            "price": prices, "position_before": before,
            "market_hash": [f"{t.asset}{s}" for t, s in zip(tracks, days, strict=True)],
            "view_hash": [sha256_text(view)] * n, "n_calls": [2] * n, "tokens_in": [1_000] * n,
            "tokens_out": [250] * n, "cost_usd": [0.003] * n, "chain_hash": ids,
            "decided_at_utc": slots, "latency_ms": [900.0] * n, "n_failed_roles": [0] * n,
            "memory_sha256": [None] * n,
        }  # fmt: skip
        _insert(con, DecisionRow, made)
        _insert(con, BlobRow, {"sha256": [sha256_text(view)], "text": [view]})
        for seq, role in enumerate(("analyst", "trader")):
            prompts, answers = self.said.texts(n, 2_000), self.said.texts(n, 500)
            for i in range(seq, n, 2_500):
                answers[i] += f" {RARE.capitalize()}."
            shas = [[sha256_text(x) for x in texts] for texts in (prompts, answers)]
            parsed = [
                canonical_json({"action": w[1], "confidence": c} if seq else {"lean": w[2], "confidence": c})
                for w, c in zip(words, confidence, strict=True)
            ]  # fmt: skip
            _insert(con, CallRow, {
                "decision": ids, "seq": [seq] * n, "kind": ["model"] * n, "role": [role] * n,
                "model": made["model"], "status": ["ok"] * n, "attempt": [1] * n,
                "prompt_sha256": shas[0], "answer_sha256": shas[1], "parsed_json": parsed,
                "error": [None] * n, "params_json": ['{"temperature":0.5}'] * n,
                "tokens_in": [500] * n, "tokens_out": [125] * n, "cost_usd": [0.0015] * n,
                "latency_ms": [450.0] * n,
            })  # fmt: skip
            for sha, texts in zip(shas, (prompts, answers), strict=True):
                _insert(con, BlobRow, {"sha256": sha, "text": texts})


def _insert(con: duckdb.DuckDBPyConnection, kind: type[Row], data: dict[str, Any]) -> None:
    table = {name: pa.array(data[name], ARROW_TYPE[python]) if not isinstance(data[name], pa.Array)
             else data[name].cast(ARROW_TYPE[python])
             for name, (python, _) in columns(kind).items()}  # fmt: skip
    con.register(INCOMING, pa.table(table))
    con.execute(insert_sql(kind))
    con.unregister(INCOMING)


if __name__ == "__main__":
    print(big_store())
