"""What a fresh store is filled with: the last 90 days with the keyless stand-ins, resumed if cut off.

Apart from `service`, so that an app on a filled store never loads agents, calendars or sources.
"""

from __future__ import annotations

import threading
from datetime import date, timedelta

from arena.core.clock import utc_now
from arena.core.errors import ConfigError, SourceError
from arena.core.season import RunSpec, Season
from arena.core.settings import source_label
from arena.core.types import Asset
from arena.market.history import load_history
from arena.market.sources import PriceSource, open_source
from arena.portfolio.strategies import PAPER_STRATEGIES
from arena.runner.intelligence import AUTO, brief_maker, gather
from arena.runner.journal import check_models
from arena.runner.replay import NOTHING_PAID, Progress, asked_models, run_replay
from arena.store.store import Store

FIRST_RUN_DAYS = 90
FIRST_RUN_AGENTS = ("deepfund", "hedge", "investor", "trade", "vanilla")
FIRST_RUN_MODELS = ("offline/contrarian", "offline/trend")
DEFAULT_ASSETS = ("TSLA", "BMRN", "BTC", "ETH")
MOST_ASSETS = 8
"""Of a folder without any default asset; the rest is there for runs that ask for it."""

LOOK_BACK_DAYS = (30, 400, 3650)
"""Exchanges refuse to reach back years, so the newest bar is looked for nearby first."""


def fill_store(
    store: Store, choice: str, unfinished: str | None, progress: Progress, stop: threading.Event,
    *, epochs: int = 1,
) -> None:  # fmt: skip
    """Carry out the first run, or go on with `unfinished` (the JSON of its RunSpec)."""
    source = open_source(choice)
    spec = RunSpec.model_validate_json(unfinished) if unfinished else first_spec(source, choice)
    read = gather(spec, choice, source.assets(), store, utc_now())
    run_replay(
        spec, PAPER_STRATEGIES, source, store, epochs=epochs, progress=progress, stop=stop,
        intelligence=read,
    )  # fmt: skip


def goes_on_free(unfinished: str) -> bool:
    """Whether a run may be finished unasked: no model of it costs money or is missing here."""
    try:
        check_models(asked_models(RunSpec.model_validate_json(unfinished)), NOTHING_PAID)
    except ConfigError:
        return False
    return True


def first_spec(source: PriceSource, choice: str) -> RunSpec:
    """The last 90 days that all default assets (or the folder's first ones) have final prices for."""
    known = source.assets()
    assets = tuple(a for a in DEFAULT_ASSETS if a in known) or tuple(known)[:MOST_ASSETS]
    end = min(last_session(source, known[a]) for a in assets)
    return RunSpec(
        kind="replay",
        season=Season(),
        source=source_label(choice),
        assets=tuple(sorted(assets)),
        agents=FIRST_RUN_AGENTS,
        models=FIRST_RUN_MODELS,
        warmup=0,  # so that the pages fill from the first second on
        start=end - timedelta(days=FIRST_RUN_DAYS - 1),
        end=end,
        brief=brief_maker(AUTO, choice, FIRST_RUN_MODELS),
    )


def last_session(source: PriceSource, asset: Asset) -> date:
    """The newest session with a final bar.

    Raises:
        SourceError: the source has none in the last ten years, or failed.
    """
    now = utc_now()
    for days in LOOK_BACK_DAYS:
        since = (now - timedelta(days=days)).date()
        if bars := load_history(source, asset, since, now.date(), now).bars:
            return bars[-1].session
    raise SourceError(f"{source.name} has no price of {asset.id}.")
