"""How this process uses memory: what Python's cyclic collector need not look at, and glibc's arenas.

Streamlit has the collector look at everything after each run of a page, which takes as long as there are
objects: 0.08 s with pandas, 0.37 s once ccxt and litellm are loaded. Nearly all of them are what
libraries are made of, and live as long as the process.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress

MORE_MODULES = 50
"""So many new ones are a library; a few are a page's own."""

M_ARENA_MAX, ARENAS = -8, 2

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


def share_arenas() -> None:
    """Let threads share two arenas of malloc, where there would be eight a core, each with holes of its
    own: 20 MB of a live app. Elsewhere than on glibc nothing happens."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
