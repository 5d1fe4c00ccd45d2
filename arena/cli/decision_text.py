"""One decision with everything behind it, as text that reads from top to bottom."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from arena.cli.output import print_pairs, visible
from arena.runner.behind import ASKED

SIDE = {1: "long", 0: "flat", -1: "short"}
HEAD = (
    "run", "agent", "model", "asset", "session", "slot_key", "as_of_utc", "decided_at_utc", "phase",
    "late", "action", "intent", "status", "conviction", "reason", "evidence", "price",
)  # fmt: skip
COUNTS = (
    "n_calls", "n_model_calls", "n_repairs", "n_failed_roles", "tokens_in", "tokens_out", "cost_usd", "latency_ms",
)  # fmt: skip
CALL = ("status", "tokens_in", "tokens_out", "cost_usd", "latency_ms")


def print_decision(found: Mapping[str, Any]) -> None:
    """What was decided and what came of it; what was seen; then every step in its order."""
    print_pairs(found["decision"], {k: found[k] for k in HEAD})
    move = found["next_return_frac"]
    print_pairs(
        "\nwhat came of it",
        {
            "position_before": SIDE[found["position_before"]],
            "position_after": SIDE[found["position_after"]],
            "next_session": found["next_session"] or "not yet",
            "next_return": "not yet" if move is None else f"{100 * move:+.2f} %",
        },
    )
    print_pairs("\nwhat it took", {k: found[k] for k in COUNTS})
    if found["may_know"]:
        print(f"  {found['model']} may know this period: its knowledge reaches past {found['session']}")
    print_pairs("\nmarket it saw", {"market_hash": found["market_hash"] or "none: no final bar"})
    for key, value in (found["context"] or {}).items():
        if key != "market_hash":
            print(f"  {key:<18} {value}")
    _print_read(found)
    print_pairs("\nits own view", {"view_hash": found["view_hash"], **_view(found["view"])})
    print(f"  {'memory after':<18} {found['memory_sha256'] or 'none'}")
    print(f"  {'chain':<18} {found['chain_hash']}")
    for call in found["calls"]:
        _print_call(call)


def _print_read(found: Mapping[str, Any]) -> None:
    """The brief, then one line a story: what was read at the slot."""
    if (brief := found["brief"]) is not None:
        rejected = ", REJECTED by a reviewer" if found["brief_rejected"] else ""
        how = "an extract, no model" if brief["kind"] == "digest" else brief["maker"]
        print(f"\nbrief it read ({how}{rejected}): {brief['sentiment']} {brief['score']:+.2f}")
        print(f"  {visible(brief['summary'])}")
    if (failed := found["brief_failure"]) is not None:
        why = visible(failed["error"] or "")
        print(f"\nno brief to read: {failed['maker']} failed ({failed['status']}): {why}")
    for story in found["stories"]:
        known = f"{story['known_at_utc']:%Y-%m-%d %H:%M}"
        print(f"  {story['id']}  {known}  {visible(story['source'])}: {visible(story['title'])}")
    if found["fundamentals"]:
        print(f"  {len(found['fundamentals'])} filed figures, the newest known by "
              f"{max(f['known_at_utc'] for f in found['fundamentals']):%Y-%m-%d}")


def _view(view: Mapping[str, Any] | None) -> dict[str, Any]:
    """The view with one line for each earlier decision."""
    if view is None:
        return {"text": "gone"}
    shown = {k: v for k, v in view.items() if k != "past"}
    for session, action, price, move in view["past"]:
        after = "" if move is None else f", then {100 * move:+.2f} %"
        shown[f"  {session}"] = f"{action} at {price:g}{after}"
    return shown


def _print_call(call: Mapping[str, Any]) -> None:
    if call["kind"] != ASKED:
        print(f"\n{call['seq']}. {call['kind']} {call['role']}: {call['parsed_json']}")
        _print_texts(call)
        return
    attempt = f", answer {call['attempt']}" if call["attempt"] > 1 else ""
    print_pairs(
        f"\n{call['seq']}. {call['role']} asks {call['model']}{attempt}",
        {k: call[k] for k in CALL} | json.loads(call["params_json"]),
    )
    _print_texts(call)
    if call["error"]:
        print(f"\n--- why it was not used ---\n{visible(call['error'])}")
    if call["parsed_json"]:
        print(f"\n--- read as ---\n{call['parsed_json']}")


def _print_texts(call: Mapping[str, Any]) -> None:
    for name in ("prompt", "answer"):
        if call[name]:
            print(f"\n--- {name} ---\n{visible(call[name])}")
