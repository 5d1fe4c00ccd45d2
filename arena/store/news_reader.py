"""Questions to a store about news: what was read at each slot, and what people say of it.

Slots, briefs and health come as dicts with plain `date`, `datetime` and None; long lists as frames.
Texts are as they were stored: foreign, and to be shown as plain text only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from arena.core.errors import UnknownNameError
from arena.store.reader import _dicts, _frame
from arena.store.store import Store

NEWEST_REVIEWS = (
    "SELECT * FROM reviews QUALIFY row_number() OVER "
    "(PARTITION BY brief, reviewer ORDER BY revision DESC) = 1"
)
OF_THE_RUN = "SELECT market_hash FROM decisions WHERE run = ? AND phase = 'live'"


def slots(store: Store, run: str, asset: str) -> list[dict[str, Any]]:
    """What agents of a run read about an asset at each slot, oldest first, without the stories.

    Each has the columns of `contexts`, and: `content` (the brief that agents saw, None where they
    saw none), `row` (the brief's columns, also of one that failed; None where none was made),
    `scores` (rule, scorer, score, evidence), and of the day before the slot `n_polls` and
    `n_polls_ok`: how often sources were asked, and how often they answered.
    """
    found = _dicts(
        store,
        "SELECT c.*, t.text AS content_json, "
        "(SELECT count(*) FROM source_health h WHERE h.at_utc <= c.as_of_utc AND "
        "h.at_utc > c.as_of_utc - INTERVAL 1 DAY) AS n_polls, "
        "(SELECT count(*) FROM source_health h WHERE h.at_utc <= c.as_of_utc AND "
        "h.at_utc > c.as_of_utc - INTERVAL 1 DAY AND h.status = 'ok') AS n_polls_ok "
        "FROM contexts c LEFT JOIN blobs t ON t.sha256 = c.brief_sha256 "
        f"WHERE c.asset = ? AND c.market_hash IN ({OF_THE_RUN}) QUALIFY row_number() OVER "
        "(PARTITION BY c.as_of_utc ORDER BY c.market_hash) = 1 ORDER BY c.as_of_utc",
        [asset, run],
    )
    rows = {r["brief"]: r for r in _dicts(store, "SELECT * FROM briefs WHERE asset = ?", [asset])}
    failed = _failed(list(rows.values()), _maker(store, run))
    scores = _scores(store, list(rows))
    for slot in found:
        text = slot.pop("content_json")
        slot["content"] = None if text is None else json.loads(text)
        # Contexts of two makers that both failed are one and the same: the run says whose failure it is.
        own = None if slot["content"] is None else rows.get(slot["brief"])
        slot["row"] = own or (None if slot["content"] else failed.get(slot["as_of_utc"]))
        slot["scores"] = [] if slot["content"] is None else scores.get(slot["brief"], [])
    return found


def _maker(store: Store, run: str) -> str:
    found = _dicts(store, "SELECT spec_json FROM runs WHERE run = ?", [run])
    if not found:
        names = _dicts(store, "SELECT run FROM runs")
        raise UnknownNameError("run", run, [row["run"] for row in names])
    return str(json.loads(found[0]["spec_json"]).get("brief", "none"))


def _failed(rows: Sequence[dict[str, Any]], maker: str) -> dict[datetime, dict[str, Any]]:
    """A maker's failures by slot, the newest of each."""
    own = [r for r in rows if r["maker"] == maker and r["content_json"] == "null"]
    return {r["as_of_utc"]: r for r in sorted(own, key=lambda r: r["made_at_utc"])}


def failed_brief(
    store: Store, asset: str, as_of_utc: datetime, maker: str
) -> dict[str, Any] | None:
    """The newest failure of a maker to write the brief of a slot, or None."""
    rows = _dicts(
        store,
        "SELECT * FROM briefs WHERE asset = ? AND as_of_utc = ? AND maker = ?",
        [asset, as_of_utc, maker],
    )
    return _failed(rows, maker).get(as_of_utc)


def _scores(store: Store, briefs: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    by_brief: dict[str, list[dict[str, Any]]] = {}
    for row in _dicts(
        store,
        "SELECT * FROM brief_scores WHERE brief IN (SELECT unnest(?::VARCHAR[])) "
        "ORDER BY brief, rule, scorer",
        [list(briefs)],
    ):
        by_brief.setdefault(row.pop("brief"), []).append(row)
    return by_brief


def stories(store: Store, sha256: str | None) -> list[dict[str, Any]]:
    """The stories of a context by `stories_sha256`, as agents saw them; `known_at_utc` is a moment."""
    texts = _dicts(store, "SELECT text FROM blobs WHERE sha256 = ?", [sha256]) if sha256 else []
    return [
        story | {"known_at_utc": datetime.fromisoformat(story["known_at_utc"])}
        for row in texts
        for story in json.loads(row["text"])
    ]


def day_news(store: Store, run: str, asset: str) -> list[dict[str, Any]]:
    """`slots` with the `stories` of each."""
    return [
        slot | {"stories": stories(store, slot["stories_sha256"])}
        for slot in slots(store, run, asset)
    ]


def articles(store: Store, asset: str, told: Sequence[str], as_of_utc: datetime) -> pd.DataFrame:
    """Items behind stories (their ids) that were known by a moment, the first teller first."""
    return _frame(
        store,
        "SELECT * FROM articles WHERE asset = ? AND story IN (SELECT unnest(?::VARCHAR[])) "
        "AND known_at_utc <= ? ORDER BY story, known_at_utc, article",
        [asset, list(told), as_of_utc],
    )


def brief(store: Store, brief_id: str) -> dict[str, Any] | None:
    """A brief's columns with its `content`, `scores` and the `stories` that it was made of, or None.

    `stories` is empty where no context holds the brief.
    """
    found = _dicts(store, "SELECT * FROM briefs WHERE brief = ?", [brief_id])
    if not found:
        return None
    read = _dicts(
        store,
        "SELECT stories_sha256 FROM contexts WHERE brief = ? AND brief_sha256 IS NOT NULL "
        "ORDER BY market_hash LIMIT 1",
        [brief_id],
    )
    return {
        **found[0],
        "content": json.loads(found[0]["content_json"]),
        "scores": _scores(store, [brief_id]).get(brief_id, []),
        "stories": stories(store, read[0]["stories_sha256"]) if read else [],
    }


def usable_briefs(store: Store, asset_class: str) -> list[str]:
    """Ids of the briefs of a class of assets that were made, i.e. not failures; sorted."""
    rows = _dicts(
        store,
        "SELECT brief FROM briefs JOIN assets USING (asset) WHERE asset_class = ? "
        "AND content_json <> 'null' ORDER BY brief",
        [asset_class],
    )
    return [row["brief"] for row in rows]


def decisions_of_brief(store: Store, brief_id: str) -> pd.DataFrame:
    """Live decisions of every run that read a brief."""
    return _frame(
        store,
        "SELECT * FROM decisions WHERE phase = 'live' AND market_hash IN (SELECT market_hash FROM "
        "contexts WHERE brief = ? AND brief_sha256 IS NOT NULL) ORDER BY run, as_of_utc, track",
        [brief_id],
    )


def reviews(store: Store, briefs: Sequence[str] | None = None) -> pd.DataFrame:
    """What each reviewer says of each brief by now, of the given briefs or of all."""
    return _frame(
        store,
        f"SELECT * FROM ({NEWEST_REVIEWS}) WHERE ?::VARCHAR[] IS NULL "
        "OR brief IN (SELECT unnest(?::VARCHAR[])) ORDER BY brief, reviewer",
        [None if briefs is None else list(briefs)] * 2,
    )


def rejected_briefs(store: Store, run: str) -> frozenset[str]:
    """Market hashes of a run whose brief a reviewer rejects by now; decisions carry the same hash."""
    rows = _dicts(
        store,
        "SELECT DISTINCT market_hash FROM contexts WHERE brief_sha256 IS NOT NULL AND brief IN "
        f"(SELECT brief FROM ({NEWEST_REVIEWS}) WHERE rejected) AND market_hash IN ({OF_THE_RUN})",
        [run],
    )
    return frozenset(row["market_hash"] for row in rows)


def notes(store: Store, asset: str) -> pd.DataFrame:
    """Notes of the host on an asset, by session and then in the order they were written."""
    return _frame(
        store, "SELECT * FROM notes WHERE asset = ? ORDER BY session, at_utc, note", [asset]
    )


def source_health(store: Store) -> list[dict[str, Any]]:
    """The newest poll of every source, with `refused` (reason to count), `last_ok_utc`, and its last
    trouble as `last_error` and `last_error_utc`, which may be older."""
    newest = _dicts(
        store,
        "SELECT *, max(at_utc) FILTER (WHERE status = 'ok') OVER (PARTITION BY source) AS last_ok_utc "
        "FROM source_health QUALIFY row_number() OVER (PARTITION BY source ORDER BY at_utc DESC) = 1 "
        "ORDER BY source",
    )
    troubles = _dicts(
        store,
        "SELECT source, error, at_utc FROM source_health WHERE error IS NOT NULL QUALIFY "
        "row_number() OVER (PARTITION BY source ORDER BY at_utc DESC) = 1",
    )
    last = {row["source"]: row for row in troubles}
    for row in newest:
        trouble = last.get(row["source"], {})
        row["refused"] = json.loads(row.pop("refused_json"))
        row["last_error"], row["last_error_utc"] = trouble.get("error"), trouble.get("at_utc")
    return newest


def brief_contents(
    store: Store, assets: Sequence[str], maker: str
) -> dict[str, dict[str, Any] | None]:
    """What agents saw of every stored brief of a maker, by its id; None for those that failed."""
    found = _dicts(
        store,
        "SELECT brief, content_json FROM briefs WHERE maker = ? "
        "AND asset IN (SELECT unnest(?::VARCHAR[]))",
        [maker, list(assets)],
    )
    return {row["brief"]: json.loads(row["content_json"]) for row in found}


def collected(
    store: Store, asset: str, until_utc: datetime, since_utc: datetime | None = None
) -> list[dict[str, Any]]:
    """Articles of an asset that had been fetched by a moment, by when they became known; those known
    before `since_utc` left out."""
    return _dicts(
        store,
        "SELECT * FROM articles WHERE asset = ? AND fetched_at_utc <= ? "
        "AND (?::TIMESTAMPTZ IS NULL OR known_at_utc >= ?) ORDER BY known_at_utc, article",
        [asset, until_utc, since_utc, since_utc],
    )


def facts(store: Store, asset: str, until_utc: datetime) -> list[dict[str, Any]]:
    """Filed figures of an asset that had been fetched by a moment, the oldest filing first."""
    return _dicts(
        store,
        "SELECT * FROM fundamentals WHERE asset = ? AND fetched_at_utc <= ? "
        "ORDER BY filed, field, period",
        [asset, until_utc],
    )
