"""Overview: who is ahead of doing nothing."""

import streamlit as st

from arena.ui import (
    board,
    board_card,
    board_view,
    exporting,
    filters,
    overview,
    overview_data,
    pulse,
    since,
    states,
)
from arena.ui.page import open_run
from arena.ui.session import on_phone, theme

page = open_run("Overview")
pulse.line(page)
axes = filters.axes_card(page.summaries)
data = overview_data.read(page, axes)
if data is None:
    filters.nothing_matches(page.summaries)
    states.footer("")
    st.stop()

overview.tiles(data.entries, page.run, data.last_round, data.entry_luck)
seen = since.moment()
since.card(overview_data.news(page, data, seen), seen, data.last_session)

view, corner = board_view.switches(rules=overview.only_stand_ins(data.entries))
shown = overview_data.board_of(page, data, view)
with corner:
    exporting.export_menu(f"{page.run_id}-{view.by}", shown.rows, shown.chances, shown.costs)
board_view.follow_click(shown.rows)
picked = board_view.draw(shown, view)
overview.notes(shown.rows, data.axes.strategy, str(page.run["fill"]), shown.n_all)
unfolded = overview_data.unfold(page, data, picked)
board_card.card(picked, shown, unfolded.accounts, unfolded.luck, data.key)
overview.stand_in_board(data.key, theme(), data.entries)
overview.small_multiples(data.key, theme(), on_phone(), data.entries)
played = [r for r in data.entries if r["group"] != "benchmark"]
states.footer(
    f"{len(played)} entries · {sum(r['n_accounts'] for r in played)} accounts · "
    f"{board.window_words(data.held)}."
)
