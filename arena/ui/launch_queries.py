"""What the launch form reads, cached. Never a key: caches are shared by all visitors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import streamlit as st

from arena.core.season import RunSpec
from arena.core.types import Asset
from arena.runner import choices
from arena.runner.choices import AgentChoice, ModelChoice
from arena.runner.estimate import Estimate, estimate
from arena.runner.job_request import JobRequest, from_run
from arena.store import jobs_reader, reader
from arena.store.store import Store
from arena.ui.tokens import BUY_HOLD

Key = tuple[str, int]

_cached = st.cache_data(max_entries=64, show_spinner=False)


@st.cache_resource(max_entries=2, show_spinner=False)
def source(choice: str) -> Any:
    """The price source of a data choice; opened once for all visitors, and only read."""
    return choices.source_of(choice)


def assets(choice: str) -> dict[str, Asset]:
    return choices.assets(source(choice))


def agents() -> list[AgentChoice]:
    return choices.agents()


def models(today: date) -> list[ModelChoice]:
    """Not cached: keys come and go with the environment."""
    return choices.models(today)


@_cached
def first_window(key: Key, _store: Store, today: date) -> tuple[date, date]:
    """The newest 30 days that the store has prices of."""
    return choices.first_window(jobs_reader.last_session(_store), today)


@_cached
def window_problem(choice: str, spec_json: str, strategies: tuple[str, ...]) -> str:
    """What prices that lie here say about a window; '' where a source would have to be asked."""
    if choice == "live":
        return ""
    spec = RunSpec.model_validate_json(spec_json)
    return choices.window_problem(spec, strategies, source(choice))


@_cached
def size(
    choice: str, spec_json: str, epochs: int, days: int | None, _measured: dict[str, dict[str, float]],
    n_measured: int,
) -> Estimate:  # fmt: skip
    """What a run takes; `n_measured` makes a new key where more decisions are there to go by."""
    spec = RunSpec.model_validate_json(spec_json)
    return estimate(spec, assets(choice), epochs=epochs, days=days, measured=_measured)


@_cached
def measured(key: Key, _store: Store) -> dict[str, dict[str, float]]:
    return jobs_reader.measured(_store)


@_cached
def request_of_run(key: Key, _store: Store, run: str) -> JobRequest:
    """The request that a stored run could have come from.

    Raises:
        UnknownNameError: no such run.
    """
    row = reader.run(_store, run)
    spec = RunSpec.model_validate(json.loads(row["spec_json"]))
    kept = reader.accounts(_store, run)
    strategies: Sequence[str] = sorted(set(kept["strategy"]) - {BUY_HOLD})
    base = run.rsplit("-e", 1)[0]
    epochs = [r for r in reader.runs(_store)["run"] if str(r).rsplit("-e", 1)[0] == base]
    return from_run(spec, tuple(strategies), len(epochs))
