"""Where accounts stand since their last settled session: what they hold, and the order that waits."""

from __future__ import annotations

import pandas as pd

from arena.store.reader import _frame
from arena.store.store import Store


def standings(store: Store, run: str) -> pd.DataFrame:
    """One row an account of a run, by account.

    Columns: account, agent, model, asset, strategy, session, price, side, units, cash, balance (all of
    the last settled session), settled_utc (its close), and of the track's decision after that session
    intent, as_of_utc, decided_at_utc, late; missing where there is none.
    """
    return _frame(
        store,
        "WITH last AS ("
        "  SELECT s.account, s.run, s.agent, s.model, s.asset, s.strategy, e.* EXCLUDE account_key"
        "  FROM account_summary s JOIN equity e"
        '    ON e.account_key = s.account_key AND e.session = s."end"'
        "  WHERE s.run = ?"
        "), closes AS ("
        "  SELECT asset, session, min(known_at_utc) AS settled_utc FROM bars"
        "  WHERE session >= (SELECT min(session) FROM last) GROUP BY ALL"
        ") "
        "SELECT l.account, l.agent, l.model, l.asset, l.strategy, l.session, l.price, l.side, "
        "l.units, l.cash, l.balance, c.settled_utc, d.intent, d.as_of_utc, d.decided_at_utc, d.late "
        "FROM last l LEFT JOIN closes c USING (asset, session) LEFT JOIN decisions d "
        "ON d.run = l.run AND d.agent = l.agent AND d.model = l.model AND d.asset = l.asset "
        "AND d.session = l.session AND d.phase = 'live' ORDER BY l.account",
        [run],
    )
