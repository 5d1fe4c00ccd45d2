"""From what the specialists say to what the portfolio manager reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.agents.asking import Answer
from arena.agents.blocks import Voice, voices_block
from arena.agents.desk import Desk
from arena.agents.hedge.research import Research, Seat
from arena.agents.hedge.roles import QUALITATIVE_CAP, Action, Impression, Verdict
from arena.agents.hedge.scoring import SIGN, Persona, Signal
from arena.agents.prompt import (
    SIDE_WORD,
    Sheet,
    Value,
    asset_block,
    market_blocks,
    percent,
    rounded_price,
)

REASON_CHARS, DESK_CHARS = 48, 80
"""What the manager is told of a reason: with twelve voices a small model must still take it all in."""


@dataclass(frozen=True, slots=True)
class View:
    """What a specialist concluded. `conviction` in [-1, 1] joins its score and its word."""

    persona: Persona
    signal: Signal
    confidence: float
    conviction: float
    words: str
    sources: tuple[str, ...]


def view_of(seat: Seat, answer: Answer[Verdict | Impression]) -> View | None:
    """Conviction = mean(score, sign x confidence); without a score, sign x confidence up to 0.5."""
    said = answer.value
    if said is None:
        return None
    reason = said.reason[:REASON_CHARS]
    if isinstance(said, Impression) or seat.card is None or seat.card.score is None:
        sure = min(said.confidence, QUALITATIVE_CAP)
        sources = tuple(said.sources) if isinstance(said, Impression) else ()
        words = f"no figures: {reason}"
        return View(seat.persona, said.signal, sure, SIGN[said.signal] * sure, words, sources)
    score, sign = seat.card.score, SIGN[said.signal]
    departs = ""
    if said.signal != seat.card.signal:
        departs = f" (score {seat.card.signal}; {', '.join(said.overrides) or 'names no finding'})"
    words = f"{said.signal}{departs}, coverage {seat.card.coverage:.2f}: {reason}"
    conviction = (score + sign * said.confidence) / 2.0
    return View(seat.persona, said.signal, said.confidence, conviction, words, ())


def consensus_of(views: Sequence[View], found: Research) -> dict[str, Any]:
    """Votes, and the mean conviction weighted by confidence (None if nobody has any)."""
    weight = sum(v.confidence for v in views)
    mean = sum(v.conviction * v.confidence for v in views) / weight if weight > 0 else None
    signals = [v.signal for v in views]
    return {
        **{signal: signals.count(signal) for signal in SIGN},
        "abstained": list(found.abstained),
        "n_failed": len(found.seats) - len(views),
        "mean_conviction": None if mean is None else round(mean, 4) + 0.0,
        "convictions": {v.persona.id: round(v.conviction, 4) + 0.0 for v in views},
    }


def manager_sheet(
    desk: Desk, views: Sequence[View], found: Research, consensus: Mapping[str, Any],
    allowed: Mapping[Action, str],
) -> Sheet:  # fmt: skip
    """What everyone concluded, and the risk. Only where no specialist is heard, also the market."""
    sheet = Sheet()
    if views:
        asset_block(sheet, desk.context)
    else:
        market_blocks(sheet, desk.context)
    _position_block(sheet, desk)
    voices_block(
        sheet, "Specialists, the most convinced first",
        [Voice(v.persona.label, v.conviction, v.confidence, v.words) for v in views],
        "specialist_voices",
    )  # fmt: skip
    voices_block(
        sheet, "Quant desks (rules, no opinion)",
        [Voice(r.desk, r.score, r.confidence, f"{r.signal}: {r.words()[:DESK_CHARS]}")
         for r in found.readings if r.score is not None],
        "quant_voices",
    )  # fmt: skip
    rows: list[tuple[str, str, Value, str]] = []
    if views:
        rows += [(f"n_{s}", f"Specialists who are {s}", consensus[s], "") for s in SIGN]
        rows.append(("n_abstained", "Who abstain for want of data", len(found.abstained), ""))
    if consensus["mean_conviction"] is not None:
        rows.append(("mean_conviction", "Their mean conviction", consensus["mean_conviction"], ""))
    if found.risk["stake_limit_pct"] is not None:
        rows.append(
            ("stake_limit_pct", "Largest stake the risk desk would take, of equity",
             found.risk["stake_limit_pct"], " %")
        )  # fmt: skip
    if rows:
        sheet.values("Together, and the risk", rows)
    table: list[list[Value]] = [[action, effect] for action, effect in allowed.items()]
    sheet.table("Allowed actions", "allowed", ("action", "what it comes to"), table)
    return sheet


def _position_block(sheet: Sheet, desk: Desk) -> None:
    """The position and what it has earned; earlier decisions are no part of this fund's judgement."""
    side, entry = desk.view.side, desk.view.entry_price
    rows: list[tuple[str, str, Value, str]] = [("position", "Position now", SIDE_WORD[side], "")]
    if side and entry:
        result = side * (desk.context.price / entry - 1.0)
        rows.append(("entry_price", "Entered at", rounded_price(entry), ""))
        rows.append(("open_result_pct", "Result of it so far", percent(result), " %"))
    sheet.values("Your account", rows)
