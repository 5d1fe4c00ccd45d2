"""Parts of the Market page about one day: the brief with its scores, and the stories behind it.

Every text of a story or a model goes through `st.text`, a table or `for_markdown`.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Literal

import pandas as pd
import streamlit as st

from arena.core.text import SUSPICIOUS
from arena.runner.reviews import REVIEWERS, RULES
from arena.ui import board, equity_queries, queries, states
from arena.ui import format as fmt
from arena.ui.links import decision_link
from arena.ui.market_days import CODE, DOTS, RULE_WORDS, Slot, code_scores, state_of, used_first
from arena.ui.page import RunPage
from arena.ui.prose import for_badge, for_markdown, plain
from arena.ui.session import on_phone

Color = Literal["red", "orange", "green", "gray", "blue"]
SCORE_COLOR: tuple[Color, ...] = ("red", "orange", "green")
SIDE: dict[str, tuple[str, Color]] = {"bullish": ("▲", "green"), "neutral": ("■", "gray"), "bearish": ("▼", "red")}
SYNTHETIC = "synthetic"


def brief_card(page: RunPage, slot: Slot, rejected: Container[str]) -> None:
    """The brief of a slot as its agents read it, or why there is none."""
    with st.container(border=True):
        with st.container(horizontal=True):  # bare, a header has a wide margin above it
            st.header(
                f"{for_markdown(slot['asset'])} · {fmt.weekday(slot['session'])}", width="content"
            )
        if slot["content"] is None:
            _no_brief(slot)
            _to_decisions(page, slot)
            return
        content, row = slot["content"], slot["row"] or {}
        stories = queries.stories(page.key, page.store, slot["stories_sha256"])
        with st.container(horizontal=True, gap="xsmall"):
            mark, color = SIDE[content["sentiment"]]
            st.badge(f"{mark} {content['sentiment']} {fmt.signed(content['score'])}", color=color)
            maker_badge(content)
            if any(s["trust"] == SYNTHETIC for s in stories):
                st.badge("Synthetic news", icon=":material/science:", color="orange")
            _review_badge(queries.newest_reviews(page.key, page.store), slot["brief"])
            if slot["market_hash"] in rejected:
                states.rejected_badge()
        plain(content["summary"])
        _list_of("Themes", content["themes"])
        _list_of("Drivers covered", content["drivers"])
        score_badges(slot)
        _evidence(slot)
        _used_by(page, slot, rejected)
        _to_decisions(page, slot)
        st.markdown(f":small[:gray[{_provenance(slot, content, row)}]]")


def maker_badge(content: dict[str, Any]) -> None:
    """Whether a model wrote it; a digest is other people's sentences, word for word."""
    if content["kind"] == "digest":
        st.badge("extract, no model", icon=":material/content_cut:", color="gray")
    else:
        st.badge(for_badge(content["maker"]), icon=":material/smart_toy:", color="blue")


def _no_brief(slot: Slot) -> None:
    state = state_of(slot)
    if state == "failed":
        row = slot["row"]
        name = for_markdown(row["maker"])
        st.error(
            f"{name} made no brief of {_stories_of(slot)} ({row['status']}). Agents saw them without one.",
            title="Brief failed",
        )
        if row["error"]:
            plain(row["error"])
    elif state == "silent":
        st.warning(
            f"{fmt.counted(slot['n_polls'], 'poll')} on that day, none answered: nobody knows whether "
            "there was news.",
            title="Sources failed",
        )
    elif slot["n_stories"]:
        st.write(f"{_stories_of(slot)}, and no brief was made of them.")
    else:
        name = for_markdown(slot["asset"])
        st.write(f"No story about {name} became known between the slot before and this one.")


def _stories_of(slot: Slot) -> str:
    return fmt.counted(int(slot["n_stories"]), "story", "stories")


def _review_badge(reviews: pd.DataFrame, brief: str) -> None:
    n = int((reviews["brief"] == brief).sum())
    words = "not reviewed" if n == 0 else f"reviewed by {n} of {REVIEWERS}"
    color: Color = "green" if n >= REVIEWERS else "blue" if n else "gray"
    st.badge(words if n <= REVIEWERS else f"reviewed by {n}", icon=":material/fact_check:", color=color)


def _list_of(name: str, words: list[str]) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        st.markdown(f":small[:gray[{name}]]", width="content")
        for word in words:
            st.badge(for_badge(word), color="gray")
        if not words:
            st.markdown(":small[none]", width="content")


def score_badges(slot: Slot) -> None:
    """The four scores of the code as dots and a word."""
    scores = code_scores(slot)
    with st.container(horizontal=True, gap="xsmall"):
        st.markdown(":small[:gray[Quality]]", width="content")
        for rule in RULES:
            if rule in scores:
                n = scores[rule]
                st.badge(f"{DOTS[n]} {RULE_WORDS[rule]}", color=SCORE_COLOR[n])
            else:
                st.badge(f"{fmt.MISSING} {RULE_WORDS[rule]}", color="gray")


def _evidence(slot: Slot) -> None:
    if not slot["scores"]:
        return
    order = {rule: i for i, rule in enumerate(RULES)}
    rows = sorted(slot["scores"], key=lambda s: (order.get(s["rule"], 9), s["scorer"] != CODE))
    with st.expander("Evidence behind the scores", icon=":material/rule:"):
        table = pd.DataFrame(
            {
                "rule": [RULE_WORDS.get(r["rule"], r["rule"]) for r in rows],
                "score": [DOTS[int(r["score"])] for r in rows],
                "scorer": [r["scorer"] for r in rows],
                "evidence": [r["evidence"] for r in rows],
            }
        )
        text = st.column_config.TextColumn
        st.dataframe(
            table, hide_index=True, row_height=board.ROW_HEIGHT, key="evidence",
            alt="Evidence of each score",
            column_config={
                "rule": text("Rule", width=70), "score": text("Score", width=46),
                "scorer": text("Scored by", width=96), "evidence": text("Evidence", width=420),
            },
        )  # fmt: skip
        for row in rows:
            if len(row["evidence"]) > 60:
                plain(f"{RULE_WORDS.get(row['rule'], row['rule'])}, {row['scorer']}: {row['evidence']}")


def _used_by(page: RunPage, slot: Slot, rejected: Container[str]) -> None:
    used = queries.brief_decisions(page.key, page.store, slot["brief"])
    if used.empty:
        return
    n = len(used)
    with st.expander(f"Read by {fmt.counted(n, 'decision')}", icon=":material/groups:"):
        if slot["market_hash"] in rejected:
            states.rejected_badge(n)
        st.dataframe(
            used[["agent", "model", "action", "status", "run"]], hide_index=True, key="used_by",
            row_height=board.ROW_HEIGHT, height=board.height(n, most=8),
            alt="Decisions that read this brief",
            column_config={c: c.capitalize() for c in ("agent", "model", "action", "status", "run")},
        )  # fmt: skip


def _to_decisions(page: RunPage, slot: Slot) -> None:
    """A link to the first decision made at the slot; the others are beside it there."""
    made = equity_queries.marks(page.key, page.store, page.run_id, slot["asset"])
    made = made[made["market_hash"] == slot["market_hash"]]
    if len(made):
        decision_link(made["decision"].iloc[0], f"{fmt.counted(len(made), 'decision')} at this slot")


def _provenance(slot: Slot, content: dict[str, Any], row: dict[str, Any]) -> str:
    n_stories, n_items, n_outlets = content["n_stories"], content["n_items"], content["n_sources"]
    stories = fmt.counted(n_stories, "story", "stories")
    parts = [
        f"{stories} from {fmt.counted(n_items, 'item')} of {fmt.counted(n_outlets, 'outlet')}",
        f"known by {fmt.moment(slot['as_of_utc'])}",
    ]
    if row.get("n_calls"):
        cost = "cost unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        parts.append(for_markdown(f"{fmt.counted(int(row['n_calls']), 'call')}, {cost}"))
    parts.append(f"{content['id']}, SHA-256 {slot['brief_sha256'][:12]}")
    return " · ".join(parts)


def stories_table(page: RunPage, slot: Slot) -> None:
    """The stories that the slot's agents could read, those of the brief first, and who told them."""
    used = set((slot["content"] or {}).get("story_ids", ()))
    told = queries.stories(page.key, page.store, slot["stories_sha256"])
    stories = used_first(told, used)
    if not stories:
        return
    st.header("Stories of that day")
    table = pd.DataFrame(
        {
            "known": [s["known_at_utc"].replace(tzinfo=None) for s in stories],
            "outlet": [s["source"] for s in stories],
            "sources": [s["n_sources"] for s in stories],
            "trust": [s["trust"] for s in stories],
            "dated": [s["dated"] for s in stories],
            "brief": ["●" if s["id"] in used else "" for s in stories],
            "flag": ["⚑" if s["suspicion"] >= SUSPICIOUS else "" for s in stories],
            "title": [s["title"] for s in stories],
        }
    )
    text = st.column_config.TextColumn
    order = list(table.columns)
    if on_phone():
        order = ["known", "flag", "title", *(c for c in order if c not in ("known", "flag", "title"))]
    event = st.dataframe(
        table, hide_index=True, row_height=board.ROW_HEIGHT, key=f"stories_{slot['market_hash']}",
        height=board.height(len(stories), most=10), selection_mode="single-row", on_select="rerun", column_order=order,
        alt="Stories known at the slot",
        column_config={
            "known": st.column_config.DatetimeColumn("Known, UTC", format="D MMM HH:mm", width=100),
            "outlet": text("Outlet", width=130),
            "sources": st.column_config.NumberColumn("Sources", width=62, help="Outlets that told it by then"),
            "trust": text("Trust", width=80), "dated": text("Date", width=72, help="How good its date is"),
            "brief": text("Brief", width=46, help="● the brief uses it"),
            "flag": text("Flag", width=40, help="⚑ reads like an instruction to its reader"),
            "title": text("Title", width=520),
        },
    )  # fmt: skip
    picked = [i for i in event.selection.rows if i < len(stories)]
    if picked:
        _story(stories[picked[0]])
    else:
        st.markdown(":small[:gray[Tick a story to read its text.]]")
    _items(page, slot, [s["id"] for s in stories])


def _story(story: dict[str, Any]) -> None:
    with st.container(border=True):
        plain(story["title"])
        plain(story["text"] or "(no text beyond its title)")


def _items(page: RunPage, slot: Slot, told: list[str]) -> None:
    items = queries.articles(page.key, page.store, slot["asset"], tuple(told), slot["as_of_utc"])
    if items.empty:
        st.markdown(":small[:gray[The items behind these stories are not in this store.]]")
        return
    n = len(items)
    label = f"{fmt.counted(n, 'item')} behind the stories, with their addresses"
    with st.expander(label, icon=":material/article:"):
        at = {story: i for i, story in enumerate(told, start=1)}
        table = items.assign(
            line=[at[s] for s in items["story"]],
            known=items["known_at_utc"].dt.tz_localize(None),
            published=items["published_at_utc"].dt.tz_localize(None),
        ).sort_values(["line", "known", "article"])
        text, number = st.column_config.TextColumn, st.column_config.NumberColumn
        moment = st.column_config.DatetimeColumn
        st.dataframe(
            table[["line", "known", "published", "outlet", "origin", "suspicion", "url", "title"]],
            hide_index=True, row_height=board.ROW_HEIGHT, height=board.height(n, most=10),
            key="items", placeholder=fmt.MISSING, alt="Items behind the stories",
            column_config={
                "line": number("Story", width=50, help="Line of the table above"),
                "known": moment("Known, UTC", format="D MMM HH:mm", width=100),
                "published": moment("Published", format="D MMM HH:mm", width=100),
                "outlet": text("Outlet", width=120), "origin": text("Found by", width=100),
                "suspicion": number("Suspicion", format="%.2f", width=72),
                # Text, not a link: a foreign address is read, never followed by a click.
                "url": text("Address", width=260), "title": text("Title", width=260),
            },
        )  # fmt: skip
