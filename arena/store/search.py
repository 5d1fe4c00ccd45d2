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


_TOLD = """
SELECT decision, seq, role, {text} AS sha256 FROM calls
SEMI JOIN (SELECT decision FROM decisions WHERE $run::VARCHAR IS NULL OR run = $run) USING (decision)
SEMI JOIN (SELECT sha256 FROM blobs WHERE regexp_matches(text, $pattern, 'i')) t ON t.sha256 = calls.{text}
"""

_FOUND: dict[Place, str] = {
    "reason": "SELECT decision, 0 AS seq, '' AS role, NULL AS sha256 FROM decisions "
    "WHERE regexp_matches(reason, $pattern, 'i')",
    "answer": _TOLD.format(text="answer_sha256"),
    "prompt": _TOLD.format(text="prompt_sha256"),
}

_HITS = """
WITH found AS ({found}),
firsts AS (SELECT decision, min_by({{'role': role, 'sha256': sha256}}, seq) AS at FROM found GROUP BY decision),
best AS (
  SELECT d.decision, d.as_of_utc, f.at FROM firsts f JOIN decisions d USING (decision)
  WHERE ($run::VARCHAR IS NULL OR d.run = $run) AND NOT list_contains($known::VARCHAR[], d.decision)
  ORDER BY d.as_of_utc DESC, d.decision LIMIT $most
)
SELECT b.decision, d.agent, d.model, d.asset, d.slot_key, d.session, d.action, b.at.role,
       regexp_extract(coalesce(t.text, d.reason), $around, 0, 'is')
FROM best b JOIN decisions d USING (decision) LEFT JOIN blobs t ON t.sha256 = b.at.sha256
ORDER BY b.as_of_utc DESC, b.decision
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
    }
    hits: list[Hit] = []
    with store.bulk() as cur:
        timer = threading.Timer(timeout_s, cur.interrupt)
        timer.start()
        try:
            # Place by place: of a common word the first one has enough, and little is held at a time.
            for place in PLACES:
                if not timer.is_alive():
                    # It rang between two of them, where there is nothing to interrupt.
                    return Found((), more=False, complete=False)
                known = [hit.decision for hit in hits]
                cur.execute(
                    _HITS.format(found=_FOUND[place]),
                    {**params, "known": known, "most": limit + 1 - len(hits)},
                )
                hits += [
                    Hit(decision, agent, model, asset, slot, session, action, place, role, snippet)
                    for decision, agent, model, asset, slot, session, action, role, snippet in cur.fetchall()
                ]
                if len(hits) > limit:
                    break
        except duckdb.InterruptException:
            return Found((), more=False, complete=False)
        finally:
            timer.cancel()
    return Found(tuple(hits[:limit]), more=len(hits) > limit, complete=True)
