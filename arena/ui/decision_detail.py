"""One decision in full: what it saw, what the roles said, what was decided, and what came of it.

Every text of a model goes through `st.text`, `st.code`, a table or `for_markdown`.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED, GAPS
from arena.ui import board, conversation, decision_queries
from arena.ui import format as fmt
from arena.ui.conversation import Said
from arena.ui.decision_seen import seen
from arena.ui.decisions import drop, go_to, long_text
from arena.ui.links import decision_params
from arena.ui.page import RunPage
from arena.ui.prose import for_badge, for_markdown, plain
from arena.ui.tokens import ACTION_MARK, POSITION_MARK

Document = dict[str, Any]
Color = Literal["red", "orange", "green", "gray", "blue"]

ACTION_COLOR: dict[str, Color] = {"BUY": "blue", "HOLD": "gray", "SELL": "orange"}
STANCE_COLOR: dict[int | None, Color] = {1: "green", 0: "gray", -1: "red", None: "gray"}
SIDE_NAME = {1: "long", 0: "flat", -1: "short"}
WORDS_CHARS = 900
RAW_CHARS = 20_000
"""Of one prompt or answer on the page; the file beside it has all."""

MOST_CITES, CITE_CHARS = 12, 40
MOST_CARDS = 8


def detail(
    page: RunPage, decision_id: str, *, newer: str | None = None, older: str | None = None,
    beside: Literal["", "left", "right"] = "",
) -> None:  # fmt: skip
    """Everything about one decision. `newer` and `older` are its neighbours; `beside`: it is one of two."""
    doc = decision_queries.document(page.key, page.store, decision_id)
    if doc is None:
        st.error(
            f"The store holds no decision {for_markdown(decision_id[:160])}. Choose one from the list.",
            title="No such decision",
        )
        return
    prefix, narrow = f"{'b' if beside == 'right' else 'a'}_", bool(beside)
    _head(page, doc, prefix, newer, older, steps=not beside)
    _badges(doc)
    _failure(doc)
    seen(page, doc, prefix, narrow=narrow)
    _said(doc, narrow=narrow)
    _outcome(page, doc, narrow=narrow)
    _cost(doc)
    _raw(page, doc, prefix)


def _head(
    page: RunPage, doc: Document, prefix: str, newer: str | None, older: str | None, *, steps: bool
) -> None:
    title = f"{for_markdown(doc['asset'])} · {fmt.weekday(doc['session'])}"
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(title, width="content", anchor=False)
        with st.container(horizontal=True, width="content", vertical_alignment="center", gap="xsmall"):
            if steps:
                for label, icon, target in (("Previous", "chevron_left", older), ("Next", "chevron_right", newer)):
                    st.button(
                        label, key=f"{prefix}{label}", icon=f":material/{icon}:", disabled=target is None,
                        on_click=go_to, args=(target or "",),
                    )  # fmt: skip
            with st.popover("Link", icon=":material/link:", type="tertiary"):
                st.code(address(doc["decision"]), language=None, wrap_lines=True)
            st.download_button(
                "JSON", lambda: decision_queries.whole(page.store, doc["decision"]),
                f"{doc['asset']}_{doc['slot_key']}.json".replace("/", "_"), "application/json",
                key=f"{prefix}json", icon=":material/download:", type="tertiary", on_click="ignore",
            )  # fmt: skip


def address(decision_id: str) -> str:
    """The full address of a decision on this host."""
    here = urlsplit(st.context.url or "")
    base = f"{here.scheme}://{here.netloc}{here.path}" if here.netloc else "/decisions"
    return f"{base}?{urlencode(decision_params(decision_id))}"


def action_badge(action: str, status: str, conviction: float | None) -> None:
    """The action with its shape; hollow and red where no model stands behind it."""
    sure = "" if conviction is None or pd.isna(conviction) else f" · {100 * conviction:.0f}"
    bad = status in FAILED | GAPS
    st.badge(
        f"□ {action} · {status.replace('_', ' ')}" if bad else f"{ACTION_MARK[action]} {action}{sure}",
        color="red" if bad else ACTION_COLOR[action],
    )


def _badges(doc: Document) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.markdown(f":small[{for_markdown(doc['agent'] + '@' + doc['model'])}]", width="content")
        action_badge(doc["action"], doc["status"], doc["conviction"])
        if doc["status"] not in FAILED | GAPS:
            ok = doc["status"] == "ok"
            st.badge(doc["status"], icon=":material/check:", color="green" if ok else "orange")
        if doc["phase"] == "warmup":
            st.badge("Warm-up: counts nowhere", icon=":material/school:", color="orange")
        if doc["late"]:
            st.badge("late: no live evidence", icon=":material/schedule:", color="orange")
        if doc["may_know"]:
            st.badge("May know this period", icon=":material/history_edu:", color="orange")
        if doc["n_failed_roles"]:
            st.badge(f"{fmt.counted(doc['n_failed_roles'], 'role')} without answer", color="red")
        before, after = doc["position_before"], doc["position_after"]
        if before != after:
            st.badge(f"flip: was {POSITION_MARK[before]} {SIDE_NAME[before]}", icon=":material/swap_horiz:", color="gray")
    decided = fmt.moment(doc["decided_at_utc"])
    st.markdown(f":small[:gray[Slot {fmt.moment(doc['as_of_utc'])} · recorded {decided}]]")


def _sentence(reason: str) -> str:
    """A recorded reason, closed so that a sentence may follow."""
    text = reason[:600].strip()
    ends = not text or text[-1] in ".!?…"
    return for_markdown(text) + ("" if ends else ".")


def _failure(doc: Document) -> None:
    if doc["status"] in FAILED:
        st.error(
            f"{_sentence(doc['reason'])} It acts as HOLD, is counted as failed, and is no opinion.",
            title=f"Failed: {doc['status'].replace('_', ' ')}",
        )
    elif doc["status"] in GAPS:
        st.warning(
            f"{_sentence(doc['reason'])} The position was kept.",
            title=f"No decision: {doc['status'].replace('_', ' ')}",
        )


def _said(doc: Document, *, narrow: bool) -> None:
    stages = conversation.stages(doc["agent"], doc["calls"])
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        st.header("What the roles said", width="content", anchor=False)
        st.markdown(f":small[:gray[{fmt.counted(doc['n_model_calls'], 'answer')} of a model]]", width="content")
    if not stages:
        st.markdown(":small[:gray[No role was asked. Its reason:]]")
        with st.container(border=True):
            long_text(doc["reason"] or "(no reason given)", WORDS_CHARS)
        return
    for number, stage in enumerate(stages, start=1):
        st.markdown(f":small[:gray[{number} · {for_markdown(stage.title)}]]")
        n = 1 if narrow else min(len(stage.said), 3)
        with st.grid(n, min_column_width=220):
            for said in stage.said:
                with st.container(border=True, height="stretch"):
                    _turn(said)


def _turn(said: Said) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        to = f" :small[:gray[→ {for_markdown(said.to)}]]" if said.to else ""
        st.markdown(f"**{for_markdown(said.label)}**{to}", width="content")
        if said.stance is not None:
            sure = "" if said.confidence is None else f" · {100 * said.confidence:.0f}"
            mark = "" if said.side is None else f"{POSITION_MARK[said.side]} "
            color = ACTION_COLOR.get(said.stance.upper(), STANCE_COLOR[said.side])
            st.badge(f"{mark}{for_badge(said.stance[:40])}{sure}", color=color)
        if said.code:
            st.badge("by code", icon=":material/calculate:", color="gray")
    if not said.words and said.problem is not None:
        st.badge(f"no usable answer: {said.status.replace('_', ' ')}", color="red")
        long_text(said.problem, WORDS_CHARS)
    for name, words in said.words:
        if len(said.words) > 1:
            st.markdown(f":small[:gray[{for_markdown(name.replace('_', ' '))}]]")
        long_text(words, WORDS_CHARS)
    if said.more:
        plain("\n".join(f"{k.replace('_', ' ')}: {v[:300]}" for k, v in said.more))
    if said.n_asked > 1:
        st.markdown(f":small[:gray[answered after {said.n_asked} tries]]")
    if said.evidence:
        with st.container(horizontal=True, gap="xsmall"):
            for cite in said.evidence[:MOST_CITES]:
                st.badge(for_badge(cite[:CITE_CHARS]), color="gray")
            if len(said.evidence) > MOST_CITES:
                st.markdown(f":small[:gray[+{len(said.evidence) - MOST_CITES}]]", width="content")


def _outcome(page: RunPage, doc: Document, *, narrow: bool) -> None:
    st.header("Decision and outcome", anchor=False)
    with st.grid(1 if narrow else 3, min_column_width=220):
        with st.container(border=True, height="stretch"):
            st.markdown("**Typed output**")
            sure = fmt.MISSING if doc["conviction"] is None else f"{100 * doc['conviction']:.0f}"
            cites = [str(e)[:CITE_CHARS] for e in doc["evidence"]]
            lines = [
                f"intent      {doc['intent']}", f"action      {doc['action']}", f"conviction  {sure}",
                f"status      {doc['status']}", f"evidence    {' '.join(cites[:MOST_CITES]) or fmt.MISSING}",
            ]  # fmt: skip
            st.code("\n".join(lines), language=None, wrap_lines=True)
            long_text(doc["reason"], WORDS_CHARS)
        with st.container(border=True, height="stretch"):
            _position(page, doc)
        with st.container(border=True, height="stretch"):
            _next(doc)


def _position(page: RunPage, doc: Document) -> None:
    rules = decision_queries.season(page.key, page.store, doc["run"])
    account = f"{doc['track']}:{rules.reference_strategy}"
    st.markdown(f"**Position** :small[:gray[{rules.reference_strategy.replace('_', ' ')}, net]]")
    rows = decision_queries.account_days(page.key, page.store, account)
    # Under `close` the row of the session stands after the fill, under `next` that of the next one.
    later: date | None = doc["session"] if rules.fill == "close" else doc["next_session"]
    equity = (doc["view"] or {}).get("equity")
    after = rows.get(later) if later is not None else None
    before = rows.get(doc["session"]) if rules.fill != "close" else None
    table = pd.DataFrame(
        {
            "what": ["Side", "Units", "Equity"],
            "before": [
                _side(doc["position_before"]), fmt.MISSING if before is None else f"{before[0]:,.4g}",
                fmt.money(equity),
            ],
            "after": [
                _side(doc["position_after"]), fmt.MISSING if after is None else f"{after[0]:,.4g}",
                fmt.MISSING if after is None else fmt.money(float(after[1])),
            ],
        }
    )  # fmt: skip
    text = st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, row_height=30, height=30 * 3 + 34,
        alt=f"Position before and after {doc['session']}, {doc['agent']}@{doc['model']}",
        column_config={"what": text("What", width=56), "before": text("Before", width=84), "after": text("After", width=84)},
    )  # fmt: skip
    if doc["phase"] == "warmup":
        st.markdown(":small[:gray[Warm-up trades on no account.]]")
        return
    _trades(decision_queries.account_fills(page.key, page.store, account), doc, later)


def _trades(traded: pd.DataFrame, doc: Document, later: date | None) -> None:
    """What the decision bought or sold, and apart from it what the end of the replay closed."""
    made = traded[traded["slot_key"] == doc["slot_key"]].to_dict("records")
    own = [leg for leg in made if leg["rule"] != decision_queries.FORCED_CLOSE]
    for leg in own[:4]:
        st.markdown(f":small[{_trade(leg)}, {for_markdown(leg['rule'].replace('_', ' '))}]")
    if not own:
        st.markdown(":small[:gray[No trade came of it.]]")
    for leg in decision_queries.closing_legs(traded):
        if leg["session"].date() in (doc["session"], later):
            st.markdown(
                f":small[:gray[The replay ended at the close of {fmt.day(leg['session'])}. The table stands before "
                f"its forced close: {_trade(leg).lower()}.]]"
            )


def _trade(leg: Document) -> str:
    return (
        f"{'Bought' if leg['units'] > 0 else 'Sold'} {abs(leg['units']):,.4g} at "
        f"\\${leg['price']:,.2f}, fee \\${leg['fee']:,.2f}"
    )


def _side(side: int) -> str:
    return f"{POSITION_MARK[side]} {SIDE_NAME[side]}"


def _next(doc: Document) -> None:
    st.markdown("**What happened next**")
    move = doc["next_return_frac"]
    if move is None:
        st.markdown(":small[:gray[No later session yet.]]")
        return
    words, color = verdict(doc["action"], doc["status"], move)
    st.metric(
        f"{for_markdown(doc['asset'])}, close to close {fmt.day(doc['next_session'])}", fmt.percent(move),
    )  # fmt: skip
    st.badge(words, color=color)
    st.markdown(":small[:gray[The next session alone, before costs. One agreement is no skill.]]")


def verdict(action: str, status: str, move: float) -> tuple[str, Color]:
    """Whether the next session agreed with a BUY or a SELL; HOLD and failures are not judged by it."""
    if status in FAILED | GAPS:
        return "no opinion to compare", "gray"
    if action == "HOLD":
        return "HOLD takes no side", "gray"
    if move == 0:
        return "unchanged", "gray"
    agreed = (move > 0) == (action == "BUY")
    return (f"agreed with {action}", "green") if agreed else (f"against {action}", "red")


def _cost(doc: Document) -> None:
    known = doc["cost_usd"] is not None
    with st.grid(5, min_column_width=110):
        st.metric("Calls", f"{doc['n_calls']}", border=True, help="Answers of models, computations, memory")
        tokens = fmt.MISSING if doc["tokens_in"] is None else f"{_thousands(doc['tokens_in'])} / {_thousands(doc['tokens_out'])}"
        st.metric("Tokens in / out", tokens, border=True, help="A dash: not told by the model")
        cost = f"${doc['cost_usd']:.4g}" if known else fmt.MISSING
        st.metric("Cost", cost, border=True, help="A dash: unknown, which is not 0")
        st.metric("Latency", _latency(doc["latency_ms"]), border=True)
        st.metric("Repaired", f"{doc['n_repairs']}", border=True, help="Answers sent back with the reason")
    hashes = " ".join(f"{name} {str(doc[name] or fmt.MISSING)[:12]}" for name in ("market_hash", "view_hash", "chain_hash"))
    st.code(hashes, language=None, wrap_lines=True)


def _thousands(n: int | None) -> str:
    return fmt.MISSING if n is None else f"{n}" if n < 1_000 else f"{n / 1_000:.1f}k"


def _latency(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1_000 else f"{ms / 1_000:.1f} s"


def _raw(page: RunPage, doc: Document, prefix: str) -> None:
    asked = [c for c in doc["calls"] if c["kind"] == "model"]
    for name, icon in (("prompt", "description"), ("answer", "data_object")):
        title = {"prompt": "Prompts", "answer": "Raw answers"}[name]
        box = st.expander(f"{title} ({len(asked)})", key=f"{prefix}{name}s", icon=f":material/{icon}:", on_change="rerun")
        if box.open:
            with box:
                _texts(page, asked, name, prefix)
    with st.expander(f"Calls, tools and memory operations ({len(doc['calls'])})", icon=":material/list_alt:"):
        st.dataframe(
            _call_table(doc["calls"]), hide_index=True, row_height=board.ROW_HEIGHT, key=f"{prefix}calls",
            height=board.height(len(doc["calls"]), most=12), placeholder=fmt.MISSING, alt="Every step in order",
        )  # fmt: skip


def _texts(page: RunPage, asked: list[dict[str, Any]], name: str, prefix: str) -> None:
    if not asked:
        st.write("No model was asked.")
        return
    labels = [f"{c['seq']} · {c['role']} · {c['status']} · {c[f'{name}_chars']:,} characters" for c in asked]
    at = st.selectbox(
        f"Which {name}", range(len(asked)), key=f"{prefix}{name}_at", format_func=lambda i: for_markdown(labels[i])
    )
    call = asked[int(at)]
    text = decision_queries.text(page.store, call[f"{name}_sha256"])
    if not text:
        st.write("Nothing came back." if name == "answer" else "No text is kept.")
        return
    st.code(text[:RAW_CHARS], language=None, wrap_lines=True, height=420 if len(text) > 2_000 else "content")
    if len(text) > RAW_CHARS:
        st.markdown(f":small[:gray[The first {RAW_CHARS:,} of {len(text):,} characters.]]")
        st.download_button(
            f"The whole {name}", text, f"{name}_{call['seq']}.txt", "text/plain", key=f"{prefix}{name}_file",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
    if call["error"]:
        st.markdown(":small[:gray[Why it was sent back or failed]]")
        long_text(str(call["error"]), WORDS_CHARS)


def _call_table(calls: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "#": [c["seq"] for c in calls],
            "kind": [c["kind"] for c in calls],
            "role": [c["role"] for c in calls],
            "status": [c["status"] for c in calls],
            "try": [c["attempt"] for c in calls],
            "in": [c["tokens_in"] for c in calls],
            "out": [c["tokens_out"] for c in calls],
            "result": [(c["parsed_json"] or c["error"] or "")[:2_000] for c in calls],
        }
    )


def others(page: RunPage, decision_id: str, doc_place: tuple[str, str]) -> None:
    """The same slot for the other entries: cards of the nearest ones, and the rest in a table."""
    asset, slot = doc_place
    every = decision_queries.same_slot(page.key, page.store, page.run_id, asset, slot)
    here = every[every["decision"] == decision_id]
    rest = every[every["decision"] != decision_id]
    st.header("Other agents, same slot", anchor=False)
    if rest.empty:
        st.markdown(":small[:gray[No other entry decided at this slot.]]")
        return
    if len(here):
        model, agent = here.iloc[0][["model", "agent"]]
        near = [(r.model != model, r.agent != agent, r.agent, r.model) for r in rest.itertuples()]
        rest = rest.iloc[sorted(range(len(rest)), key=lambda i: near[i])]
    with st.grid(4, min_column_width=170):
        for row in rest.head(MOST_CARDS).to_dict("records"):
            with st.container(border=True, height="stretch"):
                st.markdown(f"**{for_markdown(row['agent'])}** :small[:gray[{for_markdown(row['model'])}]]")
                action_badge(row["action"], row["status"], row["conviction"])
                with st.container(horizontal=True, gap="xsmall"):
                    name = f"{row['agent']}@{row['model']}"
                    st.button("Open", key=f"open_{row['decision']}", type="tertiary", on_click=go_to,
                              args=(row["decision"],), help=for_markdown(f"Open {name}"))  # fmt: skip
                    st.button("Compare", key=f"beside_{row['decision']}", type="tertiary", on_click=go_to,
                              args=(decision_id,), kwargs={"compare": row["decision"]},
                              help=for_markdown(f"Side by side with {name}"))  # fmt: skip
    left = rest.iloc[MOST_CARDS:]
    if len(left):
        _more_entries(left)


def _more_entries(left: pd.DataFrame) -> None:
    with st.expander(f"{fmt.counted(len(left), 'more entry', 'more entries')}", icon=":material/groups:"):
        st.session_state["de_more_ids"] = list(left["decision"])
        st.dataframe(
            left[["agent", "model", "action", "conviction", "status"]], hide_index=True, key="de_more",
            row_height=board.ROW_HEIGHT, height=board.height(len(left), most=10), placeholder=fmt.MISSING,
            selection_mode="single-row", on_select=_open_more, alt="More entries at this slot",
        )  # fmt: skip


def _open_more() -> None:
    rows = st.session_state["de_more"]["selection"]["rows"]
    if rows:
        go_to(st.session_state["de_more_ids"][rows[0]])


def side_by_side(page: RunPage, first: str, second: str) -> None:
    """Two decisions beside each other."""
    st.button("Close comparison", icon=":material/close:", on_click=drop, args=("compare",), type="tertiary")
    left, right = st.columns(2)
    with left:
        detail(page, first, beside="left")
    with right:
        detail(page, second, beside="right")


