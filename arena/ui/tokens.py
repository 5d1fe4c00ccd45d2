"""Colours, marks and short names: one source for charts and tables. Colour is the agent, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Tokens:
    """One theme's colours. Contrast of text and muted on the background is at least 5.7:1."""

    background: str
    panel: str
    text: str
    muted: str
    grid: str
    border: str
    zero: str
    benchmark: str
    gain: str
    loss: str
    buy: str
    hold: str
    sell: str
    agents: tuple[str, ...]


TOKENS: dict[Theme, Tokens] = {
    "light": Tokens(
        "#FFFFFF", "#F4F6F8", "#1B2733", "#5B6875", "#E8ECF0", "#D7DEE5", "#A9B3BC", "#6B7684",
        "#007A5C", "#B3261E", "#1F5FBF", "#A9B3BC", "#C45100",
        ("#7A5BC2", "#A8860B", "#2F8FA3", "#8A3B66", "#4C6B1F", "#6B7684"),
    ),
    "dark": Tokens(
        "#0F151B", "#18212A", "#E6EBF0", "#94A2B0", "#22303B", "#2B3742", "#4B5864", "#94A2B0",
        "#3FC9A0", "#F2857C", "#7C9EFA", "#4B5864", "#F0954B",
        ("#B79BE6", "#E3C04B", "#6FC3D6", "#E39BBE", "#A9C86A", "#94A2B0"),
    ),
}  # fmt: skip

NAMED_AGENTS: dict[str, dict[Theme, str]] = {
    "investor": {"light": "#3A84EC", "dark": "#7C9EFA"},
    "trade": {"light": "#8F3D00", "dark": "#FBB46C"},
    "hedge": {"light": "#17705A", "dark": "#1FEBD6"},
    "deepfund": {"light": "#BE7597", "dark": "#EE4A96"},
}
"""The paper's four agents have their colours for good, whether or not they play."""

DASHES = ("solid", "dash", "dashdot", "longdash", "longdashdot")
"""By model, in order of name; `dot` belongs to Buy & Hold."""

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")
"""By model, in order of name, where a dot stands for a model."""

ACTION_MARK = {"BUY": "▲", "HOLD": "■", "SELL": "▼"}
POSITION_MARK = {1: "▲", 0: "■", -1: "▼"}
BENCHMARK_MARK = "◆"
VOTE_MARK = "◇"

STRATEGY_LABELS = {"baseline": "Baseline", "flip_on_reversal": "Flip on Reversal", "pyramid_exit": "Pyramid Exit"}
BUY_HOLD = "buy_hold"


def agent_color(agent: str, agents: tuple[str, ...], theme: Theme) -> str:
    """Fixed by name for the paper's agents; others in order of name."""
    if agent in NAMED_AGENTS:
        return NAMED_AGENTS[agent][theme]
    others = sorted(a for a in agents if a not in NAMED_AGENTS)
    palette = TOKENS[theme].agents
    return palette[others.index(agent) % len(palette)]


def model_dash(model: str, models: tuple[str, ...]) -> str:
    return DASHES[sorted(models).index(model) % len(DASHES)]


def model_symbol(model: str, models: tuple[str, ...]) -> str:
    return SYMBOLS[sorted(models).index(model) % len(SYMBOLS)]


def strategy_label(strategy: str) -> str:
    base = strategy.removesuffix("_lo")
    words = STRATEGY_LABELS.get(base, base.replace("_", " ").capitalize())
    return words + (", long only" if strategy.endswith("_lo") else "")


def short_model(model: str) -> str:
    """The last part of a model's id: `offline/trend` is `trend` beside a line."""
    return model.rsplit("/", 1)[-1]
