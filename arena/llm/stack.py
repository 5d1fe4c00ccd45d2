"""The models of a run: what stands around the gateway, and how long each part of it lives.

    Cached       decision   a request that was paid for already is answered from the journal
    Retrying     decision   a few attempts inside one deadline; its `Standing` lives as long as the run
    Limited      decision   a place at the provider; its `Gate` is shared by all models of a provider
    Budgeted     decision   the worst case is reserved; the `Budget` is shared by all models of the run
    Recording    decision   on disk before it leaves, and when it ended; the `Journal` is the run's
    Gateway      run        litellm

A place is taken before money is set aside, so at most `concurrency` reservations per provider are
open at a time; and no place or money is held while a retry waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from arena.core.errors import InvariantError
from arena.llm.budgeted import Budget, Budgeted, check_price
from arena.llm.cached import Cached
from arena.llm.gateway import Gateway
from arena.llm.journal import Journal
from arena.llm.limited import Gate, Limited
from arena.llm.provider_errors import GONE
from arena.llm.recording import Recording
from arena.llm.registry import get_model
from arena.llm.retrying import Limits, Retrying, Standing
from arena.llm.roster import HERE, ModelInfo
from arena.llm.types import ChatModel


@dataclass(frozen=True, slots=True)
class Shared:
    """The parts of a model that live as long as a run."""

    info: ModelInfo
    gateway: ChatModel
    gate: Gate
    standing: Standing = field(default_factory=Standing)


def stack(
    shared: Shared, budget: Budget, journal: Journal, scope: str, limits: Limits
) -> ChatModel:
    """The model as one decision (`scope`) sees it."""
    recording = Recording(shared.gateway, shared.info, journal, scope)
    limited = Limited(Budgeted(recording, shared.info, budget), shared.gate)
    return Cached(Retrying(limited, shared.standing, limits), journal, scope)


class RunModels:
    """Every model of one run, under one budget and one journal.

    Args:
        infos: the run's models (`registry.model_info`); those that run here need no part in this.
        budget: made with what the journal says was spent, see `Budget.spent_usd`.
        journal: the run's own; keys of different runs never meet, since scopes hold the run's id.
        api_keys: keys of the asker's own by name of the variable that they stand for.

    Raises:
        ConfigError: a model's bill would have no bound (`check_price`).
    """

    def __init__(
        self, infos: Iterable[ModelInfo], budget: Budget, journal: Journal, limits: Limits = Limits(),
        api_keys: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.budget, self.journal, self.limits = budget, journal, limits
        away = [info for info in infos if not info.runs_here]
        places: dict[tuple[str, str | None], int] = {}
        for info in away:
            check_price(info, budget)
            at = (info.provider, info.api_base)
            places[at] = min(places.get(at, info.concurrency), info.concurrency)
        gates = {at: Gate(n) for at, n in places.items()}
        self._shared = {
            info.id: Shared(
                info, Gateway(info, api_keys.get(info.key_env or "")),
                gates[info.provider, info.api_base],
            )
            for info in away
        }  # fmt: skip

    @property
    def gone(self) -> str:
        """What was said of a model that its provider no longer has; empty while all are there."""
        said = (shared.standing.off for shared in self._shared.values())
        return next((off for off in said if GONE in off), "")

    def of(self, model_id: str, decision_id: str) -> ChatModel:
        """The model for one decision. Ask once per decision: a second call starts to count anew, so
        that it is given the answers of the first.

        Raises:
            InvariantError: the model was not among the run's.
        """
        if model_id in self._shared:
            return stack(
                self._shared[model_id], self.budget, self.journal, decision_id, self.limits
            )
        if model_id.split("/", 1)[0] in HERE:
            return get_model(model_id)
        raise InvariantError(f"`{model_id}` is not one of the models this run was started with.")
