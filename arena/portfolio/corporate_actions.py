"""Splits and dividends in a book, at the open of the ex-date and before any order of that session.

split r: r new shares for one old: units x r, mark / r; what an account is worth does not change.
dividend d: cash + units x d; who is short pays it. A dividend is in the units of its own day: where
both fall on one day the split comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import numpy as np

from arena.core.errors import InvariantError
from arena.core.rows import ActionRow
from arena.portfolio.book import Book, Floats


def apply_action(book: Book, action: ActionRow) -> Floats:
    """Change all accounts of `book`, which holds this one asset, in place.

    Returns:
        The cash that each account got (negative: paid), shape (A,); zeros for a split.

    Raises:
        InvariantError: an action of another kind, or one that is not positive.
    """
    if not action.value > 0 or action.kind not in ("split", "dividend"):
        raise InvariantError(
            f"{action.asset} {action.ex_date}: a {action.kind} of {action.value} is no corporate action"
        )
    if action.kind == "split":
        book.units *= action.value
        book.tranche *= action.value
        book.mark = book.mark / action.value
        return np.zeros_like(book.cash)
    paid = book.units * action.value
    book.cash += paid
    return paid


def in_order(actions: Iterable[ActionRow]) -> list[ActionRow]:
    """One action a day and kind, by ex-date, splits first: two sources may both have reported it."""
    found: dict[tuple[date, bool], ActionRow] = {}
    for action in sorted(actions, key=lambda a: a.source):
        found.setdefault((action.ex_date, action.kind != "split"), action)
    return [found[key] for key in sorted(found)]
