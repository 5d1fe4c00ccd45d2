"""An export read back is the run that was exported."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.core.errors import StoreError
from arena.core.settings import recorded_runs
from arena.store import reader
from arena.store.export import export
from arena.store.load import load_export
from arena.store.store import open_store
from tests.runner.test_replay import digest, play, spec


def test_an_export_comes_back_whole_and_passes_every_check(tmp_path: Path) -> None:
    run = spec(agents=("investor", "vanilla"), warmup=4)
    play(tmp_path / "a.duckdb", run)
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        export(store, tmp_path / "out", with_timing=True)
    with open_store(tmp_path / "b.duckdb") as store:
        assert load_export(store, tmp_path / "out") == [run.run_id()]
        assert load_export(store, tmp_path / "out") == []  # once only
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        assert len(reader.memories(store, run.run_id())) == 4
    assert digest(tmp_path / "a.duckdb", tmp_path / "da") == digest(
        tmp_path / "b.duckdb", tmp_path / "db"
    )
    # It is a run like any other: the same command finds nothing to ask.
    assert play(tmp_path / "b.duckdb", run).n_resumed == 2 * 2 * 26


def test_an_export_without_host_columns_is_refused_whole(tmp_path: Path) -> None:
    play(tmp_path / "a.duckdb", spec())
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        export(store, tmp_path / "out")
    with open_store(tmp_path / "b.duckdb") as store:
        with pytest.raises(StoreError, match="--with-timing"):
            load_export(store, tmp_path / "out")
        assert reader.runs(store).empty


def test_a_run_on_other_bars_and_a_damaged_file_are_refused_whole(tmp_path: Path) -> None:
    run = spec(end=date(2025, 8, 4))
    play(tmp_path / "a.duckdb", run, ("baseline",))
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        export(store, tmp_path / "out", with_timing=True)
    other = spec(models=("offline/trend",), end=date(2025, 8, 4))
    play(tmp_path / "b.duckdb", other, ("baseline",))
    with open_store(tmp_path / "b.duckdb") as store:
        store._writer().submit(
            lambda cur: cur.execute("UPDATE bars SET high = high * 1.02 WHERE session = '2025-08-01'")
        ).result()
        with pytest.raises(StoreError, match=r"another bar of .* on 2025-08-01"):
            load_export(store, tmp_path / "out")
        (tmp_path / "out" / "calls.parquet").write_bytes(b"junk")
        with pytest.raises(StoreError, match=r"calls\.parquet cannot be read"):
            load_export(store, tmp_path / "out")
        assert reader.runs(store)["run"].tolist() == [other.run_id()]


@pytest.mark.parametrize("folder", recorded_runs(), ids=lambda p: p.name)
def test_recorded_runs_of_the_sample_are_sound(tmp_path: Path, folder: Path) -> None:
    with open_store(tmp_path / "r.duckdb") as store:
        assert load_export(store, folder) == [folder.name]
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
