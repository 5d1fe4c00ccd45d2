"""Runs that read on the move: into a store of an older version, out of a store, and into another."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from arena.audit.check import check_store
from arena.core.errors import StoreError
from arena.core.rows import BlobRow, WriteUnit
from arena.store import news_reader, reader
from arena.store.export import export
from arena.store.load import load_export
from arena.store.migrations import MIGRATIONS, migrate
from arena.store.store import open_store
from tests.runner.news_writer import new_writer
from tests.runner.test_intelligence import digests, play, query, spec

SHORT = {"start": date(2025, 8, 4), "end": date(2025, 8, 6), "agents": ("vanilla",)}


def test_a_run_of_a_store_without_news_goes_on_after_the_step(tmp_path: Path) -> None:
    """The rows of a run that read prices only, in a store as m001 and m002 left it."""
    run = spec(brief="none", **SHORT)
    with open_store(tmp_path / "new.duckdb") as store:
        play(store, run)
        expected = digests(store, tmp_path / "1")
    old = tmp_path / "old.duckdb"
    con = duckdb.connect(str(old))
    migrate(con.cursor(), old, steps=MIGRATIONS[:2])
    con.execute(f"ATTACH '{tmp_path / 'new.duckdb'}' AS new (READ_ONLY)")
    tables = con.execute(
        "SELECT table_name, string_agg('\"' || column_name || '\"', ', ') FROM duckdb_columns() "
        "WHERE database_name = 'old' AND NOT internal GROUP BY table_name"
    ).fetchall()
    assert {"contexts", "decisions", "memory"} < {t for t, _ in tables}
    assert "n_stories" not in dict(tables)["contexts"]
    for table, names in tables:
        if table not in ("migrations", "meta"):
            con.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new.{table}")
    con.close()
    with pytest.raises(StoreError, match=r"older version.*m003_news"):
        open_store(old, read=True)
    with open_store(old) as store:
        assert query(store, "SELECT DISTINCT n_stories, brief, stories_sha256 FROM contexts") == [
            (0, None, None)
        ]
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        assert play(store, run).n_resumed == 3 * 2 * 2
        assert digests(store, tmp_path / "2") == expected
        # A run that reads comes beside it.
        play(store, spec(**SHORT))
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
    assert old.with_name("old.before-m003_news.duckdb").exists()


def test_an_export_with_briefs_comes_back_whole(tmp_path: Path) -> None:
    writer = new_writer("moves")
    run = spec(brief=writer.id, **SHORT)
    with open_store(tmp_path / "a.duckdb") as store:
        play(store, run)
        export(store, tmp_path / "out", with_timing=True)
        before = digests(store, tmp_path / "1")
    with open_store(tmp_path / "b.duckdb") as store:
        assert load_export(store, tmp_path / "out") == [run.run_id()]
        assert digests(store, tmp_path / "2") == before
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        assert all(s["row"] for s in news_reader.slots(store, run.run_id(), "QUBIXCOIN"))
        writer.asked = 0
        assert play(store, run).n_resumed == 3 * 2 * 2
        assert writer.asked == 0


def test_another_wording_of_a_brief_is_refused_whole(tmp_path: Path) -> None:
    writer = new_writer("moves")
    with open_store(tmp_path / "a.duckdb") as store:
        play(store, spec(brief=writer.id, **SHORT))
        export(store, tmp_path / "out", with_timing=True)
    other = spec(brief=writer.id, **{**SHORT, "agents": ("trade",)})
    writer.wording = "As they say"
    with open_store(tmp_path / "b.duckdb") as store:
        play(store, other)
        with pytest.raises(StoreError, match=r"another wording of brief-.*scripted/moves.*2025-08-0"):
            load_export(store, tmp_path / "out")
        assert list(reader.runs(store)["run"]) == [other.run_id()]


def test_an_export_from_before_there_was_news_is_read(tmp_path: Path) -> None:
    """Without the younger tables' files and the younger columns of contexts."""
    run = spec(brief="none", **SHORT)
    with open_store(tmp_path / "a.duckdb") as store:
        play(store, run)
        export(store, tmp_path / "out", with_timing=True)
        expected = digests(store, tmp_path / "1")
    for name in ("articles", "briefs", "brief_scores", "reviews", "notes", "fundamentals"):
        (tmp_path / "out" / f"{name}.parquet").unlink()
    contexts = tmp_path / "out" / "contexts.parquet"
    pq.write_table(pq.read_table(contexts).select(range(7)), contexts)
    with open_store(tmp_path / "b.duckdb") as store:
        assert load_export(store, tmp_path / "out") == [run.run_id()]
        assert digests(store, tmp_path / "2") == expected


def test_a_headline_is_no_formula(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.duckdb") as store:
        play(store, spec(**SHORT))
        store._writer().submit(
            lambda cur: cur.execute("UPDATE articles SET title = '=HYPERLINK(1)', outlet = '@desk'")
        ).result()
        export(store, tmp_path / "out", "csv")
    with (tmp_path / "out" / "articles.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(r["title"], r["outlet"]) for r in rows} == {("'=HYPERLINK(1)", "'@desk")}


def test_one_long_text_leaves_the_others_small(path: Path) -> None:
    """A text of 50 KB beside 4,000 of 1 KB that are much alike: the copy is far below their sum."""
    texts = [f"{n}: " + f"The day {n} was as the day before it, said {n * 7919}. " * 20 for n in range(4000)]
    with open_store(path) as store:
        rows = tuple(BlobRow(str(n), text) for n, text in enumerate([*texts, "x" * 50_000]))
        store.write([WriteUnit(rows=rows)])
        size = store.snapshot().stat().st_size
    assert size < sum(map(len, texts)) / 2
