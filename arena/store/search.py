"""Looking for words in everything that models were told and said.

A plain scan: one pass over the texts, no index to keep. Each text is stored once, so that a prompt of
many calls is read once.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from datetime import date
from typing import Literal

import duckdb

from arena.core.errors import ConfigError
from arena.store.store import Store

Place = Literal["reason", "answer", "prompt"]
PLACES: tuple[Place, ...] = ("reason", "answer", "prompt")
"""What an agent said stands before what it was told: of a word in a day's news every prompt is full."""

MAX_CHARS = 200
LIMIT = 50
TIMEOUT_S = 5.0
BEFORE_CHARS, AFTER_CHARS = 60, 140


@dataclass(frozen=True, slots=True)
class Hit:
    """A decision with the words in it: its best place (of PLACES), the role there, and what stands
    around the first occurrence. `role` is empty for a reason, which is the decision's own."""

    decision: str
    agent: str
    model: str
    asset: str
    slot_key: str
    session: date
    action: str
    place: Place
    role: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Found:
    """`more`: there are hits beyond `hits`. `complete` is False where the time was up: nothing is known."""

    hits: tuple[Hit, ...]
    more: bool
    complete: bool


_ONE_AT_A_TIME = threading.Lock()
"""A search uses all cores and much of the database's memory: two at once would take as long, and fail."""

_HITS = """
WITH told AS (
  SELECT decision, 1 AS rank, seq, role, answer_sha256 AS sha256 FROM calls
  UNION ALL
  SELECT decision, 2, seq, role, prompt_sha256 FROM calls
),
places AS (
  SELECT decision, 0 AS rank, -1 AS seq, '' AS role, NULL AS sha256
  FROM decisions WHERE regexp_matches(reason, $pattern, 'i')
  UNION ALL
  SELECT told.* FROM told
  SEMI JOIN (SELECT decision FROM decisions WHERE $run::VARCHAR IS NULL OR run = $run) USING (decision)
  SEMI JOIN (SELECT sha256 FROM blobs WHERE regexp_matches(text, $pattern, 'i')) USING (sha256)
),
firsts AS (
  SELECT decision, min_by({'rank': rank, 'role': role, 'sha256': sha256}, rank * 1000000 + seq) AS at
  FROM places GROUP BY decision
),
best AS (
  SELECT d.decision, d.as_of_utc, f.at FROM firsts f JOIN decisions d USING (decision)
  WHERE $run::VARCHAR IS NULL OR d.run = $run
  ORDER BY f.at.rank, d.as_of_utc DESC, d.decision LIMIT $most
)
SELECT b.decision, d.agent, d.model, d.asset, d.slot_key, d.session, d.action, b.at.rank, b.at.role,
       regexp_extract(coalesce(t.text, d.reason), $around, 0, 'is')
FROM best b JOIN decisions d USING (decision) LEFT JOIN blobs t ON t.sha256 = b.at.sha256
ORDER BY b.at.rank, b.as_of_utc DESC, b.decision
"""


def search(
    store: Store, run: str | None, words: str, limit: int = LIMIT, timeout_s: float = TIMEOUT_S
) -> Found:
    """Decisions (of a run or of all) whose reason, answers or prompts contain `words` as they stand,
    upper or lower case alike; one hit a decision, the best place first and then the newest slot.

    A scan that takes longer than `timeout_s` is broken off.

    Raises:
        ConfigError: no words, or more than MAX_CHARS characters.
    """
    wanted = words.strip()
    if not wanted or len(wanted) > MAX_CHARS:
        raise ConfigError(f"Search for 1 to {MAX_CHARS} characters; these are {len(wanted)}.")
    literal = re.escape(wanted)
    params = {
        "pattern": literal,
        "around": f".{{0,{BEFORE_CHARS}}}{literal}.{{0,{AFTER_CHARS}}}",
        "run": run,
        "most": limit + 1,
    }
    with _ONE_AT_A_TIME, store.cursor() as cur:
        timer = threading.Timer(timeout_s, cur.interrupt)
        timer.start()
        try:
            cur.execute(_HITS, params)
            rows = cur.fetchall()
        except duckdb.InterruptException:
            return Found((), more=False, complete=False)
        finally:
            timer.cancel()
    hits = tuple(
        Hit(decision, agent, model, asset, slot, session, action, PLACES[rank], role, snippet)
        for decision, agent, model, asset, slot, session, action, rank, role, snippet in rows[:limit]
    )
    return Found(hits, more=len(rows) > limit, complete=True)
