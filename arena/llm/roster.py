"""What is known of each model: the rows of data/models.toml, and what can be said of any other."""

from __future__ import annotations

import ipaddress
import json
import tomllib
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.core.errors import ConfigError
from arena.core.settings import models_file
from arena.llm.types import ModelKind

HERE = ("offline", "local", "scripted")
"""Heads of ids that never leave this machine and never cost anything."""

Refusable = Literal["temperature", "top_p", "seed"]


class ModelInfo(BaseModel):
    """One row of the roster. What is not known is left out, never guessed.

    `label` is for people; `note` says what the model is. `route` is litellm's id where it is another
    one than `id`. `key_env` names the environment variable that holds the key. Prices are in USD per
    million tokens; absent means unknown, 0 means that nobody is paid. `price_search_usd` is for one
    web search, where the model can make any. `refuses` lists parameters the model does not take.
    `retired` is the day from which the provider no longer serves it. `concurrency` counts requests
    under way at its provider, of all models together; the smallest of a run's models counts.
    `request_timeout_s` is for one attempt.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    label: str
    kind: ModelKind
    note: str = ""
    route: str = ""
    key_env: str | None = None
    price_in_usd_per_mtok: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    price_out_usd_per_mtok: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    price_search_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    released: date | None = None
    knowledge_cutoff: date | None = None
    retired: date | None = None
    refuses: tuple[Refusable, ...] = ()
    api_base: str | None = None
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    max_answer_tokens: int | None = Field(default=None, gt=0)
    concurrency: int = Field(default=16, gt=0)
    request_timeout_s: float = Field(default=120.0, gt=0)

    @model_validator(mode="after")
    def _both_prices_or_none(self) -> ModelInfo:
        if (self.price_in_usd_per_mtok is None) != (self.price_out_usd_per_mtok is None):
            raise ValueError(f"`{self.id}` has one price; give both (in and out), or neither")
        return self

    @property
    def runs_here(self) -> bool:
        """Whether it answers without the gateway: a rule, a script, or a model of our own process."""
        return self.id.split("/", 1)[0] in HERE

    @property
    def litellm_id(self) -> str:
        return self.route or self.id

    @property
    def provider(self) -> str:
        return self.litellm_id.split("/", 1)[0]

    def retired_on(self, day: date) -> bool:
        """Whether the provider no longer serves it on `day`."""
        return self.retired is not None and self.retired <= day

    @property
    def stays_here(self) -> bool:
        """Whether its requests go to this machine only (`api_base` on loopback)."""
        host = urlsplit(self.api_base or "").hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def cost_usd(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost at the roster's price; None where it is unknown."""
        if self.price_in_usd_per_mtok is None or self.price_out_usd_per_mtok is None:
            return None
        return (
            tokens_in * self.price_in_usd_per_mtok + tokens_out * self.price_out_usd_per_mtok
        ) / 1e6


@cache
def roster() -> dict[str, ModelInfo]:
    """The rows of data/models.toml by id, in the order of the file.

    Raises:
        ConfigError: the file cannot be read, or names a model twice.
    """
    path = models_file()
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["model"]
        found = {info.id: info for info in map(ModelInfo.model_validate, rows)}
    except (OSError, tomllib.TOMLDecodeError, KeyError, ValidationError) as error:
        raise ConfigError(f"{path} cannot be used: {error}") from error
    if len(found) < len(rows):
        raise ConfigError(f"{path} names a model twice; remove one of its rows.")
    return found


def outside_roster(model_id: str) -> ModelInfo | None:
    """What can be said of an id `provider/model` that litellm can route: no price, no dates."""
    provider, _, name = model_id.partition("/")
    if not name or provider in HERE or provider not in litellm_providers():
        return None
    return ModelInfo(id=model_id, label=model_id, kind="model", note="Not in data/models.toml.")


@cache
def litellm_providers() -> frozenset[str]:
    """Names that litellm routes by. Read from its files: importing it takes 3 s and 200 MB."""
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return frozenset()
    folder = Path(spec.submodule_search_locations[0])
    text = (folder / "provider_endpoints_support_backup.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text)["providers"])
