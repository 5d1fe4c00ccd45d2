"""Overview: who is ahead of doing nothing."""

import streamlit as st

from arena.ui import board, filters, overview, queries, states
from arena.ui.page import open_run

page = open_run("Overview")
axes = filters.axes_card(page.summaries)
chosen = (axes.agents, axes.models, axes.assets, (axes.strategy,))
rows = queries.rows(page.key, page.store, page.run_id, "entry", *chosen)

overview.tiles(rows, page.run, queries.last_round(page.key, page.store, page.run_id))
entries = [r for r in rows if r["group"] != "benchmark"]
if not entries:
    st.write("No entry matches. Remove a filter.")
    st.stop()

picked = overview.main_board(rows, axes.strategy)
accounts = queries.rows(page.key, page.store, page.run_id, "account", *chosen)
overview.accounts_of(picked, accounts)
overview.stand_in_board(rows)
overview.small_multiples(rows)
states.footer(
    f"{len(entries)} entries · {sum(r['n_accounts'] for r in entries)} accounts · "
    f"{board.window_words(accounts)}."
)
