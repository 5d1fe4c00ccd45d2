"""The head file: what it says, and that it cannot be talked out of a break."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError
from arena.store import head
from arena.store.store import open_store


def test_it_holds_the_newest_hash_of_every_track(path: Path, make) -> None:
    with open_store(path) as store:
        assert head.read_head(path) is None
        store.write([make.unit(0), make.unit(1), make.unit(0, "n")])
        expected = {
            "store_id": store.store_id,
            "heads": {make.track(): make.chain(1), make.track("n"): make.chain(0, "n")},
            "n_decisions": 3,
        }
        assert head.read_head(path) == expected
        store.write([make.unit(1)])  # stored before: nothing moves
        assert head.read_head(path) == expected
    with open_store(path) as store:
        store.write([make.unit(2)])
    found = head.read_head(path)
    assert found["n_decisions"] == 4
    assert found["heads"] == {make.track(): make.chain(2), make.track("n"): make.chain(0, "n")}
    assert not list(path.parent.glob("*.part"))


def test_a_lost_file_is_rebuilt_with_the_next_write(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0), make.unit(0, "n")])
    head.head_path(path).unlink()
    with open_store(path) as store:
        store.write([make.unit(1)])
    found = head.read_head(path)
    assert found["heads"] == {make.track(): make.chain(1), make.track("n"): make.chain(0, "n")}


def test_a_head_that_left_the_chain_is_kept_as_evidence(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0), make.unit(1), make.unit(0, "n")])
    con = duckdb.connect(str(path))
    con.execute("DELETE FROM decisions WHERE seq = 1").fetchall()
    con.close()
    with open_store(path) as store:
        store.write([make.unit(1, "n"), make.unit(2)])
    heads = head.read_head(path)["heads"]
    assert heads[make.track()] == make.chain(1)  # deleted from the store, still vouched for
    assert heads[make.track("n")] == make.chain(1, "n")


def test_the_file_of_another_store_is_not_believed(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
    other = {"store_id": "x", "heads": {make.track(): "0" * 64}, "n_decisions": 9}
    head.head_path(path).write_text(json.dumps(other))
    with open_store(path) as store:
        store.write([make.unit(1)])
        assert head.read_head(path)["store_id"] == store.store_id
    assert head.read_head(path)["heads"] == {make.track(): make.chain(1)}


def test_a_spoilt_file_is_named(path: Path) -> None:
    open_store(path).close()
    head.head_path(path).write_text("{")
    with pytest.raises(StoreError, match=r"s.head.json"):
        open_store(path)


def test_a_head_that_cannot_be_written_does_not_lose_the_unit(
    path: Path, make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: object) -> None:
        raise OSError("No space left on device")

    with open_store(path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(head.HeadFile, "write", full)
            assert store.submit(make.unit(0)).result() is True
        assert "No space left" in caplog.text
        store.write([make.unit(1)])
        assert head.read_head(path)["heads"] == {make.track(): make.chain(1)}
