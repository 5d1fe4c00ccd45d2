"""The head file: the newest chain hash of every track, outside the store.

DuckDB can lose the tail of a damaged log without an error. A head that is not on the stored chain
shows that. The file may lag behind the store by a moment, which is harmless: an older head is
still on the chain.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path

import duckdb

from arena.core.errors import StoreError
from arena.core.hashing import canonical_json
from arena.store.snapshot import beside

KEYS = frozenset({"store_id", "heads", "n_decisions"})


def head_path(store: Path) -> Path:
    """`live.duckdb` -> `live.head.json`."""
    return beside(store, ".head.json")


def read_head(store: Path) -> dict[str, object] | None:
    """`{store_id, heads: {track: hash}, n_decisions}` as last written, or None without a file.

    Raises:
        StoreError: a file that is no such JSON.
    """
    path = head_path(store)
    if not path.exists():
        return None
    try:
        head: dict[str, object] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise _unusable(path, str(error)) from error
    if not (isinstance(head, dict) and head.keys() >= KEYS and isinstance(head["heads"], dict)):
        raise _unusable(path, "it lacks what is written there")
    return head


def _unusable(path: Path, why: str) -> StoreError:
    return StoreError(
        f"The head file `{path}` cannot be used ({why}). Move it away: the next write makes a "
        "new one, and until then nothing outside the store vouches for its end."
    )


class HeadFile:
    """Keeps the head file of one store; used by the writer thread only."""

    def __init__(self, store: Path, cur: duckdb.DuckDBPyConnection, store_id: str) -> None:
        self.path, self.store_id = head_path(store), store_id
        cur.execute("SELECT count(*) FROM decisions")
        self.n_decisions: int = cur.fetchall()[0][0]
        self.heads, self.broken = self._load(store, cur)
        self.dirty = False

    def _load(
        self, store: Path, cur: duckdb.DuckDBPyConnection
    ) -> tuple[dict[str, str], frozenset[str]]:
        """Heads to go on from, and the tracks whose recorded head is not on the stored chain."""
        cur.execute("SELECT track, arg_max(chain_hash, seq) FROM decisions GROUP BY track")
        stored: dict[str, str] = dict(cur.fetchall())
        recorded = read_head(store)
        if recorded is None or recorded["store_id"] != self.store_id:
            return stored, frozenset()
        heads = recorded["heads"]
        assert isinstance(heads, dict)
        cur.execute(
            "SELECT k.track FROM (SELECT unnest(?::VARCHAR[]) AS track, "
            "unnest(?::VARCHAR[]) AS head) k ANTI JOIN decisions d "
            "ON d.track = k.track AND d.chain_hash = k.head",
            [list(heads), list(heads.values())],
        )
        broken = frozenset(track for (track,) in cur.fetchall())
        return {**stored, **{t: heads[t] for t in broken}}, broken

    def note(self, heads: Mapping[str, str], n_new: int) -> None:
        """Remember what a commit brought. A broken head stays as the evidence of the break."""
        self.heads.update({t: h for t, h in heads.items() if t not in self.broken})
        self.n_decisions += n_new
        self.dirty = self.dirty or bool(heads)

    def forget(self, tracks: Collection[str], n_decisions: int) -> None:
        """Leave out tracks that are about to be deleted, in the file as well.

        Raises:
            StoreError: the file cannot be written; nothing may be deleted then.
        """
        gone, before = frozenset(tracks), (self.heads, self.broken, self.n_decisions)
        self.heads = {t: h for t, h in self.heads.items() if t not in gone}
        self.broken, self.n_decisions = self.broken - gone, n_decisions
        try:
            self.write()
        except OSError as error:
            self.heads, self.broken, self.n_decisions = before
            raise StoreError(
                f"The head file `{self.path}` cannot be written ({error}). Nothing was deleted."
            ) from error

    def write(self) -> None:
        """Replace the file; a crash leaves the old one or the new one."""
        text = canonical_json(
            {"store_id": self.store_id, "heads": self.heads, "n_decisions": self.n_decisions}
        )
        part = self.path.with_name(self.path.name + ".part")
        with part.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        part.replace(self.path)
        self.dirty = False
