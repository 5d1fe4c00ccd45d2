"""A host's own list of presets and live seasons (`ARENA_SEASONS`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.core.errors import ConfigError
from arena.runner.live_seasons import load_sections
from arena.runner.presets import load_presets

MINE = """
[mine]
label = "Mine"

[live.two-coins]
label = "Two coins"
assets = ["BTC", "ETH"]
agents = ["vanilla"]
models = ["offline/trend"]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("ARENA_SEASONS", str(path))
    return path


def test_it_takes_the_place_of_ours(file: Path) -> None:
    file.write_text(MINE)
    assert list(load_presets()) == ["mine"]
    assert {n: s.assets for n, s in load_sections().items()} == {"two-coins": ("BTC", "ETH")}


def test_what_is_wrong_in_it_is_named(file: Path) -> None:
    file.write_text(MINE + 'asets = ["TSLA"]\n')
    with pytest.raises(ConfigError, match=r"mine.toml, \[live.two-coins\] asets"):
        load_sections()
