"""Parts of the Health page: what is wrong first, then the host's machinery piece by piece."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from arena.audit.background_check import CHECKS, LastCheck
from arena.audit.health import (
    Trouble,
    model_facts,
    newest_round,
    switches,
    troubles,
    versions,
)
from arena.core.clock import utc_now
from arena.core.errors import ArenaError, ConfigError
from arena.core.settings import tick_s
from arena.runner.service import ServiceState
from arena.runner.voiding import MAX_REASON_CHARS, void_run
from arena.store import live_reader, news_reader, reader
from arena.store.head import head_path
from arena.store.store import Store
from arena.ui import auth, board, filters, pulse, queries
from arena.ui import format as fmt
from arena.ui import market as market_ui
from arena.ui.prose import for_markdown, plain
from arena.ui.session import state

Key = tuple[str, int]

LABEL_PX = 140

_cached = st.cache_data(max_entries=16, show_spinner=False)


@_cached
def every_run(key: Key, _store: Store) -> pd.DataFrame:  # noqa: ARG001
    """A live run's end is its last settled session."""
    frame = reader.runs(_store)
    for at in frame.index[frame["kind"] == "live"]:
        end = live_reader.run_as_settled(_store, str(frame.loc[at, "run"]))["end"]
        frame.loc[at, "end"] = pd.Timestamp(end)
    return frame


@_cached
def every_price_check(key: Key, _store: Store) -> pd.DataFrame:  # noqa: ARG001
    return reader.price_checks(_store)


def problems(store: Store) -> None:
    """What is wrong, errors first, each with what to do; or that nothing is known to be."""
    last = CHECKS.last(store)
    found = troubles(state(), store, last)
    if not found:
        unchecked = "" if last else " The invariants were not checked since the app was started."
        st.success(f"Nothing is known to be wrong.{unchecked}", icon=":material/check_circle:")
    for problem in found:
        _problem(problem)


def _problem(problem: Trouble) -> None:
    show = st.error if problem.level == "error" else st.warning
    show(f"{for_markdown(problem.what)}  \n:small[{for_markdown(problem.fix)}]")


def machinery(key: Key, store: Store) -> None:
    """Runner and store, side by side."""
    now, runs = state(), every_run(key, store)
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        st.header("Runner", width="content")
        work = now.progress()
        newest = newest_round(store)
        _facts(
            {
                "State": _state_words(now, store),
                "At work": "nothing in the background" if work is None else f"{work[1]} ({work[0]:.0%})",
                "Data": now.data_choice.split(":")[0],
                "Newest round": fmt.MISSING if newest is None else fmt.moment(newest["as_of_utc"]),
                "Its decisions": fmt.MISSING if newest is None else _statuses(newest["statuses"]),
                "Runs": _by_status(runs),
            }
        )  # fmt: skip
    with right.container(border=True, height="stretch"):
        st.header("Store", width="content")
        _facts(
            {
                "File": str(store.path) if auth.unlocked() else store.path.name,
                "Size": _size(store),
                "Data version": str(key[1]),
                "Shown from": _origin(store),
                "Head file": "there" if head_path(store.path).exists() else "none",
                "Id": store.store_id,
            }
        )  # fmt: skip


def _state_words(now: ServiceState, store: Store) -> str:
    if now.paused:
        return "waits, see above"
    if store.read_only:
        return "reading only"
    if now.ticker is None or now.clock is None:
        return "may write; nothing goes on by the clock"
    return f"owns the store, looks around every {tick_s():g} s"


def _size(store: Store) -> str:
    """Of the store itself, which may be gone while a copy is shown."""
    return f"{store.path.stat().st_size / 1e6:,.1f} MB" if store.path.exists() else fmt.MISSING


def _origin(store: Store) -> str:
    if store.age_s is None:
        return "the store itself"
    return f"its snapshot, {fmt.age_seconds(store.age_s)} old"


def _statuses(statuses: dict[str, int]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(statuses.items()))


def _by_status(runs: pd.DataFrame) -> str:
    counts = runs["status"].value_counts()
    words = [f"{counts[s]} {s}" for s in sorted(counts.index)]
    voided = int(runs["voided_reason"].notna().sum())
    return ", ".join([*words, *([f"{voided} voided"] if voided else [])]) or "none"


def _facts(facts: dict[str, str]) -> None:
    for label, value in facts.items():
        with st.container(horizontal=True, gap="small"):
            st.markdown(f":gray[{label}]", width=LABEL_PX)
            st.text(value, width="stretch")


def host_gate() -> bool:
    """Whether the host's forms are offered; asked once, for all of them."""
    return auth.gate("void a run or check the invariants")


def invariants(key: Key, store: Store, *, host: bool) -> None:
    """The newest check, and a button for the host to run it."""
    st.header("Invariants", anchor="invariants")
    st.markdown(
        ":small[:gray[Every text from its hash, every market from its bars, every chain, every fill and "
        "balance recomputed by a second, slow engine; the same as `python -m arena check`.]]"
    )
    if CHECKS.running():
        _checking()
    else:
        _last(CHECKS.last(store), key[1])
    if host and st.button(
        "Run the check", icon=":material/fact_check:", disabled=CHECKS.running()
    ):
        auth.require()
        CHECKS.start(store)
        st.rerun()


@st.fragment(run_every="1s")
def _checking() -> None:
    if not CHECKS.running():
        st.rerun()
    st.badge("Checking", icon=":material/hourglass:", color="blue")


def _last(last: LastCheck | None, version: int) -> None:
    if last is None:
        st.markdown("Not run since the app was started.")
        return
    ago = fmt.age_seconds(max(0.0, (utc_now() - last.at_utc).total_seconds()))
    old = "" if last.data_version == version else ", of an older state of the store"
    if last.report is None:
        st.error(for_markdown(f"It broke off {ago} ago: {last.error}"))
        return
    report = last.report
    n = report.n_breaches
    words = f"{report.n_checked:,} values checked in {last.took_s:.1f} s, {ago} ago{old}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(
            fmt.counted(n, "breach", "breaches"), color="red" if n else "green", icon=":material/fact_check:"
        )
        st.markdown(f":small[:gray[{words}.]]", width="content")
    if report.findings:
        table = pd.DataFrame([vars(f) for f in report.findings])
        st.dataframe(
            table, hide_index=True, key="findings", row_height=board.ROW_HEIGHT,
            height=board.height(len(table), most=10), alt="Findings of the check",
            column_config={
                "level": st.column_config.TextColumn("Level", width=80),
                "rule": st.column_config.TextColumn("Rule", width=130),
                "text": st.column_config.TextColumn("What", width=850),
            },
        )  # fmt: skip


def sources(store: Store) -> None:
    market_ui.health(news_reader.source_health(store))


def prices(key: Key, store: Store) -> None:
    """How often each kind of oddity was noticed, by asset."""
    st.header("Price checks", anchor="price-checks")
    checks = every_price_check(key, store)
    if checks.empty:
        st.markdown(":small[:gray[No gap, jump, revision or disagreement of two sources was found.]]")
        return
    counts = checks.groupby(["asset", "kind"]).size().unstack(fill_value=0).reset_index()  # noqa: PD010
    newest = checks.groupby("asset")["session"].max().reindex(counts["asset"]).to_numpy()
    counts["newest"] = newest
    st.dataframe(
        counts, hide_index=True, key="price_counts", row_height=board.ROW_HEIGHT,
        height=board.height(len(counts), most=12), alt="Price checks by asset and kind",
        column_config={
            "asset": st.column_config.TextColumn("Asset", width=120),
            "newest": st.column_config.DateColumn("Newest", format="D MMM YYYY", width=110),
        },
    )  # fmt: skip
    st.markdown(":small[:gray[Noticed, not changed; the days themselves are on Market & news.]]")


def runs_table(key: Key, store: Store, *, host: bool) -> None:
    """Every run with its state; voided ones struck through with their reason."""
    st.header("Runs", anchor="runs")
    runs = every_run(key, store)
    if runs.empty:
        st.markdown(":small[:gray[No run yet.]]")
        return
    voided = runs["voided_reason"].notna()
    table = pd.DataFrame(
        {
            "run": runs["run"],
            "state": ["✕ void" if v else s for v, s in zip(voided, runs["status"], strict=True)],
            "kind": [filters.run_group(run).split()[0].lower() for _, run in runs.iterrows()],
            "window": [window_of(run) for _, run in runs.iterrows()],
            "fill": runs["fill"],
            "note": [v if pd.notna(v) else n for v, n in zip(runs["voided_reason"], runs["note"], strict=True)],
        }
    )  # fmt: skip
    text = st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, key="every_run", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(table), most=12), alt="Every run and its state",
        column_config={
            "run": text("Run", width=210), "state": text("State", width=80), "kind": text("Kind", width=84),
            "window": text("Window", width=180), "fill": text("Fill", width=60),
            "note": text("Note", width=446),
        },
    )  # fmt: skip
    for _, run in runs[voided].iterrows():
        st.markdown(f"~~{for_markdown(str(run['run']))}~~ {for_markdown(str(run['voided_reason']))}")
    if said := st.session_state.pop(SAID, None):
        (st.error if said[0] == "error" else st.success)(for_markdown(said[1]))
    if host and not voided.all():
        _void_form(store, list(runs.loc[~voided, "run"]))


def window_of(run: pd.Series) -> str:
    """Days that a run covers; of a live season that goes on, since when."""
    if pulse.going_on(run):
        return f"since {fmt.day(str(run['start']))}"
    return fmt.span(str(run["start"]), str(run["end"]))


SAID, N_VOIDED = "void_said", "n_voided"


def _void_form(store: Store, runs: list[str]) -> None:
    with st.form("void", border=True):
        st.markdown(
            "**Void a run.** It stays visible with the reason, struck through, without a rank. "
            "It cannot be taken back here."
        )
        # New fields after each success: a second click must not take the next run.
        n = st.session_state.get(N_VOIDED, 0)
        run = st.selectbox(
            "Run to void", runs, index=None, placeholder="Choose a run", key=f"void_run_{n}"
        )
        reason = st.text_input(
            "Reason, shown to everybody", key=f"void_reason_{n}", max_chars=MAX_REASON_CHARS
        )
        if st.form_submit_button("Void this run", icon=":material/block:"):
            _void(store, run, reason)
            st.rerun()


def _void(store: Store, run: str | None, reason: str) -> None:
    try:
        auth.require()
        if run is None:
            raise ConfigError("No run is chosen; choose the one to void.")
        stored = void_run(store, run, reason)
    except ArenaError as error:
        st.session_state[SAID] = ("error", str(error))
    else:
        st.session_state[SAID] = ("ok", f"{run} is voided: {stored}")
        st.session_state[N_VOIDED] = st.session_state.get(N_VOIDED, 0) + 1


def models() -> None:
    """Names of keys and whether they are set; never a value."""
    st.header("Models and keys", anchor="models")
    facts = sorted(model_facts(), key=lambda f: bool(f.problem))

    def key_words(fact: Any) -> str:
        if fact.key is None:
            return "needs none"
        return f"{'✓' if fact.key_set else '✕'} {fact.key} {'set' if fact.key_set else 'not set'}"

    table = pd.DataFrame(
        {
            "model": [f.id for f in facts],
            "kind": [f.kind for f in facts],
            "ready": ["✕ no" if f.problem else "✓ yes" for f in facts],
            "key": [key_words(f) for f in facts],
            "cutoff": [f.cutoff for f in facts],
            "why": [f.problem or None for f in facts],
        }
    )
    text = st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, key="models", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(table), most=20), alt="Models and whether their keys are set",
        column_config={
            "model": text("Model", width=190), "kind": text("Kind", width=64),
            "ready": text("Ready", width=62, help="As far as can be told without asking it"),
            "key": text("Key", width=230), "cutoff": text("May know until", width=110),
            "why": text("Why not", width=300),
        },
    )  # fmt: skip


def host() -> None:
    """Versions and switches."""
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        st.header("Switches", width="content")
        _facts(switches())
    with right.container(border=True, height="stretch"):
        st.header("Versions", width="content")
        found = versions()
        plain(" · ".join(f"{name} {number}" for name, number in found.items()))


def version(store: Store) -> Key:
    return queries.version(store)
