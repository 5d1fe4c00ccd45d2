"""The app: `streamlit run app.py`. The runner starts before any visitor and ends with the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from arena.runner import service
from arena.runner.logs import start_logging
from arena.shell.api import ROUTES
from arena.ui import signing_in


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Only starts a thread: an exception here would take the server down, slow work delay it."""
    start_logging()
    service.ensure_started()
    signing_in.announce()
    yield
    service.stop()


app = st.App("arena/shell/main.py", lifespan=lifespan, routes=ROUTES)
