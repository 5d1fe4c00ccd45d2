"""Verbs of the live arena without a browser: live (until stopped), round --once (what is due now)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, Store
from arena.cli.output import print_json, visible
from arena.core import settings
from arena.core.clock import utc_now
from arena.core.errors import ConfigError, StoreError
from arena.runner import service
from arena.runner.logs import start_logging
from arena.store import reader, rounds

Data = Annotated[
    str | None, typer.Option("--data", help="live, sample or files:DIR. Default: ARENA_DATA, else auto.")
]

Round = tuple[str, datetime]

LOOK_S = 1.0
LOOK_BACK = timedelta(days=60)
"""How old a slot may be that is still decided late, with a wide margin."""

END_S, LAST_WORD_S = 1.2, 0.4
"""On a signal: what the service gets to end in, and the interpreter after it; together under 2 s."""

MESSAGES_S = 30.0


def live(store: Store = None, data: Data = None) -> int:
    """Decide every session on time until stopped (SIGTERM, Ctrl-C), a line a round; no browser."""
    if not settings.runner_enabled():
        raise ConfigError("ARENA_RUNNER is off, so nothing would be decided. Unset it, or set it to on.")
    if data is not None:
        settings.use_data(data)
    if store is not None:
        settings.use_store(store.resolve())
    start_logging()
    with _until_stopped() as stop:
        state = service.ensure_started()
        told, last_word, greeted = Told(), None, False
        while not stop.wait(LOOK_S):
            if (word := state.paused or state.message) != last_word and word:
                say(f"arena: {word}", sys.stderr)
            last_word = word
            for line in told.new(state):
                say(line)
            if _over(state):
                service.stop(END_S)
                return 1
            if told.began and not greeted:
                greeted = True
                say("arena: deciding as sessions come due; Ctrl-C or SIGTERM ends it.", sys.stderr)
        # A commit under way survives the exit; whatever else ran is taken up at the next start.
        last = threading.Timer(END_S + LAST_WORD_S, os._exit, (0,))
        last.daemon = True
        last.start()
        service.stop(END_S)
    return 0


def round_(
    store: Store = None,
    data: Data = None,
    once: Annotated[bool, typer.Option("--once", help="Decide what is due now, then end.")] = False,
    as_json: AsJson = False,
) -> int:
    """One look at what is due: decide it, snapshot, upload, tell; exit 1 if a round failed."""
    if not once:
        raise ConfigError("`round` decides once: say `round --once`. To go on deciding: `live`.")
    from arena.runner.once import decide_once

    start_logging()
    with _until_stopped() as stop:
        done = decide_once(store and store.resolve(), data, stop, MESSAGES_S)
    if as_json:
        print_json(asdict(done))
    else:
        if done.n_warmup:
            say(f"{done.n_warmup} rounds of warm-up")
        for report in done.rounds:
            say(line_of(asdict(report)))
        if not (done.n_warmup or done.rounds or done.problems):
            say("Nothing is due.")
    for problem in done.problems:
        say(f"arena: {problem}", sys.stderr)
    return 1 if done.failed else 0


class Told:
    """Rounds that were printed. Those stored before the start are not news."""

    def __init__(self) -> None:
        self._since_utc = utc_now() - LOOK_BACK
        self._told: dict[Round, int] | None = None
        self._seen: dict[Round, int] = {}
        self._version: int | None = None

    @property
    def began(self) -> bool:
        """Whether the store has been looked at."""
        return self._told is not None

    def new(self, state: service.ServiceState) -> Iterator[str]:
        """A line for each round that was decided since, once it has not grown from one look to the next."""
        opened = state.store
        if opened is None:
            return
        try:
            version = reader.data_version(opened)
            if version == self._version and self._seen == self._told:
                return
            found = rounds.live_rounds(opened, self._since_utc)
        except StoreError:
            # It is being opened anew; the next look finds what was missed.
            return
        before, self._version = self._seen, version
        self._seen = {(r["run"], r["as_of_utc"]): r["n_decisions"] for r in found}
        if self._told is None:
            self._told = dict(self._seen)
        for row in found:
            key, n = (row["run"], row["as_of_utc"]), row["n_decisions"]
            if self._told.get(key) != n and before.get(key) == n:
                self._told[key] = n
                yield line_of(row)


def line_of(row: Mapping[str, Any]) -> str:
    """`2025-10-01 00:05 UTC  live-1a2b3c4d5e-e1  20 decisions, 1 failed, 2 late`."""
    counts = [f"{row['n_decisions']} decisions"]
    counts += [f"{row[f'n_{word}']} {word}" for word in ("failed", "gaps", "late") if row.get(f"n_{word}")]
    stopped = f"; {row['stopped']}" if row.get("stopped") else ""
    return f"{row['as_of_utc']:%Y-%m-%d %H:%M} UTC  {row['run']}  {', '.join(counts)}{stopped}"


def say(text: str, stream: Any = None) -> None:
    """Print a line; a closed stream or a full disk behind it must not end a round."""
    out = stream or sys.stdout
    try:
        print(visible(text), file=out, flush=True)
    except (OSError, ValueError):
        # What is buffered would be flushed again at the end, and fail again.
        quiet = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        if out is sys.stdout:
            sys.stdout = quiet
        else:
            sys.stderr = quiet


def _over(state: service.ServiceState) -> bool:
    """Whether this process will never decide anything more.

    Raises:
        ConfigError: the data are such that nothing ever becomes due.
        StoreError: another process owns the store.
    """
    from arena.runner.once import LIVE, not_live

    if state.locked is not None:
        raise StoreError(state.locked)
    if state.store is not None and state.data_choice != LIVE:
        raise ConfigError(not_live(state.data_choice))
    return state.level == "error" and state.thread is not None and not state.thread.is_alive()


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """An event that SIGTERM and Ctrl-C set."""
    stop = threading.Event()

    def ask(_: int, __: FrameType | None) -> None:
        stop.set()

    old = {s: signal.signal(s, ask) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
