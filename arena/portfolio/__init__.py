"""Accounts: strategies, fills, fees. Pure, vectorised across accounts; no market, no model."""

from arena.portfolio.engine import Book, Costs, Curves, Legs, advance, force_close, simulate
from arena.portfolio.strategies import PAPER_STRATEGIES, STRATEGIES, Strategy, get_strategy
from arena.portfolio.trades import RoundTrip, round_trips

__all__ = [
    "PAPER_STRATEGIES",
    "STRATEGIES",
    "Book",
    "Costs",
    "Curves",
    "Legs",
    "RoundTrip",
    "Strategy",
    "advance",
    "force_close",
    "get_strategy",
    "round_trips",
    "simulate",
]
