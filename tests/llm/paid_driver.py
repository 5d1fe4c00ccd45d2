"""Runs 60 paid calls, 16 at a time, over a journal on disk; made to be killed.

A line `go URL JOURNAL USD` on its input forks a child that goes on with the run from the journal; a
line `kill` kills that child. It prints `ready`, and then how each child ended: done, stopped (by
the budget), failed or killed. litellm is loaded once, before any child.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from arena.llm.budgeted import Budget
from arena.llm.gateway import load_litellm
from arena.llm.stack import RunModels
from arena.llm.types import BudgetStop
from tests.llm.paid import QUICK, FileJournal, request, row

N_CALLS = 60


ENDINGS = ("done", "stopped", "failed")


async def run(url: str, path: Path, usd: float) -> str:
    journal = FileJournal(path)
    budget = Budget(usd=usd, spent_usd=journal.spent_usd, spent_tokens=journal.spent_tokens)
    models = RunModels([row(url, concurrency=16)], budget, journal, QUICK)
    asks = [
        models.of("mock/m", f"d{i}").complete(request(f"decision {i} " + "x" * (37 * i % 500)))
        for i in range(N_CALLS)
    ]
    outcomes = await asyncio.gather(*asks, return_exceptions=True)
    errors = [o for o in outcomes if isinstance(o, BaseException)]
    if strange := [e for e in errors if not isinstance(e, BudgetStop)]:
        raise strange[0]
    return "stopped" if errors else "done"


def child(url: str, path: Path, usd: float) -> None:
    """Never returns: a child must not go on with its parent's loop."""
    ending = "failed"
    try:
        ending = asyncio.run(run(url, path, usd))
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    os._exit(ENDINGS.index(ending))


def next_line() -> list[str]:
    """Words of the next line of the input, unbuffered, so that `select` sees what is left."""
    line = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return line.decode().split()


def main() -> None:
    load_litellm()
    print("ready", flush=True)
    while words := next_line():
        if words == ["kill"]:  # it came after the child had ended
            continue
        _, url, path, usd = words
        pid = os.fork()
        if pid == 0:
            child(url, Path(path), float(usd))
        while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
            if select.select([0], [], [], 0.002)[0] and next_line() == ["kill"]:
                os.kill(pid, signal.SIGKILL)
                ended = os.waitpid(pid, 0)
                break
        status = ended[1]
        killed = os.WIFSIGNALED(status)
        print("killed" if killed else ENDINGS[os.WEXITSTATUS(status)], flush=True)


if __name__ == "__main__":
    main()
