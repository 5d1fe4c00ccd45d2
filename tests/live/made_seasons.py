"""Live seasons on the made-up market for trials of one command: of the rules, or of a model that costs money."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from arena.audit.check import check_store
from arena.runner import live, live_seasons
from arena.store import reader
from arena.store.store import Store, open_store
from tests.live.world import World

KEY = "sk-mock-abcdefghijklmnop"
MODELS = """
[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0
{more}

[[model]]
id = "mock/second"
label = "Another mock of the same price"
kind = "model"
route = "openai/second"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0

[[model]]
id = "mock/unpriced"
label = "Mock without a price"
kind = "model"
route = "openai/unpriced"
key_env = "MOCK_API_KEY"
api_base = "{url}"

[[model]]
id = "scripted/cycle"
label = "Cycle"
kind = "scripted"
"""
"""A roster: `url` is the provider's address, `more` a line about the priced one."""

RULES = live_seasons.Section(
    label="Rules", assets=("AAA", "XXX"), agents=("vanilla", "investor"),
    models=("offline/trend",), strategies=("baseline",), brief="none", warmup=0,
)  # fmt: skip
PAID = live_seasons.Section(
    label="Paid", assets=("XXX", "YYY"), agents=("vanilla",), models=("mock/priced",),
    strategies=("baseline",), brief="none", warmup=0, budget_day_usd=5.0,
)  # fmt: skip

MONDAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def _season(section: live_seasons.Section) -> None:
    world = World()
    live_seasons.load_sections = lambda *_: {"small": section}  # type: ignore[assignment]
    live.open_source = lambda _: world  # type: ignore[assignment]


def rules() -> None:
    """For `forked.start(before=...)`: two coin-and-stock entries of a rule."""
    _season(RULES)


def cycled() -> None:
    """For `forked.start(before=...)`: as `rules`, by the scripted model that can log what it is asked."""
    _season(RULES.model_copy(update={"models": ("scripted/cycle",)}))


def paid() -> None:
    """For `forked.start(before=...)`: one priced model on two coins."""
    _season(PAID)


def decided(path: Path) -> list[tuple[str, str]]:
    """Track (within its run) and slot of every decision, in a store of one run that passes every check."""
    with open_store(path, read=True) as store:
        assert breaches(store) == []
        (run,) = reader.runs(store)["run"]
        frame = reader.decisions(store, run)
        if not frame.empty:
            frame["track"] = frame["track"].str.removeprefix(f"{run}:")
    return sorted(zip(frame["track"], frame["slot_key"], strict=True))


def breaches(store: Store) -> list[str]:
    return [f.text for f in check_store(store).findings if f.level == "breach"]


def days(first: date, n: int) -> list[str]:
    """Slot keys of `n` sessions of a coin."""
    return [(first + timedelta(i)).isoformat() for i in range(n)]
