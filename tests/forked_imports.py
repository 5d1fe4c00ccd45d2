"""What commands and pages need sooner or later; the server of `tests/forked.py` imports it once for all."""

import os

import exchange_calendars  # noqa: F401
import plotly.graph_objects  # noqa: F401
import streamlit.web.bootstrap
import streamlit.web.cli  # noqa: F401
import uvicorn  # noqa: F401

import arena.agents.deepfund
import arena.agents.hedge
import arena.agents.investor
import arena.agents.trade
import arena.cli.main
import arena.market.sources.sample
import arena.runner.service  # noqa: F401
from arena.llm.gateway import load_litellm

# Three seconds that a whole suite saves many times over, and a single file may never need.
if "PYTEST_XDIST_WORKER" in os.environ:
    load_litellm()
