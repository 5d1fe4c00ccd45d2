"""Whether this arena is alive, for a machine that asks: one word, the reasons, and the figures behind it.

No path, no key and no text from outside is in the answer: anybody may read it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

import pandas as pd

from arena import __version__
from arena.core import settings
from arena.core.actions import FAILED
from arena.core.season import RunSpec
from arena.runner.safety import safety
from arena.runner.service import ServiceState
from arena.store import news_reader, reader
from arena.store.snapshot import snapshot_path
from arena.store.store import Store

Word = Literal["ok", "degraded", "paused", "viewer"]

OVERDUE = timedelta(hours=2, minutes=30)
"""After a slot: longer than any wait for a final bar, and than a round takes."""

FREE_BYTES = 500_000_000
PAUSED = ("no_store", "store_unusable", "worker_failed", "paused")
"""Reasons for which nothing goes on; a host must act."""


def liveness(state: ServiceState, now_utc: datetime) -> dict[str, Any]:
    """The answer of `/api/health`.

    `status` is paused (nothing goes on until somebody acts), viewer (this process only shows),
    degraded (it goes on, something is wrong), else ok; `reasons` are fixed words.
    """
    store, reasons = state.store, _service_reasons(state)
    answer: dict[str, Any] = {"status": "ok", "reasons": reasons, "version": __version__}
    answer |= {"runner": "on" if settings.runner_enabled() else "off", "work": _work(state)}
    if store is not None:
        answer |= _store_facts(store)
        answer["safe"] = safe = _safe(store)
        reasons += ["upload_fails"] if safe["upload_ok"] is False else []
        answer |= (rounds := _rounds(store, now_utc))
        answer["sources"] = sources = [
            {"source": r["source"], "status": r["status"], "at_utc": r["at_utc"]}
            for r in news_reader.source_health(store)
        ]
        last = rounds["last_round"]
        reasons += ["round_overdue"] if rounds["overdue_s"] else []
        reasons += ["round_failed"] if last is not None and last["n_failed"] else []
        reasons += ["sources_fail"] if sources and all(s["status"] != "ok" for s in sources) else []
        reasons += ["disk_low"] if shutil.disk_usage(store.path.parent).free < FREE_BYTES else []
    answer["status"] = _word(reasons, store)
    return answer


def _word(reasons: list[str], store: Store | None) -> Word:
    if any(r in PAUSED for r in reasons):
        return "paused"
    if store is not None and store.read_only:
        return "viewer"
    return "degraded" if reasons else "ok"


def _service_reasons(state: ServiceState) -> list[str]:
    if state.store is None and state.level != "error":
        return ["starting"]
    found = []
    if state.level == "error":
        found.append("no_store" if state.store is None else "store_unusable" if state.viewer else "worker_failed")
    if state.paused:
        found.append("paused")
    if (keeper := state.keeper) is not None and keeper.trouble is not None:
        found.append(f"store_{keeper.trouble.kind}")
    if (ticker := state.ticker) is not None:
        found += ["season_waits"] if ticker.live is not None and ticker.live.troubles else []
        hook = ticker.follower.webhook
        found += ["webhook_fails"] if hook is not None and hook.trouble else []
    return found


def _work(state: ServiceState) -> float | None:
    """Share done of work in the background, or None without any."""
    done = state.progress()
    return None if done is None else round(done[0], 3)


def _store_facts(store: Store) -> dict[str, Any]:
    copy = snapshot_path(store.path)
    age_s = store.age_s
    if age_s is None and copy.exists():
        age_s = time.time() - copy.stat().st_mtime
    return {
        "store_id": store.store_id,
        "data_version": reader.data_version(store),
        "snapshot_age_s": None if age_s is None else round(age_s, 1),
    }


def _safe(store: Store) -> dict[str, Any]:
    """Up to when the data would survive the loss of this disk's store, and what came since."""
    known = safety(store)
    upload = known["upload"]
    return {
        "until_utc": known["safe_until_utc"],
        "where": known["where"],
        "n_decisions_since": known["n_since"],
        "upload_ok": None if upload is None else upload["error"] is None,
    }


def _rounds(store: Store, now_utc: datetime) -> dict[str, Any]:
    """Newest round, and what live runs wait for; of a store without any live run the newest run's."""
    runs = reader.runs(store)
    live = runs[(runs["kind"] == "live") & (runs["status"] == "running") & runs["voided_reason"].isna()]
    # A visitor's run is no state of this arena.
    shown = live if len(live) else runs[~runs["workbench"]][:1]
    found = [(str(r), reader.last_round(store, str(r))) for r in shown["run"]]
    known = [(name, last) for name, last in found if last is not None]
    name, last = max(known, key=lambda f: f[1]["as_of_utc"], default=("", None))
    due, overdue_s = _due(store, live, dict(known), now_utc) if len(live) else (None, None)
    return {
        "live_runs": list(live["run"]),
        "last_round": None if last is None else _told(name, last, now_utc),
        "next_due_utc": due,
        "overdue_s": overdue_s,
    }


def _told(run: str, last: Mapping[str, Any], now_utc: datetime) -> dict[str, Any]:
    return {
        "run": run,
        "as_of_utc": last["as_of_utc"],
        "age_s": round((now_utc - last["as_of_utc"]).total_seconds(), 1),
        "n_decisions": last["n_decisions"],
        "n_failed": sum(n for s, n in last["statuses"].items() if s in FAILED),
    }


def _due(
    store: Store, live: pd.DataFrame, last: Mapping[str, Mapping[str, Any]], now_utc: datetime
) -> tuple[datetime | None, float | None]:
    """The nearest slot of a live run, and how long one has been waited for beyond measure."""
    # Calendars take half a second to load, which an arena of replays need not pay.
    from arena.runner.next_slot import next_decision

    classes = dict(store_classes(store))
    coming, missed = [], []
    for run in live.to_dict("records"):
        spec = RunSpec.model_validate_json(str(run["spec_json"]))
        name = str(run["run"])
        since = last[name]["as_of_utc"] if name in last else run["created_at_utc"].to_pydatetime()
        after, ahead = (next_decision(spec, classes, at) for at in (since, now_utc))
        coming += [ahead.as_of_utc] if ahead else []
        missed += [after.as_of_utc] if after and after.as_of_utc + OVERDUE < now_utc else []
    waited = [(now_utc - at).total_seconds() for at in missed]
    return min(coming, default=None), round(max(waited), 1) if waited else None


def store_classes(store: Store) -> dict[str, Any]:
    """Asset class by asset."""
    frame = reader.assets(store)
    return dict(zip(frame["asset"], frame["asset_class"], strict=True))
