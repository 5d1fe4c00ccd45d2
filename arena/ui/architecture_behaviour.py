"""Lower half of the page on architecture and model: behaviour, weather, and two accounts side by side."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from arena.analytics.behaviour import action_shares, agreement
from arena.analytics.regimes import REGIMES, UnderWater
from arena.ui import architecture_charts as charts
from arena.ui import architecture_queries, board, market, market_charts, queries
from arena.ui import format as fmt
from arena.ui.architecture import STILL, best_of, card_title
from arena.ui.charts import MODE_BAR, PHONE_MARKS
from arena.ui.page import RunPage
from arena.ui.prose import for_markdown
from arena.ui.session import on_phone, theme
from arena.ui.tokens import BUY_HOLD, TOKENS, agent_color, short_model

MOST_ENTRIES = 24
"""Entries that the two behaviour figures can show legibly; the best by net return are kept."""

NAME_CHARS = 28
"""Of an entry's name on an axis; the tables have all of it."""


def behaviour_cards(decisions: pd.DataFrame, ranked: tuple[str, ...], key: tuple[str, int]) -> None:
    """What entries said, and how often two of them said the same; `ranked` has the best first."""
    names = tuple(sorted(ranked[:MOST_ENTRIES]))
    some = best_of(len(names), len(ranked), "entries")
    own = decisions.assign(entry=decisions["agent"] + "@" + decisions["model"])
    own = own[own["entry"].isin(names)]
    if own.empty:
        st.write("No decision of these entries is stored.")
        return
    shares = action_shares(own)
    shares["entry"] = shares["agent"] + "@" + shares["model"]
    left, right = st.columns(2)
    with left, st.container(border=True, height="stretch"):
        card_title("Actions")
        failed = int((~own["status"].isin(["ok", "repaired"])).sum())
        rest = (
            f" {fmt.counted(failed, 'failure or gap', 'failures and gaps')} left out."
            if failed
            else ""
        )
        st.markdown(
            f":small[Share of BUY, HOLD and SELL among the decisions that a model made.{rest}{some}]"
        )
        st.plotly_chart(
            charts.action_figure(shares.assign(entry=_short(shares["entry"])), theme()), theme=None,
            config=STILL, key=f"actions_{key[1]}", alt="Shares of BUY, HOLD and SELL by entry",
        )  # fmt: skip
    with right, st.container(border=True, height="stretch"):
        card_title("Agreement")
        st.markdown(":small[Percent of slots in which two entries said the same word.]")
        if len(names) < 2:
            st.write("One entry: nobody to agree with.")
            return
        share, n = agreement(own, names)
        st.plotly_chart(
            charts.agreement_figure(share, n, _short(names), theme(), phone=on_phone()),
            theme=None, config=STILL, key=f"agreement_{key[1]}",
            alt="Share of slots in which two entries said the same",
        )  # fmt: skip


def _short(names: Iterable[str]) -> list[str]:
    return [_said(n) for n in names]


def regime_card(results: dict[str, tuple[dict[str, tuple[float | None, int]], UnderWater]]) -> None:
    """Mean return a session in each regime, and time under water, an entry a row."""
    with st.container(border=True):
        card_title("By regime, and under water")
        st.markdown(
            ":small[Up / down: the close before the session is above / below the one 20 sessions earlier. High volatility: "
            "the last 20 returns vary more than in three of four earlier stretches. Mean net return of a session in "
            "percent; accounts pooled. Under water: days below the highest balance so far.]"
        )
        rows = []
        for name, (weather, water) in results.items():
            row: dict[str, Any] = {"entry": "◆ Buy & Hold" if name == BUY_HOLD else name}
            for regime in REGIMES:
                mean, _ = weather[regime]
                row[regime] = None if mean is None else 100 * mean
            row |= {
                "below": 100 * water.n_below / water.n if water.n else None,
                "longest": water.longest,
                "recovery": recovery_words(water),
            }
            rows.append(row)
        counts = next(iter(results.values()))[0]
        number = st.column_config.NumberColumn
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, key="regimes", row_height=board.ROW_HEIGHT,
            height=board.height(len(rows), 16), placeholder=fmt.MISSING, alt="Returns by regime and days under water",
            column_config={
                "entry": st.column_config.TextColumn("Entry", width=130 if on_phone() else 230),
                **{
                    r: number(f"{r.capitalize()} (n {counts[r][1]})", format="%+.2f%%", width=160)
                    for r in REGIMES
                },
                "below": number("Under water", format="%.0f%%", width=110, help="Share of days below the peak"),
                "longest": number("Longest, days", width=110),
                "recovery": st.column_config.TextColumn(
                    "Recovery, days", width=130, help="From the lowest point back to the peak before it"
                ),
            },
        )  # fmt: skip


def recovery_words(water: UnderWater) -> str:
    if not water.fell:
        return "never fell"
    return "not yet" if water.recovery is None else str(water.recovery)


def pair_card(
    page: RunPage, strategy: str, assets: tuple[str, ...], ranked: tuple[str, ...]
) -> None:
    """Profit gap of two accounts under the price, with events, news and what both did (Figures 3, 4)."""
    with st.container(border=True):
        card_title("Two accounts on one asset")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            asset = st.segmented_control(
                "Asset",
                list(assets),
                default=assets[0],
                required=True,
                key="ar_asset",
                bind="query-params",
            )
            options = [*ranked, BUY_HOLD]
            first = st.selectbox("First", options, key="ar_first", bind="query-params", width=300)
            second = st.selectbox(
                "Second",
                options,
                index=_rival(options),
                key="ar_second",
                bind="query-params",
                width=300,
            )
        asset = str(asset)
        growth = architecture_queries.pair(page.key, page.store, page.run_id, asset, strategy)
        missing = [n for n in (first, second) if n not in growth]
        if missing:
            st.write(f"No account of {for_markdown(', '.join(missing))} on this asset.")
            return
        gap = (100 * (growth[first] - growth[second])).dropna()
        here = (page.key, page.store, page.run_id)
        bars = queries.bars(*here, asset)
        since = max(page.run["start"].date(), _first_shown(bars))
        gap = gap[gap.index >= pd.Timestamp(since)]
        slots = queries.news_slots(*here, asset)
        notes = queries.notes(page.key, page.store, asset)
        pins = market_charts.pins_of(market.events_of(bars, slots, notes, since))
        inside = bars[bars["session"].dt.date >= since].set_index("session")["close"]
        acts = _acts(queries.acts(*here), asset, (first, second))
        acts = acts[acts["session"] >= pd.Timestamp(since)]
        agents = tuple(sorted({n.split("@", 1)[0] for n in ranked}))
        colors = tuple(_color(n, agents) for n in (first, second))
        end = fmt.points(float(gap.iloc[-1]) / 100) if len(gap) else fmt.MISSING
        st.markdown(
            f":small[Bars: balance of **{for_markdown(_said(first))}** minus **{for_markdown(_said(second))}**, in percentage points of "
            f"the capital; {end} at the end. Colour = who is ahead. News: score of the brief, \u22121 to 1.]"
        )
        st.plotly_chart(
            charts.pair_figure(
                inside, gap, _scores(slots, since), acts, (_said(first), _said(second)),
                (colors[0], TOKENS[theme()].muted if colors[0] == colors[1] else colors[1]), pins, theme(),
                phone=on_phone(),
            ),
            theme=None, config=MODE_BAR, key=f"pair_{page.key[1]}",
            alt=f"Price of {asset}, profit gap of two accounts, news and actions",
        )  # fmt: skip
        if pins:
            words = "\u2003".join(
                f":gray-badge[{p.number}] {fmt.day(p.session)} {for_markdown(p.words)}"
                for p in pins
            )
            st.markdown(f":small[{words}]")


def _first_shown(bars: pd.DataFrame) -> date:
    """On a phone the first of the last PHONE_MARKS sessions; else all of them are."""
    if not on_phone() or len(bars) <= PHONE_MARKS:
        return date.min
    st.markdown(f":small[:gray[The last {PHONE_MARKS} sessions; a wider screen shows all.]]")
    first: date = bars["session"].iloc[-PHONE_MARKS].date()
    return first


def _rival(options: list[str]) -> int:
    """The best entry of another agent than the first's; Buy & Hold, the last, where there is none."""
    agent = options[0].split("@", 1)[0]
    others = [i for i, n in enumerate(options) if n.split("@", 1)[0] != agent]
    return others[0]


def _said(name: str) -> str:
    if name == BUY_HOLD:
        return "Buy & Hold"
    agent, model = name.split("@", 1)
    return market.cut(f"{agent} {short_model(model)}", NAME_CHARS)


def _color(name: str, agents: tuple[str, ...]) -> str:
    agent = name.split("@", 1)[0]
    return TOKENS[theme()].benchmark if name == BUY_HOLD else agent_color(agent, agents, theme())


def _acts(decisions: pd.DataFrame, asset: str, names: tuple[str, str]) -> pd.DataFrame:
    own = decisions[decisions["asset"] == asset]
    entry = own["agent"] + "@" + own["model"]
    own = own.assign(entry=entry)[entry.isin(names)]
    return own.assign(entry=[_said(n) for n in own["entry"]])[
        ["entry", "session", "action", "status", "late"]
    ]


def _scores(slots: list[dict[str, Any]], since: date) -> pd.Series:
    read = [s for s in slots if s["content"] is not None and s["session"] >= since]
    index = pd.DatetimeIndex([pd.Timestamp(s["session"]) for s in read])
    return pd.Series([float(s["content"]["score"]) for s in read], index=index, dtype=float)
