"""What the Decisions page reads, cached by the store's data version. Texts of prompts and answers are
read when they are asked for and never kept: one answer may be megabytes."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import Intent, target_side
from arena.core.season import RunSpec, Season
from arena.runner.behind import behind
from arena.store import reader
from arena.store.search import Found, search
from arena.store.store import Store
from arena.ui import queries

Key = tuple[str, int]
_cached = st.cache_data(max_entries=64, show_spinner=False)
FORCED_CLOSE = "forced_close"
"""Rule of the fills that a replay ends with, see `rows.FillRow`."""

_SIDE_FIELDS = ["decision", "slot_key", "session", "as_of_utc", "phase", "action", "intent", "conviction",
                "status", "late", "price", "side_before", "side_after", "next_return"]  # fmt: skip


def _frame(store: Store, sql: str, params: list[Any]) -> pd.DataFrame:
    with store.cursor() as cur:
        cur.execute(sql, params)
        return cur.fetchdf()


@_cached
def season(key: Key, _store: Store, run: str) -> Season:
    return RunSpec.model_validate_json(reader.run(_store, run)["spec_json"]).season


@_cached
def tracks(key: Key, _store: Store, run: str) -> pd.DataFrame:
    """agent, model, asset and id of every track with decisions, sorted."""
    return _frame(
        _store,
        "SELECT DISTINCT agent, model, asset, track FROM decisions WHERE run = ? "
        "ORDER BY agent, model, asset",
        [run],
    )


@_cached
def listing(key: Key, _store: Store, run: str, track: str) -> pd.DataFrame:
    """Slots of one track, newest first: the decision, the side before and after it, and
    `next_return`, the move from its close to the next one (NaN until there is one)."""
    made = reader.decisions(_store, run, track, phase=None)
    if made.empty:
        return pd.DataFrame(columns=_SIDE_FIELDS)
    spec = season(key, _store, run).action_spec
    bars = queries.bars(key, _store, run, str(made["asset"].iloc[0]))
    following = pd.Series(bars["close"].shift(-1).to_numpy(), index=bars["session"])
    after = [
        target_side(Intent(i), int(s), spec)
        for i, s in zip(made["intent"], made["position_before"], strict=True)
    ]
    made = made.assign(
        side_before=made["position_before"].astype(int),
        side_after=after,
        next_return=made["session"].map(following).to_numpy(float) / made["price"].to_numpy(float) - 1.0,
    )
    return made[_SIDE_FIELDS].iloc[::-1].reset_index(drop=True)


@_cached
def document(key: Key, _store: Store, decision: str) -> dict[str, Any] | None:
    """`runner.behind.behind` without the texts of its calls: in their place their lengths."""
    found = behind(_store, decision)
    for call in [] if found is None else found["calls"]:
        for name in ("prompt", "answer"):
            call[f"{name}_chars"] = len(call.pop(name) or "")
    return found


@_cached
def same_slot(key: Key, _store: Store, run: str, asset: str, slot: str) -> pd.DataFrame:
    """Decisions of every entry on an asset at a slot."""
    return _frame(
        _store,
        "SELECT decision, agent, model, action, conviction, status, phase, late FROM decisions "
        "WHERE run = ? AND asset = ? AND slot_key = ? ORDER BY agent, model",
        [run, asset, slot],
    )


@_cached
def remembered(key: Key, _store: Store, track: str) -> dict[str, str]:
    """Texts, or bare actions, that a track has put into its memory, by their id or session."""
    with _store.cursor() as cur:
        cur.execute(
            "SELECT c.parsed_json FROM calls c JOIN decisions d USING (decision) WHERE d.track = ? "
            "AND c.kind = 'memory' AND c.role = 'add' ORDER BY d.seq, c.seq",
            [track],
        )
        rows = cur.fetchall()
    texts: dict[str, str] = {}
    for (text,) in rows:
        entry = json.loads(text)
        for item in entry.get("items", ()):
            texts[str(item[0])] = str(item[-1])
        said = entry.get("lesson") or entry.get("action")
        if said:
            texts[str(entry.get("session"))] = str(said)
    return texts


@_cached
def account_days(key: Key, _store: Store, account: str) -> dict[date, tuple[float, float]]:
    """Units and balance of an account at each session's close, read once for all its decisions.

    Where the end of a replay has closed the account, its last row is what stood before that.
    """
    rows = reader.equity(_store, [account])
    days = {
        row["session"].date(): (row["units"], row["balance"]) for row in rows.to_dict("records")
    }
    for leg in closing_legs(account_fills(key, _store, account)):
        price = rows.loc[rows["session"] == pd.Timestamp(leg["session"]), "price"].iloc[0]
        units, balance = days[leg["session"].date()]
        days[leg["session"].date()] = before_forced_close(
            units, balance, price, leg["units"], leg["price"], leg["fee"]
        )
    return days


def before_forced_close(
    units: float, balance: float, close: float, traded: float, at_price: float, fee: float
) -> tuple[float, float]:
    """Units and balance, marked at `close`, before `traded` (signed units) went at `at_price` for `fee`."""
    return units - traded, balance + fee + traded * (at_price - close)


def closing_legs(fills: pd.DataFrame) -> list[dict[str, Any]]:
    """Trades of an account that the end of the replay made, not a decision."""
    made = fills[fills["rule"] == FORCED_CLOSE]
    return [{str(k): v for k, v in leg.items()} for leg in made.to_dict("records")]


@_cached
def account_fills(key: Key, _store: Store, account: str) -> pd.DataFrame:
    """Everything that an account traded."""
    return reader.fills(_store, account)


@_cached
def hits(key: Key, _store: Store, run: str, words: str) -> Found:
    return search(_store, run, words)


def text(store: Store, sha256: str) -> str:
    return reader.blob(store, sha256) or ""


def whole(store: Store, decision: str) -> str:
    """Everything that stands behind a decision as JSON, as the command `decision --json` prints it."""
    return json.dumps(behind(store, decision), indent=2, default=str, ensure_ascii=False)
