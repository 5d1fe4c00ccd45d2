"""What each role of a committee said in a run, one row a role and decision."""

from __future__ import annotations

import duckdb
import pandas as pd

from arena.store.store import Store

LEAN_FIELDS = ("lean", "signal", "rating", "action", "target_ratio")
"""Fields of answers that hold a direction, as a word or as a number from -1 to 1."""

_DECISIONS = """
SELECT rowid AS place, decision, agent, model, asset, session::TIMESTAMP AS session, intent, status, position_before
FROM decisions WHERE run = ? AND phase = 'live' ORDER BY as_of_utc, decision
"""

_SAID = """
WITH ours AS (SELECT rowid AS place, decision FROM decisions WHERE run = ? AND phase = 'live'),
words AS (
    SELECT place, kind, role, max(seq) AS seq, arg_max(parsed_json, seq) AS parsed_json
    FROM calls JOIN ours USING (decision)
    WHERE status = 'ok' AND parsed_json IS NOT NULL AND kind IN ('model', 'compute')
    GROUP BY place, kind, role
),
last AS (
    SELECT place, arg_max(role, seq) AS final_role
    FROM calls JOIN ours USING (decision) WHERE kind = 'model' GROUP BY place
),
said AS (
    SELECT place, seq, kind, role,
        json_extract_string(
            parsed_json,
            ['$.lean', '$.signal', '$.rating', '$.action', '$.target_ratio', '$.confidence', '$.strength']
        ) AS part
    FROM words
)
SELECT place, seq, kind, role, coalesce(part[1], part[2], part[3], part[4], part[5]) AS lean,
    TRY_CAST(coalesce(part[6], part[7]) AS DOUBLE) AS confidence,
    kind = 'model' AND role = final_role AS decides
FROM said LEFT JOIN last USING (place)
WHERE coalesce(part[1], part[2], part[3], part[4], part[5], part[7]) IS NOT NULL
"""


def signals(store: Store, run: str) -> pd.DataFrame:
    """Directions that roles gave in a run's live decisions, by time.

    Columns: decision, agent, model, asset, session, intent, status, position_before, kind (model, or
    compute for a figure worked out by code), role, lean (text as it was answered; None for a role
    whose side is given, as in a debate), confidence (0 to 1 or None), decides (the decision's last
    answer). A role that spoke more than once counts with its last word.
    """
    # Joined and sorted here: the database would hold each decision's names once a role.
    with store.bulk() as cur:
        # Places are those of one moment.
        cur.begin()
        decided, said = (_by_arrow(cur, sql, run) for sql in (_DECISIONS, _SAID))
        cur.rollback()
    said["row"] = pd.Index(decided.pop("place")).get_indexer(said.pop("place"))
    said = said.sort_values(["row", "seq"], ignore_index=True).drop(columns="seq")
    of = decided.take(said.pop("row").to_numpy()).reset_index(drop=True)
    return pd.concat([of, said], axis="columns")


def _by_arrow(cur: duckdb.DuckDBPyConnection, sql: str, run: str) -> pd.DataFrame:
    """Without a Python object for each text: they would leave holes all over the process's memory."""
    frame: pd.DataFrame = cur.sql(sql, params=[run]).to_arrow_table().to_pandas(date_as_object=False)
    return frame
