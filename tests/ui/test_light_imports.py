"""Pages start fast because the heavy libraries stay asleep until a worker needs them."""

from __future__ import annotations

import subprocess
import sys

from arena.core.settings import ROOT

HEAVY = ("litellm", "ccxt", "yfinance", "exchange_calendars", "plotly.express")

CODE = f"""
import sys
import arena.ui.overview, arena.ui.equity, arena.ui.filters, arena.ui.queries, arena.ui.states
import arena.ui.market, arena.ui.market_day, arena.ui.reviewing
print(",".join(m for m in {HEAVY!r} if m in sys.modules))
"""


def test_ui_pulls_no_heavy_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
