"""What the spread of account returns goes with: the asset, the model, the agent, or their mix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arena.analytics.window import FloatArray

TERMS = ("asset", "model", "agent", "agent × model")
"""In the order in which each takes what those before it left."""

N_SHUFFLES = 999
NOISE_P = 0.05
_DEPENDENT = 1e-9
"""A dummy whose part outside the earlier ones is shorter than this (of 1) adds nothing to them."""

NoSplit = Literal["too_few_accounts", "no_spread", "one_of_each"]
"""Why nothing is split: fewer than three accounts; equal returns; one asset, one model, one agent."""


@dataclass(frozen=True, slots=True)
class Term:
    """`share_frac` of the total sum of squares with `df` degrees of freedom.

    `p` is how often shuffled accounts give a share at least as large; None where a shuffle cannot
    change it (the asset, a term without a degree of freedom, and the rest).
    """

    name: str
    share_frac: float
    df: int
    p: float | None


@dataclass(frozen=True, slots=True)
class Split:
    """The shares add up to 1; `rest` is the last term. `None` terms with a `reason` otherwise.

    `gap_p` is how often shuffled accounts set model and agent at least as far apart as they are.
    """

    terms: tuple[Term, ...]
    n: int
    reason: NoSplit | None = None
    gap_p: float | None = None

    def __getitem__(self, name: str) -> Term:
        return next(t for t in self.terms if t.name == name)


def split(
    returns: Sequence[float],
    assets: Sequence[Hashable],
    models: Sequence[Hashable],
    agents: Sequence[Hashable],
    *,
    seed: int = 0,
) -> Split:
    """Shares of the variance of account returns, by type I sums of squares.

    SS(term) = RSS(terms before it) - RSS(those and it), in the order asset, model, agent,
    agent x model; share = SS(term) / sum (y - mean y)^2; the rest is what no term explains, the
    interactions with the asset among it. Missing combinations are allowed: then a term gets what is
    left of it by the terms before it, and the order matters.

    `p` and `gap_p` come from N_SHUFFLES shuffles of the returns among the accounts of one asset, the
    observed arrangement counted as one of them: (1 + hits) / (1 + N_SHUFFLES).

    Sources: R. A. Fisher, Statistical Methods for Research Workers (1925), ch. VII; T. E. Anderson and
    C. ter Braak, J. Statistical Computation and Simulation 73 (2003) 85-113 for shuffling in strata.

    Args:
        returns: one finite return an account, with its asset, model and agent at the same place.
    """
    y = np.asarray(returns, dtype=float)
    n = len(y)
    if n < 3:
        return Split((), n, "too_few_accounts")
    factors: dict[str, list[Hashable]] = {
        "asset": list(assets),
        "model": list(models),
        "agent": list(agents),
        "agent × model": list(zip(agents, models, strict=True)),
    }
    basis, owners = _basis(factors, n)
    if not owners:
        return Split((), n, "one_of_each")
    centred = y - y.mean()
    total = float(centred @ centred)
    if total <= 1e-24 * n:
        return Split((), n, "no_spread")
    shares = _shares(basis, owners, centred[:, None])[:, 0] / total
    shuffled = _shares(basis, owners, _shuffles(centred, factors["asset"], seed)) / total
    terms = [
        Term(
            name,
            float(shares[i]),
            owners.count(i),
            _p(shuffled[i], shares[i]) if i and i in owners else None,
        )
        for i, name in enumerate(TERMS)
    ]
    rest = max(0.0, 1.0 - float(shares.sum()))
    both = owners.count(1) > 0 and owners.count(2) > 0
    gap_p = _p(np.abs(shuffled[1] - shuffled[2]), abs(shares[1] - shares[2])) if both else None
    return Split((*terms, Term("rest", rest, n - 1 - len(owners), None)), n, None, gap_p)


def _basis(factors: dict[str, list[Hashable]], n: int) -> tuple[FloatArray, list[int]]:
    """Orthonormal columns (n, k) after the mean, each with the index of the term it belongs to."""
    columns = [np.full(n, 1 / np.sqrt(n))]
    owners: list[int] = []
    for i, labels in enumerate(factors.values()):
        for level in dict.fromkeys(labels):
            column = np.array([1.0 if x == level else 0.0 for x in labels])
            column /= np.linalg.norm(column)
            for _ in range(2):  # once is not enough for nearly dependent columns
                done = np.array(columns)
                column = column - done.T @ (done @ column)
            size = float(np.linalg.norm(column))
            if size > _DEPENDENT:
                columns.append(column / size)
                owners.append(i)
    return np.array(columns[1:]).reshape(-1, n).T, owners


def _shares(basis: FloatArray, owners: list[int], y: FloatArray) -> FloatArray:
    """Sum of squares of each term (4, m) for the m columns of `y`."""
    parts = (basis.T @ y) ** 2
    return np.array([parts[[o == i for o in owners]].sum(axis=0) for i in range(len(TERMS))])


def _shuffles(y: FloatArray, assets: list[Hashable], seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    out = np.empty((len(y), N_SHUFFLES))
    for asset in dict.fromkeys(assets):
        rows = np.flatnonzero([a == asset for a in assets])
        out[rows] = rng.permuted(np.tile(y[rows, None], N_SHUFFLES), axis=0)
    return out


def _p(shuffled: FloatArray, observed: float) -> float:
    # Ties of equal arrangements differ in the last digits.
    return float((1 + np.count_nonzero(shuffled >= observed - 1e-12)) / (1 + N_SHUFFLES))
