"""A live arena as a process of its own, on a made-up market and a clock in a file; for `soak.py`.

`python -m tests.live.node STORE FAULTS ACK` looks at the clock (ARENA_CLOCK_FILE) all the time, decides
what is due whenever it has moved, and then writes that moment to ACK.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pandas as pd

from arena.core.clock import utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.llm.scripted import SCRIPTED, Cycle
from arena.llm.types import ChatReply, ChatRequest, ModelKind, ProviderError
from arena.runner.keeper import Keeper
from arena.runner.live import Live
from arena.runner.live_seasons import Section, live_seasons
from arena.store.store import open_store
from tests.live.world import World

SHAKY = "scripted/shaky"

SEASON = Section(
    label="Soak", assets=("AAA", "BBB", "XXX", "YYY"), agents=("vanilla", "investor"),
    models=("offline/trend", "offline/contrarian", SHAKY), strategies=("baseline", "pyramid_exit"),
    brief="none", warmup=0,
)  # fmt: skip


@dataclass(frozen=True)
class Faults:
    """What is down, as the driver wrote it last."""

    path: Path

    def down(self, what: str) -> bool:
        return what in json.loads(self.path.read_text("utf-8"))


class Shaky:
    """BUY, HOLD, SELL in turn, or a provider that does not answer."""

    id = SHAKY
    kind: ModelKind = "scripted"

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    async def complete(self, req: ChatRequest) -> ChatReply:
        if self._faults.down("model"):
            raise ProviderError("the provider is down")
        return await Cycle(SHAKY).complete(req)


class FaultyWorld(World):
    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        if Faults(self.faults).down(asset.id):
            raise SourceError(f"world: no answer about {asset.id}")
        return super().daily(asset, start, end)

    faults: Path


def main(store_path: str, faults_path: str, ack_path: str) -> None:
    faults, ack = Path(faults_path), Path(ack_path)
    SCRIPTED[SHAKY] = Shaky(Faults(faults))
    world = FaultyWorld()
    world.faults = faults
    with open_store(store_path) as store:
        live = Live(
            store, "live", source=world,
            seasons=lambda s, now: live_seasons(s, "live", now.date(), {"soak": SEASON}),
        )  # fmt: skip
        keeper = Keeper(store)
        last = None
        while True:
            now = utc_now()
            if now != last:
                keeper.tick(now)
                live.reconcile()
                if live.troubles or live.paused:
                    print(live.troubles, live.paused, file=sys.stderr, flush=True)
                last = now
                part = ack.with_suffix(".part")
                part.write_text(now.isoformat(), "utf-8")
                part.replace(ack)
            time.sleep(0.002)


def node() -> None:
    main(*sys.argv[1:])


if __name__ == "__main__":
    node()
