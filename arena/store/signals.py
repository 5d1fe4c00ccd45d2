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

# Hashes stand for ids. What is grouped and joined is so outside: the database would hold each text once a role.
_SAID = """
WITH ours AS (SELECT rowid AS place, hash(decision) AS id FROM decisions WHERE run = ? AND phase = 'live'),
said AS (
    SELECT place, seq, kind, role, status = 'ok' AND parsed_json IS NOT NULL AS known,
        json_extract_string(
            parsed_json,
            ['$.lean', '$.signal', '$.rating', '$.action', '$.target_ratio', '$.confidence', '$.strength']
        ) AS part
    FROM calls JOIN ours ON id = hash(decision) WHERE kind IN ('model', 'compute')
)
SELECT place, seq, kind, role, known, coalesce(part[1], part[2], part[3], part[4], part[5]) AS lean,
    TRY_CAST(coalesce(part[6], part[7]) AS DOUBLE) AS confidence, part[7] IS NOT NULL AS strength
FROM said
"""


def signals(store: Store, run: str) -> pd.DataFrame:
    """Directions that roles gave in a run's live decisions, by time.

    Columns: decision, agent, model, asset, session, intent, status, position_before, kind (model, or
    compute for a figure worked out by code), role, lean (text as it was answered; None for a role
    whose side is given, as in a debate), confidence (0 to 1 or None), decides (the decision's last
    answer). A role that spoke more than once counts with its last word.
    """
    with store.bulk() as cur:
        # Places are those of one moment.
        cur.begin()
        decided, said = (_by_arrow(cur, sql, run) for sql in (_DECISIONS, _SAID))
        cur.rollback()
    said["row"] = pd.Index(decided.pop("place")).get_indexer(said.pop("place"))
    said = said.sort_values(["row", "seq"])
    final = said[said["kind"] == "model"].drop_duplicates("row", keep="last").set_index("row")["role"]
    words = said[said.pop("known")].drop_duplicates(["row", "kind", "role"], keep="last")
    words = words[words["lean"].notna() | words.pop("strength")]
    of = words.pop("row")
    decides = (words["kind"] == "model") & (words["role"] == of.map(final))
    words = words.drop(columns="seq").assign(decides=decides).reset_index(drop=True)
    return pd.concat([decided.take(of.to_numpy()).reset_index(drop=True), words], axis="columns")


def _by_arrow(cur: duckdb.DuckDBPyConnection, sql: str, run: str) -> pd.DataFrame:
    """Without a Python object for each text: they would leave holes all over the process's memory."""
    frame: pd.DataFrame = cur.sql(sql, params=[run]).to_arrow_table().to_pandas(date_as_object=False)
    return frame
