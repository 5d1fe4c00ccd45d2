"""TradeAgent: a trading firm. Analysts report, bull and bear debate, a research manager rules, a trader
proposes, three voices argue about risk, a portfolio manager decides.

After Xiao et al., TradingAgents (arXiv 2412.20138). Model calls of one decision, without repairs:

| asked                                                  | shares | coin |
|--------------------------------------------------------|--------|------|
| analysts of market and news                            | 2      | 2    |
| analyst of sentiment, where there are stories          | 1      | 1    |
| analyst of fundamentals, where there are any           | 1      | -    |
| bull, bear, research manager, trader                   | 4      | 4    |
| aggressive, conservative and neutral voice on risk     | 3      | 3    |
| portfolio manager                                      | 1      | 1    |
| all; one fewer for each feed that is missing           | 12     | 11   |

`learn` and `study` ask the reflector once, where the move was 0.2 % or more.
"""

from __future__ import annotations

from arena.agents.base import Agent
from arena.agents.blocks import Voice
from arena.agents.desk import Desk, Role
from arena.agents.memory.base import Dump
from arena.agents.memory.lesson_log import PRACTICE, Entry, LessonLog
from arena.agents.prompt import Sheet, percent, show
from arena.agents.registry import register_agent
from arena.agents.trade import roles, sheets
from arena.core.actions import Intent, Status
from arena.core.types import Decision, Past

DEBATE_ROUNDS = RISK_ROUNDS = 1
LESSONS_SHOWN = 5
TEACHES_FROM_FRAC = 0.002
"""A move below it is noise: nobody is asked what it teaches."""


@register_agent
class TradeAgent(Agent):
    id = "trade"
    label = "TradeAgent"
    learns = True

    def memory(self, dump: Dump | None = None) -> LessonLog:
        return LessonLog() if dump is None else LessonLog.load(dump)

    async def decide(self, desk: Desk) -> Decision:
        figures = sheets.figures(desk)
        if all(figures[name] is None for name in sheets.MARKET_FIGURES):
            said = f"{len(desk.context.bars)} sessions of prices are too few for any figure."
            return desk.decision(Intent.KEEP, Status.NO_DATA, said)
        asked = sheets.analysts(desk, figures)
        answers = await desk.gather(asked)
        reports = {r.name: a.value for (r, _), a in zip(asked, answers, strict=True) if a.value}
        if not reports:  # a debate without findings would be made up
            said = f"No analyst gave a usable answer; {asked[0][0].name}: {answers[0].problem}"
            return desk.decision(Intent.HOLD, answers[0].status, said)
        heard = await _discuss(desk, figures, [r.voice(who) for who, r in reports.items()])
        sourced = [r for r in reports.values() if isinstance(r, roles.SourcedReport)]
        return await _conclude(
            desk, heard, list(dict.fromkeys(i for r in sourced for i in r.cites))
        )

    async def learn(self, desk: Desk, outcome: Past) -> None:
        """Fill in what followed the last entry, and ask what it teaches."""
        log, move_frac = _log(desk), outcome.next_return_frac
        entry = None if log is None else log.open_entry(outcome.session)
        if log is not None and entry is not None and move_frac is not None:
            await _reflect(desk, log, entry, move_frac, sheets.about(desk))

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        """Practice: the action is the sign of the move, and the lesson is drawn at once."""
        move_frac = outcome.next_return_frac
        if move_frac is None:
            said = f"What followed {desk.context.session} is not known; there is nothing to study."
            return desk.decision(Intent.KEEP, Status.NO_DATA, said)
        intent = Intent.LONG if move_frac > 0 else Intent.SHORT if move_frac < 0 else Intent.HOLD
        said = f"Practice: until the next close the price then changed by {show(percent(move_frac))} %."
        if (log := _log(desk)) is not None:
            entry = Entry(desk.context.session, PRACTICE, intent.value, said)
            _remember(desk, log, entry)
            await _reflect(desk, log, entry, move_frac, sheets.market(desk, sheets.figures(desk)))
        return desk.decision(intent, Status.OK, said)


async def _discuss(desk: Desk, figures: sheets.Figures, findings: list[Voice]) -> list[Voice]:
    """From the analysts' findings to all that the portfolio manager hears."""
    turns = await desk.debate(
        [roles.BULL, roles.BEAR], DEBATE_ROUNDS,
        lambda r, said: sheets.debate(desk, r, findings, roles.voices_of(said)),
    )  # fmt: skip
    debate = roles.voices_of(turns)
    plan = await _ask(desk, roles.RESEARCH, sheets.research(desk, findings, debate))
    # Without a plan the trader hears what it would have been made of.
    proposal = await _ask(desk, roles.TRADER, sheets.trader(desk, plan or findings + debate))
    panel = await desk.debate(
        [roles.AGGRESSIVE, roles.CONSERVATIVE, roles.NEUTRAL], RISK_ROUNDS,
        lambda r, said: sheets.risk(desk, r, figures, findings + proposal, roles.voices_of(said)),
    )  # fmt: skip
    return findings + plan + proposal + roles.voices_of(panel)


async def _ask(desk: Desk, role: Role[roles.Op], sheet: Sheet) -> list[Voice]:
    """The voice of `role`, or none where it gave no usable answer."""
    answer = await desk.ask(role, sheet)
    return [] if answer.value is None else [answer.value.voice(role.name)]


async def _conclude(desk: Desk, heard: list[Voice], evidence: list[str]) -> Decision:
    """The portfolio manager's word, and the entry it leaves; a failure leaves none."""
    log, recalled = _log(desk), []
    if log is not None:
        recalled = log.resolved(LESSONS_SHOWN)
        desk.noted("recall", {"sessions": [e.session.isoformat() for e in recalled]})
    answer = await desk.ask(roles.PORTFOLIO, sheets.portfolio(desk, heard, recalled))
    if answer.value is None:
        return desk.give_up(roles.PORTFOLIO, answer)
    rating, thesis = answer.value.rating, answer.value.thesis
    intent = roles.intent_of(rating, desk.view.side)
    if log is not None:
        _remember(desk, log, Entry(desk.context.session, rating, intent.value, thesis))
    size = abs(roles.LEAN_OF[rating])
    return desk.decision(intent, answer.status, f"{rating}: {thesis}", size, evidence)


def _log(desk: Desk) -> LessonLog | None:
    """The track's log; a desk may come without one."""
    return desk.memory if isinstance(desk.memory, LessonLog) else None


def _remember(desk: Desk, log: LessonLog, entry: Entry) -> None:
    gone = log.add(entry)
    desk.noted("add", {"session": entry.session.isoformat(), "rating": entry.rating})
    if gone:
        desk.noted("forget", {"sessions": [session.isoformat() for session in gone]})


async def _reflect(desk: Desk, log: LessonLog, entry: Entry, move: float, sheet: Sheet) -> None:
    """Resolve `entry`; a move that says something gets a lesson, if the reflector finds one."""
    log.resolve(entry.session, move)
    session = entry.session.isoformat()
    desk.noted("reward", {"session": session, "outcome_1d_frac": move})
    if abs(move) < TEACHES_FROM_FRAC:
        return
    sheets.add_outcome(sheet, entry, move)
    answer = await desk.ask(roles.REFLECTOR, sheet)
    if answer.value is not None:
        log.teach(entry.session, answer.value.lesson)
        desk.noted("add", {"session": session, "lesson": answer.value.lesson})
