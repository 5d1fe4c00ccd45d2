"""Jobs on the sample, for tests: small requests, askers, and waiting for an end."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from arena.runner.asker import Admin, Visitor
from arena.runner.job_request import JobRequest
from arena.runner.jobs import OVER
from arena.store import jobs_reader
from arena.store.store import Store

ANNA, BEN = Visitor("aaaa"), Visitor("bbbb")
ADMIN = Admin("cccc", lambda: True)


def small(**fields: Any) -> JobRequest:
    """One rule on one coin over four days: four decisions."""
    base: dict[str, Any] = {
        "agents": ("vanilla",), "models": ("offline/trend",), "assets": ("QUBIXCOIN",),
        "strategies": ("baseline",), "start": date(2025, 8, 4), "end": date(2025, 8, 7), "warmup": 0,
        "brief": "none",
    }  # fmt: skip
    return JobRequest(**{**base, **fields})


def ended(store: Store, job: str, timeout_s: float = 60) -> dict[str, Any]:
    """The row of a job once it is over."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        row = jobs_reader.job(store, job)
        if row["status"] in OVER:
            return row
        time.sleep(0.02)
    raise AssertionError(f"{job} is still {row['status']}: {row['step']}")


def audit(store: Store) -> list[tuple[str, str, str, str]]:
    """who, action, origin, detail of every audit row, in order."""
    with store.cursor() as cur:
        cur.execute("SELECT who, action, origin, detail_json FROM audit ORDER BY seq")
        return cur.fetchall()
