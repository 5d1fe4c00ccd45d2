"""Since your last visit: what was decided, failed and moved after a moment that the address keeps.

The moment stands in the URL (`seen`) once somebody marks the board as seen: a bookmark then carries it
over days and reloads, and nothing has to be stored about a visitor. Without one, the newest session is
what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import streamlit as st

from arena.analytics.entry_curve import Curve
from arena.core.actions import FAILED, ActionSpec, Intent, target_side
from arena.core.clock import utc_now
from arena.ui import format as fmt
from arena.ui.prose import for_badge

Row = dict[str, Any]

SEEN = "seen"
SEEN_FORMAT = "%Y%m%dT%H%M%SZ"
MOST_MOVES = 6


@dataclass(frozen=True)
class Move:
    """A change of place in the ranking by net return, both counted from 1."""

    entry: str
    before: int
    now: int


@dataclass(frozen=True)
class News:
    """Counts of new live decisions, and who changed places by them."""

    n_decisions: int
    n_flips: int
    n_failed: int
    moves: tuple[Move, ...]


def parse_seen(text: str | None) -> datetime | None:
    """The moment in a `seen` parameter; None for none, or for one that is no moment."""
    try:
        return datetime.strptime(text or "", SEEN_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def ranks_before(curves: Mapping[str, Curve], entries: Sequence[str], session: date) -> dict[str, int]:
    """Rank of each entry by its growth at the last session before `session`; {} where there is none.

    `curves` are by entry, as `queries.curves` gives them.
    """
    day = pd.Timestamp(session)
    n_before = {e: int(curves[e].sessions.searchsorted(day)) for e in sorted(entries) if e in curves}
    known = {e: float(curves[e].values[n]) for e, n in n_before.items() if n}
    return {e: i for i, e in enumerate(sorted(known, key=lambda e: -known[e]), 1)}


def news_of(
    fresh: pd.DataFrame, spec: ActionSpec, before: Mapping[str, int], now: Mapping[str, int]
) -> News:
    """Counts and moves from `activity.fresh_decisions`, and from the ranks before and now.

    A flip is a decision that asks for another side than the one held, as on the Decisions page.
    """
    n = {"all": 0, "flips": 0, "failed": 0}
    for row in fresh.to_dict("records"):
        many, held = int(row["n"]), int(row["position_before"])
        n["all"] += many
        n["failed"] += many * (row["status"] in FAILED)
        n["flips"] += many * (target_side(Intent(row["intent"]), held, spec) != held)
    moves = [Move(e, before[e], r) for e, r in now.items() if e in before and before[e] != r]
    moves.sort(key=lambda m: (-abs(m.before - m.now), m.now))
    return News(n["all"], n["flips"], n["failed"], tuple(moves))


def card(news: News, seen: datetime | None, newest: date) -> None:
    """One line of badges, and a button that moves the moment to now."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        when = f"Since {fmt.moment(seen)}" if seen else f"New on {fmt.day(newest)}"
        st.markdown(f"**{when}**", width="content")
        if not news.n_decisions:
            st.markdown(":small[:gray[No new decision.]]", width="content")
        else:
            st.badge(fmt.counted(news.n_decisions, "decision"), icon=":material/add:", color="gray")
            st.badge(fmt.counted(news.n_flips, "flip"), icon=":material/swap_vert:", color="blue")
            if news.n_failed:
                st.badge(f"{news.n_failed} failed", icon=":material/error:", color="red")
            for move in news.moves[:MOST_MOVES]:
                up = move.now < move.before
                st.badge(
                    f"{for_badge(move.entry)} {move.before} → {move.now}",
                    icon=":material/arrow_upward:" if up else ":material/arrow_downward:",
                    color="green" if up else "orange",
                )  # fmt: skip
            more = len(news.moves) - MOST_MOVES
            if more > 0:
                st.markdown(f":small[:gray[and {fmt.counted(more, 'more rank move')}]]", width="content")
        st.button(
            "Mark as seen", icon=":material/done_all:", type="tertiary", on_click=_mark, key="ov_seen",
            help="Puts this moment into the address: bookmark it, and the next visit shows what is new",
        )  # fmt: skip


def _mark() -> None:
    st.query_params[SEEN] = utc_now().strftime(SEEN_FORMAT)
    st.session_state[SEEN] = st.query_params[SEEN]


def moment() -> datetime | None:
    """When the visitor last marked the board as seen, by the URL or else by this session."""
    text = st.query_params.get(SEEN) or st.session_state.get(SEEN)
    return parse_seen(text)
