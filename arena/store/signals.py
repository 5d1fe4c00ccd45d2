"""What each role of a committee said, one row a role and decision, read in one query."""

from __future__ import annotations

import pandas as pd

from arena.store.store import Store

LEAN_FIELDS = ("lean", "signal", "rating", "action", "target_ratio")
"""Fields of answers that hold a direction, as a word or as a number from -1 to 1."""

_SQL = """
WITH said AS (
    SELECT c.decision, c.seq, c.kind, c.role,
        json_extract_string(
            c.parsed_json,
            ['$.lean', '$.signal', '$.rating', '$.action', '$.target_ratio', '$.confidence', '$.strength']
        ) AS part
    FROM calls c JOIN decisions d USING (decision)
    WHERE d.run = ? AND d.phase = 'live' AND c.status = 'ok' AND c.parsed_json IS NOT NULL
        AND c.kind IN ('model', 'compute')
    QUALIFY row_number() OVER (PARTITION BY c.decision, c.kind, c.role ORDER BY c.seq DESC) = 1
),
last AS (
    SELECT c.decision, arg_max(c.role, c.seq) AS final_role
    FROM calls c JOIN decisions d USING (decision)
    WHERE d.run = ? AND d.phase = 'live' AND c.kind = 'model' GROUP BY c.decision
)
SELECT d.decision, d.agent, d.model, d.asset, d.session, d.intent, d.status, d.position_before,
    s.kind, s.role, coalesce(part[1], part[2], part[3], part[4], part[5]) AS lean,
    TRY_CAST(coalesce(part[6], part[7]) AS DOUBLE) AS confidence,
    s.kind = 'model' AND s.role = l.final_role AS decides
FROM said s JOIN decisions d USING (decision) LEFT JOIN last l USING (decision)
WHERE coalesce(part[1], part[2], part[3], part[4], part[5], part[7]) IS NOT NULL
ORDER BY d.as_of_utc, d.decision, s.seq
"""


def signals(store: Store, run: str) -> pd.DataFrame:
    """Directions that roles gave in a run's live decisions, by time.

    Columns: decision, agent, model, asset, session, intent, status, position_before, kind (model, or
    compute for a figure worked out by code), role, lean (text as it was answered; None for a role
    whose side is given, as in a debate), confidence (0 to 1 or None), decides (the decision's last
    answer). A role that spoke more than once counts with its last word.
    """
    with store.cursor() as cur:
        cur.execute(_SQL, [run, run])
        return cur.fetchdf()
