"""What people add to a store: scores of briefs, rejections, notes. Nothing stored is ever changed.

A review is a new revision of its reviewer's opinion; a rejection shows beside the decisions that
read the brief, and the decisions stay as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import date

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.hashing import sha256_json, sha256_text
from arena.core.rows import NoteRow, ReviewRow, WriteUnit
from arena.core.text import clean_foreign
from arena.core.types import AssetClass
from arena.store import news_reader, reader
from arena.store.store import Store

RULES = ("date_accuracy", "coverage", "bias_awareness", "source_diversity")
SAMPLE_SIZE = 20
"""Briefs of a class that two people score: the paper's number (section 3.1)."""

REVIEWERS = 2
MAX_NAME_CHARS, MAX_NOTE_CHARS = 40, 500

_LOCK = threading.Lock()
"""From reading the newest revision to storing the next: a second writer would take the same number."""


def sample(
    store: Store, asset_class: AssetClass, n: int = SAMPLE_SIZE, seed: int = 0
) -> tuple[str, ...]:
    """Ids of `n` briefs of a class (all, if fewer were made) in the order to score them.

    The draw depends on the seed and the ids alone. A brief made later takes its place in the same
    order: it may push out the last one and never shuffles the rest.
    """
    ids = news_reader.usable_briefs(store, asset_class)
    return tuple(sorted(ids, key=lambda brief: sha256_text(f"{seed}:{brief}"))[:n])


def submit(
    store: Store,
    brief: str,
    reviewer: str,
    scores: Mapping[str, int],
    *,
    rejected: bool = False,
    note: str = "",
    clock: Clock = utc_now,
) -> ReviewRow:
    """Store a reviewer's scores (0 to 2 by name of rule) as the next revision; returns it.

    Raises:
        ConfigError: a name, score or note that cannot be taken; no such brief, or one that failed.
        StoreError: the store is open for reading only.
    """
    found = news_reader.brief(store, brief)
    if found is None:
        raise ConfigError(f"There is no brief `{brief}` in this store.")
    if found["content"] is None:
        raise ConfigError(f"`{brief}` is a failure to write a brief; there is nothing to score.")
    if wrong := sorted(set(scores) ^ set(RULES)):
        raise ConfigError(f"A review scores {', '.join(RULES)}; `{wrong[0]}` is missing or unknown.")
    if bad := [rule for rule in RULES if scores[rule] not in (0, 1, 2)]:
        raise ConfigError(f"`{bad[0]}` is {scores[bad[0]]!r}; a score is 0, 1 or 2.")
    text = _text(note, "note of a review")
    name = plain_name(reviewer)
    with _LOCK:
        reviews = news_reader.reviews(store)
        name = _as_spelled(name, reviews)
        own = reviews[(reviews["brief"] == brief) & (reviews["reviewer"] == name)]
        revision = 0 if own.empty else int(own["revision"].iloc[0]) + 1
        given = {rule: int(scores[rule]) for rule in RULES}
        row = ReviewRow(
            brief=brief, reviewer=name, revision=revision, **given, rejected=bool(rejected),
            note=text, at_utc=clock(),
        )  # fmt: skip
        store.write([WriteUnit((row,))])
    return row


def mark_rejected(
    store: Store,
    brief: str,
    reviewer: str,
    *,
    rejected: bool = True,
    note: str = "",
    clock: Clock = utc_now,
) -> ReviewRow:
    """Reject a brief that the reviewer has scored, or take it back; the scores stay as they were.

    Raises:
        ConfigError: the reviewer has not scored it; see `submit` for the rest.
    """
    name = _as_spelled(plain_name(reviewer), news_reader.reviews(store))
    own = news_reader.reviews(store, [brief])
    own = own[own["reviewer"] == name]
    if own.empty:
        raise ConfigError(f"{name} has not scored `{brief}` yet. Score it, then reject it.")
    scores = {rule: int(own[rule].iloc[0]) for rule in RULES}
    return submit(store, brief, name, scores, rejected=rejected, note=note, clock=clock)


def add_note(
    store: Store, asset: str, session: date, text: str, author: str, *, clock: Clock = utc_now
) -> NoteRow:
    """Store a dated remark on an asset; returns it.

    Raises:
        UnknownNameError: the store has no such asset.
        ConfigError: a text or an author that cannot be taken.
        StoreError: the store is open for reading only.
    """
    known = reader.assets(store)["asset"].tolist()
    if asset not in known:
        raise UnknownNameError("asset", asset, known)
    words, name = _text(text, "note"), plain_name(author)
    if not words:
        raise ConfigError("A note needs a text.")
    at_utc = clock()
    note = f"note-{sha256_json([asset, session, words, name, at_utc])[:12]}"
    row = NoteRow(note, asset, session, words, name, at_utc)
    store.write([WriteUnit((row,))])
    return row


def shown_to(reviews: pd.DataFrame, reviewer: str | None) -> pd.DataFrame:
    """The reviews that may be shown to a person without taking somebody's independence.

    One who gave a name sees what others say of a brief once he has scored it himself; a reader
    without a name sees it once two people have. `reviews` is `news_reader.reviews`.
    """
    if reviewer:
        mine = reviews["reviewer"].str.casefold() == reviewer.strip().casefold()
        return reviews[reviews["brief"].isin(reviews.loc[mine, "brief"])]
    told = reviews["brief"].map(reviews["brief"].value_counts()) >= REVIEWERS
    return reviews[told]


def plain_name(text: str) -> str:
    """`text` as the name of a person, without the spaces around it.

    Raises:
        ConfigError: it is empty, too long, or not what it looks like.
    """
    name = text.strip()
    if not name:
        raise ConfigError("A name is missing.")
    if len(name) > MAX_NAME_CHARS:
        raise ConfigError(f"A name has at most {MAX_NAME_CHARS} characters; this has {len(name)}.")
    if (seen := clean_foreign(name, MAX_NAME_CHARS)) != name:
        hint = f" Type it as `{seen}`." if seen else ""
        raise ConfigError(f"A name holds no invisible or unusual characters.{hint}")
    return name


def _text(text: str, what: str) -> str:
    if len(text) > MAX_NOTE_CHARS:
        raise ConfigError(f"A {what} has at most {MAX_NOTE_CHARS} characters; this has {len(text)}.")
    return clean_foreign(text, MAX_NOTE_CHARS)


def _as_spelled(name: str, reviews: pd.DataFrame) -> str:
    """`ann` is Ann: one person under two spellings would agree with herself."""
    known = {str(r).casefold(): str(r) for r in sorted(set(reviews["reviewer"]))}
    return known.get(name.casefold(), name)
