"""From an empty file to today's tables: ordered steps, each recorded by name.

A step is a function of a cursor. Rules, each paid for by a lost file somewhere: only constants as
column defaults, no enums, and a CHECKPOINT right after the step, so that a crash never has to
replay DDL. Steps already released are never edited; a change of `core.rows` gets a new one.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import duckdb

from arena.core.clock import utc_now
from arena.core.errors import StoreError
from arena.core.rows import HOST_TABLES, TABLES
from arena.store.schema import columns
from arena.store.snapshot import beside, copy_database

Cursor = duckdb.DuckDBPyConnection
Step = Callable[[Cursor], None]


M001 = Path(__file__).with_name("m001.sql")


def m001_tables(cur: Cursor) -> None:
    """The first tables, as they were released, and the meta table."""
    for statement in M001.read_text("utf-8").split(";\n"):
        if statement.strip():
            cur.execute(statement)
    cur.execute('CREATE TABLE meta ("key" VARCHAR PRIMARY KEY, "value" VARCHAR NOT NULL)')
    cur.execute(
        "INSERT INTO meta VALUES ('store_id', ?), ('data_version', '0')", [uuid.uuid4().hex]
    )


def m002_memory(cur: Cursor) -> None:
    """What agents remember, what was paid for, and roles that failed inside a decision."""
    cur.execute("ALTER TABLE decisions ADD COLUMN n_failed_roles BIGINT DEFAULT 0")
    cur.execute("ALTER TABLE decisions ADD COLUMN memory_sha256 VARCHAR DEFAULT NULL")
    cur.execute(
        "CREATE TABLE memory (track VARCHAR NOT NULL, run VARCHAR NOT NULL, seq BIGINT NOT NULL, "
        "content_json VARCHAR NOT NULL, PRIMARY KEY (track))"
    )
    cur.execute(
        "CREATE TABLE attempts (attempt VARCHAR NOT NULL, event VARCHAR NOT NULL, run VARCHAR NOT NULL, "
        "decision VARCHAR NOT NULL, request_key VARCHAR NOT NULL, role VARCHAR NOT NULL, "
        "model VARCHAR NOT NULL, status VARCHAR NOT NULL, usd DOUBLE, tokens_in BIGINT, "
        "tokens_out BIGINT, answer VARCHAR, params_json VARCHAR, error VARCHAR, "
        "at_utc TIMESTAMPTZ NOT NULL, PRIMARY KEY (attempt, event))"
    )


M003 = Path(__file__).with_name("m003.sql")


def m003_news(cur: Cursor) -> None:
    """News, briefs with their scores, people's reviews and notes, filed figures, health of sources."""
    for statement in M003.read_text("utf-8").split(";\n"):
        if statement.strip():
            cur.execute(statement)


M004 = Path(__file__).with_name("m004.sql")


def m004_live(cur: Cursor) -> None:
    """Live seasons, jobs, quotes, corporate actions, timings and the audit; ad-hoc runs apart."""
    for statement in M004.read_text("utf-8").split(";\n"):
        if statement.strip():
            cur.execute(statement)


MIGRATIONS: tuple[Step, ...] = (m001_tables, m002_memory, m003_news, m004_live)


def applied(cur: Cursor) -> list[str] | None:
    """Names of the steps a store has, or None for a file without any table.

    Raises:
        StoreError: a DuckDB file with tables that are not the arena's.
    """
    cur.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = current_database()"
    )
    tables = {name for (name,) in cur.fetchall()}
    if not tables:
        return None
    if "migrations" not in tables:
        raise StoreError(
            "It is a DuckDB file, but no arena store "
            f"(it holds {', '.join(sorted(tables)[:3])}). Give another --store."
        )
    cur.execute("SELECT name FROM migrations ORDER BY name")
    return [name for (name,) in cur.fetchall()]


def check_schema(cur: Cursor, *, steps: tuple[Step, ...] | None = None) -> None:
    """A store may be read by this version: no step unknown, none missing, columns as expected.

    Raises:
        StoreError: newer, older or altered; nothing has been written.
    """
    known = [step.__name__ for step in steps or MIGRATIONS]
    done = applied(cur)
    if done is None:
        raise StoreError("It holds no tables yet. Fill it first with `replay`.")
    refuse_newer(done, known)
    if missing := [name for name in known if name not in done]:
        raise StoreError(
            f"It was written by an older version (without `{missing[0]}`). Start the app or any "
            "writing command on it once to bring it up to date."
        )
    cur.execute(
        "SELECT table_name, list(column_name ORDER BY ordinal_position) "
        "FROM information_schema.columns WHERE table_catalog = current_database() GROUP BY ALL"
    )
    stored = dict(cur.fetchall())
    for row in (*TABLES, *HOST_TABLES):
        if stored.get(row.TABLE) != list(columns(row)):
            raise StoreError(
                f"Its table `{row.TABLE}` does not have the columns of this version. "
                "Use the version that wrote it, or start a new store."
            )


def refuse_newer(done: list[str], known: list[str]) -> None:
    if unknown := [name for name in done if name not in known]:
        raise StoreError(
            f"It was written by a newer version (step `{unknown[-1]}` is unknown here). "
            "Update the arena; nothing was changed."
        )


def migrate(cur: Cursor, path: Path, *, steps: tuple[Step, ...] | None = None) -> list[str]:
    """Apply what is missing, in order; returns the names applied.

    A store that holds data is copied to `<store>.before-<step>.duckdb` first.

    Raises:
        StoreError: see `applied` and `check_schema`.
    """
    steps = steps or MIGRATIONS
    done = applied(cur)
    refuse_newer(done or [], [step.__name__ for step in steps])
    missing = [step for step in steps if step.__name__ not in (done or [])]
    if missing and done:
        copy_database(cur, beside(path, f".before-{missing[0].__name__}.duckdb"))
    for step in missing:
        cur.begin()
        cur.execute(
            "CREATE TABLE IF NOT EXISTS migrations "
            "(name VARCHAR PRIMARY KEY, applied_at_utc TIMESTAMPTZ NOT NULL)"
        )
        step(cur)
        cur.execute("INSERT INTO migrations VALUES (?, ?)", [step.__name__, utc_now()])
        cur.commit()
        cur.execute("CHECKPOINT")
    return [step.__name__ for step in missing]
