"""Models by id. What is not here does not exist yet; nothing answers in another model's name."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from arena.core.errors import UnknownNameError
from arena.core.settings import DATA
from arena.llm.offline.contrarian import Contrarian
from arena.llm.offline.trend import Trend
from arena.llm.scripted import Cycle
from arena.llm.types import ChatModel, ModelKind

_MODELS: dict[str, ChatModel] = {m.id: m for m in (Trend(), Contrarian())}
_SCRIPTED: dict[str, ChatModel] = {Cycle.id: Cycle()}


class ModelInfo(BaseModel):
    """One row of `data/models.toml`."""

    model_config = ConfigDict(extra="forbid")
    label: str
    kind: Literal["model", "stand_in"]
    usd_per_mtok_in: float
    usd_per_mtok_out: float


@cache
def model_table(path: Path = DATA / "models.toml") -> dict[str, ModelInfo]:
    """Labels, kinds and prices by model id."""
    with path.open("rb") as file:
        return {name: ModelInfo(**row) for name, row in tomllib.load(file).items()}


def get_model(model_id: str) -> ChatModel:
    """The model of that id.

    Raises:
        UnknownNameError: there is none, with the nearest that is.
    """
    found = _MODELS.get(model_id) or _SCRIPTED.get(model_id)
    if found is None:
        raise UnknownNameError("model", model_id, _MODELS)
    return found


def known_models() -> tuple[str, ...]:
    """Ids that may be offered to a person."""
    return tuple(_MODELS)


def register_scripted(model: ChatModel) -> None:
    """Make a scripted model reachable by its id; for tests. Replaces one of the same id."""
    _SCRIPTED[model.id] = model


def model_kind(model_id: str) -> Literal["model", "stand_in"]:
    """Group on the board: scripted models are stand-ins there."""
    kind: ModelKind = get_model(model_id).kind
    return "model" if kind == "model" else "stand_in"
