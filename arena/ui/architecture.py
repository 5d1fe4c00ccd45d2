"""Parts of the page on architecture and model: the paper's research questions on the run at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from arena.analytics.bands import bands
from arena.analytics.behaviour import STYLES, style_word
from arena.analytics.entry_curve import Curve
from arena.analytics.role_league import RoleScore
from arena.analytics.variance import N_SHUFFLES, NOISE_P, Split
from arena.ui import architecture_charts as charts
from arena.ui import board, overview
from arena.ui import format as fmt
from arena.ui.filters import strategy_pills
from arena.ui.prose import for_badge, for_markdown
from arena.ui.session import on_phone, theme
from arena.ui.tokens import (
    BUY_HOLD,
    TOKENS,
    agent_color,
    model_symbol,
    short_model,
    strategy_label,
)

Row = dict[str, Any]

STILL = {"displayModeBar": False}
AGENTS_OVER, MODELS_OVER = "Agents over models", "Models over agents"
OVER = {AGENTS_OVER: "agent", MODELS_OVER: "model"}
VOTE = "vote"
MOST_BANDS = 10

NO_SPLIT = {
    "too_few_accounts": "Fewer than three accounts: there is no spread to explain.",
    "no_spread": "All accounts earned the same: there is no spread to explain.",
    "one_of_each": "One asset, one model and one agent: nothing to tell apart.",
}


@dataclass(frozen=True)
class ArchitectureView:
    """What the controls say; no asset means all of them."""

    assets: tuple[str, ...]
    strategy: str
    over: str
    after_cutoff: bool


def controls(summaries: pd.DataFrame) -> ArchitectureView:
    """One wrapping line of controls, all bound to the URL."""
    played = summaries[summaries["grp"] != "benchmark"]
    every = sorted(summaries["asset"].unique())
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        assets = st.pills(
            "Assets", every, selection_mode="multi", key="assets", bind="query-params",
            format_func=for_markdown,
        )  # fmt: skip
        strategy = strategy_pills(played)
        over = st.segmented_control(
            "Bands",
            list(OVER),
            default=AGENTS_OVER,
            required=True,
            key="ar_bands",
            bind="query-params",
        )
        after = st.toggle(
            "After model's cut-off only", key="ar_after", bind="query-params",
            help="Leaves out models whose knowledge reaches into the window, and models whose cut-off "
            "nobody states. Stand-ins know nothing and stay.",
        )  # fmt: skip
    return ArchitectureView(tuple(sorted(assets or every)), strategy, OVER[str(over)], bool(after))


def contenders(rows: list[Row], view: ArchitectureView) -> list[Row]:
    """Entries that statements are made about: no vote, no stand-in beside a model, none that is left out."""
    own = [
        r for r in overview.contenders(rows) if short_model(r["model"]) != VOTE and not r["voided"]
    ]
    if view.after_cutoff:
        own = [r for r in own if r["may_know"] is False or r["group"] == "stand_in"]
    return own


def entry_names(rows: list[Row]) -> tuple[str, ...]:
    return tuple(sorted(r["entry"] for r in rows))


def left_out(rows: list[Row], own: list[Row], view: ArchitectureView) -> None:
    """Says which entries of the board this page makes no statement about, and why."""
    kept = set(entry_names(own))
    others = [r for r in rows if r["group"] != "benchmark" and r["entry"] not in kept]
    with st.container(horizontal=True):
        if own and all(r["group"] == "stand_in" for r in own):
            st.badge("Stand-ins only: rules, not models", icon=":material/rule:", color="orange")
        if knowing := sorted({short_model(r["model"]) for r in own if r["may_know"]}):
            st.badge(
                f"May know this period: {for_badge(', '.join(knowing))}",
                icon=":material/history_edu:", color="orange",
            )  # fmt: skip
        if others:
            st.badge(f"Left out: {', '.join(_why(others, view))}", color="gray")


def _why(others: list[Row], view: ArchitectureView) -> list[str]:
    """Counts of entries by the first reason that keeps them out."""
    reasons = [
        "voided" if r["voided"]
        else "vote" if short_model(r["model"]) == VOTE
        else "may know the period" if view.after_cutoff and r["may_know"]
        else "without a stated cut-off" if view.after_cutoff and r["group"] != "stand_in"
        else "stand-in"
        for r in others
    ]  # fmt: skip
    counts = {why: reasons.count(why) for why in dict.fromkeys(reasons)}
    plain = {"vote": "votes", "stand-in": "stand-ins"}
    return [
        fmt.counted(n, why, plain[why]) if why in plain else f"{n} {why}"
        for why, n in counts.items()
    ]


def headline(found: Split) -> None:
    """What explains the spread, in a sentence, hedged where shuffled accounts do as well."""
    if found.reason is not None:
        st.write(NO_SPLIT[found.reason])
        return
    shares = [
        (name, fmt.percent(found[name].share_frac, 0, sign=False))
        for name in ("asset", "model", "agent")
        if found[name].df
    ]
    (first, share), *others = shares
    says = f"**In this run the {first} explains {share} of the spread in return"
    says += "".join(f", the {name} {share}" for name, share in others) + "**"
    both = found["agent × model"]
    if both.df:
        says += (
            f" and the combination of agent and model {fmt.percent(both.share_frac, 0, sign=False)}"
        )
    st.markdown(f"{says}. {comparison(found)}")


def comparison(found: Split) -> str:
    """Which of model and agent goes before, if that is more than shuffling does."""
    if found.gap_p is None:
        return ""
    model, agent = found["model"], found["agent"]
    first, second = (
        ("Model", "agent") if model.share_frac >= agent.share_frac else ("Agent", "model")
    )
    noisy = all(t.p is not None and t.p > NOISE_P for t in (model, agent))
    if found.gap_p <= NOISE_P:
        return f"{first} goes before {second} by more than chance (p = {found.gap_p:.3f})."
    if noisy:
        return "Neither model nor agent explains more than chance would."
    return f"{first} before {second} is within noise (p = {found.gap_p:.2f})."


def band_card(
    curves: Mapping[str, Curve], own: list[Row], view: ArchitectureView, key: tuple[str, int]
) -> None:
    """Mean return with the range over the other axis."""
    other = "model" if view.over == "agent" else "agent"
    n_other = len({r[other] for r in own})
    mine: dict[str, list[Curve]] = {}
    for row in own:
        if row["entry"] in curves:
            mine.setdefault(row[view.over], []).append(curves[row["entry"]])
    hold = curves.get(BUY_HOLD)
    every = bands(mine)
    found = (
        sorted(every, key=lambda b: -b.mean[-1])[:MOST_BANDS] if len(every) > MOST_BANDS else every
    )
    agents, now = tuple(sorted({r["agent"] for r in own})), theme()
    palette = TOKENS[now].agents
    colors = {
        b.name: agent_color(b.name, agents, now)
        if view.over == "agent"
        else palette[i % len(palette)]
        for i, b in enumerate(found)
    }
    with st.container(border=True):
        card_title(f"Mean return with the range over {fmt.counted(n_other, other)}")
        st.markdown(
            f":small[Line = mean over {for_markdown(other)}s, band = lowest to highest, dots = Buy & Hold. Net, "
            f"equal weight over {fmt.counted(len(view.assets), 'asset')}, strategy {strategy_label(view.strategy)}."
            f"{best_of(len(found), len(every), view.over)}]"
        )
        st.plotly_chart(
            charts.band_figure(found, colors, hold, now, phone=on_phone()),
            theme=None, config=STILL, key=f"bands_{key[1]}",
            alt=f"Mean net return by {view.over} with the range over {other}s",
        )  # fmt: skip
        ends = pd.DataFrame(
            [(b.name, 100 * b.mean[-1], 100 * b.low[-1], 100 * b.high[-1], b.n) for b in found],
            columns=[view.over, "mean, %", "lowest, %", "highest, %", "curves"],
        )
        _data(ends.round(1), "band_data")


def best_of(shown: int, every: int, what: str) -> str:
    """What a figure leaves out, or nothing."""
    return "" if shown == every else f" The best {shown} of {every} {what} by net return."


def heat_card(own: list[Row], view: ArchitectureView, key: tuple[str, int]) -> None:
    with st.container(border=True, height="stretch"):
        card_title("Agent × model")
        st.markdown(
            f":small[Net return, equal weight over {fmt.counted(len(view.assets), 'asset')}, with medians. Colour is "
            "centred on 0.]"
        )
        grid = (
            pd.DataFrame(
                [(r["agent"], r["model"], board.value(r, "CR")) for r in own],
                columns=["agent", "model", "value"],
            )
            .astype({"value": float})
            .pivot_table(index="agent", columns="model", values="value")
        )
        st.plotly_chart(
            charts.heat_figure(grid, theme(), phone=on_phone()), theme=None, config=STILL,
            key=f"heat_{key[1]}", alt="Net return by agent and model, with medians",
        )  # fmt: skip


def share_card(found: Split, own: list[Row], key: tuple[str, int]) -> None:
    with st.container(border=True, height="stretch"):
        card_title("What explains the spread")
        if found.reason is not None:
            st.write(NO_SPLIT[found.reason])
            return
        who = "Stand-ins only." if all(r["group"] == "stand_in" for r in own) else "No stand-ins."
        st.markdown(
            f":small[Share of the variance of {found.n} account returns (type I sums of squares, in this order). No "
            f"Vote, no Buy & Hold. {who} Grey: {N_SHUFFLES} shuffles within each asset often do as well "
            f"(p above {NOISE_P:g}).]"
        )
        st.plotly_chart(
            charts.share_figure(found.terms, theme()), theme=None, config=STILL, key=f"shares_{key[1]}",
            alt="Shares of the variance of returns by asset, model, agent and their combination",
        )  # fmt: skip


def style_card(rows: list[Row], own: list[Row], held: pd.DataFrame, key: tuple[str, int]) -> None:
    """Risk against return; the word comes from how an entry was invested."""
    with st.container(border=True, height="stretch"):
        card_title("Style map")
        st.markdown(
            ":small[Risk against return, one mark an entry. Colour = agent, shape = model.]"
        )
        hold = next((r for r in rows if r["group"] == "benchmark"), None)
        risk, gain = (None if hold is None else board.value(hold, m) for m in ("AV", "CR"))
        points = style_points(own, held, risk)
        if points.empty:
            st.write("No entry has a volatility: the window is too short.")
            return
        hold_at = None if risk is None or gain is None else (risk, gain)
        st.plotly_chart(
            charts.style_figure(points, hold_at, theme(), phone=on_phone()), theme=None, config=STILL,
            key=f"style_{key[1]}", alt="Volatility against net return of each entry",
        )  # fmt: skip
        with st.expander("Styles", icon=":material/table:"):
            rules = ". ".join(f"**{word}**: {rule}" for word, rule in STYLES.items())
            st.markdown(f":small[The first that holds. {rules}.]")
            table = points.assign(
                volatility=100 * points["volatility"], value=100 * points["value"],
                invested=100 * points["invested"],
            )[["name", "style", "value", "volatility", "invested", "flips"]]  # fmt: skip
            number = st.column_config.NumberColumn
            st.dataframe(
                table, hide_index=True, key="style_data", alt="Style of each entry", row_height=board.ROW_HEIGHT,
                column_config={
                    "name": "Entry", "style": "Style", "value": number("Net return", format="%+.1f%%"),
                    "volatility": number("Volatility", format="%.1f%%"),
                    "invested": number("Invested", format="%.0f%%"), "flips": number("Flips"),
                },
            )  # fmt: skip


def style_points(own: list[Row], held: pd.DataFrame, hold_volatility: float | None) -> pd.DataFrame:
    """Entries with a volatility, as `architecture_charts.style_figure` takes them."""
    agents = tuple(sorted({r["agent"] for r in own}))
    models = tuple(sorted({r["model"] for r in own}))
    seen: dict[Any, Any] = {(h["agent"], h["model"]): h for h in held.to_dict("records")}
    now, points = theme(), []
    for r in own:
        volatility, value, h = (
            board.value(r, "AV"),
            board.value(r, "CR"),
            seen.get((r["agent"], r["model"])),
        )
        if volatility is None or value is None or h is None:
            continue
        style = style_word(h["invested_frac"], h["flip_frac"], volatility, hold_volatility)
        points.append(
            {
                "name": r["entry"], "agent": r["agent"], "model": r["model"], "volatility": volatility,
                "value": value, "color": agent_color(r["agent"], agents, now),
                "symbol": model_symbol(r["model"], models), "style": style,
                "invested": h["invested_frac"], "flips": h["n_flips"],
            }
        )  # fmt: skip
    return pd.DataFrame(points)


def league_card(scores: list[RoleScore]) -> None:
    """Every role's own signal as a track that was free to trade."""
    with st.container(border=True, height="stretch"):
        card_title("Role league")
        st.markdown(
            ":small[Each role's own signal scored as a free track: share right at the next close, with 95 % Wilson "
            "interval, best lower end first. Overruled = it was right, the decision stood elsewhere.]"
        )
        table = league_frame(scores)
        if table.empty:
            st.write("No role of these entries has given a direction that can be scored yet.")
            return
        number = st.column_config.NumberColumn
        st.dataframe(
            table, hide_index=True, key="league", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
            height=board.height(len(table), 14), alt="Roles by share of signals that were right",
            column_config={
                "role": st.column_config.TextColumn("Role", width=132),
                "agent": st.column_config.TextColumn("Agent", width=70),
                "right": number("Right", format="%.0f%%", width=52),
                "interval": st.column_config.TextColumn("95 %", width=62),
                "n": number("n", width=44, help="Signals with a side and a known next move"),
                "followed": st.column_config.ProgressColumn(
                    "Followed", format="%.0f%%", min_value=0, max_value=100, width=86,
                    help="The position that the decision asked for was on its side",
                ),
                "overruled": number("Overruled", width=74, help="Right, but not followed"),
                "neutral": number("Neutral", width=58, help="No side taken, not scored"),
            },
        )  # fmt: skip
        st.markdown(
            ":small[:gray[◆ The role that decides. ƒ A figure worked out by code. A bull or a bear counts with its given "
            "side where its strength is above 0.5. Risk control is scored by the sign of its target.]]"
        )


def league_frame(scores: list[RoleScore]) -> pd.DataFrame:
    """Roles with at least one scored signal, as the table shows them; shares in percent."""
    return pd.DataFrame(
        [
            {
                "role": role_label(s),
                "agent": s.agent,
                "right": 100 * s.n_right / s.n,
                "interval": interval_words(s.interval),
                "n": s.n,
                "followed": None if s.decides or s.followed_frac is None else 100 * s.followed_frac,
                "overruled": None if s.decides else s.n_overruled,
                "neutral": s.n_neutral,
            }
            for s in scores
            if s.n
        ]
    )


def role_label(score: RoleScore) -> str:
    words = score.role.replace("_", " ").capitalize()
    mark = "◆ " if score.decides else "ƒ " if score.kind == "compute" else ""
    return mark + words


def interval_words(found: tuple[float, float] | None) -> str:
    return fmt.MISSING if found is None else f"{100 * found[0]:.0f} – {100 * found[1]:.0f}"


def card_title(words: str) -> None:
    """Inside a horizontal container, where a heading has no blank line above it."""
    with st.container(horizontal=True):
        st.header(words, width="content")


def _data(table: pd.DataFrame, key: str) -> None:
    with st.expander("Data", icon=":material/table:"):
        st.dataframe(table, hide_index=True, key=key, alt="The same as numbers")
