"""Page scripts and their queries on the large store, in a process of their own.

A page runs as a visitor's browser makes it run, without the browser: streamlit's AppTest, whose time
outside the script is not counted. Prints JSON: name -> [wall milliseconds, processor milliseconds].
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHELL = ROOT / "arena/shell/main.py"
PAGES = {
    "Equity": "pages/results/equity.py",
    "Decisions": "pages/results/decisions.py",
    "Agent or model?": "pages/results/architecture.py",
    "Market & news": "pages/results/market.py",
    "Methods": "pages/about/methods.py",
    "Health": "pages/about/health.py",
}
WARM_RUNS, OTHER_SLOTS, TEN = 20, 10, 10
Times = tuple[float, float]


def p95(times: list[Times]) -> Times:
    """The second worst of 20, of wall and of processor time."""
    wall, cpu = (sorted(t) for t in zip(*times, strict=True))
    at = max(0, round(0.95 * len(times)) - 1)
    return wall[at], cpu[at]


def median(times: list[Times]) -> Times:
    wall, cpu = zip(*times, strict=True)
    return statistics.median(wall), statistics.median(cpu)


def timed(work: Callable[[], Any]) -> Times:
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return 1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - cpu)


class Visitor:
    """One browser session; `run` gives the times of its page's script."""

    def __init__(self, file: str | None = None, **params: str | list[str]) -> None:
        from streamlit.navigation.page import StreamlitPage
        from streamlit.testing.v1 import AppTest

        self.app = AppTest.from_file(str(SHELL), default_timeout=300)
        for name, value in params.items():
            self.app.query_params[name] = value
        if file is not None:
            self.app.switch_page(str(ROOT / file))
        if not hasattr(StreamlitPage, "plain_run"):
            StreamlitPage.plain_run = StreamlitPage.run
            StreamlitPage.run = _watched
        self.first = self.run()

    def run(self) -> Times:
        TAKEN.clear()
        self.app.run()
        if self.app.exception:
            raise RuntimeError(self.app.exception[0].stack_trace)
        return TAKEN[-1]

    def go(self, **params: str | list[str]) -> Times:
        """With other parameters in the address."""
        for name, value in params.items():
            self.app.query_params[name] = value
        return self.run()


TAKEN: list[Times] = []


def _watched(page: Any) -> None:
    TAKEN.append(timed(page.plain_run))


def measure(store: Path) -> Iterator[tuple[str, Times]]:
    """Names and times, as they come."""
    os.environ |= {
        "ARENA_STORE": str(store), "ARENA_DATA": "sample", "ARENA_RUNNER": "off",
        "ARENA_NETWORK": "off",
    }  # fmt: skip
    from arena.runner import service

    state = service.ensure_started()
    assert state.thread is not None
    state.thread.join(60)
    assert state.store is not None, state.message
    yield from overview(state.store)
    yield from other_pages()
    yield from queries_of(state.store)
    service.stop()


def overview(store: Any) -> Iterator[tuple[str, Times]]:
    import streamlit as st

    from arena.store import reader

    visitor = Visitor()
    yield "overview first", visitor.first
    visitor.run()
    yield "overview", p95([visitor.run() for _ in range(WARM_RUNS)])
    agents = sorted(set(reader.accounts(store, newest(store))["agent"]) - {"buy_hold"})
    unseen, filtered = [], []
    for agent in agents:
        other = Visitor(agents=[agent], assets=["AAA"])
        unseen.append(other.first)
        other.run()
        filtered += [other.run() for _ in range(3)]
    yield "overview filtered", p95(filtered)
    yield "overview filtered first", median(unseen)
    # What a change of the data does: every cache starts anew.
    st.cache_data.clear()
    st.cache_resource.clear()
    yield "overview new version", visitor.run()


def newest(store: Any) -> str:
    from arena.store import reader

    return str(reader.runs(store)["run"].iloc[0])


def other_pages() -> Iterator[tuple[str, Times]]:
    for title, file in PAGES.items():
        visitor = Visitor(file)
        yield f"{title} first", visitor.first
        visitor.run()
        yield title, p95([visitor.run() for _ in range(WARM_RUNS // 2)])


def queries_of(store: Any) -> Iterator[tuple[str, Times]]:
    from arena.analytics.entry_curve import curves_of
    from arena.runner.behind import behind
    from arena.runner.boards import select_board
    from arena.runner.luck_board import luck_board
    from arena.store import reader
    from arena.store.search import search
    from arena.ui import queries
    from bench.big_store import ABSENT, COMMON, RARE

    run = newest(store)
    summaries = reader.summaries(store, run)
    ten = summaries[(summaries["strategy"] == "baseline")].iloc[:: len(summaries) // 40].head(TEN)

    def curves() -> None:
        rows = reader.equity(store, ten["account"].tolist(), ("balance", "balance_gross"))
        assert len(curves_of(ten, rows, {run: 1e5})) == TEN

    curves()
    yield "ten curves", p95([timed(curves) for _ in range(WARM_RUNS)])

    track = f"{run}:agent-05@maker%2Fmodel-07:CCC"
    made = reader.decisions(store, run, track)
    ids, slots = made["decision"].tolist(), made["slot_key"].tolist()
    yield "decision", p95([timed(lambda i=i: behind(store, i)) for i in ids[:WARM_RUNS]])
    where = {"run": run, "entry": "agent-05@maker/model-07", "asset": "CCC"}
    visitor = Visitor(PAGES["Decisions"], **where, slot=slots[-1])
    yield "decision page", median([visitor.go(slot=s) for s in slots[:OTHER_SLOTS]])
    for name, words in (("rare", RARE), ("common", COMMON), ("absent", ABSENT)):
        found = search(store, run, words)
        assert found.complete, words
        assert bool(found.hits) == (name != "absent"), words
        yield f"search {name}", median([timed(lambda w=words: search(store, run, w)) for _ in range(3)])

    def luck() -> None:
        agents = ("agent-02", "agent-03")
        data = select_board(store, run, agents=agents, assets=("AAA",), strategies=("baseline",))
        shown = queries.rows(("bench", 0), store, run, "account", agents, (), ("AAA",), ("baseline",))
        rows = [r for r in shown if r["group"] != "benchmark"][:50]
        assert len(luck_board(store, data, rows)) == 50

    luck()
    yield "luck", median([timed(luck) for _ in range(3)])


if __name__ == "__main__":
    print(json.dumps(dict(measure(Path(sys.argv[1])))))
