"""Equity: the curves side by side, what each entry did, and the drawn lines in numbers."""

import streamlit as st

from arena.ui import equity, equity_numbers, equity_view, queries, states, tape
from arena.ui.page import open_run

page = open_run("Equity")
view = equity_view.controls(page)
if not view.found:
    equity.nothing(view)
    states.footer("")
    st.stop()
data = equity.read(page, view)
lines = equity.lines(page, view, data)
equity.remarks(view, data, lines, str(page.run["fill"]))
equity.chart(lines, view, page.key)
tape.section(page, view, lines)
equity_numbers.table(page, view, data)
equity.more(lines, data)
equity.data(lines)
states.price_checks(queries.price_checks(page.key, page.store, page.run_id))
states.footer("")
