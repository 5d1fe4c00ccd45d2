"""Copies of a store away from this disk, through fsspec: any service it knows, by one address.

A copy goes up under a name of its own, then its note, then `latest.json`, which is the note again: a
reader finds a whole copy whenever it comes. The address may be a bucket, a Hugging Face data set, a
folder, or (to read only) a web folder, such as a branch of a repository.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from arena.core.errors import ConfigError, SourceError, StoreError
from arena.core.settings import network_allowed
from arena.store.backup import CopyNote
from arena.store.connection import connect
from arena.store.damage import off_chain

LATEST = "latest.json"
KEPT_COPIES = 3
"""Copies of this store in the target: the newest may be the one that turns out spoilt."""

HERE = frozenset({"file", "local", "memory"})


def public_url(url: str) -> str:
    """The address without user, password and query: fit for pages and logs."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def copy_name(note: CopyNote) -> str:
    """Name of a copy in a target."""
    return f"{note.store_id[:12]}-{note.at_utc:%Y%m%dT%H%M%SZ}-{note.data_version}.duckdb"


def _version(name: str) -> int:
    """Data version in the name of a copy: it tells the age even where a clock was wrong."""
    text = name.removesuffix(".duckdb").rpartition("-")[2]
    return int(text) if text.isdecimal() else -1


class Offsite:
    """An upload target. What its service raises comes as SourceError, with the address made public.

    Raises:
        ConfigError: no address, an unknown protocol, or one that leaves while that is forbidden.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        scheme = urlsplit(self.url).scheme
        if not scheme:
            raise ConfigError(f"`{url}` is no address of a target. Write file:///folder, s3://bucket/folder ...")
        if not network_allowed() and not _stays_here(self.url):
            raise ConfigError(f"ARENA_NETWORK=off: `{public_url(url)}` was not asked.")
        self.reads_only = scheme in ("http", "https")
        import fsspec

        options = {"auto_mkdir": True} if scheme in ("file", "local") else {}
        try:
            self._fs, self._root = fsspec.core.url_to_fs(self.url, **options)
        except (ValueError, ImportError, OSError) as error:
            raise ConfigError(f"The target `{public_url(url)}` cannot be used: {error}") from error

    def latest(self) -> CopyNote | None:
        """The note of the newest copy, or None in an empty target."""
        text = self._ask("read", self._text, LATEST)
        return None if text is None else CopyNote.from_text(text, f"{public_url(self.url)}/{LATEST}")

    def notes(self) -> list[CopyNote]:
        """Notes of all copies that can be listed, newest first; the latest of a target without lists.

        What is no note is passed over while a copy is left.
        """
        spoilt: StoreError | None = None
        found: dict[str, CopyNote] = {}
        try:
            if (latest := self.latest()) is not None:
                found[latest.file] = latest
        except StoreError as error:
            spoilt = error
        for name in self._names(".json"):
            text = self._ask("read", self._text, name)
            if name == LATEST or text is None:
                continue
            try:
                note = CopyNote.from_text(text, f"{public_url(self.url)}/{name}")
            except StoreError as error:  # torn, or somebody else's
                spoilt = spoilt or error
            else:
                found[note.file] = note
        if not found and spoilt is not None:
            raise spoilt
        return sorted(found.values(), key=lambda n: (n.data_version, n.at_utc), reverse=True)

    def fetch(self, note: CopyNote, into: Path) -> None:
        """Download a copy to the file `into`."""
        self._ask("read", self._fs.get_file, f"{self._root}/{note.file}", str(into))

    def put(self, copy: Path, note: CopyNote) -> None:
        """Upload a copy whose note names it by `copy_name`, then say that it is the latest.

        Raises:
            SourceError: the service failed, or the target holds another store, a newer state of this
                one, or decisions that this one has in another wording; then nothing there was replaced.
        """
        if self.reads_only:
            raise ConfigError(f"`{public_url(self.url)}` can be read only; an upload needs another target.")
        try:
            there = self.latest()
        except StoreError:  # torn by an upload that was cut off; this one replaces it
            there = next(iter(self.notes()), None)
        if there is not None and there.store_id != note.store_id:
            raise SourceError(
                f"`{public_url(self.url)}` holds the store {there.store_id[:12]}, not {note.store_id[:12]}: "
                "give this arena a target of its own, or restore from that one."
            )
        if there is not None and there.data_version > note.data_version:
            raise SourceError(
                f"`{public_url(self.url)}` holds a newer state of this store, of "
                f"{there.at_utc:%Y-%m-%d %H:%M} UTC: restore it, or give another target."
            )
        if there is not None and (apart := _parted(copy, there, note)):
            raise SourceError(
                f"`{public_url(self.url)}` holds decisions of this store, as of "
                f"{there.at_utc:%Y-%m-%d %H:%M} UTC, that were made otherwise here ({apart} tracks): an older "
                "copy was restored and went on. Restore that one, or give another target."
            )
        self._ask("write", self._put_file, copy, note.file)
        text = note.to_text()
        for name in (f"{note.file.removesuffix('.duckdb')}.json", LATEST):
            self._ask("write", self._put_text, name, text)

    def prune(self, store_id: str) -> None:
        """Delete copies of this store but the newest few. Copies of others are not touched."""
        mine = [n for n in self._names(".duckdb") if n.startswith(f"{store_id[:12]}-")]
        for name in sorted(mine, key=_version)[:-KEPT_COPIES]:
            for gone in (name, f"{name.removesuffix('.duckdb')}.json"):
                self._ask("delete", self._fs.rm_file, f"{self._root}/{gone}")

    def _names(self, ending: str) -> list[str]:
        if self.reads_only:
            return []
        self._fs.invalidate_cache()
        paths = self._ask("list", self._fs.ls, self._root, False) or []
        return [name for path in paths if (name := str(path).rpartition("/")[2]).endswith(ending)]

    def _text(self, name: str) -> str:
        self._fs.invalidate_cache()
        # Opening a web address calls a host that is away a file that is missing; this does not.
        content: bytes = self._fs.cat_file(f"{self._root}/{name}")
        return content.decode("utf-8", "replace")

    def _put_file(self, copy: Path, name: str) -> None:
        self._fs.makedirs(self._root, exist_ok=True)
        self._fs.put_file(str(copy), f"{self._root}/{name}")

    def _put_text(self, name: str, text: str) -> None:
        self._fs.pipe_file(f"{self._root}/{name}", text.encode("utf-8"))

    def _ask(self, what: str, verb: Any, *args: Any) -> Any:
        try:
            return verb(*args)
        except FileNotFoundError:
            if what == "write":
                raise SourceError(f"The target `{public_url(self.url)}` does not exist.") from None
            return None
        except Exception as error:
            # Every service of fsspec has errors of its own.
            said = str(error).replace(self.url, public_url(self.url)).splitlines()
            raise SourceError(
                f"The target `{public_url(self.url)}` could not be {'read' if what in ('read', 'list') else 'written'} "
                f"({type(error).__name__}: {said[0] if said else ''})."
            ) from error


def _parted(copy: Path, there: CopyNote, note: CopyNote) -> int:
    """Tracks of a copy whose chain does not go on from the head that `there` has. A track that is gone
    was deleted with its run."""
    con = connect(copy, read_only=True)
    try:
        return len(off_chain(con.cursor(), dict(there.heads)) & note.heads.keys())
    finally:
        con.close()


def _stays_here(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme in HERE:
        return True
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return False
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        return False
