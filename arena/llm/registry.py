"""Which models can be asked for, and which object answers for each."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache

from arena.core.errors import ConfigError, InvariantError, UnknownNameError
from arena.llm import offline
from arena.llm.offline.policy import POLICIES, StandIn
from arena.llm.roster import ModelInfo, outside_roster, roster
from arena.llm.scripted import SCRIPTED
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind


@cache
def known_models() -> dict[str, ModelInfo]:
    """The roster by id, in the order of the file. Scripted models are for trials and not in it.

    Raises:
        ConfigError: data/models.toml cannot be read, names a model twice, or a rule that is missing.
    """
    for module in pkgutil.iter_modules(offline.__path__, offline.__name__ + "."):
        importlib.import_module(module.name)
    rules = [info.id for info in roster().values() if info.kind == "stand_in"]
    if missing := [i for i in rules if i not in POLICIES]:
        raise ConfigError(f"data/models.toml names `{missing[0]}`, which has no policy; remove it.")
    return roster()


def model_info(model_id: str) -> ModelInfo:
    """What is known of a model: its row, or, for another id `provider/model` of litellm, its name.

    Raises:
        UnknownNameError: no such model and no such provider; the message lists those that exist.
    """
    if model_id in SCRIPTED:
        return ModelInfo(id=model_id, label=model_id, kind=SCRIPTED[model_id].kind)
    found = known_models().get(model_id) or outside_roster(model_id)
    if found is None:
        raise UnknownNameError("model", model_id, known_models())
    return found


def get_model(model_id: str) -> ChatModel:
    """The model of that id. One that may cost money answers only through `RunModels`.

    Raises:
        UnknownNameError: no such model; the message lists those that exist.
    """
    if model_id in SCRIPTED:
        return SCRIPTED[model_id]
    info = model_info(model_id)
    if info.kind == "stand_in":
        return StandIn(model_id, POLICIES[model_id], info.kind)
    if info.runs_here:
        return _local(info)
    return Unfunded(info.id, info.kind)


def model_kind(model_id: str) -> ModelKind:
    """What may be claimed about the answers of `model_id`; errors as `model_info`."""
    return model_info(model_id).kind


def _local(info: ModelInfo) -> ChatModel:
    from arena.llm.local import local_model

    return local_model(info)


@dataclass(frozen=True, slots=True)
class Unfunded:
    """A model that exists, without the budget and the journal that it needs to be asked."""

    id: str
    kind: ModelKind

    async def complete(self, req: ChatRequest) -> ChatReply:  # noqa: ARG002
        raise InvariantError(
            f"`{self.id}` was asked without a budget; take it from RunModels (arena/llm/stack.py)."
        )
