"""Market & news: what was known when, what was made of it, and what people say of that."""

import streamlit as st

from arena.ui import market, market_charts, market_day, market_days, queries, reviewing, states
from arena.ui.page import open_run

page = open_run("Market & news")
here = (page.key, page.store, page.run_id)
assets = sorted(page.summaries["asset"].unique())
view = market.controls(assets, page.run["end"].date())
first = max(page.run["start"].date(), view.since or page.run["start"].date())

every_slot = queries.news_slots(*here, view.asset)
slots = market.within(every_slot, view)
reads_news = page.brief_maker != "none" or any(s["n_stories"] for s in every_slot)
checks = queries.price_checks(*here)
rejected = queries.rejected(*here)
notes = queries.notes(page.key, page.store, view.asset)
asset_class = queries.asset_classes(page.key, page.store)[view.asset]

bars = queries.bars(*here, view.asset)
events = market.events_of(bars, every_slot, notes, first)
inside = bars[bars["session"].dt.date >= first].reset_index(drop=True)
gaps = checks.loc[(checks["asset"] == view.asset) & (checks["kind"] == "gap"), "session"]
market.chart(
    market_days.with_gaps(inside, gaps.tolist(), every_day=asset_class == "crypto"),
    slots, market_charts.pins_of(events), view, reads_news=reads_news, key=page.key,
)  # fmt: skip

day = page.run["end"].date()
if not reads_news:
    st.info(
        "Its agents saw no story and no brief. A run on data with news shows them here.",
        title="This run read prices only",
    )
elif not slots:
    st.write("No slot in this range.")
else:
    market.asset_without_news(view.asset, every_slot)
    left, right = st.columns([0.45, 0.55])
    with left:
        slot = market.day_list(slots, rejected)
        day = slot["session"]
    with right:
        market_day.brief_card(page, slot, rejected)
    market_day.stories_table(page, slot)

market.health(queries.source_health(page.store))
market.price_checks(checks, view.asset)
classes = sorted(set(queries.asset_classes(page.key, page.store).values()))
reviewing.section(page, classes, asset_class)
reviewing.notes(page, view.asset, day, (page.run["start"].date(), page.run["end"].date()))
states.footer("")
