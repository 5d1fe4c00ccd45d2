"""Overview: who is ahead of doing nothing."""

import streamlit as st

from arena.ui import board, filters, overview, queries, states
from arena.ui.session import store_or_stop

states.banners()
store = store_or_stop("Overview")
key = queries.version(store)
runs = queries.runs(key, store)
if runs.empty:
    st.title("Overview")
    states.empty_store()

run = filters.title_row("Overview", runs)
summaries = queries.summaries(key, store, run["run"])
states.status_line(run, summaries)
states.background_line()
axes = filters.axes_card(summaries)
chosen = (axes.agents, axes.models, axes.assets, (axes.strategy,))
rows = queries.rows(key, store, run["run"], "entry", *chosen)

overview.tiles(rows, run, queries.last_round(key, store, run["run"]))
entries = [r for r in rows if r["group"] != "benchmark"]
if not entries:
    st.write("No entry matches. Remove a filter.")
    st.stop()

picked = overview.main_board(rows, axes.strategy)
accounts = queries.rows(key, store, run["run"], "account", *chosen)
overview.accounts_of(picked, accounts)
overview.stand_in_board(rows)
overview.small_multiples(rows)
states.footer(
    f"{len(entries)} entries · {sum(r['n_accounts'] for r in entries)} accounts · "
    f"{board.window_words(accounts)}."
)
