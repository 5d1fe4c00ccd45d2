"""What a stream of money is worth today. Shared by the personas and the valuation desk.

A flow that is not positive is worth 0: no growth makes anything of a loss.
"""

from __future__ import annotations

from collections.abc import Sequence

MIN_SPREAD_FRAC = 0.04
"""Discount less terminal growth is at least this: a smaller one makes any price look cheap."""


def with_exit(
    flow: float | None, growth: float, discount: float, years: int, multiple: float
) -> float | None:
    """`years` of `flow` growing by `growth`, and then `multiple` times the last flow.

    V = sum_t F (1+g)^t / (1+d)^t + m F (1+g)^n / (1+d)^n
    """
    if flow is None:
        return None
    step = (1.0 + growth) / (1.0 + discount)
    return max(flow, 0.0) * (sum(step**t for t in range(1, years + 1)) + multiple * step**years)


def with_terminal_growth(
    flow: float | None, growths: Sequence[float], discount: float, terminal: float
) -> float | None:
    """A flow for each of `growths`, and then for ever at `terminal` growth (Gordon).

    V = sum_t F_t / (1+d)^t + F_n (1+g) / (d-g) / (1+d)^n, with g <= d - `MIN_SPREAD_FRAC`
    """
    if flow is None:
        return None
    lasting = min(terminal, discount - MIN_SPREAD_FRAC)
    worth, factor, amount = 0.0, 1.0, max(flow, 0.0)
    for g in growths:
        amount *= 1.0 + g
        factor /= 1.0 + discount
        worth += amount * factor
    return worth + amount * (1.0 + lasting) / (discount - lasting) * factor


def margin_of_safety(worth: float | None, cap: float | None) -> float | None:
    """(worth - cap) / cap: 0.3 = worth 30 % more than it costs; -1 = worth nothing."""
    return None if worth is None or not cap else worth / cap - 1.0
