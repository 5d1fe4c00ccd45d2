"""The paper's Table 1 beside the same accounts of the chosen run, and what is wrong in the paper's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from arena.analytics import reference
from arena.analytics.leaderboard import board as board_rows
from arena.analytics.table1 import METRICS, Table1, is_vote, one_strategy, table1
from arena.core.season import RunSpec
from arena.runner.boards import select_board
from arena.store.store import Store
from arena.ui import board
from arena.ui.page import RunPage
from arena.ui.prose import for_badge, for_markdown
from arena.ui.session import theme
from arena.ui.tokens import TOKENS, Theme, strategy_label

PAPER, HERE = "paper", "here"
MOST_ROWS = 16
SIGNED = ("CR", "AR", "SR")


def table1_section(page: RunPage) -> None:
    """One asset at a time: the paper's figures beside those of the run under the paper's formulas."""
    st.header("The paper's Table 1 beside this run", anchor="table1")
    strategies = one_strategy(sorted(page.summaries["strategy"].unique()))
    ours = _ours(page.key, page.store, page.run_id, strategies)
    with st.container(horizontal=True, vertical_alignment="center"):
        asset = st.segmented_control(
            "Asset", reference.ASSETS, default=reference.ASSETS[0], required=True, key="t1_asset",
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
        for words in differences(RunSpec.model_validate_json(str(page.run["spec_json"])), ours):
            st.badge(for_badge(words), icon=":material/info:", color="orange")
    rows = beside(ours, asset)
    st.dataframe(
        styled(rows, theme()), hide_index=True, row_height=board.ROW_HEIGHT, key="t1_table",
        height=board.height(len(rows), most=MOST_ROWS), placeholder="–", column_config=_columns(),
        alt=f"The paper's Table 1 for {asset} beside this run",
    )  # fmt: skip
    played = ", ".join(map(strategy_label, strategies)) or "no strategy"
    st.markdown(
        f":small[:gray[Here: {played}, computed as the paper's code does (metrics mode `ama`). Its agents "
        "are not public, so an equal name promises no equal answers. Buy & Hold of the stocks agrees to both "
        "decimals where no badge above names a difference; the paper's coins are of another venue. "
        "As a file: `python -m arena leaderboard --layout table1 --metrics ama --format latex`.]]"
    )
    _slips()


def _slips() -> None:
    found = reference.slips()
    with st.expander(
        f"What in the paper's table does not agree with itself: {len(found)} findings in its figures, "
        f"{len(reference.IN_WORDS)} in its words",
        icon=":material/rule:",
    ):  # fmt: skip
        # As text, not as a table: cells do not wrap, and every word counts here.
        lines = [f"- **{for_markdown(s.where)}**: {for_markdown(s.what)}" for s in found]
        st.markdown("\n".join(lines))
        st.markdown("In its words:")
        st.markdown("\n".join(f"- **{s.where}**: {for_markdown(s.what)}" for s in reference.IN_WORDS))
        st.markdown(
            ":small[:gray[Found by recomputation from the printed figures: sessions implied by CR and "
            "AR, Sharpe implied by AR and AV (`arena/analytics/reference.py`).]]"
        )


@st.cache_data(max_entries=8, show_spinner=False)
def _ours(
    key: tuple[str, int],  # noqa: ARG001
    _store: Store,
    run: str,
    strategies: tuple[str, ...],
) -> Table1:
    """The run's accounts of these strategies in mode `ama`."""
    data = select_board(_store, run, strategies=strategies)
    return table1(
        board_rows(
            data.summaries, data.equity, by="account", mode="ama", capital=data.capital,
            voided=data.voided,
        )
    )  # fmt: skip


def differences(spec: RunSpec, ours: Table1) -> list[str]:
    """Why the run's figures need not be the paper's: window, fill, HOLD, shorting, costs, assets."""
    season, found = spec.season, []
    if (spec.start, spec.end) != (reference.START, reference.END):
        found.append("Another window than the paper's")
    if season.fill != "close":
        found.append("Fills at the next price, the paper at the close")
    if season.hold != "flat":
        found.append("HOLD keeps the position, the paper goes flat")
    if not season.shorting:
        found.append("Long only, the paper also shorts")
    fees = {season.fee_bps.get("stock"), season.fee_bps.get("crypto")}
    shared = set(ours.assets) & set(reference.ASSETS)
    if shared and (fees != {reference.FEE_BPS} or season.slippage_bps):
        found.append(f"Other costs than {reference.FEE_BPS:g} bp")
    if not shared:
        found.append("None of the paper's assets in this run")
    return found


def beside(ours: Table1, asset: str) -> pd.DataFrame:
    """Rows agent, model, then each metric as the paper prints it and as it is here, in percent (SR a
    ratio). A pair that only one of the two has stands there with None on the other side."""
    table: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in reference.printed():
        if row.asset == asset:
            own = table.setdefault((reference.AGENT_IDS[row.agent], row.model.lower()), {})
            own.update({f"{m} {PAPER}": _shown(m, v) for m, v in row.values.items()})
    for line in ours.lines:
        if asset in line.cells:
            own = table.setdefault((line.agent, line.model), {})
            own.update({f"{m} {HERE}": _shown(m, v) for m, v in line.cells[asset].items()})
    agents = list(dict.fromkeys(a for a, _ in table))
    models = list(dict.fromkeys(m for _, m in table))
    order = sorted(table, key=lambda k: (agents.index(k[0]), is_vote(k[1]), models.index(k[1])))
    columns = [f"{m} {side}" for m in METRICS for side in (PAPER, HERE)]
    return pd.DataFrame(
        [
            {
                "agent": "◆ Buy & Hold" if agent == "buy_hold" else agent,
                "model": "" if model == "-" else model,
                **{c: table[agent, model].get(c) for c in columns},
            }
            for agent, model in order
        ]
    )


def _shown(metric: str, value: float | None) -> float | None:
    return None if value is None else value if metric == "SR" else 100 * value


def styled(rows: pd.DataFrame, shade: Theme) -> Styler:
    """Signed figures in colour, Buy & Hold tinted."""
    tokens = TOKENS[shade]

    def by_sign(number: object) -> str:
        if not isinstance(number, float) or pd.isna(number) or number == 0:
            return ""
        return f"color: {tokens.gain if number > 0 else tokens.loss}"

    def tint(row: pd.Series) -> list[str]:
        mark = f"background-color: {tokens.panel}" if row["agent"].startswith("◆") else ""
        return [mark] * len(row)

    signed = [f"{m} {side}" for m in SIGNED for side in (PAPER, HERE)]
    return rows.style.apply(tint, axis=1).map(by_sign, subset=pd.IndexSlice[:, signed])


def _columns() -> dict[str, Any]:
    def number(metric: str, side: str) -> Any:
        unit = "" if metric == "SR" else " %"
        return st.column_config.NumberColumn(f"{metric}{unit} {side}", format="%.2f", width=84)

    return {
        "agent": st.column_config.TextColumn("Agent", width=104),
        "model": st.column_config.TextColumn("Model", width=128),
        **{f"{m} {side}": number(m, side) for m in METRICS for side in (PAPER, HERE)},
    }
