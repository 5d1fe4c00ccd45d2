"""How entries act, whatever it earned: shares of actions, flips, agreement, a word for the style."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

ACTIONS = ("BUY", "HOLD", "SELL")

Style = Literal["churning", "cautious", "bold", "selective"]
STYLES: dict[Style, str] = {
    "churning": "turns from one side to the other in at least one of ten sessions",
    "cautious": "in a position in less than 40 % of sessions",
    "bold": "volatility at least 80 % of Buy & Hold's",
    "selective": "none of these",
}
"""The rule behind each word, the first that holds; see `style_word`."""

CHURN_FRAC, CAUTIOUS_FRAC, BOLD_FRAC = 0.1, 0.4, 0.8


def flips(sides: Sequence[int]) -> int:
    """How often a side (-1, 0, 1, oldest first) turned into its opposite; flat sessions between two
    sides are passed over."""
    taken = [s for s in sides if s]
    return sum(a != b for a, b in pairwise(taken))


def style_word(
    invested_frac: float, flip_frac: float, volatility: float | None, hold_volatility: float | None
) -> Style:
    """A word for the style of an entry, by the first rule of `STYLES` that holds.

    Args:
        invested_frac: share of sessions that end in a position. flip_frac: flips over sessions.
        volatility, hold_volatility: of its curve and of Buy & Hold over the same assets, in the same
            unit; without both, `bold` is not given.
    """
    if flip_frac >= CHURN_FRAC:
        return "churning"
    if invested_frac < CAUTIOUS_FRAC:
        return "cautious"
    if volatility is not None and hold_volatility and volatility >= BOLD_FRAC * hold_volatility:
        return "bold"
    return "selective"


def holding(equity: pd.DataFrame) -> pd.DataFrame:
    """Sessions, invested share and flips by agent and model, pooled over accounts.

    `equity` has agent, model, account, session and side. Columns of the answer: agent, model,
    n_sessions (rows of all accounts), invested_frac, n_flips, flip_frac.
    """
    rows = []
    for (agent, model), own in equity.groupby(["agent", "model"], sort=True):
        n = len(own)
        turned = sum(
            flips(a.sort_values("session")["side"].tolist()) for _, a in own.groupby("account")
        )
        invested = float((own["side"] != 0).mean())
        rows.append((agent, model, n, invested, turned, turned / n))
    names = ["agent", "model", "n_sessions", "invested_frac", "n_flips", "flip_frac"]
    return pd.DataFrame(rows, columns=names)


def action_shares(decisions: pd.DataFrame) -> pd.DataFrame:
    """Share of BUY, HOLD and SELL by agent and model, with `n`: only decisions that a model made
    (status ok or repaired) count, so that a failure is not taken for a HOLD."""
    made = decisions[decisions["status"].isin(["ok", "repaired"])]
    counts = pd.crosstab([made["agent"], made["model"]], made["action"])
    counts = counts.reindex(columns=list(ACTIONS), fill_value=0)
    n = counts.sum(axis=1)
    return counts.div(n, axis=0).assign(n=n).reset_index()


def agreement(decisions: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(share, n) matrices over entries: in how many of the slots that both decided, they said the same.

    `decisions` has entry, asset, session, action and status. Slots where one of the two failed or had
    no decision are left out; NaN where none is left. The diagonal is 1.
    """
    made = decisions[decisions["status"].isin(["ok", "repaired"])]
    wide = made.pivot_table(
        index=["asset", "session"], columns="entry", values="action", aggfunc="last"
    ).reindex(columns=list(names))
    words = wide.to_numpy(dtype=object)
    known = wide.notna().to_numpy()
    n = known.T.astype(int) @ known.astype(int)
    same = np.zeros((len(names), len(names)))
    for action in ACTIONS:
        said = (words == action).astype(float)
        same += said.T @ said
    share = np.full(n.shape, np.nan)
    np.divide(same, n, out=share, where=n > 0)
    return share, n
