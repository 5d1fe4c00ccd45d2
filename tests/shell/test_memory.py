"""What keeps page runs from looking at every object of every library."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from arena.core import memory


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(memory, "_spared", 0)
    yield
    gc.unfreeze()


def test_what_is_loaded_is_spared_once_and_again_with_the_next_library(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.unfreeze()
    memory.spare_libraries()
    spared = gc.get_freeze_count()
    assert spared > 10_000  # pytest and pandas alone
    kept = [[] for _ in range(1_000)]
    memory.spare_libraries()
    assert gc.get_freeze_count() <= spared
    for i in range(memory.MORE_MODULES):
        monkeypatch.setitem(sys.modules, f"a_library.part_{i}", ModuleType(f"part_{i}"))
    memory.spare_libraries()
    assert gc.get_freeze_count() >= spared + len(kept)


def test_garbage_goes_before_it_would_be_spared() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            Node.alive += 1
            self.me = self

        def __del__(self) -> None:
            Node.alive -= 1

    Node()
    memory.spare_libraries()
    assert Node.alive == 0


TABLES = """
import sys
import numpy as np
from pathlib import Path
from arena.core.memory import give_back

def resident_mb():
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024

if sys.argv[1] == "given back":
    give_back()
before = resident_mb()
# A first large block: from then on malloc has blocks of its size on its heap.
np.ones(3_000_000)
blocks = [np.ones(125_000) for _ in range(200)]  # 1 MB each
last = blocks[-1]
del blocks
print(resident_mb() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another malloc keeps memory in ways of its own")
def test_what_is_freed_below_something_that_stays_leaves_the_process() -> None:
    """199 of 200 MB are freed, and the last one stays on top of them."""
    kept_mb = {
        how: float(subprocess.check_output([sys.executable, "-c", TABLES, how], text=True))
        for how in ("kept", "given back")
    }
    assert kept_mb["kept"] > 150
    assert kept_mb["given back"] < 20
