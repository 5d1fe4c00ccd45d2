"""The agents differ: on real prices no two of them say the same, and none always or never invests."""

from __future__ import annotations

from datetime import date
from itertools import combinations
from pathlib import Path

import pytest

from arena.core.season import RunSpec, Season
from arena.market.sources import open_source
from arena.runner.first_run import FIRST_RUN_AGENTS
from arena.runner.replay import run_replay
from arena.store import reader
from arena.store.store import open_store

MODELS = ("offline/contrarian", "offline/trend")
MOST_ALIKE, ON_ASSETS = 0.90, 2
ALWAYS_IN = "hedge"
"""Its character: out of the market only for a reason."""


@pytest.fixture(scope="module")
def decisions(shared_market: Path, tmp_path_factory: pytest.TempPathFactory):
    spec = RunSpec(
        kind="replay", season=Season(), source="files", assets=("BMRN", "BTC", "ETH", "TSLA"),
        agents=FIRST_RUN_AGENTS, models=MODELS, start=date(2025, 8, 1), end=date(2025, 8, 31),
        warmup=10,
    )  # fmt: skip
    with open_store(tmp_path_factory.mktemp("character") / "c.duckdb") as store:
        run_replay(spec, ("baseline",), open_source(f"files:{shared_market}"), store)
        return reader.decisions(store, spec.run_id())


@pytest.mark.parametrize("model", MODELS)
def test_no_two_agents_say_the_same(decisions, model: str) -> None:
    own = decisions[decisions["model"] == model]
    said = own.pivot(index=["asset", "slot_key"], columns="agent", values="action")
    for a, b in combinations(FIRST_RUN_AGENTS, 2):
        alike = (said[a] == said[b]).groupby(level="asset").mean()
        assert (alike <= MOST_ALIKE).sum() >= ON_ASSETS, (a, b, alike.to_dict())


@pytest.mark.parametrize("model", MODELS)
def test_none_is_always_or_never_invested(decisions, model: str) -> None:
    own = decisions[decisions["model"] == model]
    invested = (own["position_before"] != 0).groupby(own["agent"]).mean()
    for agent in FIRST_RUN_AGENTS:
        assert invested[agent] >= 0.05, agent
        assert invested[agent] <= 0.95 or agent == ALWAYS_IN, agent
    assert set(own["action"]) == {"BUY", "HOLD", "SELL"}
