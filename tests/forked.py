"""The command line, or the app, in a process of its own, without its imports being paid for each time.

One server process imports the arena and forks for every command. What a command changes dies with
its fork, a lock is a lock of another process, and a kill -9 is a kill -9. That `python -m arena`
starts from nothing is shown by `cli/test_verbs.py`, which runs it so; that `streamlit run app.py`
does, by `browser/test_app.py`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.forked_imports", __name__])


class Command:
    """`python -m arena WORDS`, or another `main`, under way, with `out` and `err` as files."""

    def __init__(
        self, words: tuple[str, ...], env: Mapping[str, str], out: str, err: str,
        before: Callable[[], None] | None, main: Callable[[], None],
    ) -> None:  # fmt: skip
        self._process = _FORKS.Process(
            target=_run, args=(words, dict(env), out, err, before, main), daemon=True
        )
        with _no_main():
            self._process.start()

    @property
    def pid(self) -> int:
        return int(self._process.pid or 0)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self._process.is_alive():
            os.kill(self.pid, number)

    def kill(self) -> None:
        """As kill -9 does."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def wait(self, timeout_s: float = 240.0) -> int:
        """Its exit code; a command that takes longer is killed, and that is an error."""
        self._process.join(timeout_s)
        if self._process.exitcode is None:
            self.kill()
            raise TimeoutError(f"a command took more than {timeout_s:g} s and was killed")
        return self._process.exitcode


@contextmanager
def _no_main() -> Iterator[None]:
    """A child first runs the script that is `__main__` here. Streamlit's AppTest leaves the app's there:
    its service would begin in the child, with the switches of whoever started the server."""
    before, sys.modules["__main__"] = sys.modules["__main__"], types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = before


def arena() -> None:
    from arena.cli.main import main

    main()


def streamlit() -> None:
    """As `streamlit` in the repository's root."""
    from streamlit.web.cli import main

    os.chdir(Path(__file__).resolve().parents[1])
    main()


def start(
    *words: object, env: Mapping[str, str] | None = None, out: Path | str = os.devnull,
    err: Path | str = os.devnull, before: Callable[[], None] | None = None,
    main: Callable[[], None] = arena,
) -> Command:  # fmt: skip
    """Start a command under exactly `env` (else the one of now). `before` is called in its process."""
    known = os.environ if env is None else env
    return Command(tuple(map(str, words)), known, str(out), str(err), before, main)


def _run(
    words: tuple[str, ...], env: dict[str, str], out: str, err: str,
    before: Callable[[], None] | None, main: Callable[[], None],
) -> None:  # fmt: skip
    # Appended, as both may be one file.
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, how), number)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    if before is not None:
        before()
    sys.argv = [main.__name__, *words]
    main()
