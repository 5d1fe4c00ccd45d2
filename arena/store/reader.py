"""Questions to a store. Every function takes a cursor of its own and only parameters.

Frames carry the columns of `core.rows` in order. Dates arrive as `datetime64` at midnight without
zone, times as `datetime64` in UTC, missing text as NaN; the functions that return a dict give
plain `date`, `datetime` and None.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from arena.core.errors import UnknownNameError
from arena.core.hashing import account_key
from arena.store.schema import quote
from arena.store.store import Store

MANY = 100
"""Accounts whose curves are read in turns; those of a few figures wait for nobody."""


def _frame(
    store: Store, sql: str, params: Sequence[Any] = (), *, bulk: bool = False
) -> pd.DataFrame:
    with store.bulk() if bulk else store.cursor() as cur:
        cur.execute(sql, list(params))
        return cur.fetchdf()


def _dicts(store: Store, sql: str, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
    with store.cursor() as cur:
        cur.execute(sql, list(params))
        names = [column[0] for column in cur.description]
        return [dict(zip(names, row, strict=True)) for row in cur.fetchall()]


def data_version(store: Store) -> int:
    """A number that changes when anything visible did; caches key on it."""
    rows = _dicts(store, "SELECT value FROM meta WHERE key = 'data_version'")
    return int(rows[0]["value"])


def runs(store: Store) -> pd.DataFrame:
    """All runs, the newest first."""
    return _frame(store, "SELECT * FROM runs ORDER BY created_at_utc DESC, run")


def run(store: Store, run_id: str) -> dict[str, Any]:
    """One run.

    Raises:
        UnknownNameError: no such run.
    """
    found = _dicts(store, "SELECT * FROM runs WHERE run = ?", [run_id])
    if not found:
        raise UnknownNameError("run", run_id, runs(store)["run"])
    return found[0]


def assets(store: Store) -> pd.DataFrame:
    return _frame(store, "SELECT * FROM assets ORDER BY asset")


def summaries(
    store: Store, run: str | None = None, accounts: Sequence[str] | None = None
) -> pd.DataFrame:
    """One row per account, of one run or of all, or only of the given `accounts`; sorted by account."""
    return _frame(
        store,
        "SELECT * FROM account_summary WHERE (?::VARCHAR IS NULL OR run = ?) "
        "AND (?::VARCHAR[] IS NULL OR account IN (SELECT unnest(?::VARCHAR[]))) ORDER BY account",
        [run, run, *[None if accounts is None else list(accounts)] * 2],
        bulk=accounts is None or len(accounts) > MANY,
    )


def settled_runs(store: Store) -> set[str]:
    """Runs that have an account."""
    return set(_frame(store, "SELECT DISTINCT run FROM account_summary")["run"])


def accounts(store: Store, run: str) -> pd.DataFrame:
    """`summaries` of a run without the two long texts: a twentieth of the bytes."""
    return _frame(
        store,
        "SELECT * EXCLUDE (metrics_json, sparkline_json) FROM account_summary WHERE run = ? "
        "ORDER BY account",
        [run],
    )


def equity(
    store: Store, accounts: Sequence[str], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Curves of the given account ids with their id in `account` (a category), sorted by account and session.

    An id without rows is simply absent. `columns` names those that are wanted besides the session
    (None: all); each costs a pass over the table.
    """
    names = sorted(set(accounts))
    wanted = "e.*" if columns is None else ", ".join(f"e.{quote(c)}" for c in ("session", *columns))
    frame = _frame(
        store,
        f"SELECT k.place, {wanted} FROM equity e JOIN (SELECT unnest(?::BIGINT[]) AS account_key, "
        "unnest(range(?)::INTEGER[]) AS place) k USING (account_key)",
        [[account_key(name) for name in names], len(names)],
        bulk=len(names) > MANY,
    )
    # Sorted here: the database would hold every row twice, in memory that it cannot give to others.
    frame = frame.sort_values(["place", "session"], ignore_index=True)
    # Places instead of long ids, through the join and the sort and after them.
    ids = pd.Categorical.from_codes(frame.pop("place").to_numpy(), pd.Index(names, dtype="str"))
    frame.insert(0, "account", pd.Series(ids))
    return frame


def fills(store: Store, account: str) -> pd.DataFrame:
    """Legs of one account in the order they were executed."""
    return _frame(store, "SELECT * FROM fills WHERE account = ? ORDER BY session, leg", [account])


def decisions(
    store: Store, run: str, track: str | None = None, *, phase: str | None = "live",
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Decisions of a run, or of one of its tracks, by slot and then by track; None = every phase.

    `columns` names those that are wanted (None: all): ids, texts and hashes are most of the bytes.
    """
    wanted = "*" if columns is None else ", ".join(map(quote, columns))
    return _frame(
        store,
        f"SELECT {wanted} FROM decisions WHERE run = ? AND (?::VARCHAR IS NULL OR track = ?) "
        "AND (?::VARCHAR IS NULL OR phase = ?) ORDER BY as_of_utc, track, seq",
        [run, track, track, phase, phase],
        bulk=track is None,
    )


def track_actions(
    store: Store, run: str, agents: Sequence[str], assets: Sequence[str]
) -> pd.DataFrame:
    """What these agents did on these assets with every model: track, session, intent, action and status
    of the live decisions of a run, by slot and then by track."""
    return _frame(
        store,
        "SELECT track, session, intent, action, status FROM decisions WHERE run = ? AND phase = 'live' "
        "AND agent IN (SELECT unnest(?::VARCHAR[])) AND asset IN (SELECT unnest(?::VARCHAR[])) "
        "ORDER BY as_of_utc, track, seq",
        [run, list(agents), list(assets)],
    )


def model_calls(store: Store, run: str) -> list[dict[str, Any]]:
    """Calls of a run that a model answered, in order, with the text of the `answer` and the model
    that was `asked` (an answer may come from another name of it)."""
    return _dicts(
        store,
        "SELECT c.*, d.model AS asked, a.text AS answer FROM calls c "
        "JOIN decisions d USING (decision) JOIN blobs a ON a.sha256 = c.answer_sha256 "
        "WHERE d.run = ? AND c.kind = 'model' AND c.status IN ('ok', 'invalid_output') "
        "ORDER BY d.as_of_utc, c.decision, c.seq",
        [run],
    )


def memories(store: Store, run: str) -> dict[str, dict[str, Any]]:
    """Memory of every track of a run that has one: `seq` and `content_json` by track."""
    rows = _dicts(store, "SELECT * FROM memory WHERE run = ? ORDER BY track", [run])
    return {row["track"]: row for row in rows}


def attempts(store: Store, run: str) -> list[dict[str, Any]]:
    """Everything of a run that may have cost money, in the order it happened."""
    return _dicts(store, "SELECT * FROM attempts WHERE run = ? ORDER BY at_utc, attempt, event", [run])


def blob(store: Store, sha256: str | None) -> str | None:
    """The text filed under a hash; None where there is none."""
    found = _dicts(store, "SELECT text FROM blobs WHERE sha256 = ?", [sha256]) if sha256 else []
    return found[0]["text"] if found else None


def decision(store: Store, decision_id: str) -> dict[str, Any] | None:
    """All that stands behind one decision, or None.

    Its own columns, and `calls` (each with the texts `prompt` and `answer`), `context` (what market
    it saw; None for a gap) and `view` (the track view as an object; None where its text is gone).
    """
    found = _dicts(store, "SELECT * FROM decisions WHERE decision = ?", [decision_id])
    if not found:
        return None
    row = found[0]
    contexts = _dicts(store, "SELECT * FROM contexts WHERE market_hash = ?", [row["market_hash"]])
    views = _dicts(store, "SELECT text FROM blobs WHERE sha256 = ?", [row["view_hash"]])
    return {
        **row,
        "calls": _dicts(
            store,
            "SELECT c.*, p.text AS prompt, a.text AS answer FROM calls c "
            "LEFT JOIN blobs p ON p.sha256 = c.prompt_sha256 "
            "LEFT JOIN blobs a ON a.sha256 = c.answer_sha256 WHERE c.decision = ? ORDER BY c.seq",
            [decision_id],
        ),
        "context": contexts[0] if contexts else None,
        "view": json.loads(views[0]["text"]) if views else None,
    }


def bars(store: Store, asset: str, revision: int) -> pd.DataFrame:
    """Bars as they stood at `revision`: for each session the highest revision up to it."""
    return _frame(
        store,
        "SELECT * FROM bars WHERE asset = ? AND revision <= ? QUALIFY "
        "row_number() OVER (PARTITION BY session ORDER BY revision DESC) = 1 ORDER BY session",
        [asset, revision],
    )


def contexts(store: Store, run: str) -> pd.DataFrame:
    """Market contexts that decisions of a run saw."""
    return _frame(
        store,
        "SELECT * FROM contexts WHERE market_hash IN "
        "(SELECT market_hash FROM decisions WHERE run = ?) ORDER BY as_of_utc, asset",
        [run],
    )


def price_checks(store: Store, assets: Sequence[str] | None = None) -> pd.DataFrame:
    """What was noticed about prices, of the given assets or of all."""
    return _frame(
        store,
        "SELECT * FROM price_checks WHERE ?::VARCHAR[] IS NULL "
        "OR asset IN (SELECT unnest(?::VARCHAR[])) ORDER BY asset, session, kind, source",
        [None if assets is None else list(assets)] * 2,
    )


def last_round(store: Store, run: str) -> dict[str, Any] | None:
    """The newest slot with a decision of a run, or None without one.

    `as_of_utc`, `slot_key`, `n_decisions`, `statuses` ({status: count}) and `decided_at_utc`, the
    moment the last of them was recorded.
    """
    found = _dicts(
        store,
        "SELECT as_of_utc, slot_key, status, decided_at_utc FROM decisions WHERE run = ? AND "
        "as_of_utc = (SELECT max(as_of_utc) FROM decisions WHERE run = ?) ORDER BY decision",
        [run, run],
    )
    if not found:
        return None
    statuses = [row["status"] for row in found]
    return {
        "as_of_utc": found[0]["as_of_utc"],
        "slot_key": found[0]["slot_key"],
        "n_decisions": len(found),
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        "decided_at_utc": max(row["decided_at_utc"] for row in found),
    }
