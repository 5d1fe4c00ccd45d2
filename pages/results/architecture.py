"""Architecture or model? What the spread of returns goes with, how entries act, which roles are right."""

import streamlit as st

from arena.ui import (
    architecture,
    architecture_behaviour,
    architecture_queries,
    queries,
    states,
    table1,
)
from arena.ui import format as fmt
from arena.ui.page import open_run

page = open_run("Architecture or model?")
here = (page.key, page.store, page.run_id)
view = architecture.controls(page.summaries)
chosen = (*here, view.assets, view.strategy)
rows = queries.rows(*here, "entry", (), (), view.assets, (view.strategy,))
own = architecture.contenders(rows, view)
architecture.left_out(rows, own, view)
if not own:
    st.write("No entry is left to make a statement about. Remove a filter.")
    states.footer("")
    st.stop()

names = architecture.entry_names(own)
models = tuple(sorted({r["model"] for r in own}))
spread = architecture_queries.variance(*chosen, names)
architecture.headline(spread)
architecture.band_card(queries.curves(*here, view.assets, view.strategy), own, view, page.key)
left, right = st.columns([0.57, 0.43])
with left:
    architecture.heat_card(own, view, page.key)
with right:
    architecture.share_card(spread, own, page.key)
left, right = st.columns([0.44, 0.56])
with left:
    architecture.style_card(rows, own, architecture_queries.held(*chosen), page.key)
with right:
    architecture.league_card(architecture_queries.league(*here, view.assets, models))

ranked = tuple(r["entry"] for r in own)
architecture_behaviour.behaviour_cards(queries.acts(*here), ranked, page.key)
architecture_behaviour.regime_card(architecture_queries.weather(*chosen, ranked))
architecture_behaviour.pair_card(page, view.strategy, view.assets, ranked)
table1.table1_section(page)
n_accounts = sum(r["n_accounts"] for r in own)
states.footer(
    f"{fmt.counted(len(own), 'entry', 'entries')} · {fmt.counted(n_accounts, 'account')}."
)
