"""Equity: the curves side by side, what each entry did, and the drawn lines in numbers."""

import streamlit as st

from arena.ui import equity, filters, queries, states
from arena.ui.session import store_or_stop

states.banners()
store = store_or_stop("Equity")
key = queries.version(store)
runs = queries.runs(key, store)
if runs.empty:
    st.title("Equity")
    states.empty_store()

run = filters.title_row("Equity", runs)
summaries = queries.summaries(key, store, run["run"])
states.status_line(run, summaries)
states.background_line()

view = equity.controls(summaries)
assets = (view.asset,) if view.asset else ()
curves = queries.curves(key, store, run["run"], view.models, assets, view.strategy)
lines = equity.lines_of(curves, view, float(equity.capital_of(run)))
equity.chart(lines, view, key)

if view.asset:
    equity.tape(
        queries.prices(key, store, run["run"], view.asset),
        queries.decisions(key, store, run["run"]),
        view,
        key,
    )
else:
    st.markdown(":small[:gray[Choose one asset to see every decision on it.]]")
rows = queries.rows(key, store, run["run"], "entry", (), view.models, assets, (view.strategy,))
equity.numbers(rows)
equity.data(lines)
states.price_checks(queries.price_checks(key, store, run["run"]))
states.footer("")
