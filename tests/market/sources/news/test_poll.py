"""One poll of several sources: their order, how many at a time, and what one of them can do to the others."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from arena.core.errors import DataError, SourceError, StoreError
from arena.market.news.items import Trust
from arena.market.sources.news.base import AT_ONCE, LimitedError, Polled, poll
from tests.market.sources.news.keyed import NOW, SECRET, SINCE, TSLA, clock


class Source:
    trust: Trust = "press"

    def __init__(self, name: str, work: Callable[[], Any] = list) -> None:
        self.name, self._work = name, work

    def fetch(self, *_: object) -> Any:
        return self._work()


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def ask(*sources: Source) -> list[Polled]:
    return poll(sources, [TSLA], SINCE, NOW, clock)


def test_answers_stand_in_the_order_of_the_sources_however_long_each_takes() -> None:
    slow = [Source(f"s{n}", lambda n=n: time.sleep(0.02 * (5 - n)) or []) for n in range(5)]
    assert [told.source for told in ask(*slow)] == ["s0", "s1", "s2", "s3", "s4"]
    assert ask() == []


def test_so_many_at_a_time() -> None:
    """Each waits until `AT_ONCE` are under way: fewer at a time would hang, more would break the barrier."""
    met, running, most = threading.Barrier(AT_ONCE, timeout=10), set(), []

    def work() -> list[Any]:
        running.add(threading.get_ident())
        met.wait()
        most.append(len(running))
        met.wait()
        running.discard(threading.get_ident())
        return []

    told = ask(*(Source(f"s{n}", work) for n in range(2 * AT_ONCE)))
    assert {one.status for one in told} == {"ok"}
    assert max(most) == AT_ONCE


def test_each_says_how_it_went() -> None:
    limited, failed, torn, ok = ask(
        Source("a", raising(LimitedError("a: wait", 7.0))), Source("b", raising(SourceError("b: no"))),
        Source("c", raising(ValueError(f"https://x.example/?key={SECRET}"))), Source("d"),
    )  # fmt: skip
    assert (limited.status, limited.error, limited.retry_after_s) == ("limited", "a: wait", 7.0)
    assert (failed.status, failed.error) == ("failed", "b: no")
    assert (ok.status, ok.error) == ("ok", None)
    # The line of `raise` in this file, then those that led there.
    assert torn.status == "failed"
    assert (torn.error or "").startswith("c: ValueError at test_poll.py:")
    assert "test_poll.py:" in (torn.error or "").partition(" < ")[2]


def test_an_iterator_that_breaks_is_a_failed_source() -> None:
    """Items are drawn where failures are caught."""

    def broken() -> Any:
        yield from ()
        raise KeyError("x")

    (told,) = ask(Source("a", broken))
    assert (told.status, told.items) == ("failed", ())
    assert "KeyError" in (told.error or "")


@pytest.mark.parametrize("error", [DataError("news.csv: row 3"), StoreError("no room")])
def test_trouble_with_our_own_files_is_no_failed_source(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        ask(Source("a"), Source("b", raising(error)))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Heard, even where the tests were started in the background of a shell, which ignores it."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_for_nobody_and_asks_nobody_else() -> None:
    begun: list[int] = []
    release = threading.Event()

    def hang(n: int) -> list[Any]:
        begun.append(n)
        if len(begun) == AT_ONCE:
            signal.pthread_kill(threading.main_thread().ident or os.getpid(), signal.SIGINT)
        release.wait(20)
        return []

    with pytest.raises(KeyboardInterrupt):
        ask(*(Source(f"s{n}", lambda n=n: hang(n)) for n in range(AT_ONCE + 3)))
    release.set()
    for thread in [t for t in threading.enumerate() if t.name == "arena-news"]:
        thread.join(5)
        assert not thread.is_alive()
    assert sorted(begun) == list(range(AT_ONCE))
