"""The app on a store that changes under it: once a file `<store>.go` is there, an account jumps ahead.

For `streamlit run` alone, by `test_overview.py`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from arena.core.rows import SummaryRow, WriteUnit  # noqa: E402
from arena.runner import service  # noqa: E402
from arena.store import reader  # noqa: E402
from arena.store.store import open_store  # noqa: E402

STORE = Path(os.environ["ARENA_STORE"])
JUMPER, NEW_RETURN = "hedge@m-good:AAA:baseline", 9.0


def change() -> None:
    state = service.ensure_started()
    assert state.thread is not None
    state.thread.join()
    assert state.store is not None
    state.store.close()
    state.store = store = open_store(STORE)
    while not STORE.with_suffix(".go").exists():
        time.sleep(0.1)
    units = []
    for row in reader.summaries(store).to_dict("records"):
        if row["account"].endswith(JUMPER):
            metrics = json.loads(row["metrics_json"])
            metrics["CR"]["value"] = metrics["excess_bh"]["value"] = NEW_RETURN
            row |= {"metrics_json": json.dumps(metrics)}
            row |= {name: row[name].date() for name in ("start", "end", "last_action_session")}
            units.append(WriteUnit((), (SummaryRow(**{str(k): v for k, v in row.items()}),)))
    store.write(units)


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    threading.Thread(target=change, daemon=True).start()
    yield
    service.stop()


app = st.App(ROOT / "arena/shell/main.py", lifespan=lifespan)
