"""HedgeFundAgent: twelve specialists of opposite creeds, four quant desks, a manager who takes sides.

Each specialist's creed is first scored by code (personas/, scoring.py), then judged by a model in
its voice. Quant desks and risk limits are code alone. The portfolio manager sees what everyone
concluded, not the market, and acts; only where no specialist is heard it sees the market itself.
If its call fails the decision says so: the mean conviction of the others is never played instead.

Model calls of one decision, without repairs:

| asset | specialists asked | calls |
|---|---|---|
| stock or fund, full filings | 12 | 13 |
| stock or fund, some filings | those with half of their questions answered | 1 to 13 |
| stock or fund, no filings | none: all abstain | 1 |
| coin | 12, on price measures and news, confidence at most 0.5 | 13 |
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.hedge.personas import PERSONAS
from arena.agents.hedge.research import research
from arena.agents.hedge.roles import INTENT, PORTFOLIO_MANAGER, allowed_actions
from arena.agents.hedge.scoring import Persona
from arena.agents.hedge.views import consensus_of, manager_sheet, view_of
from arena.agents.registry import register_agent
from arena.core.types import Decision


@register_agent
class Hedge(Agent):
    id = "hedge"
    label = "HedgeFundAgent"

    def __init__(self, personas: Sequence[Persona] = PERSONAS) -> None:
        self.personas = tuple(personas)

    async def decide(self, desk: Desk) -> Decision:
        found = research(desk.context, self.personas)
        desk.compute("scores", lambda: found.scores)
        for reading in found.readings:
            desk.compute(reading.desk, reading.content)
        desk.compute("risk", lambda: found.risk)
        answers = await desk.gather([(seat.role, seat.sheet) for seat in found.seats])
        views = [v for seat, a in zip(found.seats, answers, strict=True) if (v := view_of(seat, a))]
        views.sort(key=lambda v: -abs(v.conviction))
        consensus = desk.compute("consensus", consensus_of, views=views, found=found)
        allowed = allowed_actions(desk.view.side, desk.view.spec)

        sheet = manager_sheet(desk, views, found, consensus, allowed)
        answer = await desk.ask(PORTFOLIO_MANAGER, sheet)
        if answer.value is None:
            return desk.give_up(PORTFOLIO_MANAGER, answer)
        order = answer.value
        action, reason = order.action, order.reason
        if action not in allowed:
            action, reason = "KEEP", f"{reason} ({action} is not possible here: position kept)"
        cited = tuple(dict.fromkeys(s for v in views for s in v.sources))
        return desk.decision(INTENT[action], answer.status, reason, order.confidence, cited)
