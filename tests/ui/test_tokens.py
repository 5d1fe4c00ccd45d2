"""Colour belongs to the agent's name, dash and shape to the model's."""

from __future__ import annotations

import tomllib

import pytest

from arena.core.settings import ROOT
from arena.ui import tokens
from arena.ui.tokens import TOKENS, Theme


def luminance(color: str) -> float:
    """WCAG relative luminance."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(theme: Theme) -> None:
    t = TOKENS[theme]
    for color in (t.text, t.muted, t.gain, t.loss):
        assert contrast(color, t.background) >= 4.5
        assert contrast(color, t.panel) >= 4.5


def test_an_agents_colour_does_not_depend_on_who_else_plays() -> None:
    alone = tokens.agent_color("trade", ("trade",), "light")
    assert alone == tokens.agent_color("trade", ("hedge", "trade", "zeta"), "light") == "#8F3D00"


def test_models_differ_by_dash_and_never_dot() -> None:
    models = tuple(f"m{i}" for i in range(5))
    dashes = {tokens.model_dash(m, models) for m in models}
    assert len(dashes) == 5
    assert "dot" not in dashes
    assert len({tokens.model_symbol(m, models) for m in models}) == 5


def test_streamlit_gets_exactly_ten_chart_colours() -> None:
    """With any other number Plotly falls back to a palette of its own."""
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    for mode in ("light", "dark"):
        for kind in ("Categorical", "Sequential", "Diverging"):
            assert len(config["theme"][mode][f"chart{kind}Colors"]) == 10


def test_server_settings_that_keep_the_app_whole_and_private() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["server"]["fileWatcherType"] == "none"
    assert config["client"]["showErrorDetails"] == "none"
    assert config["browser"]["gatherUsageStats"] is False
