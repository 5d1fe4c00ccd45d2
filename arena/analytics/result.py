"""What a metric answers: a number, or the reason why there is none. Never NaN, never a silent zero."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Reason = Literal[
    "no_observations",
    "too_few_observations",
    "zero_variance",
    "no_downside",
    "no_drawdown",
    "no_closed_trades",
    "nonpositive_equity",
    "nonfinite_input",
    "overflow",
    "missing_benchmark",
    "mixed_classes",
]
"""Why a value is undefined. `mixed_classes`: mode `ama` has no rule for stocks and coins in one curve."""

REASONS: tuple[str, ...] = get_args(Reason)

DEGENERATE: frozenset[str] = frozenset(
    {
        "no_observations",
        "too_few_observations",
        "zero_variance",
        "no_downside",
        "no_drawdown",
        "no_closed_trades",
    }
)
"""Reasons that the paper's code answers with 0; mode `ama` does the same, and says so in a flag."""

AMA_FLAG = "compat:ama"


class Undefined(Exception):
    """Raised inside a metric's formula: there is no value, for this reason. Never leaves `compute`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric of one curve.

    `value` is a finite float (fractions, not percent) and `status` is ok, or `value` is None and
    `status` is undefined with a `reason`. `n` counts the observations behind it (returns, marks,
    round trips or exposed periods). `basis` says how it was annualised and which returns it used.
    """

    metric: str
    value: float | None
    status: Literal["ok", "undefined"]
    reason: Reason | None
    n: int
    unit: str
    basis: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON-able values; the shape stored in `account_summary.metrics_json`."""
        return {
            "metric": self.metric,
            "value": self.value,
            "status": self.status,
            "reason": self.reason,
            "n": self.n,
            "unit": self.unit,
            "basis": dict(self.basis),
            "flags": list(self.flags),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MetricResult:
        """Inverse of `to_json`."""
        return cls(**{**data, "flags": tuple(data["flags"])})
