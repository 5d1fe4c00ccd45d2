"""Parts of the Market page where people write: reviews of sampled briefs, their agreement, notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from arena.analytics.agreement import cohen_kappa, disagreements, percent_agreement
from arena.core.errors import ArenaError
from arena.core.types import AssetClass
from arena.runner import reviews as writing
from arena.runner.reviews import MAX_NAME_CHARS, MAX_NOTE_CHARS, RULES, SAMPLE_SIZE
from arena.ui import auth, board, queries
from arena.ui import format as fmt
from arena.ui.market_days import LEVELS, RULE_WORDS
from arena.ui.page import RunPage
from arena.ui.prose import for_badge, for_markdown, plain

REVIEWER, THANKS, N_NOTED = "reviewer", "review_thanks", "n_noted"
CLASS_WORDS: dict[AssetClass, str] = {"stock": "Stocks", "etf": "Funds", "crypto": "Coins"}
NO_KAPPA = {"no_observations": "nothing scored by both", "one_category": "one score only"}


def section(page: RunPage, classes: Sequence[AssetClass], asset_class: AssetClass) -> None:
    """Briefs to score, how far two reviewers agree, and where they do not."""
    st.header("Reviews")
    samples = {c: queries.review_sample(page.key, page.store, c) for c in classes}
    having = [c for c in classes if samples[c]]
    if not having:
        st.markdown(":small[:gray[No brief was made yet that could be reviewed.]]")
        return
    if len(having) > 1:
        asset_class = st.segmented_control(
            "Class", having, default=asset_class if asset_class in having else having[0],
            required=True, key=f"mk_class_{asset_class}", format_func=CLASS_WORDS.__getitem__,
        )  # fmt: skip
    drawn = samples[asset_class if asset_class in having else having[0]]
    same = "brief" if len(drawn) == 1 else f"{len(drawn)} briefs, drawn by their ids"
    st.markdown(
        f":small[:gray[Two people score the same {same}"
        f"{f' (at most {SAMPLE_SIZE} a class)' if len(drawn) == SAMPLE_SIZE else ''}, each alone: "
        "what another gave a brief is shown once you have scored it yourself, and to readers once "
        "two have.]]"
    )
    everything = queries.newest_reviews(page.key, page.store)
    of_class = everything[everything["brief"].isin(drawn)]
    left, right = st.columns([0.46, 0.54])
    with left:
        _agreement(page, of_class, len(drawn))
    with right:
        _score_next(page, drawn, of_class)


def pairs_of(reviews: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs of reviewers by how many briefs both scored, the most first."""
    by_name = {str(n): set(g["brief"]) for n, g in reviews.groupby("reviewer")}
    pairs = list(combinations(sorted(by_name), 2))
    return sorted(pairs, key=lambda p: (-len(by_name[p[0]] & by_name[p[1]]), p))


def both(reviews: pd.DataFrame, a: str, b: str, rule: str) -> pd.DataFrame:
    """A rule's scores of two reviewers, columns a and b, by the briefs that both scored."""
    wide = reviews.pivot_table(index="brief", columns="reviewer", values=rule, aggfunc="last")
    return wide[[a, b]].dropna().astype(int).sort_index()


def agreement_frame(reviews: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """By rule: briefs both scored, agreement in percent and kappa, or why there is none."""
    made = []
    for rule in RULES:
        scores = both(reviews, a, b, rule)
        first, second = scores[a].tolist(), scores[b].tolist()
        kappa = cohen_kappa(first, second)
        why = f"{fmt.MISSING} {NO_KAPPA[kappa.reason]}" if kappa.reason else fmt.ratio(kappa.value)
        made.append(
            {
                "rule": RULE_WORDS[rule], "n": kappa.n, "agree": percent_agreement(first, second),
                "kappa": why,
            }
        )  # fmt: skip
    return pd.DataFrame(made)


def disagreement_frame(reviews: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """brief, rule and the two scores wherever they differ, the furthest apart first."""
    made = []
    for rule in RULES:
        scores = both(reviews, a, b, rule)
        for brief, x, y in disagreements(list(scores.index), scores[a].tolist(), scores[b].tolist()):
            made.append({"brief": brief, "rule": RULE_WORDS[rule], "a": x, "b": y})
    frame = pd.DataFrame(made, columns=["brief", "rule", "a", "b"])
    return frame.sort_values("a", key=lambda s: -(s - frame["b"]).abs(), kind="stable")


def _agreement(page: RunPage, of_class: pd.DataFrame, n_drawn: int) -> None:
    counts = of_class["reviewer"].value_counts()
    with st.container(horizontal=True, gap="xsmall"):
        for name in sorted(counts.index):
            st.badge(f"{for_badge(str(name))} {counts[name]} of {n_drawn}", color="blue")
        if counts.empty:
            st.markdown(":small[Nobody has scored one yet.]", width="content")
    shown = writing.shown_to(of_class, st.session_state.get(REVIEWER))
    pairs = pairs_of(shown)
    if not pairs:
        st.markdown(":small[:gray[Agreement appears once two people have scored the same brief.]]")
        return
    a, b = pairs[0]
    if len(pairs) > 1:
        a, b = st.selectbox("Reviewers", pairs, format_func=lambda p: f"{p[0]} and {p[1]}")
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    table = agreement_frame(shown, a, b)
    st.dataframe(
        table, hide_index=True, row_height=board.ROW_HEIGHT, height=board.height(len(table)),
        placeholder=fmt.MISSING, key="agreement", alt="Agreement of two reviewers by rule",
        column_config={
            "rule": text("Rule", width=90), "n": number("Briefs", width=60),
            "agree": number("Agree", format="%.1f%%", width=72, help="Share of equal scores"),
            "kappa": text(
                "Kappa", width=150,
                help="Cohen's, unweighted: (p_o - p_e) / (1 - p_e). 0 is what chance would give",
            ),
        },
    )  # fmt: skip
    apart = disagreement_frame(shown, a, b)
    if apart.empty:
        st.markdown(":small[They disagree on nothing.]")
        return
    st.markdown(f":small[They disagree {fmt.counted(len(apart), 'time')}]")
    about = {i: queries.brief(page.key, page.store, i) for i in dict.fromkeys(apart["brief"])}
    named = apart.assign(
        asset=[about[i]["asset"] for i in apart["brief"]],  # type: ignore[index]
        session=[about[i]["session"] for i in apart["brief"]],  # type: ignore[index]
    )
    st.dataframe(
        named[["asset", "session", "rule", "a", "b"]], hide_index=True, key="disagreements",
        row_height=board.ROW_HEIGHT, height=board.height(len(named), most=8),
        alt="Scores that differ",
        column_config={
            "asset": text("Asset", width=100),
            "session": st.column_config.DateColumn("Session", format="D MMM YYYY", width=96),
            "rule": text("Rule", width=80), "a": number(a, width=70), "b": number(b, width=70),
        },
    )  # fmt: skip


def _score_next(page: RunPage, drawn: Sequence[str], of_class: pd.DataFrame) -> None:
    """The next brief of the sample that this reviewer has not scored, without anybody's scores."""
    if not _may_write(page, "score briefs"):
        return
    name = st.text_input("Your name", key=REVIEWER, max_chars=MAX_NAME_CHARS, width=260)
    if said := st.session_state.pop(THANKS, None):
        st.success(said)
    if not name.strip():
        st.markdown(":small[:gray[Your name stands beside your scores.]]")
        return
    try:
        name = writing.plain_name(name)
    except ArenaError as error:
        st.error(for_markdown(str(error)))
        return
    mine = of_class[of_class["reviewer"].str.casefold() == name.casefold()]
    todo = [b for b in drawn if b not in set(mine["brief"])]
    st.progress(1 - len(todo) / len(drawn), text=f"{len(drawn) - len(todo)} of {len(drawn)} scored")
    if not todo:
        _change(page, mine)
        return
    _form(page, todo[0], name)


def _form(page: RunPage, brief_id: str, name: str) -> None:
    found = queries.brief(page.key, page.store, brief_id)
    assert found is not None
    with st.form(f"review_{brief_id}"):
        st.markdown(f"**{for_markdown(found['asset'])} · {fmt.weekday(found['session'])}**")
        plain(found["content"]["summary"])
        _stories(found, brief_id)
        scores = {}
        for rule in RULES:
            low, part, full = LEVELS[rule]
            meaning = f":small[:gray[0 {low} · 1 {part} · 2 {full}]]"
            scores[rule] = st.segmented_control(
                f"{RULE_WORDS[rule].capitalize()} {meaning}", [0, 1, 2], required=True,
                key=f"score_{rule}_{brief_id}",
            )  # fmt: skip
        rejected = st.checkbox("Reject this brief", key=f"reject_{brief_id}")
        note = st.text_input("Remark", key=f"remark_{brief_id}", max_chars=MAX_NOTE_CHARS)
        sent = st.form_submit_button("Save scores", type="secondary")
    if not sent:
        return
    if missing := [RULE_WORDS[r] for r, score in scores.items() if score is None]:
        st.error(f"Not scored yet: {', '.join(missing)}.")
        return
    given = {rule: int(score) for rule, score in scores.items() if score is not None}
    try:
        auth.require()
        writing.submit(page.store, brief_id, name, given, rejected=rejected, note=note)
    except ArenaError as error:
        st.error(for_markdown(str(error)))
        return
    st.session_state[THANKS] = "Saved."
    st.rerun()


def _stories(found: dict[str, Any], brief_id: str) -> None:
    if not found["stories"]:
        return
    table = pd.DataFrame(
        {
            "known": [s["known_at_utc"].replace(tzinfo=None) for s in found["stories"]],
            "outlet": [s["source"] for s in found["stories"]],
            "title": [s["title"] for s in found["stories"]],
            "text": [s["text"] for s in found["stories"]],
        }
    )
    st.dataframe(
        table, hide_index=True, row_height=board.ROW_HEIGHT, key=f"to_score_{brief_id}",
        height=board.height(len(table), most=5), alt="Stories that the brief was made of",
        column_config={
            "known": st.column_config.DatetimeColumn("Known, UTC", format="D MMM HH:mm", width=96),
            "outlet": st.column_config.TextColumn("Outlet", width=90),
            "title": st.column_config.TextColumn("Title", width=210),
            "text": st.column_config.TextColumn("Text", width=140),
        },
    )  # fmt: skip


def _change(page: RunPage, mine: pd.DataFrame) -> None:
    """After the sample: reject one of the briefs, or take a rejection back."""
    st.markdown(":small[All scored. A rejection can still be made or taken back.]")
    rejected = {str(b): bool(r) for b, r in zip(mine["brief"], mine["rejected"], strict=True)}
    about = {b: queries.brief(page.key, page.store, b) for b in rejected}

    def label(brief: str) -> str:
        row = about[brief]
        return brief if row is None else f"{row['asset']} {fmt.day(row['session'])}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Brief", list(rejected), format_func=label, width=260)
        back = rejected[chosen]
        if st.button("Take back the rejection" if back else "Reject this brief", key="reject_one"):
            try:
                auth.require()
                writing.mark_rejected(
                    page.store, chosen, str(mine["reviewer"].iloc[0]), rejected=not back
                )
            except ArenaError as error:
                st.error(for_markdown(str(error)))
                return
            st.rerun()


def notes(page: RunPage, asset: str, session: date, bounds: tuple[date, date]) -> None:
    """The host's dated notes on the asset, and a form for another one."""
    st.header("Notes")
    found = queries.notes(page.key, page.store, asset)
    if found.empty:
        st.markdown(f":small[:gray[No note on {for_markdown(asset)} yet.]]")
    for _, row in found.iterrows():
        author = for_markdown(str(row["author"]))
        st.markdown(f":small[:gray[{fmt.day(row['session'])} · {author}]]")
        plain(str(row["text"]))
    if not _may_write(page, "add notes", ask=False):
        return
    # A new form after each note: one that clears itself loses the words on a double click.
    n = st.session_state.get(N_NOTED, 0)
    with st.form(f"note_{n}"), st.container(horizontal=True, vertical_alignment="bottom"):
        low, high = bounds
        on = st.date_input(
            "Session", value=session, min_value=low, max_value=high, width=140, key=f"note_on_{asset}_{session}",
            format="YYYY-MM-DD",
        )  # fmt: skip
        text = st.text_input("Note", key=f"note_text_{n}", max_chars=MAX_NOTE_CHARS)
        author = st.text_input("By", key="note_by", max_chars=MAX_NAME_CHARS, width=160)
        sent = st.form_submit_button("Add note")
    if not sent:
        return
    try:
        auth.require()
        writing.add_note(page.store, asset, on, text, author)
    except ArenaError as error:
        st.error(for_markdown(str(error)))
        return
    st.session_state[N_NOTED] = n + 1
    st.rerun()


def _may_write(page: RunPage, what: str, *, ask: bool = True) -> bool:
    """Whether the store can be written and this session may; `ask` draws the field for the token."""
    if page.store.read_only:
        st.markdown(
            f":small[:gray[This page reads without the right to write, so it cannot {what}: the app "
            "runs without its runner, or another process owns the store.]]"
        )
        return False
    if ask:
        return auth.gate(what)
    return auth.unlocked()
