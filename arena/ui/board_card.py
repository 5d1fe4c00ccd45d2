"""The card of the board's open row: what chance could explain, its flags, its accounts, and links on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.core.ids import TrackId
from arena.runner.luck_board import row_key
from arena.ui import board, board_columns
from arena.ui import format as fmt
from arena.ui.board_flags import Windows, flags_of, in_short
from arena.ui.board_view import Shown, one_asset
from arena.ui.links import decision_link, equity_link
from arena.ui.marks import Mark
from arena.ui.prose import for_badge, for_markdown
from arena.ui.session import theme
from arena.ui.tokens import Theme

Row = dict[str, Any]

ACCOUNT_COLUMNS = (
    "name", "net", "bh", "excess", "net_ci", "sharpe", "drawdown", "win", "curve", "balance", "now",
    "last", "failed", "flag",
)  # fmt: skip


def luck_words(luck: Row) -> str:
    """What chance could explain of a row, in sentences."""
    said = []
    if words := board.interval(luck["return_interval"]):
        said.append(f"95% interval of its return: {words} %")
    if (beats := luck["floor"]["better_than_frac"]) is not None:
        share = fmt.percent(beats, 0, sign=False)
        said.append(f"better than {share} of {luck['floor']['n_draws']:,} random accounts of the same trading frequency")
    if luck["verdict"]:
        said.append(f"**{luck['verdict']}**")
    score = luck["decision_score"]
    if score and score["n"]:
        said.append(f"{score['n_agreed']} of {score['n']} calls were right")
    return " · ".join(said)


def mark_words(mark: Mark) -> str:
    """What an entry would stand at now, apart from everything that is settled."""
    if mark.change_frac is None or mark.at_utc is None:
        return f"Unrealised since the last close: {fmt.MISSING} ({mark.reason})"
    rest = mark.n_accounts - mark.n_quoted
    closed = f", {rest} of {mark.n_accounts} accounts at their last close" if rest else ""
    return (
        f"Unrealised since the last close: **{fmt.percent(mark.change_frac)}** at quotes of "
        f"{fmt.moment(mark.at_utc)} and later{closed}; in no other number here"
    )


def card(
    picked: Row, shown: Shown, accounts: Sequence[Row], account_luck: Mapping[str, Row],
    key: tuple[object, ...],
) -> None:  # fmt: skip
    """The open row: what chance could explain, its flags in sentences, its accounts, and where to go on.

    Args:
        accounts: those of the row and of Buy & Hold. account_luck: luck by account id.
        key: changes with what is drawn, as in `OverviewData`.
    """
    label = for_markdown(board.name(picked))
    if picked["voided"]:
        label = f"~~{label}~~"
    names = [picked["account"]] if "account" in picked else picked["accounts"]
    own = sorted((r for r in accounts if r["account"] in names), key=lambda r: str(r["asset"]))
    what = picked["asset"] if "account" in picked else fmt.counted(len(own), "account")
    luck = shown.luck.get(row_key(picked))
    with st.expander(f"{label} · {what}", expanded=True, icon=":material/account_tree:"):
        if luck is not None and (said := luck_words(luck)):
            st.markdown(f":small[{said}]")
        if (mark := shown.marks.get(board.key_of(picked))) is not None:
            st.markdown(f":small[{mark_words(mark)}]")
        for word, sentence in flags_of(picked, luck, shown.windows).items():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge(for_badge(word), icon=":material/flag:", color="orange")
                st.markdown(f":small[{for_markdown(sentence[:300])}]", width="content")
        key = (*key, *(str(r["account"]) for r in own))
        _account_table(key, theme(), label, own, accounts, account_luck, shown.windows)
        with st.container(horizontal=True):
            if picked["group"] != "benchmark":
                for row in own:
                    decision_link(str(TrackId.parse(row["account"])), f"Decisions on {row['asset']}")
            equity_link(picked, "Equity curve")


@st.cache_data(max_entries=64, show_spinner=False)
def _account_table(
    key: tuple[object, ...], shade: Theme, label: str, _own: Sequence[Row], _accounts: Sequence[Row],
    _luck: Mapping[str, Row], _windows: Windows,
) -> None:  # fmt: skip
    """It only shows: what was drawn is kept by `key` and sent again without being made again."""
    held = {r["asset"]: board.value(r, "CR") for r in _accounts if r["group"] == "benchmark"}
    luck = {i: _luck[r["account"]] for i, r in enumerate(_own) if r["account"] in _luck}
    table = board.account_frame(_own, held, luck)
    table["flag"] = [in_short(flags_of(r, luck.get(i), _windows)) for i, r in enumerate(_own)]
    made = board_columns.columns([], 0, first="Account")
    made |= one_asset("Account", 96)
    made["net_ci"] = st.column_config.TextColumn("95% of return", width=96)
    made["curve"] = st.column_config.LineChartColumn("Curve", width=72)
    st.dataframe(
        board.styled(table[[*ACCOUNT_COLUMNS, *board.MARKS]], shade), hide_index=True,
        row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING, height=board.height(len(_own)),
        column_config=made, alt=f"Accounts of {label}", key="accounts",
    )  # fmt: skip
