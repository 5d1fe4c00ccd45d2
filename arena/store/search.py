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


_RUN = "($run::VARCHAR IS NULL OR run = $run)"

_REASON = f"""
SELECT rowid AS place, 0 AS seq FROM decisions WHERE {_RUN} AND regexp_matches(reason, $pattern, 'i')
"""

# Hashes stand for ids and for texts: a sixth of what would have to be held at a time.
_TOLD = f"""
SELECT place, seq FROM calls c
JOIN (SELECT rowid AS place, hash(decision) AS id FROM decisions WHERE {_RUN}) d ON d.id = hash(c.decision)
WHERE hash(c.{{text}}) IN (SELECT hash(sha256) FROM blobs WHERE regexp_matches(text, $pattern, 'i'))
"""

_FOUND: dict[Place, str] = {
    "reason": _REASON,
    "answer": _TOLD.format(text="answer_sha256"),
    "prompt": _TOLD.format(text="prompt_sha256"),
}

_BEST = """
WITH firsts AS (SELECT place, min(seq) AS first FROM ({found}) GROUP BY place)
SELECT d.rowid, d.decision, first FROM firsts f JOIN decisions d ON d.rowid = f.place
WHERE NOT list_contains($known::BIGINT[], d.rowid)
ORDER BY d.as_of_utc DESC, d.decision LIMIT $most
"""

_DECISIONS = """
SELECT rowid, decision, agent, model, asset, slot_key, session, action, regexp_extract(reason, $around, 0, 'is')
FROM decisions WHERE rowid IN (SELECT unnest($places::BIGINT[]))
"""

_CALLS = """
SELECT decision, seq, role, {place}_sha256 FROM calls WHERE decision IN (SELECT unnest($decisions::VARCHAR[]))
"""

_TEXTS = """
SELECT sha256, regexp_extract(text, $around, 0, 'is') FROM blobs
WHERE sha256 IN (SELECT unnest($texts::VARCHAR[]))
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
    around = f".{{0,{BEFORE_CHARS}}}{literal}.{{0,{AFTER_CHARS}}}"
    hits: list[Hit] = []
    known: list[int] = []
    with store.bulk() as cur:
        timer = threading.Timer(timeout_s, cur.interrupt)
        timer.start()
        try:
            # Places in a row are those of one moment.
            cur.begin()
            # Place by place: of a common word the first one has enough, and little is held at a time.
            for place in PLACES:
                if not timer.is_alive():
                    # It rang where there was nothing to interrupt.
                    return Found((), more=False, complete=False)
                asked = {"run": run, "pattern": literal, "known": known, "most": limit + 1 - len(hits)}
                best = cur.execute(_BEST.format(found=_FOUND[place]), asked).fetchall()
                hits += _shown(cur, place, best, around)
                known += [row for row, _, _ in best]
                if len(hits) > limit:
                    break
            cur.rollback()
        except duckdb.InterruptException:
            return Found((), more=False, complete=False)
        finally:
            timer.cancel()
    return Found(tuple(hits[:limit]), more=len(hits) > limit, complete=True)


def _shown(
    cur: duckdb.DuckDBPyConnection, place: Place, best: list[tuple[int, str, int]], around: str
) -> list[Hit]:
    """Hits for rows of `_BEST`. Asked for by name: joined to them, every text would be held."""
    asked = {"places": [row for row, _, _ in best], "around": around}
    told = {row[0]: row[1:] for row in cur.execute(_DECISIONS, asked).fetchall()}
    said: dict[tuple[str, int], tuple[str, str]] = {}
    texts: dict[str, str] = {}
    if place != "reason":
        calls = cur.execute(_CALLS.format(place=place), {"decisions": [d for _, d, _ in best]}).fetchall()
        said = {(decision, seq): (role, sha256) for decision, seq, role, sha256 in calls}
        wanted = [said[decision, seq][1] for _, decision, seq in best]
        texts = dict(cur.execute(_TEXTS, {"texts": wanted, "around": around}).fetchall())
    hits = []
    for row, decision, seq in best:
        _, agent, model, asset, slot, session, action, reason = told[row]
        role, sha256 = said.get((decision, seq), ("", ""))
        snippet = texts.get(sha256, reason)
        hits.append(Hit(decision, agent, model, asset, slot, session, action, place, role, snippet))
    return hits
