"""Lookup tables that turn (strategy, fee, position, action) into sizes and fees.

One block of rows for each distinct (strategy, fee rate) of a book; a row stands for a position and
its cells for the actions. `cell = row + code - CODES.start` indexes every table, so that a session
of any mix of strategies is a handful of array look-ups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.portfolio.strategies import CODES, N_TRANCHES, POSITIONS, Strategy


class RuleTables:
    """Transitions of A accounts; all tables are flat arrays indexed by cell.

    next_row    row after the transition
    side        -1, 0, 1 of the row itself
    close       -1 where the whole position is closed
    shed, add   -1 or 1: direction in which one tranche is shed or added
    open        signed share of equity that is bought from flat, fee already taken off
    close_fee, open_fee     fee rate on marked equity (all-in strategies)

    `flat_row` (A,) is where each account starts; `frozen` is the row of bankrupt accounts, which
    no action leaves. `all_in`, `pyramid`, `sheds` and `adds` tell whether any rule needs
    that part of the work.
    """

    def __init__(self, strategies: Sequence[Strategy], fee_frac: Sequence[float]) -> None:
        pairs = list(zip(strategies, fee_frac, strict=True))
        width, height = len(CODES), len(POSITIONS)
        start = {pair: i * width * height for i, pair in enumerate(dict.fromkeys(pairs))}
        self.frozen = len(start) * width * height
        n_cells = self.frozen + width
        self.flat_row = np.array([start[p] + N_TRANCHES * width for p in pairs], dtype=np.intp)
        self.next_row = np.full(n_cells, self.frozen, dtype=np.intp)
        self.side = np.zeros(n_cells, dtype=np.int8)
        self.close, self.shed, self.add = np.zeros((3, n_cells))
        self.open, self.close_fee, self.open_fee = np.zeros((3, n_cells))
        for (strategy, fee), first in start.items():
            for position in POSITIONS:
                row = first + (position + N_TRANCHES) * width
                self.side[row : row + width] = np.sign(position)
                for cell, code in enumerate(CODES, start=row):
                    after = strategy.next_position(position, code)
                    self.next_row[cell] = row + (after - position) * width
                    self._size(cell, strategy, fee, position, after)
        self.all_in = any(s.kind == "all_in" for s in strategies)
        self.pyramid = any(s.kind == "pyramid" for s in strategies)
        self.sheds = bool(self.shed.any())
        self.adds = bool(self.add.any())

    def _size(self, cell: int, strategy: Strategy, fee: float, before: int, after: int) -> None:
        equity_fee = fee if strategy.kind == "all_in" else 0.0
        if before * after > 0:
            step = abs(after) - abs(before)
            (self.add if step > 0 else self.shed)[cell] = np.sign(step * before)
            return
        if before != 0:
            self.close[cell] = -1.0
            self.close_fee[cell] = equity_fee
        if after != 0:
            self.open[cell] = after / N_TRANCHES * (1.0 - fee)
            self.open_fee[cell] = equity_fee
