"""Which models exist: the rows of data/models.toml, and scripted ones for trials."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from functools import cache

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.core.errors import ConfigError, UnknownNameError
from arena.core.settings import DATA
from arena.llm import offline
from arena.llm.offline.policy import POLICIES, StandIn
from arena.llm.scripted import SCRIPTED
from arena.llm.types import ChatModel, ModelKind

MODELS_FILE = DATA / "models.toml"


class ModelInfo(BaseModel):
    """One row of the roster. `label` is for people; `note` says what the model is."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    label: str
    kind: ModelKind
    note: str = ""


@cache
def known_models() -> dict[str, ModelInfo]:
    """The roster by id, in the order of the file. Scripted models are for trials and not in it.

    Raises:
        ConfigError: data/models.toml cannot be read, names a model twice, or one that cannot run.
    """
    for module in pkgutil.iter_modules(offline.__path__, offline.__name__ + "."):
        importlib.import_module(module.name)
    try:
        rows = tomllib.loads(MODELS_FILE.read_text(encoding="utf-8"))["model"]
        roster = {info.id: info for info in map(ModelInfo.model_validate, rows)}
    except (OSError, tomllib.TOMLDecodeError, KeyError, ValidationError) as error:
        raise ConfigError(f"data/models.toml cannot be used: {error}") from error
    if len(roster) < len(rows):
        raise ConfigError("data/models.toml names a model twice; remove one of its rows.")
    if missing := [i for i in roster if i not in POLICIES]:
        raise ConfigError(f"data/models.toml names `{missing[0]}`, which has no policy; remove it.")
    return roster


def get_model(model_id: str) -> ChatModel:
    """The model of that id.

    Raises:
        UnknownNameError: no such model; the message lists those that exist.
    """
    if model_id in SCRIPTED:
        return SCRIPTED[model_id]
    roster = known_models()
    if model_id not in roster:
        raise UnknownNameError("model", model_id, roster)
    return StandIn(model_id, POLICIES[model_id], roster[model_id].kind)


def model_kind(model_id: str) -> ModelKind:
    """What may be claimed about the answers of `model_id`; errors as `get_model`."""
    return get_model(model_id).kind
