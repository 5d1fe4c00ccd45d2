"""The run picker and the four axes, bound to the URL, so that a link shows the same view."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from arena.ui import format as fmt
from arena.ui.prose import for_markdown
from arena.ui.tokens import BUY_HOLD, strategy_label

MANY_KEYS = ("agents", "models", "assets")
FIRST_STRATEGY = "baseline"
AFTER_KEY, SEARCH_KEY = "ov_after", "ov_q"
AFTER_HELP = (
    "Leaves out models whose knowledge reaches into the window, and models whose cut-off nobody states. "
    "Stand-ins know nothing and stay."
)


@dataclass(frozen=True)
class Axes:
    """What is chosen; an empty tuple means all of that axis."""

    agents: tuple[str, ...]
    models: tuple[str, ...]
    assets: tuple[str, ...]
    strategy: str
    after_cutoff: bool = False


def run_group(run: pd.Series) -> str:
    """Under which heading a run is listed: `Workbench` for ad-hoc runs, else by its kind."""
    if bool(run["workbench"]):
        return "Workbench"
    return "Live season" if run["kind"] == "live" else str(run["kind"]).capitalize()


def in_groups(runs: pd.DataFrame) -> pd.DataFrame:
    """Live seasons first, ad-hoc runs last, each from the newest on as they come."""
    place = {"Live season": 0, "Workbench": 2}
    order = [place.get(run_group(r), 1) for _, r in runs.iterrows()]
    return runs.iloc[sorted(range(len(order)), key=order.__getitem__)].reset_index(drop=True)


def run_label(run: pd.Series) -> str:
    """Group, window, fill and id: enough to tell two runs apart."""
    open_ended = run["kind"] == "live" and run["status"] == "running"
    window = (
        f"since {fmt.day(str(run['start']))}" if open_ended
        else fmt.span(str(run["start"]), str(run["end"]))
    )  # fmt: skip
    void = " · void" if pd.notna(run["voided_reason"]) else ""
    return f"{run_group(run)} · {window} · fill {run['fill']} · {run['run']}{void}"


def title_row(title: str, runs: pd.DataFrame) -> pd.Series:
    """Page title and the run picker; returns the chosen run's row."""
    runs = in_groups(runs)
    labels = {str(r["run"]): run_label(r) for _, r in runs.iterrows()}
    ids = list(labels)
    # Not bound: a bound picker would write the whole label into the URL instead of the id.
    wanted = st.query_params.get("run", st.session_state.get("chosen_run"))
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.title(title, width="content")
        chosen = st.selectbox(
            "Run", ids, index=ids.index(wanted) if wanted in ids else 0, key="run_picker",
            format_func=labels.__getitem__, label_visibility="collapsed", width=430,
            on_change=_link_run,
        )  # fmt: skip
    if wanted == chosen and "run" not in st.query_params:
        _link_run()  # the menu's links carry no parameters
    st.session_state.chosen_run = chosen
    return runs[runs["run"] == chosen].iloc[0]


def _link_run() -> None:
    st.query_params["run"] = st.session_state.run_picker


def strategies_of(summaries: pd.DataFrame) -> list[str]:
    """Stored strategies, Baseline first."""
    found = sorted(set(summaries["strategy"].unique()) - {BUY_HOLD})
    return sorted(found, key=lambda s: (not s.startswith(FIRST_STRATEGY), s))


def axes_card(summaries: pd.DataFrame) -> Axes:
    """Four rows of pills in a card; Reset empties them and the URL."""
    played = summaries[summaries["grp"] != "benchmark"]
    after = False
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
            agents = _many("Agents", "agents", played["agent"])
            models = _many("Models", "models", played["model"])
        with right:
            assets = _many("Assets", "assets", summaries["asset"])
            with st.container(
                horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
            ):
                strategy = strategy_pills(played)
                reset_button(played, "Reset", key="reset")
        if (played["grp"] == "model").any():
            after = st.toggle(
                "After model's cut-off only", key=AFTER_KEY, bind="query-params", help=AFTER_HELP
            )
    return Axes(agents, models, assets, strategy, bool(after))


def reset_button(played: pd.DataFrame, label: str, *, key: str) -> None:
    """Empties the axes, the search and the URL of them."""
    st.button(
        label, icon=":material/restart_alt:", type="tertiary", on_click=_reset, key=key,
        args=(strategies_of(played)[0],),
    )  # fmt: skip


def nothing_matches(summaries: pd.DataFrame) -> None:
    """What stands in the place of a board that the filters left nothing of."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown("No entry matches. Remove a filter.", width="content")
        reset_button(summaries[summaries["grp"] != "benchmark"], "Show all", key="show_all")


def strategy_pills(summaries: pd.DataFrame) -> str:
    options = strategies_of(summaries)
    return str(
        st.pills(
            "Strategy", options, format_func=strategy_label, default=options[0], required=True,
            key="strategy", bind="query-params",
        )
    )  # fmt: skip


def _many(label: str, key: str, values: pd.Series) -> tuple[str, ...]:
    options = sorted(values.unique())
    chosen = st.pills(
        label, options, selection_mode="multi", key=key, bind="query-params",
        format_func=for_markdown,
    )  # fmt: skip
    return tuple(sorted(chosen or ()))


def _reset(first_strategy: str) -> None:
    # A default value takes its parameter out of the URL by itself.
    for key in MANY_KEYS:
        st.session_state[key] = []
    st.session_state.strategy = first_strategy
    st.session_state[AFTER_KEY] = False
    st.session_state[SEARCH_KEY] = ""
