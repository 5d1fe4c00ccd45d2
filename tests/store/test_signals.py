"""Directions of roles as they are read back."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
from pydantic import BaseModel

import arena.agents
from arena.core.rows import WriteUnit
from arena.llm.fields import Lean, marker_of
from arena.store.signals import LEAN_FIELDS, signals


def call(make, seq: int, role: str, parsed: str | None, **other: object):
    return replace(make.call(0), seq=seq, role=role, parsed_json=parsed, **other)


def test_last_word_of_each_role(store, make) -> None:
    calls = (
        call(make, 0, "market_analyst", '{"lean":0.5,"confidence":0.6,"summary":"x"}'),
        call(make, 1, "bull", '{"claims":"first","strength":0.2}'),
        call(make, 2, "bull", '{"claims":"second","strength":0.9}'),
        call(make, 3, "technical", '{"signal":"bearish","confidence":0.3}', kind="compute"),
        call(make, 4, "technical", '{"signal":null}', kind="compute"),
        call(make, 5, "reflector", '{"lesson":"no direction"}'),
        call(make, 6, "net_net", None, status="invalid_output"),
        call(make, 7, "portfolio_manager", '{"rating":"Overweight","thesis":"x"}'),
    )
    store.write([WriteUnit((make.decision(0), *calls))])
    found = signals(store, make.run_id)
    rows = {r["role"]: r for r in found.to_dict("records")}
    # `technical` took its word back, `reflector` has none, `net_net` could not be read.
    assert list(rows) == ["market_analyst", "bull", "portfolio_manager"]
    assert rows["market_analyst"]["lean"] == "0.5"
    assert (rows["bull"]["confidence"], pd.isna(rows["bull"]["lean"])) == (0.9, True)
    assert [bool(r["decides"]) for r in rows.values()] == [False, False, True]
    assert rows["bull"]["session"].date() == make.first


def test_warm_up_and_other_runs_are_not_read(store, make) -> None:
    warm = replace(make.decision(0), phase="warmup")
    store.write([WriteUnit((warm, make.call(0)))])
    assert signals(store, make.run_id).empty
    store.write([WriteUnit((make.decision(1), make.call(1)))])
    assert len(signals(store, make.run_id)) == 1
    assert signals(store, "replay-ffffffffff-e1").empty


def schemas() -> Iterator[type[BaseModel]]:
    for module in pkgutil.walk_packages(arena.agents.__path__, "arena.agents."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel):
                yield value


def test_every_field_with_a_direction_is_read() -> None:
    """An agent whose answers name it otherwise would be missing in the role league."""
    fields = {
        name
        for schema in schemas()
        for name, info in schema.model_fields.items()
        if isinstance(marker_of(info.metadata), Lean)
    }
    assert "lean" in fields
    assert fields <= set(LEAN_FIELDS)
