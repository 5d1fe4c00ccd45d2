"""Scorecards: a creed as checks, and what the checks say of a company.

A persona is data. Each check reads one number and turns it into points; a check whose number is
unknown takes part in nothing, so that missing data is never held against a company.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from arena.agents.hedge.company import Company
from arena.agents.hedge.intrinsic import margin_of_safety

Signal = Literal["bearish", "neutral", "bullish"]
SIGN: dict[Signal, int] = {"bearish": -1, "neutral": 0, "bullish": 1}

MIN_COVERAGE = 0.5
"""Below this part of its data a creed has no opinion."""

Lens = Literal[
    "return_5_pct", "return_20_pct", "return_60_pct", "return_250_pct", "z_50", "rsi_14",
    "volatility_session_pct", "drawdown_pct", "from_low_pct", "volume_ratio",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Points:
    """From a number to points, of which there are at most `most`; they may be negative."""

    of: Callable[[float], float]
    most: float


def above(*steps: tuple[float, float]) -> Points:
    """Points of the first (limit, points) that the number exceeds; else 0."""
    return Points(lambda x: next((p for at, p in steps if x > at), 0.0), _most(steps))


def at_least(*steps: tuple[float, float]) -> Points:
    """As `above`, the limit itself counting."""
    return Points(lambda x: next((p for at, p in steps if x >= at), 0.0), _most(steps))


def below(*steps: tuple[float, float]) -> Points:
    """Points of the first (limit, points) that the number is under; else 0."""
    return Points(lambda x: next((p for at, p in steps if x < at), 0.0), _most(steps))


def within(*bands: tuple[float, float, float]) -> Points:
    """Points of the first (from, to, points) that holds the number, both ends counting; else 0."""
    return Points(
        lambda x: next((p for low, high, p in bands if low <= x <= high), 0.0),
        max(p for _, _, p in bands),
    )


def _most(steps: tuple[tuple[float, float], ...]) -> float:
    return max(points for _, points in steps)


def pct(x: float) -> str:
    return f"{100.0 * x:z.1f} %"


def times(x: float) -> str:
    return f"{x:z.2f}x"


def plain(x: float) -> str:
    return f"{x:z.2f}"


def yes_no(x: float) -> str:
    return "yes" if x > 0 else "no"


def words(*levels: str) -> Callable[[float], str]:
    """Spelling of a number that counts levels 0, 1, 2 ..."""
    return lambda x: levels[int(x)]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One question to a company: `read` answers with a number or None, `points` judges it.

    `trend` marks what turns round when the years are read in the wrong order.
    """

    id: str
    label: str
    read: Callable[[Company], float | None]
    points: Points
    show: Callable[[float], str] = pct
    trend: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Checks of one subject; their points share out `weight` (default: the sum of the points)."""

    name: str
    checks: tuple[Check, ...]
    own_weight: float | None = None

    @property
    def most(self) -> float:
        return sum(c.points.most for c in self.checks)

    @property
    def weight(self) -> float:
        return self.most if self.own_weight is None else self.own_weight


@dataclass(frozen=True, slots=True)
class Gate:
    """What the margin of safety decides: bullish or bearish by itself, or a must for bullish.

    Where the margin is unknown the gate decides nothing.
    """

    bullish_from: float | None = None
    bearish_to: float | None = None
    needed_for_bullish: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Persona:
    """An investing creed.

    `bull_at` and `bear_at` are shares of the points that can be reached. `worth` is what the creed
    would pay for the whole company. `lens` names the price measures it goes by where there are no
    figures to score.
    """

    id: str
    label: str
    creed: str
    blocks: tuple[Block, ...]
    lens: tuple[Lens, ...]
    bull_at: float = 0.70
    bear_at: float = 0.30
    worth: Callable[[Company], float | None] | None = None
    gate: Gate = field(default_factory=Gate)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: `shown` is its number in words."""

    id: str
    label: str
    shown: str
    points: float
    most: float


@dataclass(frozen=True, slots=True)
class BlockScore:
    """`share` of the points that could be judged, in [0, 1]; `weight` is what was judged of the whole."""

    name: str
    share: float
    weight: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Scorecard:
    """What a creed finds in a company.

    `share` f: points over maxima of the checks that could be made, weighted, in [0, 1], or None
    without any. `score` = 2f - 1. `coverage`: weight of those checks over that of all. `signal` is
    None below `MIN_COVERAGE`. `margin` is the margin of safety, where the creed defines one.
    """

    share: float | None
    coverage: float
    signal: Signal | None
    margin: float | None
    blocks: tuple[BlockScore, ...]
    missing: tuple[str, ...]

    @property
    def score(self) -> float | None:
        return None if self.share is None else 2.0 * self.share - 1.0


def score(persona: Persona, company: Company) -> Scorecard:
    """Ask every check of `persona` about `company`."""
    total = sum(block.weight for block in persona.blocks)
    blocks: list[BlockScore] = []
    missing: list[str] = []
    for block in persona.blocks:
        findings = []
        for check in block.checks:
            number = check.read(company)
            if number is None:
                missing.append(check.label)
                continue
            findings.append(
                Finding(
                    check.id,
                    check.label,
                    check.show(number),
                    check.points.of(number),
                    check.points.most,
                )
            )
        if findings:
            judged = sum(f.most for f in findings)
            part = max(0.0, sum(f.points for f in findings) / judged)
            weight = block.weight * judged / block.most / total
            blocks.append(BlockScore(block.name, part, weight, tuple(findings)))
    judged_weight = sum(b.weight for b in blocks)
    share = sum(b.share * b.weight for b in blocks) / judged_weight if blocks else None
    coverage = round(judged_weight, 9)  # exactly half must not miss the limit by rounding
    margin = margin_of_safety(persona.worth(company), company.cap) if persona.worth else None
    signal = None
    if share is not None and coverage >= MIN_COVERAGE:
        signal = pre_signal(persona, share, margin)
    return Scorecard(share, coverage, signal, margin, tuple(blocks), tuple(missing))


def pre_signal(persona: Persona, share: float, margin: float | None) -> Signal:
    """The signal of the figures alone: first the gate, then the persona's cut-offs."""
    gate = persona.gate
    if margin is not None:
        if gate.bullish_from is not None and margin >= gate.bullish_from:
            return "bullish"
        if gate.bearish_to is not None and margin <= gate.bearish_to:
            return "bearish"
    needed = gate.needed_for_bullish
    if share >= persona.bull_at and (needed is None or margin is None or margin >= needed):
        return "bullish"
    return "bearish" if share <= persona.bear_at else "neutral"
