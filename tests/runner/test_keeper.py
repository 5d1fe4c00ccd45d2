"""The keeper's duties, on a clock of the test's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.errors import SourceError, StoreLockedError
from arena.runner.keeper import Keeper
from arena.runner.safety import safety
from arena.store.backup import backup_folder, backups
from arena.store.damage import StoreTrouble
from arena.store.head import head_path
from arena.store.offsite import Offsite
from arena.store.store import Store, open_store
from tests.store.conftest import Make

make = Make()
MIDNIGHT = datetime(2025, 3, 14, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "s.duckdb") as opened:
        yield opened


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "target"
    monkeypatch.setenv("ARENA_UPLOAD_URL", folder.as_uri())
    return folder


def audit(store: Store) -> list[tuple[str, str]]:
    with store.cursor() as cur:
        cur.execute("SELECT action, detail_json FROM audit ORDER BY seq")
        return [(action, json.loads(detail)["what"]) for action, detail in cur.fetchall()]


def days(store: Store) -> list[int]:
    return sorted(b.day.day for b in backups(store.path))


def test_one_backup_a_day_from_the_first_decision_on(store: Store) -> None:
    keeper = Keeper(store)
    keeper.tick(MIDNIGHT)
    assert days(store) == []
    store.write([make.unit(0)])
    keeper.tick(MIDNIGHT + timedelta(minutes=1))
    keeper.tick(MIDNIGHT + timedelta(hours=23, minutes=59))
    assert days(store) == [14]
    assert audit(store) == [("backup", "s-20250314.duckdb made, 0 rotated out")]
    Keeper(store).tick(MIDNIGHT + timedelta(hours=23))  # a restart makes no second one
    assert len(audit(store)) == 1
    Keeper(store).tick(MIDNIGHT + timedelta(days=1, seconds=30))
    assert days(store) == [14, 15]


def test_as_many_as_were_asked_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write([make.unit(0)])
    monkeypatch.setenv("ARENA_BACKUPS_KEPT", "0,0")
    Keeper(store).tick(MIDNIGHT)
    assert days(store) == []
    monkeypatch.setenv("ARENA_BACKUPS_KEPT", "2,0")
    for day in range(3):
        Keeper(store).tick(MIDNIGHT + timedelta(days=day))
    assert days(store) == [15, 16]


def test_a_failure_is_written_down_once_and_tried_again_later(store: Store) -> None:
    store.write([make.unit(0)])
    backup_folder(store.path).write_text("a file in the way")
    keeper = Keeper(store)
    for minute in range(3):
        keeper.tick(MIDNIGHT + timedelta(minutes=minute))
    keeper.tick(MIDNIGHT + timedelta(minutes=61))
    ((action, what),) = audit(store)
    assert action == "backup failed"
    assert "No backup was made" in what
    backup_folder(store.path).unlink()
    keeper.tick(MIDNIGHT + timedelta(minutes=130))
    assert days(store) == [14]


def test_uploads_wait_for_their_interval_and_for_something_new(
    store: Store, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_UPLOAD_EVERY_MIN", "30")
    keeper = Keeper(store)

    def arrived(at: datetime) -> int | None:
        keeper.after_round(at)
        keeper.stop(20)
        latest = Offsite(target.as_uri()).latest() if target.exists() else None
        return None if latest is None else latest.n_decisions

    assert arrived(MIDNIGHT) is None  # nothing was decided yet
    store.write([make.unit(0)])
    assert arrived(MIDNIGHT + timedelta(minutes=1)) == 1
    store.write([make.unit(1)])
    assert arrived(MIDNIGHT + timedelta(minutes=20)) == 1
    assert arrived(MIDNIGHT + timedelta(minutes=32)) == 2
    keeper = Keeper(store)  # a restart knows what has arrived
    n_files = len(list(target.iterdir()))
    assert arrived(MIDNIGHT + timedelta(hours=5)) == 2
    assert len(list(target.iterdir())) == n_files
    store.write([make.unit(2)])
    assert keeper.flush(MIDNIGHT + timedelta(hours=5, minutes=1), 20) is None
    assert arrived(MIDNIGHT + timedelta(hours=5, minutes=2)) == 3


def test_an_upload_that_fails_is_told_once_and_again_when_it_works(
    store: Store, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN_TEST_TOKEN", "hunter2-hunter2")
    store.write([make.unit(0)])
    keeper = Keeper(store)
    with monkeypatch.context() as patch:

        def refused(*_: object) -> None:
            raise SourceError("401 for hunter2-hunter2")

        patch.setattr(Offsite, "put", refused)
        for hour in range(2):
            said = keeper.flush(MIDNIGHT + timedelta(hours=hour), 20)
            assert said == "401 for [secret]"
    assert safety(store)["upload"]["error"] == "401 for [secret]"
    assert safety(store)["safe_until_utc"] is None
    assert keeper.flush(MIDNIGHT + timedelta(hours=2), 20) is None
    assert audit(store) == [("upload failed", "401 for [secret]"), ("upload works again", "")]
    assert "hunter2" not in (store.path.parent / "s.upload.json").read_text()


def test_an_upload_that_hangs_is_told_and_holds_nobody_up(
    store: Store, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(Offsite, "put", lambda *_: let_go.wait(20))
    monkeypatch.setattr("arena.runner.uploader.DEADLINE_S", 0.0)
    store.write([make.unit(0)])
    keeper = Keeper(store)
    keeper.after_round(MIDNIGHT)
    keeper.stop(0.05)
    keeper.after_round(MIDNIGHT + timedelta(hours=1))
    assert "has not ended" in safety(store)["upload"]["error"]
    assert sum(t.name == "arena-upload" for t in threading.enumerate()) == 1
    let_go.set()
    keeper.stop(20)


def test_a_store_in_trouble_takes_the_place_of_no_copy(store: Store, target: Path) -> None:
    store.write([make.unit(0)])
    lost = StoreTrouble("head", "The end is missing.", "Restore it.")
    keeper = Keeper(store, lost)
    keeper.tick(MIDNIGHT)
    keeper.after_round(MIDNIGHT)
    keeper.stop(5)
    assert keeper.trouble is lost
    assert keeper.flush(MIDNIGHT) == "The end is missing. Restore it."
    assert days(store) == []
    assert not target.exists()


def test_a_disk_that_fills_up_keeps_the_runner_waiting(store: Store) -> None:
    store.write([make.unit(0)])
    keeper = Keeper(store, least_free_bytes=10**18)
    keeper.tick(MIDNIGHT)
    assert keeper.trouble is not None
    assert keeper.trouble.kind == "full"
    assert days(store) == []
    keeper._least_free_bytes = 1
    keeper.tick(MIDNIGHT)
    assert keeper.trouble is None
    assert days(store) == [14]


def give_up(store: Store) -> None:
    """What DuckDB does after a fatal error, as far as the writer knows."""
    assert store._engine.writer is not None
    store._engine.writer.broken = "DuckDB has given up the store (FATAL Error: injected)."


def test_a_store_that_was_given_up_is_opened_again_and_then_no_more(store: Store) -> None:
    store.write([make.unit(0)])
    keeper = Keeper(store)
    give_up(store)
    keeper.tick(MIDNIGHT)  # and a backup of this day, after which the count begins again
    assert keeper.trouble is None
    for n in range(2):
        give_up(store)
        keeper.tick(MIDNIGHT)
        assert keeper.trouble is None
        store.write([make.unit(n + 1)])
    give_up(store)
    keeper.tick(MIDNIGHT)
    assert keeper.trouble is not None
    assert keeper.trouble.kind == "damaged"
    assert "injected" in keeper.trouble.what
    assert not store.writable
    with store.cursor() as cur:
        cur.execute("SELECT count(*) FROM decisions")
        assert cur.fetchall() == [(3,)]
    keeper.tick(MIDNIGHT)
    assert keeper.trouble.kind == "damaged"


def test_safe_until_is_the_newest_of_both_kinds(
    store: Store, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write([make.unit(0), make.unit(1)])
    assert safety(store)["n_since"] == 2
    keeper = Keeper(store)
    keeper.tick(MIDNIGHT)
    keeper.stop(20)
    store.write([make.unit(2)])
    known = safety(store)
    assert known["where"] == "upload"
    assert known["safe_until_utc"] == "2025-03-14T00:00:00+00:00"
    assert (known["n_decisions"], known["n_since"], known["backup"]["n_kept"]) == (2, 1, 1)
    json.dumps(known)
    assert str(store.path.parent) not in json.dumps(known)
    monkeypatch.delenv("ARENA_UPLOAD_URL")
    assert safety(store)["where"] == "backup"
    assert safety(store)["upload"] is None
    assert head_path(backups(store.path)[0].path).exists()


def test_a_clock_that_was_ahead_stops_no_backups_and_makes_nothing_safer(store: Store) -> None:
    store.write([make.unit(0)])
    keeper = Keeper(store)
    wrong = datetime.now(UTC) + timedelta(days=400)
    keeper.tick(wrong)
    assert safety(store)["safe_until_utc"] is None
    for later in range(3):
        keeper.tick(MIDNIGHT + timedelta(days=later))
    assert [b.day for b in backups(store.path)] == [wrong.date(), *(date(2025, 3, d) for d in (16, 15, 14))]
    assert safety(store)["safe_until_utc"] == "2025-03-16T00:00:00+00:00"


def test_a_backup_of_a_day_to_come_pushes_none_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_BACKUPS_KEPT", "1,0")
    store.write([make.unit(0)])
    for at in (MIDNIGHT + timedelta(days=365), MIDNIGHT, MIDNIGHT + timedelta(days=1)):
        Keeper(store).tick(at)
    assert days(store) == [14, 15]  # of 2026, and of 2025


def test_the_store_is_opened_anew_once_a_week_when_nobody_reads(store: Store) -> None:
    store.write([make.unit(0)])
    keeper, opened = Keeper(store), [store._engine.con]

    def tick(**since: int) -> bool:
        """Whether it was opened anew by then."""
        keeper.tick(MIDNIGHT + timedelta(**since))
        opened.append(store._engine.con)
        return opened[-1] is not opened[-2]

    assert not tick(days=0)
    assert not tick(days=6, hours=23)
    with store.cursor() as cur:
        assert not tick(days=7)
        cur.execute("SELECT count(*) FROM decisions")
        assert cur.fetchall() == [(1,)]
    assert tick(days=7, minutes=1)
    assert not tick(days=14)
    assert tick(days=14, minutes=1)
    assert not tick(days=14, minutes=2)
    assert tick(days=0)  # a clock that was a week ahead, and was put right
    assert keeper.trouble is None
    assert {action for action, _ in audit(store)} == {"backup"}


def test_another_process_that_is_quicker_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write([make.unit(0)])
    keeper = Keeper(store)
    keeper.tick(MIDNIGHT)
    with monkeypatch.context() as patch:

        def taken(*_: object, read_only: bool) -> None:
            raise StoreLockedError(str(store.path), 4711)

        patch.setattr("arena.store.store._start", taken)
        patch.setattr("arena.store.store.UPGRADE_WAIT_S", 0.1)
        keeper.tick(MIDNIGHT + timedelta(days=7))
        assert not store.writable
        keeper.tick(MIDNIGHT + timedelta(days=7, minutes=1))
        assert keeper.trouble is not None
        assert "4711" in keeper.trouble.what
    keeper.tick(MIDNIGHT + timedelta(days=7, minutes=2))
    assert keeper.trouble is None
    store.write([make.unit(1)])
    assert audit(store)[-1] == ("store opened again", "What stood against it is over.")
