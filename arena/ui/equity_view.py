"""The controls of the Equity page, all bound to the URL, and which lines they ask for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date

import pandas as pd
import streamlit as st

from arena.ui import equity_lines, equity_queries, queries
from arena.ui import format as fmt
from arena.ui.charts import RANGES
from arena.ui.equity_lines import MOST_LINES, Pick
from arena.ui.filters import strategy_pills
from arena.ui.page import RunPage
from arena.ui.prose import for_markdown
from arena.ui.session import state, version

ALL_ASSETS = "All"
DATES = "Dates"
ENTRIES, ACCOUNTS = "Entries", "Accounts"
HIGHLIGHT, MEDIAN = "Grey field", "Median and range"
EMPTY = {
    "eq_asset": ALL_ASSETS, "agents": [], "models": [], "eq_entries": [], "eq_accounts": [],
    "eq_range": "All", "eq_mark": [],
}  # fmt: skip
FRESH_S = 30


@dataclass(frozen=True)
class EquityView:
    """What the controls say.

    `found` are all lines asked for, the best first and Buy & Hold last; `drawn` those that a chart
    can hold. `whole` is the run's window, `window` the shown one.
    """

    by_account: bool
    found: tuple[Pick, ...]
    drawn: tuple[Pick, ...]
    asset: str | None
    window: tuple[pd.Timestamp, pd.Timestamp]
    whole: tuple[pd.Timestamp, pd.Timestamp]
    capital: float
    net: bool
    log: bool
    rebase: bool
    marked: tuple[str, ...]
    band: bool
    references: tuple[str, ...]
    epochs: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The drawn lines with their accounts, as the queries take them."""
        return tuple((p.name, p.accounts) for p in self.drawn)

    @property
    def cut(self) -> bool:
        """Less than the whole run is shown."""
        return self.window != self.whole


def controls(page: RunPage) -> EquityView:
    """One wrapping line of controls; what is rarely changed is in the popover at its end."""
    summaries = page.summaries
    played = summaries[summaries["grp"] != "benchmark"]
    assets = sorted(summaries["asset"].unique())
    entries = equity_lines.entries_of(summaries)
    models = sorted(played["model"].unique())
    agents = sorted(played["agent"].unique())
    unknown = _unknown(
        ("eq_asset", [*assets, ALL_ASSETS]), ("eq_entries", entries), ("models", models),
        ("agents", agents),
    )  # fmt: skip
    whole = pd.Timestamp(summaries["start"].min()), pd.Timestamp(summaries["end"].max())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asset = _one("Asset", "eq_asset", [*assets, ALL_ASSETS], ALL_ASSETS)
        chosen_models = _many("Models", "models", models)
        strategy = strategy_pills(played)
        window = _window(whole)
        net = _one("Fees", "eq_fees", ["Net", "Gross"], "Net") == "Net"
        log = st.toggle("Log", key="eq_log", bind="query-params")
        rebase = st.toggle(
            "Rebase", value=True, key="eq_rebase", bind="query-params",
            help="Every line is 0 % at the close before the shown window",
        )  # fmt: skip
        more = st.popover("Lines", icon=":material/add:")
        _new_data(page)
    with more:
        by_account = _one("Compare", "eq_by", [ENTRIES, ACCOUNTS], ENTRIES) == ACCOUNTS
        chosen_agents = _many("Agents", "agents", agents)
        key, options = "eq_entries", entries
        if by_account:
            key = "eq_accounts"
            options = sorted(equity_lines.account_name(a) for a in played["account"])
            unknown += _unknown((key, options))
        chosen = st.multiselect(
            f"Only these {'accounts' if by_account else 'entries'}", options, key=key,
            bind="query-params", placeholder="all that the filters leave",
        )  # fmt: skip
        found = equity_lines.picks(
            summaries, by_account=by_account, chosen=chosen, agents=chosen_agents,
            models=chosen_models, asset=None if asset == ALL_ASSETS else asset, strategy=strategy,
        )  # fmt: skip
        drawn = equity_lines.most(found)
        own = [p.name for p in drawn if not p.benchmark]
        marked, band = _look(own)
        epochs = _epochs(page)
        references = _references(page, set(assets))
        st.button("Reset", icon=":material/restart_alt:", type="tertiary", on_click=reset)
    pinned = {a for p in drawn if not p.benchmark for a in [p.asset]}
    one = pinned.pop() if len(pinned) == 1 else None
    return EquityView(
        by_account, tuple(found), tuple(drawn), one, window, whole,
        float(json.loads(page.run["spec_json"])["season"]["capital"]), net, bool(log), bool(rebase),
        marked, band, references, epochs, unknown,
    )  # fmt: skip


def _one(label: str, key: str, options: list[str], default: str) -> str:
    return str(
        st.segmented_control(
            label, options, default=default, required=True, key=key, bind="query-params"
        )
    )


def _many(label: str, key: str, options: list[str]) -> tuple[str, ...]:
    chosen = st.pills(
        label, options, selection_mode="multi", key=key, bind="query-params",
        format_func=for_markdown,
    )  # fmt: skip
    return tuple(sorted(chosen or ()))


def _unknown(*known: tuple[str, list[str]]) -> tuple[str, ...]:
    """Values of the URL that name nothing in this run; Streamlit takes them out of it."""
    return tuple(
        value for key, options in known for value in st.query_params.get_all(key)
        if value and value not in options and value.replace("\\", "") not in options
    )  # fmt: skip


def _window(whole: tuple[pd.Timestamp, pd.Timestamp]) -> tuple[pd.Timestamp, pd.Timestamp]:
    choice = _one("Range", "eq_range", [*RANGES, DATES], "All")
    start, end = whole
    if choice != DATES:
        days = RANGES[choice]
        first = start if days is None else max(start, end - pd.Timedelta(days=days - 1))
        return first, end
    given = st.date_input(
        "From and to", value=(start.date(), end.date()), min_value=start.date(),
        max_value=end.date(), key="eq_dates", bind="query-params", format="YYYY-MM-DD",
    )  # fmt: skip
    picked: tuple[date, ...] = given if isinstance(given, tuple) else (given,)
    first = pd.Timestamp(picked[0]) if picked else start
    return first, pd.Timestamp(picked[1]) if len(picked) > 1 else end


def _look(own: list[str]) -> tuple[tuple[str, ...], bool]:
    """How more lines than can be told apart are drawn; nothing to choose for fewer."""
    if len(own) <= MOST_LINES:
        return (), False
    form = _one(f"Beyond {MOST_LINES} lines", "eq_form", [HIGHLIGHT, MEDIAN], HIGHLIGHT)
    marked = st.multiselect(
        "Highlight", own, max_selections=MOST_LINES, key="eq_mark", bind="query-params",
        placeholder=f"the best {MOST_LINES}",
    )  # fmt: skip
    return tuple(marked), form == MEDIAN


def _epochs(page: RunPage) -> tuple[str, ...]:
    found = equity_queries.epochs_of(queries.runs(page.key, page.store), page.run_id)
    if len(found) < 2:
        return ()
    shown = st.toggle(
        f"Range of all {len(found)} epochs", value=True, key="eq_epochs", bind="query-params"
    )
    return found if shown else ()


def _references(page: RunPage, traded: set[str]) -> tuple[str, ...]:
    """Markets of which the store has prices for the whole run; nothing to choose without any."""
    options = list(equity_queries.references(page.key, page.store, page.run_id))
    if not options:
        return ()
    chosen = st.pills(
        "Reference prices", options, selection_mode="multi", key="eq_ref", bind="query-params"
    )
    absent = [a for a in options if a not in traded]
    if absent:
        st.markdown(f":small[:gray[Not traded in this run: {', '.join(absent)}]]")
    return tuple(chosen or ())


def _new_data(page: RunPage) -> None:
    """A button once there is something new in a run that goes on; nothing is redrawn by itself."""
    if page.run["status"] != "done" or page.run["kind"] == "live":
        _chip(page.key)


@st.fragment(run_every=FRESH_S)
def _chip(seen: tuple[str, int]) -> None:
    # Asked for again, as a fragment may outlive the store it began with.
    store = state().store
    if store is not None and version(store) != seen:
        if st.button("New data", icon=":material/update:", type="primary", help="Draw it"):
            st.rerun()
    else:
        st.markdown(":small[:gray[Up to date]]", width="content")


def reset() -> None:
    """Callback: all lines over the whole run; a default takes its parameter out of the URL by itself."""
    for key, value in EMPTY.items():
        st.session_state[key] = value


def window_words(window: tuple[pd.Timestamp, pd.Timestamp]) -> str:
    """1 Aug to 30 Sep 2025."""
    if window[0] == window[1]:
        return fmt.day(window[0])
    return fmt.span(window[0].date().isoformat(), window[1].date().isoformat())
