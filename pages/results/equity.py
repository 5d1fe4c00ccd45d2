"""Equity: the curves side by side, what each entry did, and the drawn lines in numbers."""

import streamlit as st

from arena.ui import equity, queries, states
from arena.ui.page import open_run

page = open_run("Equity")
here = (page.key, page.store, page.run_id)
view = equity.controls(page.summaries)
assets = (view.asset,) if view.asset else ()
curves = queries.curves(*here, view.models, assets, view.strategy)
lines = equity.lines_of(curves, view, float(equity.capital_of(page.run)))
equity.chart(lines, view, page.key)

if view.asset:
    equity.tape(
        queries.prices(*here, view.asset),
        queries.decisions(*here),
        view,
        page.key,
        queries.rejected(*here),
    )
else:
    st.markdown(":small[:gray[Choose one asset to see every decision on it.]]")
rows = queries.rows(*here, "entry", (), view.models, assets, (view.strategy,))
equity.numbers(rows)
equity.data(lines)
states.price_checks(queries.price_checks(*here))
states.footer("")
