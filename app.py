"""The app: `streamlit run app.py`. The runner starts before any visitor and ends with the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from arena.runner import service


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Only starts a thread: an exception here would take the server down, slow work delay it."""
    service.ensure_started()
    yield
    service.stop()


app = st.App("arena/shell/main.py", lifespan=lifespan)
