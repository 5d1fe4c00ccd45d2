"""What a host is told without looking: new rounds, flips, failures, budgets that ran out.

Messages name agents, models and assets, never a model's own words: a channel is no place for text that
anybody could have put into a model's mouth.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from arena.core.actions import FAILED, Intent, Status, target_side
from arena.core.errors import ConfigError, StoreError
from arena.core.permalink import decision_path
from arena.core.season import RunSpec
from arena.core.settings import network_allowed, public_url, webhook_secret, webhook_url
from arena.core.text import clean_foreign
from arena.runner import audit_log
from arena.runner.webhook import Webhook
from arena.store import reader, rounds
from arena.store.store import Store

log = logging.getLogger("arena.follow")

MOST_NAMED = 8
ANSWERED = (Status.OK, Status.REPAIRED)

Row = Mapping[str, Any]


class Follower:
    """Posts to `ARENA_WEBHOOK_URL` after each round; does nothing where none is set or the network is off."""

    def __init__(self, store: Store, webhook: Webhook | None = None) -> None:
        self._store = store
        self.webhook = webhook or self._opened()
        self._broken: dict[str, str] = {}

    def _opened(self) -> Webhook | None:
        url = webhook_url()
        if url is None or not network_allowed():
            return None
        try:
            return Webhook(url, webhook_secret(), said=self._noted)
        except ConfigError as error:
            log.warning("Nobody is told of rounds. %s", error)
            self._noted(str(error))
            return None

    def after_round(self, run: str, decision_ids: Sequence[str]) -> None:
        """Queue what is worth telling of new decisions; never raises and never waits for the network."""
        if self.webhook is None or not decision_ids:
            return
        self._broken.pop(run, None)
        try:
            rows = rounds.decisions_of(self._store, decision_ids)
            spec = RunSpec.model_validate_json(str(reader.run(self._store, run)["spec_json"]))
            for kind, text, facts in messages(run, rows, spec, public_url()):
                self.webhook.say(kind, text, facts)
        except Exception:
            log.exception("the round of %s could not be told", run)

    def round_failed(self, run: str, reason: str) -> None:
        """Tell of a round that could not be carried out at all: once, until a round of that run works or
        the reason is another."""
        words = clean_foreign(reason, 300)
        if self.webhook is not None and self._broken.get(run) != words:
            self._broken[run] = words
            self.webhook.say("failed", f"{run}: a round failed. {words}", {"run": run, "reason": words})

    def drain(self, timeout_s: float) -> bool:
        """Before a process ends: send what waits; False if it was not all tried in time."""
        return self.webhook is None or self.webhook.drain(timeout_s)

    def stop(self, timeout_s: float = 0.5) -> None:
        if self.webhook is not None:
            self.webhook.stop(timeout_s)

    def _noted(self, problem: str | None) -> None:
        try:
            audit_log.record(
                self._store, "host", "webhook works" if problem is None else "webhook fails",
                {"problem": problem},
            )  # fmt: skip
        except StoreError as error:
            log.warning("the webhook's state could not be written down: %s", error)


Message = tuple[str, str, dict[str, Any]]


def messages(run: str, rows: Sequence[Row], spec: RunSpec, base_url: str | None) -> list[Message]:
    """(kind, text, facts) of a round: always `round`; `flips`, `failed`, `budget_stop` where there are any.

    A flip is an answer that asks for another side than the one held.
    """
    if not rows:
        return []
    slots = sorted({r["as_of_utc"] for r in rows})
    failed = [r for r in rows if r["status"] in FAILED]
    stopped = [r for r in rows if r["status"] == Status.BUDGET_STOP]
    flips = [r for r in rows if r["status"] in ANSWERED and _flips(r, spec)]
    words = Counter(str(r["action"]) for r in rows if r["status"] in ANSWERED)
    n_late = sum(bool(r["late"]) for r in rows)
    counts = {
        "n_decisions": len(rows), "n_failed": len(failed), "n_flips": len(flips), "n_late": n_late,
        "actions": dict(sorted(words.items())),
    }  # fmt: skip
    facts = {"run": run, "as_of_utc": slots[-1].isoformat(), **counts}
    told = [f"{n} {word}" for word, n in sorted(words.items())]
    told += [f"{n} {word}" for n, word in ((len(failed), "failed"), (n_late, "late")) if n]
    when = f"{slots[-1]:%Y-%m-%d %H:%M} UTC"
    link = f" {base_url}/?run={run}" if base_url else ""
    made: list[Message] = [
        ("round", f"{run}, {when}: {len(rows)} decisions ({', '.join(told)}).{link}", facts)
    ]
    for kind, some, verb in (
        ("flips", flips, "change sides"), ("failed", failed, "failed"), ("budget_stop", stopped, "not asked: budget"),
    ):  # fmt: skip
        if some:
            text = f"{run}, {when}: {len(some)} {verb}: {_names(some, base_url)}"
            made.append((kind, text, {"run": run, "decisions": [str(r["decision"]) for r in some]}))
    return made


def _flips(row: Row, spec: RunSpec) -> bool:
    held = int(row["position_before"])
    return target_side(Intent(row["intent"]), held, spec.season.action_spec) != held


def _names(rows: Sequence[Row], base_url: str | None) -> str:
    named = [_name(r) for r in rows[:MOST_NAMED]]
    more = f" and {len(rows) - len(named)} more" if len(rows) > len(named) else ""
    link = f" {base_url}{decision_path(rows[0]['decision'])}" if base_url else ""
    return f"{'; '.join(named)}{more}.{link}"


def _name(row: Row) -> str:
    """`BUY BTC by trade with gpt-4.1`; without `@` and `<`, which chats take for mentions and links."""
    word = row["action"] if row["status"] in ANSWERED else str(row["status"]).replace("_", " ")
    names = f"{word} {row['asset']} by {row['agent']} with {row['model']}"
    return clean_foreign(names, 160).translate(str.maketrans("<>@", "‹›＠"))
