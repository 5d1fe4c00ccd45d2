"""Addresses of single decisions, for tables, markers and buttons of other pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from arena.core.permalink import decision_params as decision_params
from arena.core.permalink import decision_path
from arena.core.settings import ROOT
from arena.ui.prose import for_markdown
from arena.ui.tokens import strategy_label

DECISIONS_PAGE = "pages/results/decisions.py"
"""For `st.switch_page(ROOT / DECISIONS_PAGE, query_params=decision_params(id))`; links take `decision_url`."""

decision_url = decision_path


def decision_link(decision_id: str, label: str) -> None:
    """A link to one decision, or with a track's id to its newest, in this tab."""
    st.page_link(
        ROOT / DECISIONS_PAGE, label=for_markdown(label), icon=":material/forum:",
        query_params=decision_params(decision_id),
    )  # fmt: skip


EQUITY_PAGE = "pages/results/equity.py"


def equity_params(run: str, strategy: str, entry: str | None, asset: str | None) -> dict[str, str]:
    """URL parameters of the Equity page; None leaves all entries or all assets in."""
    place = {"run": run, "strategy": strategy_label(strategy)}
    place |= {} if entry is None else {"eq_entries": entry}
    return place | ({} if asset is None else {"eq_asset": asset})


def equity_link(row: dict[str, Any], label: str) -> None:
    """A link to the curve of a board row, in this tab."""
    benchmark = row["group"] == "benchmark"
    entry = None if benchmark else f"{row['agent']}@{row['model']}"
    strategy = "baseline" if benchmark else row["strategy"]
    st.page_link(
        ROOT / EQUITY_PAGE, label=for_markdown(label), icon=":material/show_chart:",
        query_params=equity_params(row["run"], strategy, entry, row.get("asset")),
    )  # fmt: skip


OVERVIEW_PAGE, LAUNCH_PAGE = "pages/results/overview.py", "pages/experiments/launch.py"


def launch_params(run: str, *, other_model: bool = False) -> dict[str, str]:
    """URL parameters of the Launch page that fill its form in as `run` was made; with `other_model`
    the models are left to choose."""
    return {"from_run": run} | ({"change": "model"} if other_model else {})


def launch_url(run: str, *, other_model: bool = False) -> str:
    """`/launch?from_run=...`: run it again, or with another model."""
    return f"/launch?{urlencode(launch_params(run, other_model=other_model))}"


def launch_links(run: str) -> None:
    """"Run this again" and "With another model", in this tab."""
    for label, icon, other in (
        ("Run this again", ":material/replay:", False),
        ("With another model", ":material/swap_horiz:", True),
    ):
        st.page_link(
            ROOT / LAUNCH_PAGE, label=label, icon=icon,
            query_params=launch_params(run, other_model=other),
        )  # fmt: skip
