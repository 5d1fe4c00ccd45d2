"""The app with a live season of two entries on one coin, and every start of a scheduler on record.

For `streamlit run` alone, by `test_two_servers.py`; `<store>.clocks` gets a line for each scheduler.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app import lifespan  # noqa: E402
from arena.runner import first_run, live_seasons, ticking  # noqa: E402
from arena.shell.api import ROUTES  # noqa: E402

SMALL = live_seasons.Section(
    label="Small", assets=("BTC",), agents=("vanilla", "investor"), models=("offline/trend",),
    strategies=("baseline",), brief="none", warmup=0,
)  # fmt: skip
live_seasons.load_sections = lambda *_: {"small": SMALL}  # type: ignore[assignment]
first_run.FIRST_RUN_DAYS = 5
first_run.FIRST_RUN_AGENTS = ("vanilla",)

start_clock = ticking.start_clock


def recorded(*args: Any) -> Any:
    with Path(os.environ["ARENA_STORE"]).with_suffix(".clocks").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return start_clock(*args)


ticking.start_clock = recorded

app = st.App(ROOT / "arena/shell/main.py", lifespan=lifespan, routes=ROUTES)
