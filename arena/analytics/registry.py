"""The one list of metrics. A family module adds to it by decorating a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from arena.core.errors import UnknownNameError

if TYPE_CHECKING:
    from arena.analytics.window import Window

Formula = Callable[["Window"], float]
Count = Literal["n_periods", "n_returns", "n_all_returns", "n_marks", "n_trips", "n_exposed"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered formula. `count` names the `Window` attribute reported as `n`."""

    name: str
    formula: Formula
    unit: str
    count: Count
    annualised: bool
    basis: tuple[tuple[str, Any], ...]


METRICS: dict[str, Metric] = {}
"""Every metric by its JSON name, in order of registration."""

BOARD_METRICS: tuple[str, ...] = (
    "CR", "CR_gross", "AR", "AV", "SR", "MDD", "Sortino", "Calmar", "win_rate_trades",
    "win_rate_active", "time_in_market", "turnover", "excess_bh", "days_over_bh",
)  # fmt: skip
"""The metrics stored for each account and shown on the board, in column order."""


def metric(
    name: str,
    *,
    unit: str = "fraction",
    count: Count = "n_periods",
    annualised: bool = False,
    **basis: Any,
) -> Callable[[Formula], Formula]:
    """Register a formula under its JSON name; `basis` is added to the result's basis as it stands."""

    def add(formula: Formula) -> Formula:
        if name in METRICS:
            raise ValueError(f"metric `{name}` is registered twice")
        METRICS[name] = Metric(name, formula, unit, count, annualised, tuple(basis.items()))
        return formula

    return add


def pick(names: Iterable[str] | None) -> list[Metric]:
    """The metrics of these names; None means `BOARD_METRICS`.

    Raises:
        UnknownNameError: a name that is not registered.
    """
    chosen = BOARD_METRICS if names is None else tuple(names)
    for name in chosen:
        if name not in METRICS:
            raise UnknownNameError("metric", name, METRICS)
    return [METRICS[name] for name in chosen]
