"""Days of prices that are held back: in quarantine, and not released since."""

from __future__ import annotations

import pandas as pd

from arena.store.reader import _frame
from arena.store.store import Store


def held_prices(store: Store) -> pd.DataFrame:
    """The quarantine checks of asset-days that have no bar; a bar that entered since ends them."""
    return _frame(
        store,
        "SELECT c.* FROM price_checks c ANTI JOIN bars b USING (asset, session) "
        "WHERE c.kind = 'quarantine' ORDER BY asset, session, source",
    )
