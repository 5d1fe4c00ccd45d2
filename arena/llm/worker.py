"""One background thread with one event loop, in which every request to a provider runs.

litellm keeps its HTTP sessions per event loop. A loop that comes and goes with each run would leave
them open, and they would be dead on the next one.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
CLOSE_WITHIN_S = 5.0


class Worker:
    """Starts on the first `submit`; `close` ends it, and a later `submit` starts it again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._farewells: list[Callable[[], Coroutine[Any, Any, None]]] = []

    def submit(self, coro: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `coro` on the worker's loop. Cancelling the future cancels it there."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="arena-llm", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(coro, self._loop)

    def on_close(self, farewell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Something to be awaited on the loop before it ends, such as closing sessions."""
        if farewell not in self._farewells:
            self._farewells.append(farewell)

    def close(self) -> None:
        """Cancel what runs, say the farewells, end the thread. Does nothing if it never started."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        ended = asyncio.run_coroutine_threadsafe(self._wind_up(), loop)
        try:
            ended.result(CLOSE_WITHIN_S)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(CLOSE_WITHIN_S)
            if not thread.is_alive():
                loop.close()

    async def _wind_up(self) -> None:
        tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for farewell in self._farewells:
            await farewell()
        await asyncio.get_running_loop().shutdown_default_executor()


WORKER = Worker()
atexit.register(WORKER.close)
