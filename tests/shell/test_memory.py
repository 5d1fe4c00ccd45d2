"""What keeps page runs from looking at every object of every library."""

from __future__ import annotations

import gc
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
