"""Who has a store open, asked without taking part."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from arena.core.errors import StoreError
from arena.store.store import open_here

LAYOUT = "qqihh" if sys.platform == "darwin" else "hhqqi4x"
"""Of the C structure `flock`; type, whence, start, length and pid stand in another order on macOS."""


def owner_pid(store: Path, *, writers_only: bool = False) -> int | None:
    """The process that owns or reads the store, or None. Takes no lock, so it disturbs nobody.

    `writers_only` leaves out who merely reads: a copy that is being shown can be copied all the same.

    Raises:
        StoreError: this process has it open; a look at the file would drop its lock.
    """
    import fcntl

    if open_here(store):
        raise StoreError(f"The store `{store}` is open in this process.")
    if not store.exists():
        return None
    first_is_type = LAYOUT[0] == "h"
    ask = fcntl.F_RDLCK if writers_only else fcntl.F_WRLCK
    wanted = (ask, 0, 0, 0, 0) if first_is_type else (0, 0, 0, ask, 0)
    with store.open("rb") as file:
        answer = struct.unpack(
            LAYOUT, fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(LAYOUT, *wanted))
        )
    kind, pid = (answer[0], answer[4]) if first_is_type else (answer[3], answer[2])
    return None if kind == fcntl.F_UNLCK else int(pid)


def alive(pid: int) -> bool:
    """Whether a process with this number exists on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
