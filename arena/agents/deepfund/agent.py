"""DeepFund: analysts work apart, risk control sets a target exposure, a careful manager trades to it.

After DeepFund (HKUSTDial), with its defects mended: it may be short, a target that fails keeps the
exposure instead of selling out, the manager sees the analysts and what its orders came to, and the
size of a trade is bounded by code.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents.base import Agent
from arena.agents.deepfund import roles
from arena.agents.deepfund.exposure import exposure_after, intent_of, stepped, tradable
from arena.agents.deepfund.sheets import ANALYSTS, Analyst, manager_sheet, planner_sheet, risk_sheet
from arena.agents.desk import Desk
from arena.agents.memory.base import Dump
from arena.agents.memory.decision_log import DecisionLog, Entry, Plan
from arena.agents.registry import register_agent
from arena.core.actions import Intent, Status
from arena.core.errors import InvariantError
from arena.core.types import Decision, Past

MAX_RATIO = 1.0
"""Largest exposure of a fund of one asset, as a part of its equity."""

PLAN_DAYS = 7


@register_agent
class DeepFund(Agent):
    id = "deepfund"
    label = "DeepFundAgent"
    learns = True

    def memory(self, dump: Dump | None = None) -> DecisionLog:
        return DecisionLog() if dump is None else DecisionLog.load(dump)

    async def decide(self, desk: Desk) -> Decision:
        log = _log_of(desk)
        if log is not None and log.entries:
            desk.noted("recall", {"sessions": [e.session.isoformat() for e in log.entries]})
        sheets = {a: sheet for a in ANALYSTS if (sheet := a.sheet(desk)) is not None}
        plan = await self.plan(desk, list(sheets), log)
        due = [a for a in sheets if plan is None or a.role.name in plan.analysts]
        answers = await desk.gather([(a.role, sheets[a]) for a in due])
        signals = {
            a.role.name: said.value
            for a, said in zip(due, answers, strict=True)
            if said.value is not None
        }
        if not signals:
            return desk.give_up(due[0].role, answers[0])

        heard = [signal.voice(who) for who, signal in signals.items()]
        low, high = _limits(desk)
        target = (await desk.ask(roles.RISK_CONTROL, risk_sheet(desk, heard, low, high))).value
        exposure = round(min(high, max(low, desk.view.exposure_frac)), 4)
        ratio = exposure if target is None else stepped(target.target_ratio, low, high)
        trade = desk.compute(
            "tradable", tradable, target=ratio, exposure=exposure, equity=desk.view.equity,
            price=desk.context.price, leans=[roles.LEAN_OF[s.signal] for s in signals.values()],
        )  # fmt: skip
        answer = await desk.ask(roles.MANAGER, manager_sheet(desk, heard, target, trade, log))
        if answer.value is None:
            return desk.give_up(roles.MANAGER, answer)

        order = answer.value
        after = exposure_after(order, exposure, ratio, desk.view.side, low, high)
        if log is not None:
            log.plan = plan
            price, session = desk.context.price, desk.context.session
            _remember(desk, log, Entry(session, order.action, after, price, ratio))
        return desk.decision(
            Intent.KEEP if order.action == "Hold" else intent_of(after),
            answer.status, order.reason, order.confidence, _cited(list(signals.values())),
        )  # fmt: skip

    async def plan(
        self, desk: Desk, analysts: Sequence[Analyst], log: DecisionLog | None  # noqa: ARG002
    ) -> Plan | None:  # fmt: skip
        """Whom to hear of those with material; None is everybody."""
        return None

    async def learn(self, desk: Desk, outcome: Past) -> None:
        log = _log_of(desk)
        if log is None or outcome.next_return_frac is None:
            return
        if entry := log.resolve(outcome.session, outcome.next_return_frac):
            told = {"next_return_frac": entry.next_return_frac, "result_frac": entry.result_frac}
            desk.noted("reward", {"session": entry.session.isoformat(), **told})

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        move, price = outcome.next_return_frac, desk.context.price
        if move is None:
            raise InvariantError(f"study of {outcome.session}: what followed it is not known yet")
        intent, word, exposure = (
            (Intent.LONG, "Buy", MAX_RATIO) if move > 0
            else (Intent.SHORT, "Sell", -MAX_RATIO) if move < 0
            else (Intent.HOLD, "Hold", 0.0)
        )  # fmt: skip
        low, high = _limits(desk)
        after = min(high, max(low, exposure))
        if (log := _log_of(desk)) is not None:
            _remember(desk, log, Entry(desk.context.session, word, after, price, given=True))
        return desk.decision(intent, Status.OK, "Warm-up: the action is the sign of the next move.")


@register_agent
class DeepFundPlanner(DeepFund):
    """DeepFund whose planner chooses the analysts, once a week."""

    id = "deepfund-planner"
    label = "DeepFundAgent with planner"

    async def plan(
        self, desk: Desk, analysts: Sequence[Analyst], log: DecisionLog | None
    ) -> Plan | None:
        session = desk.context.session
        if log is not None and log.plan and (session - log.plan.session).days < PLAN_DAYS:
            return log.plan
        chosen = (await desk.ask(roles.PLANNER, planner_sheet(desk, analysts))).value
        if chosen is None:
            return None
        return Plan(session, tuple(dict.fromkeys((roles.TECHNICAL.name, *chosen.analysts))))


def _limits(desk: Desk) -> tuple[float, float]:
    return (-MAX_RATIO if desk.view.spec.shorting else 0.0), MAX_RATIO


def _log_of(desk: Desk) -> DecisionLog | None:
    return desk.memory if isinstance(desk.memory, DecisionLog) else None


def _remember(desk: Desk, log: DecisionLog, entry: Entry) -> None:
    gone = log.add(entry)
    desk.noted("add", {"session": entry.session.isoformat(), "action": entry.action})
    if gone:
        desk.noted("forget", {"sessions": [d.isoformat() for d in gone]})


def _cited(signals: Sequence[roles.Signal]) -> list[str]:
    """Evidence that the analysts went by, each id once."""
    ids = [i for s in signals if isinstance(s, roles.SourcedSignal) for i in s.cites]
    return list(dict.fromkeys(ids))
