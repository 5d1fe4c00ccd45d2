"""Agents from outside at arm's length: what goes wrong in their code is their failed decision.

A slip in one of our own agents must stop the run; one in a guest's must not stop the others.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.registry import BUILT_IN, agent_origin
from arena.core.actions import Intent, Status
from arena.core.errors import ConfigError, DataError
from arena.core.hashing import canonical_json
from arena.core.types import Decision
from arena.llm.types import BudgetStop


def is_guest(agent: Agent) -> bool:
    """Whether the agent, under any wrappers, comes from outside the package."""
    return agent_origin(agent.id.rsplit("+", 1)[-1]) != BUILT_IN


async def guarded(desk: Desk, act: Awaitable[Any]) -> Decision:
    """The decision of a guest, or one that says what its code did.

    Raises:
        BudgetStop, ConfigError: no doing of the guest's (money, network, a key).
    """
    try:
        return sound(await act)
    except BudgetStop:
        raise
    except (Exception, SystemExit) as error:
        if type(error) is ConfigError:  # not its kinds: bad data may be the guest's
            raise
        frame = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({Path(frame.filename).name} line {frame.lineno})"
        failed = Decision(
            Intent.HOLD, Status.INVALID_OUTPUT,
            f"Error in the agent's code. {said.encode('utf-8', 'replace').decode()}",
        )  # fmt: skip
        return failed if _unwritable(desk.calls) else desk.decision(
            failed.intent, failed.status, failed.reason
        )  # fmt: skip


def sound(decision: object) -> Decision:
    """`decision`, if it is one that can be stored.

    Raises:
        DataError: what is wrong with it.
    """
    if not isinstance(decision, Decision):
        raise DataError(
            f"it returned {type(decision).__name__}; return desk.decision(Intent..., Status..., reason)"
        )
    if not isinstance(decision.intent, Intent) or not isinstance(decision.status, Status):
        raise DataError(
            f"intent {decision.intent!r} and status {decision.status!r} must be an Intent and a Status"
        )
    sure = decision.conviction
    if sure is not None and not (
        isinstance(sure, int | float) and math.isfinite(sure) and 0 <= sure <= 1
    ):
        raise DataError(f"conviction is {sure!r}; it must be None or a number from 0 to 1")
    if not isinstance(decision.reason, str) or not all(
        isinstance(item, str) for item in decision.evidence
    ):
        raise DataError("reason must be a text, evidence texts")
    if wrong := _unwritable([decision.reason, *decision.evidence]) or _unwritable(decision.calls):
        raise DataError(f"it cannot be stored: {wrong}")
    return decision


def _unwritable(values: Any) -> str:
    """Why `values` have no canonical JSON in UTF-8 (NaN, lone surrogates, strange objects), or ''."""
    try:
        canonical_json([getattr(v, "parsed", v) for v in values]).encode("utf-8")
    except (TypeError, ValueError) as error:
        return str(error)
    return ""
