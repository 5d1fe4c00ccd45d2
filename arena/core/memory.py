"""How this process uses memory: what Python's cyclic collector need not look at, and what malloc keeps.

Streamlit has the collector look at everything after each run of a page, which takes as long as there are
objects: 0.08 s with pandas, 0.37 s once ccxt and litellm are loaded. Nearly all of them are what
libraries are made of, and live as long as the process.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress

MORE_MODULES = 50
"""So many new ones are a library; a few are a page's own."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Numbers of glibc's mallopt."""

ARENAS = 2
LARGE_BYTES = 256 * 1024

_spared = 0


def spare_libraries() -> None:
    """Take all there is out of the collector's sight, where a library has come since the last time.

    What is in use at that moment and part of a cycle is never freed. That is little, a few times.
    """
    global _spared
    if len(sys.modules) - _spared < MORE_MODULES:
        return
    _spared = len(sys.modules)
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Have what was freed leave the process: of a large store's pages nearly a fifth of all memory.

    glibc otherwise keeps freed blocks of up to 32 MB once it has seen such, and gives each thread an arena
    with holes of its own; Arrow's own pool keeps what its largest table took. Elsewhere than on glibc
    only Arrow is told.
    """
    if arrow := sys.modules.get("pyarrow"):
        arrow.set_memory_pool(arrow.system_memory_pool())
    else:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_ARENA_MAX, ARENAS)
        mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(M_TRIM_THRESHOLD, LARGE_BYTES)
