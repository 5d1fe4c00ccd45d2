"""Parts of the Equity page: the chart, the drawn lines in numbers, and what is asked for on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from arena.ui import equity_charts, equity_lines, equity_queries, equity_view
from arena.ui import format as fmt
from arena.ui.charts import MODE_BAR
from arena.ui.equity_lines import Line, LineData, is_late
from arena.ui.equity_view import EquityView
from arena.ui.page import RunPage
from arena.ui.prose import for_csv, for_markdown
from arena.ui.session import on_phone, theme
from arena.ui.tokens import TOKENS

SHARPE, RETURNS, CORRELATION = "Rolling Sharpe", "Return distribution", "Correlation"
MOST_CORRELATED = 12
MOST_NAMED = 4
FILLS = {
    "next": "Fills at the first price after the decision",
    "close": "Fills at the close that the decision was made on",
}


def read(page: RunPage, view: EquityView) -> dict[str, LineData]:
    """Curves of the drawn lines by name."""
    return equity_queries.lines(
        page.key, page.store, page.run_id, view.named, view.capital, view.epochs
    )


def lines(page: RunPage, view: EquityView, data: dict[str, LineData]) -> list[Line]:
    """What is drawn in the window, the reference prices among them."""
    made = equity_lines.lines_of(
        view.drawn, data, view.window, capital=view.capital, net=view.net, rebase=view.rebase,
        theme=theme(), marked=view.marked,
    )  # fmt: skip
    return [*made, *_references(page, view)]


def _references(page: RunPage, view: EquityView) -> list[Line]:
    known = equity_queries.references(page.key, page.store, page.run_id)
    traded = set(page.summaries["asset"].unique())
    made = []
    for asset, dash in zip(view.references, ("longdash", "dashdot", "dash"), strict=False):
        words = "price" if asset in traded else "not traded in this run"
        pick = equity_lines.Pick(
            f"{asset}, {words}", "reference", asset, asset, "", "benchmark", (), 0.0
        )
        (line,) = equity_lines.lines_of(
            [pick], {pick.name: LineData(known[asset])}, view.window, capital=view.capital, net=True,
            rebase=view.rebase, theme=theme(),
        ) or (None,)  # fmt: skip
        if line is not None:
            short = f"{asset} price" if asset in traded else f"{asset} (not traded)"
            made.append(
                replace(line, short=short, dash=dash, color=TOKENS[theme()].text, reference=True)
            )
    return made


def remarks(view: EquityView, data: dict[str, LineData], drawn: Sequence[Line], fill: str) -> None:
    """What is shown, and in words what is not, or not as it may seem."""
    own = [p for p in view.found if not p.benchmark]
    kept = [p for p in view.drawn if not p.benchmark]
    kind = ("account", "accounts") if view.by_account else ("entry", "entries")
    parts = [
        f"{fmt.counted(len(kept), *kind)}, {equity_view.window_words(view.window)}",
        f"{FILLS.get(fill, f'Fill {fill}')}, {'after' if view.net else 'before'} fees",
    ]
    grey = sum(x.faint for x in drawn)
    if grey and not view.band:
        parts.append(f"{grey} of them in grey")
    if view.epochs:
        parts.append(f"shade: lowest to highest of {len(view.epochs)} epochs")
    said = _left_out(view, data, drawn, len(own), len(kept))
    rows = [f":small[:gray[{' · '.join(parts)}]]", *(f":small[:material/info: {w}]" for w in said)]
    st.markdown("  \n".join(rows))


def _left_out(
    view: EquityView, data: dict[str, LineData], drawn: Sequence[Line], n_found: int, n_kept: int
) -> list[str]:
    said = []
    if view.unknown:
        said.append(f"Not in this run, and left out: {_names(list(view.unknown))}.")
    if n_found > n_kept:
        said.append(
            f"{n_kept} of {n_found} are drawn and counted here, the best by balance; choose lines to see others."
        )
    shown = {x.name for x in drawn}
    absent = [p.name for p in view.drawn if p.name not in shown]
    if absent:
        said.append(f"No equity in this window: {_names(absent)}.")
    gaps = {n: d.missing for n, d in data.items() if n in shown and d.missing}
    if gaps:
        n = sum(len(m) for m in gaps.values())
        name, days = next(iter(gaps.items()))
        first = f"{for_markdown(name)} on {fmt.day(days[0])}"
        said.append(
            f"{fmt.counted(n, 'session')} without an equity row {'is a gap' if n == 1 else 'are gaps'}, "
            f"not joined: {first}{' and others' if n > 1 else ''}."
        )
    start = view.whole[0]
    late = {n: d.curve.sessions[0] for n, d in data.items() if n in shown and is_late(d, start)}
    if late:
        since = min(late.values())
        said.append(
            f"Partial, as begun later than the run, from 0 % there: {_names(list(late))} "
            f"({'' if len(late) == 1 else 'the first '}on {fmt.day(since)})."
        )
    broke = [x.name for x in drawn if x.bankrupt]
    if broke:
        tail = " A log scale cannot show its end." if view.log else ""
        said.append(f"Bankrupt, closed, and kept on the chart: {_names(broke)}.{tail}")
    return said


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(for_markdown(n[:60]) for n in names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return shown + (f" and {more} more" if more > 0 else "")


def nothing(view: EquityView) -> None:
    """No line is left by the filters."""
    for name in view.unknown[:MOST_NAMED]:
        st.markdown(f":small[:material/info: Not in this run: {for_markdown(name[:60])}.]")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.write("No line matches. Remove a filter.")
        st.button("Reset", icon=":material/restart_alt:", on_click=equity_view.reset, key="eq_reset")


def chart(drawn: Sequence[Line], view: EquityView, key: tuple[str, int]) -> None:
    # The figure's key holds the data version: an unchanged figure keeps its zoom.
    st.plotly_chart(
        equity_charts.equity_figure(
            drawn, theme(), log=view.log, net=view.net, span=view.window, band=view.band,
            phone=on_phone(),
        ),
        theme=None, config=MODE_BAR, key=f"equity_{key[1]}",
        alt="Equity curves with drawdown below; Buy & Hold dotted",
    )  # fmt: skip


def more(drawn: Sequence[Line], data: dict[str, LineData]) -> None:
    """Three figures on demand: nothing is computed before its name is chosen."""
    bright = [x for x in drawn if not x.faint]
    chosen = st.pills(
        "More", [SHARPE, RETURNS, CORRELATION], selection_mode="multi", key="eq_more",
        bind="query-params",
    )  # fmt: skip
    now, phone = theme(), on_phone()
    if SHARPE in chosen:
        _sharpe(bright, data)
    if RETURNS in chosen:
        st.header("Returns of single sessions")
        st.plotly_chart(
            equity_charts.returns_figure(bright, now, phone=phone), theme=None, config=MODE_BAR,
            key="eq_returns", alt="Distribution of session returns of each line",
        )  # fmt: skip
    if CORRELATION in chosen:
        st.header("Correlation of session returns")
        lines = [*bright, *(x for x in drawn if x.faint)][:MOST_CORRELATED]
        if len(lines) < len(drawn):
            st.markdown(f":small[:gray[{len(lines)} of {len(drawn)} lines, the highlighted first.]]")
        st.plotly_chart(
            equity_charts.correlation_figure(lines, now, phone=phone), theme=None, config=MODE_BAR,
            key="eq_correlation", alt="Correlation of session returns of every pair of lines",
        )  # fmt: skip


def _sharpe(bright: Sequence[Line], data: dict[str, LineData]) -> None:
    n = equity_charts.ROLLING_SESSIONS
    st.header(f"Sharpe of the last {n} returns")
    own = [x for x in bright if x.name in data]
    ratios = [equity_charts.rolling_sharpe(x, data[x.name].curve.base) for x in own]
    short = [x.name for x, r in zip(own, ratios, strict=True) if r.empty]
    if short:
        st.markdown(
            f":small[:gray[Not {n} returns that vary in this window: {_names(short)}.]]"
        )
    if len(short) < len(own):
        st.plotly_chart(
            equity_charts.sharpe_figure(own, ratios, theme(), phone=on_phone()), theme=None,
            config=MODE_BAR, key="eq_sharpe", alt=f"Sharpe ratio of the last {n} returns of each line",
        )  # fmt: skip


def data(drawn: Sequence[Line]) -> None:
    """The curves as numbers, and as a file; made once it is opened."""
    box = st.expander(
        "Data of the chart", icon=":material/table:", key="eq_data", on_change="rerun"
    )
    if not box.open:
        return
    wide = pd.DataFrame(
        {for_csv(x.name): pd.Series(x.growth - 1.0, index=x.sessions) for x in drawn}
    )
    wide.index = pd.DatetimeIndex(wide.index).date
    wide.index.name = "session"
    shown = (100 * wide).round(2) + 0.0
    with box:
        st.dataframe(
            shown, height=260, key="curve_data", placeholder=fmt.MISSING,
            alt="Returns of the drawn lines in percent",
        )  # fmt: skip
        st.download_button(
            "CSV of the curves", wide.to_csv(), "equity.csv", "text/csv",
            icon=":material/download:", key="curves_csv",
        )  # fmt: skip
