"""Daily copies: whole, vouched for, and as many as were asked for."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.core.errors import StoreError
from arena.store import backup, reader
from arena.store.head import head_path
from arena.store.store import open_store

NOON = datetime(2025, 3, 14, 12, tzinfo=UTC)


def test_a_backup_holds_the_store_and_says_what_it_is(path: Path, make, counts) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0), make.unit(1), make.unit(0, "n")])
        made = backup.make_backup(store, NOON)
        store.write([make.unit(2)])
        version = reader.data_version(store) - 1
    assert made.path == path.parent / "backups" / "s-20250314.duckdb"
    note = made.note
    assert note is not None
    assert (note.at_utc, note.file, note.n_decisions) == (NOON, "s-20250314.duckdb", 3)
    assert note.data_version == version
    assert note.heads == {make.track(): make.chain(1), make.track("n"): make.chain(0, "n")}
    assert note.sha256 == backup.sha256_file(made.path)
    assert note.size_bytes == made.path.stat().st_size
    with open_store(made.path, read=True) as copy:
        assert copy.store_id == note.store_id
        assert counts(copy)["decisions"] == 3


def test_a_second_one_of_the_day_takes_its_place(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        backup.make_backup(store, NOON)
        store.write([make.unit(1)])
        backup.make_backup(store, NOON + timedelta(hours=3))
    (only,) = backup.backups(path)
    assert only.note is not None
    assert only.note.n_decisions == 2
    assert not list(path.parent.rglob("*.part*"))


def test_without_room_nothing_is_begun(path: Path, make, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        least = 2 * path.stat().st_size
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=least - 1))
        with pytest.raises(StoreError, match="No backup was made"):
            backup.make_backup(store, NOON)
        assert not backup.backup_folder(path).exists()
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=least))
        backup.make_backup(store, NOON)


def test_a_rotation_keeps_a_week_of_days_and_a_month_of_weeks() -> None:
    # 40 days up to Friday 14 March 2025. The newest 7 are 8 to 14 March. The last four ISO weeks
    # (Monday to Sunday) are those that begin on 10 March, 3 March, 24 and 17 February: their newest
    # days are 14 March (kept already), 9 March (kept already), 2 March and 23 February.
    days = [date(2025, 3, 14) - timedelta(n) for n in range(40)]
    expected = {date(2025, 3, d) for d in range(8, 15)} | {date(2025, 3, 2), date(2025, 2, 23)}
    assert backup.kept(days, 7, 4) == expected
    assert backup.kept(days[::-1], 7, 4) == expected
    assert backup.kept(days, 2, 0) == {date(2025, 3, 14), date(2025, 3, 13)}
    assert backup.kept([], 7, 4) == set()


def test_day_by_day_rotation_reaches_four_weeks_back() -> None:
    left: set[date] = set()
    for n in range(60):
        left.add(date(2025, 1, 1) + timedelta(n))
        left = backup.kept(sorted(left), 7, 4)
    # 1 March 2025 is the 60th day, a Saturday; Sundays before its week: 23, 16 and 9 February.
    assert max(left) == date(2025, 3, 1)
    assert {date(2025, 2, 9), date(2025, 2, 16), date(2025, 2, 23)} < left
    assert len(left) == 7 + 2  # 23 February is also one of the newest seven


def test_rotation_deletes_its_own_files_only(path: Path) -> None:
    folder = backup.backup_folder(path)
    folder.mkdir()
    stay = ["s-20250314.duckdb", "other-20250101.duckdb", "s-19x.duckdb", "s-20251399.duckdb", "s.txt"]
    for name in ("s-20250101.duckdb", *stay):
        (folder / name).touch()
    head_path(folder / "s-20250101.duckdb").touch()
    assert [p.name for p in backup.rotate(path, 1, 0, date(2025, 3, 14))] == ["s-20250101.duckdb"]
    assert sorted(p.name for p in folder.iterdir()) == sorted(stay)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"file":"a"}', "null", '{"at_utc":1}']
)
def test_what_is_no_note_is_named(text: str) -> None:
    with pytest.raises(StoreError, match=r"t/latest.json.*no note"):
        backup.CopyNote.from_text(text, "t/latest.json")


@pytest.mark.parametrize("file", ["../x.duckdb", "/etc/passwd", ".hidden"])
def test_a_note_names_no_file_elsewhere(file: str) -> None:
    note = backup.CopyNote("id", 1, 1, NOON, file, 1, "0" * 64, {})
    with pytest.raises(StoreError, match="no plain name"):
        backup.CopyNote.from_text(note.to_text(), "latest.json")


def test_a_note_comes_back_as_it_was() -> None:
    note = backup.CopyNote("id", 7, 3, NOON, "a.duckdb", 10, "0" * 64, {"t": "h"})
    assert backup.CopyNote.from_text(note.to_text(), "") == note
