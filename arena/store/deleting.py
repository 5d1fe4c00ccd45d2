"""Taking runs out of a store: ad-hoc ones that expire. The only place that deletes what was decided.

One transaction. What other runs share (contexts, texts) stays, as do prices, news and briefs.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from arena.store.store import Store

CHOSEN = "run IN (SELECT unnest(?::VARCHAR[]))"

OF_ACCOUNTS = (
    ("fills", "account IN (SELECT account FROM account_summary WHERE {chosen})"),
    ("equity", "account_key IN (SELECT account_key FROM account_summary WHERE {chosen})"),
)
OF_DECISIONS = (("calls", "decision IN (SELECT decision FROM decisions WHERE {chosen})"),)
BY_RUN = ("account_summary", "memory", "attempts", "timings", "decisions", "runs")
"""In this order: the first ones are found by way of the last."""

SEEN = (
    "SELECT market_hash FROM decisions WHERE {chosen} AND market_hash NOT IN "
    "(SELECT market_hash FROM decisions WHERE NOT ({chosen}))"
)
"""Contexts that only the chosen runs saw."""

TEXTS_OF_CALLS = (
    "SELECT unnest([c.prompt_sha256, c.answer_sha256]) FROM calls c JOIN decisions d USING (decision) "
    "WHERE d.{chosen} UNION SELECT view_hash FROM decisions WHERE {chosen}"
)
TEXTS_OF_CONTEXTS = (
    "SELECT unnest([stories_sha256, brief_sha256, fundamentals_sha256]) FROM contexts "
    "WHERE market_hash IN (SELECT unnest(?::VARCHAR[]))"
)
USED = (
    "SELECT prompt_sha256 FROM calls UNION SELECT answer_sha256 FROM calls "
    "UNION SELECT view_hash FROM decisions "
    "UNION SELECT unnest([stories_sha256, brief_sha256, fundamentals_sha256]) FROM contexts "
    "UNION SELECT unnest([prompt_sha256, answer_sha256]) FROM briefs"
)


def delete_runs(store: Store, runs: Sequence[str]) -> None:
    """Delete runs with their decisions, accounts, attempts and memory, and their tracks in the head file.

    Raises:
        StoreError: the store is open for reading only, or refused; then nothing was deleted.
    """
    if not runs:
        return
    with store.cursor() as cur:
        cur.execute(f"SELECT DISTINCT track FROM decisions WHERE {CHOSEN}", [list(runs)])
        tracks = [track for (track,) in cur.fetchall()]
    store.forget(tracks, lambda cur: _delete(cur, list(runs)))


def _delete(cur: duckdb.DuckDBPyConnection, runs: list[str]) -> None:
    contexts = _column(cur, SEEN, runs)
    texts = _column(cur, TEXTS_OF_CALLS, runs)
    cur.execute(TEXTS_OF_CONTEXTS, [contexts])
    texts += [sha256 for (sha256,) in cur.fetchall()]
    for table, tail in (*OF_ACCOUNTS, *OF_DECISIONS):
        cur.execute(f"DELETE FROM {table} WHERE {tail.format(chosen=CHOSEN)}", [runs])
    for table in BY_RUN:
        cur.execute(f"DELETE FROM {table} WHERE {CHOSEN}", [runs])
    cur.execute(
        "DELETE FROM contexts WHERE market_hash IN (SELECT unnest(?::VARCHAR[]))", [contexts]
    )
    cur.execute(
        "DELETE FROM blobs WHERE sha256 IN (SELECT unnest(?::VARCHAR[])) "
        f"AND sha256 NOT IN (SELECT * FROM ({USED}) AS used(sha256) WHERE sha256 IS NOT NULL)",
        [[t for t in texts if t is not None]],
    )


def _column(cur: duckdb.DuckDBPyConnection, sql: str, runs: list[str]) -> list[str]:
    cur.execute(sql.format(chosen=CHOSEN), [runs] * sql.count("{chosen}"))
    return [value for (value,) in cur.fetchall()]
