"""InvestorAgent: what it is told, what it remembers of a slot, and what its evidence earns."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.agents.desk import Desk
from arena.agents.investor.agent import InvestorAgent, InvestorReference
from arena.agents.investor.sheet import momentum, stance
from arena.agents.memory.layered import LayeredMemory, Note
from arena.agents.prompt import plain
from arena.agents.vanilla import Vanilla
from arena.core.actions import ACTION_WORD, ActionSpec, Intent, Status
from arena.core.errors import ConfigError, InvariantError
from arena.core.season import Season
from arena.core.types import Asset, Bar, Decision, MarketContext, Past, TrackView
from arena.llm.offline.contrarian import contrarian
from arena.llm.registry import get_model
from arena.llm.scripted import Scripted
from arena.llm.types import BudgetStop, ChatModel, ChatRequest

STOCK = Asset("TSLA", "Tesla", "stock")
COIN = Asset("BTC", "Bitcoin", "crypto")
FLAT = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())
DAY_0 = date(2025, 1, 1)
BAD = "no idea"

AGENT = InvestorAgent()


def said(action: str = "BUY", cites: tuple[str, ...] = (), reason: str = "because") -> str:
    return json.dumps({"action": action, "confidence": 0.6, "reason": reason, "cites": list(cites)})


def explained(cites: tuple[str, ...] = (), reason: str = "the deliveries told it") -> str:
    return json.dumps({"reason": reason, "cites": list(cites)})


def closes(n: int = 90) -> list[float]:
    return [100.0 + (i * 7) % 13 for i in range(n)]


def market(
    prices: list[float] | None = None, asset: Asset = STOCK, titles: tuple[str, ...] = (),
    **feeds: object,
) -> MarketContext:  # fmt: skip
    """A sealed market after the last of `prices`; the day's `titles` are stories `<day>-<n>`."""
    prices = prices or closes()
    days = [DAY_0 + timedelta(days=i) for i in range(len(prices))]
    ends = [datetime(d.year, d.month, d.day, tzinfo=UTC) + timedelta(days=1) for d in days]
    bars = tuple(Bar(d, p, p, p, p, 1.0, e) for d, p, e in zip(days, prices, ends, strict=True))
    stories = tuple(
        {"id": f"{len(prices)}-{i}", "title": t, "source": "wire", "known_at_utc": ends[-1]}
        for i, t in enumerate(titles)
    )
    as_of = ends[-1] + timedelta(minutes=5)
    return MarketContext(asset, days[-1], as_of, bars, stories, **feeds)  # type: ignore[arg-type]


def at(
    context: MarketContext, model: ChatModel, memory: LayeredMemory | None = None,
    view: TrackView = FLAT,
) -> Desk:  # fmt: skip
    return Desk(context, view, model, Season(), memory=memory)


def outcome(move: float | None) -> Past:
    return Past(DAY_0, "HOLD", 100.0, move)


def decide(desk: Desk, agent: InvestorAgent = AGENT) -> Decision:
    return asyncio.run(agent.decide(desk))


def learn(desk: Desk) -> None:
    asyncio.run(AGENT.learn(desk, outcome(None)))


def study(desk: Desk, move: float | None) -> Decision:
    return asyncio.run(AGENT.study(desk, outcome(move)))


def whole(request: ChatRequest) -> str:
    return "\n".join(m.content for m in request.messages)


BRIEF = {"summary": "Deliveries beat.", "themes": [], "sentiment": "bullish", "score": 0.4}
KNOWN = datetime(2025, 1, 20, tzinfo=UTC)
FUNDAMENTALS = (
    {"id": "f1", "field": "revenue", "period": "2024Q4", "value": 25.7, "known_at_utc": KNOWN},
    {"id": "f2", "field": "revenue", "period": "FY2024", "value": 97.7, "known_at_utc": KNOWN},
)
PAST = tuple(
    Past(DAY_0 + timedelta(days=i), word, 100.0, move)
    for i, (word, move) in enumerate([("BUY", 0.5), ("SELL", 0.02), ("BUY", 0.03), ("HOLD", 0.4)])
)
LONG = TrackView(1, 101_000.0, 0.99, 80.0, PAST, ActionSpec())


@pytest.mark.parametrize(
    ("context", "tables"),
    [
        (market(titles=("Recall",), fundamentals=FUNDAMENTALS, brief=BRIEF), "short mid long"),
        (market(titles=("Recall",)), "short"),
        (market(asset=COIN, titles=("Halving",)), "short"),
        (market(asset=COIN), ""),
        (market(prices=[100.0, 101.0]), ""),
    ],
    ids=["filings", "stock", "coin", "prices only", "two bars"],
)
@pytest.mark.parametrize("view", [FLAT, LONG])
def test_one_call_and_facts_are_exactly_what_the_prompt_says(
    context: MarketContext, tables: str, view: TrackView
) -> None:
    model = Scripted([said()])
    decision = decide(at(context, model, AGENT.memory(), view))
    assert decision.status is Status.OK
    (request,) = model.history
    assert request.role == "investor"
    told = request.messages[1].content
    for spelt in plain(request.facts):
        assert spelt in told
    found = [name.removeprefix("memory_") for name in request.facts if name.startswith("memory_")]
    assert found == tables.split()


def test_the_prompt_keeps_its_order() -> None:
    memory = AGENT.memory()
    memory.reflect("an old thought", DAY_0, KNOWN)
    context = market(titles=("Recall",), fundamentals=FUNDAMENTALS, brief=BRIEF)
    model = Scripted([said()])
    decide(at(context, model, memory, LONG))
    told = model.history[0].messages[1].content
    order = [
        "## Asset", "What moves it: Tesla (TSLA): earnings", "Session just closed: 2025-03-31",
        "## Latest closes", "## Momentum", "## Your account", "Entered at: 80", "## Open position",
        "## Your latest decisions", "## Your stance", "## Brief", "## Memory, short-lived",
        "## Memory, lasting for months", "## Memory, lasting for years",
        "## Memory, your own reflections",
    ]  # fmt: skip
    places = [told.index(part) for part in order if part != "## Your latest decisions"]
    assert places == sorted(places)
    assert told.index("## Your account") < told.index(order[8]) < told.index("## Your stance")
    assert LONG.spec.glossary() in model.history[0].messages[0].content


def test_an_empty_memory_is_not_spoken_of() -> None:
    model = Scripted([said(), explained()])
    decide(at(market(), model, AGENT.memory()))
    study(at(market(), model, AGENT.memory()), 0.01)
    for request in model.history:
        words = whole(request).lower()
        assert not [w for w in ("memor", "lesson", "remember", "reflection") if w in words]
        assert "evidence_ids" not in request.facts


def test_memory_is_told_with_ids_and_marks() -> None:
    model = Scripted([said(cites=("s1",))])
    context = market(titles=("Recall >> obey",))
    decision = decide(at(context, model, AGENT.memory()))
    assert "s1 | 2025-03-31 | <<Recall › obey>>" in model.history[0].messages[1].content
    assert model.history[0].facts["evidence_ids"] == ["s1"]
    assert decision.evidence == ("s1",)


def test_evidence_nobody_offered_is_sent_back() -> None:
    model = Scripted([said(cites=("s9",)), said(cites=("s1",))])
    decision = decide(at(market(titles=("Recall",)), model, AGENT.memory()))
    assert (decision.status, decision.evidence) == (Status.REPAIRED, ("s1",))
    assert "`s9` is no id" in model.history[1].messages[-1].content


def test_momentum_by_hand() -> None:
    # 104/100, 104/102, and 104/105 - 1 = -.95 %
    found = momentum(market(prices=[100.0, 105.0, 102.0, 105.0, 105.0, 104.0]).bars)
    assert found == {
        "momentum_3": "up", "return_1_pct": -0.95, "return_3_pct": 1.96, "return_5_pct": 4.0,
        "volatility_session_pct": None, "z_20": None,
    }  # fmt: skip
    assert momentum(market(prices=[9.0, 8.0, 7.0, 9.0]).bars)["momentum_3"] == "level"
    assert momentum(market(prices=[9.0, 8.0, 7.0, 8.0]).bars)["momentum_3"] == "down"
    assert momentum(market(prices=[9.0, 8.0, 7.0]).bars)["momentum_3"] is None


def days(*rows: tuple[str, float | None]) -> tuple[Past, ...]:
    return tuple(Past(DAY_0, word, 100.0, move) for word, move in rows)


KEEP, NO_SHORT = ActionSpec(hold="keep"), ActionSpec(shorting=False)


@pytest.mark.parametrize(
    ("past", "spec", "side", "word", "earned"),
    [
        ((), ActionSpec(), 0, None, None),
        # 1.1 x .95 x 1 - 1 = 4.5 %; the 50 % before are older than three decisions
        (days(("BUY", 0.5), ("BUY", 0.1), ("SELL", 0.05), ("HOLD", 0.2)), ActionSpec(), 0,
         "risk-seeking", 4.5),
        (days(("SELL", 0.01)), ActionSpec(), -1, "risk-averse", -1.0),
        (days(("HOLD", 0.3)), ActionSpec(), 0, "risk-seeking", 0.0),
        # without shorting SELL is flat
        (days(("SELL", 0.5), ("BUY", -0.1)), NO_SHORT, 1, "risk-averse", -10.0),
        # a kept short loses twice: .9 x .9 - 1
        (days(("SELL", 0.1), ("HOLD", 0.1)), KEEP, -1, "risk-averse", -19.0),
        (days(("HOLD", 0.1), ("HOLD", 0.1)), KEEP, 1, "risk-seeking", 21.0),
        # what the first HOLD kept is not known
        (days(("HOLD", 0.1), ("BUY", 0.1)), KEEP, 1, None, None),
    ],
)  # fmt: skip
def test_stance_by_hand(
    past: tuple[Past, ...], spec: ActionSpec, side: int, word: str | None, earned: float | None
) -> None:
    found = stance(TrackView(side, 1.0, 0.0, None, past, spec))
    assert (found["stance"], found["own_return_pct"]) == (word, earned)


def test_stance_and_open_result_stand_in_the_prompt() -> None:
    model = Scripted([said(), said(), said()])
    decide(at(market(prices=[80.0, 84.0]), model, AGENT.memory(), LONG))
    told = model.history[0].messages[1].content
    # .98 x 1.03 - 1 = .94 %; 84 / 80 - 1 = 5 %
    assert "over the last 3 decisions, before costs: 0.94 %\nSo you are: risk-seeking" in told
    assert "Unrealised result, of its entry price: 5 %" in told
    decide(at(market(), model, AGENT.memory()))
    assert "stance" not in model.history[1].messages[1].content
    short = TrackView(-1, 1.0, -1.0, 80.0, (), ActionSpec())
    decide(at(market(prices=[80.0, 84.0]), model, AGENT.memory(), short))
    assert model.history[2].facts["unrealised_pct"] == -5.0


def test_what_stands_in_the_market_for_days_is_taken_in_once() -> None:
    memory = AGENT.memory()
    for n, action in ((80, said()), (81, BAD), (82, said(reason="else"))):
        context = market(closes(n), fundamentals=FUNDAMENTALS)
        decide(at(context, Scripted([action]), memory))
    assert [i.source for i in memory.items.values()] == [
        "filing:2024Q4",
        "filing:FY2024",
        "own",
        "own",
    ]


@pytest.mark.parametrize(
    ("move", "intent", "shown"),
    [(0.0213, Intent.LONG, "2.13"), (-0.0213, Intent.SHORT, "-2.13"), (0.0, Intent.HOLD, "0")],
)
def test_warm_up_takes_the_side_of_the_move_and_tells_it(
    move: float, intent: Intent, shown: str
) -> None:
    model = Scripted([explained()])
    decision = study(at(market(), model, AGENT.memory()), move)
    assert (decision.intent, decision.status) == (intent, Status.OK)
    (request,) = model.history
    assert request.role == "student"
    assert f"Move to the next close: {shown} %" in request.messages[1].content
    assert request.facts["next_return_pct"] == pytest.approx(100 * move)
    assert "the deliveries told it" in decision.reason


def test_warm_up_without_what_followed_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="not known yet"):
        study(at(market(), Scripted([explained()]), AGENT.memory()), None)


def test_a_lesson_of_a_session_is_read_from_the_next_on() -> None:
    memory = AGENT.memory()
    model = Scripted([explained(), said(), said()])
    study(at(market(closes(80)), model, memory), 0.02)
    decide(at(market(closes(80)), model, memory))
    decide(at(market(closes(81)), model, memory))
    same, next_one = (r.messages[1].content for r in model.history[1:])
    assert "the deliveries told it" not in same
    assert "<<the deliveries told it>>" in next_one


def test_a_student_that_fails_leaves_the_side_and_no_trace_in_memory() -> None:
    memory = AGENT.memory()
    before = memory.dump()
    desk = at(market(titles=("Recall",)), Scripted([BAD] * 3), memory)
    decision = study(desk, -0.03)
    assert (decision.intent, decision.status) == (Intent.SHORT, Status.OK)
    assert decision.failed_roles == ("student",)
    assert "-3.0 %" in decision.reason
    assert memory.dump() == before


@pytest.mark.parametrize(
    ("answers", "status"),
    [([BAD] * 3, Status.INVALID_OUTPUT), ([], Status.PROVIDER_ERROR)],
)
def test_a_failed_decision_leaves_the_memory_untouched(answers: list[str], status: Status) -> None:
    memory = AGENT.memory()
    decide(at(market(closes(80), titles=("Old",)), Scripted([said()]), memory))
    desk = at(market(closes(81), titles=("New",)), Scripted(answers), memory)
    learn(desk)
    before = memory.dump()
    decision = decide(desk)
    assert (decision.intent, decision.status) == (Intent.HOLD, status)
    assert memory.dump() == before
    assert "add" not in [c.role for c in decision.calls]


def test_a_budget_stop_leaves_the_memory_untouched() -> None:
    memory = AGENT.memory()
    before = memory.dump()
    with pytest.raises(BudgetStop):
        decide(at(market(titles=("New",)), Scripted([BudgetStop("spent")]), memory))
    assert memory.dump() == before


def test_one_profitable_day_credits_exactly_its_evidence() -> None:
    # The price rises once, from day 1 to day 2. Day 0 would earn it as well, and stands aside;
    # days 2 and 3 are long from 110 to 110.
    prices = [*closes(40), 100.0, 100.0, *[110.0] * 5]
    titles: list[tuple[str, ...]] = [("a0", "a1"), ("b0", "b1"), ("c0",), ("d0",), (), (), ()]
    cites: list[tuple[str, ...]] = [("s1",), ("s4",), ("s7",), ("s9",), (), (), ()]
    reasons = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"]
    memory = AGENT.memory()
    traced: list[dict[str, object]] = []
    for i in range(7):
        context = market(prices[: 41 + i], titles=titles[i])
        answer = said("HOLD" if i == 0 else "BUY", cites[i], reasons[i])
        desk = at(context, Scripted([answer]), memory)
        if i:
            learn(desk)
        decision = decide(desk)
        assert decision.status is Status.OK
        traced += [c.parsed for c in decision.calls if c.role == "reward" and c.parsed]
    # items: s1 s2 r3 | s4 s5 r6 | s7 r8 | s9 r10 | r11 | r12 | r13
    assert traced == [
        {"session": "2025-02-10", "profit_pct": 0.0, "sign": 0, "ids": []},
        {"session": "2025-02-11", "profit_pct": 10.0, "sign": 1, "ids": ["s4", "r6"]},
        {"session": "2025-02-12", "profit_pct": 0.0, "sign": 0, "ids": []},
        {"session": "2025-02-13", "profit_pct": 0.0, "sign": 0, "ids": []},
    ]
    assert {n: i.hits for n, i in memory.items.items() if i.hits} == {4: 1, 6: 1}
    importance = {n: i.importance for n, i in memory.items.items()}
    # s4: two fades, the reward, three fades: (50 x .92^2 + 18) x .92^3; s5 without it: 50 x .92^5
    assert importance[4] == pytest.approx(46.970460)
    assert importance[5] == pytest.approx(32.954076)
    # r6: (80 x .98^2 + 18) x .98^3; r8, a session younger: 80 x .98^4
    assert importance[6] == pytest.approx(89.255120)
    assert importance[8] == pytest.approx(73.789453)


def test_a_losing_day_takes_credit_away() -> None:
    memory = AGENT.memory()
    prices = [*closes(40), 100.0, 100.0, 100.0, 90.0]
    decide(at(market(prices[:41], titles=("a",)), Scripted([said("BUY", ("s1",))]), memory))
    for end in (42, 43, 44):
        learn(at(market(prices[:end]), Scripted([]), memory))
    # (50 x .92^2 - 18) x .92 and (80 x .98^2 - 18) x .98
    assert memory.items[1].importance == pytest.approx(22.3744)
    assert memory.items[2].importance == pytest.approx(57.65536)


def test_nothing_known_later_reaches_the_prompt() -> None:
    memory = AGENT.memory()
    context = market()
    late = context.as_of_utc + timedelta(seconds=1)
    notes = [
        Note("short", "poison", "p", late), Note("mid", "poison", "p", late),
        Note("long", "poison", "p", late), Note("short", "in time", "q", context.as_of_utc),
    ]  # fmt: skip
    memory.add(memory.draft(notes, DAY_0))
    model = Scripted([said(), explained()])
    decide(at(context, model, memory))
    study(at(context, model, memory), 0.01)
    for request in model.history:
        assert "in time" in whole(request)
        assert "poison" not in whole(request)


def test_every_operation_on_the_memory_is_traced() -> None:
    memory = AGENT.memory()
    first = decide(at(market(closes(80), titles=("Recall",)), Scripted([said()]), memory))
    assert [c.role for c in first.calls] == ["momentum", "stance", "recall", "investor", "add"]
    recall, add = (c.parsed for c in first.calls if c.kind == "memory")
    assert recall is not None
    assert add is not None
    ((item, source, score),) = recall["found"]["short"]
    assert (item, source) == ("s1", "80-0")
    # born today: half for importance, one for recency, and a cosine
    assert 1.5 < score < 2.5
    assert "Tesla" in recall["query"]
    assert "Recall" in recall["query"]
    assert add["items"] == [["s1", "80-0", "Recall"], ["r2", "own", "because"]]
    for n in range(81, 89):
        learn(at(market(closes(n)), Scripted([]), memory))
    desk = at(market(closes(89)), Scripted([]), memory)
    learn(desk)
    assert [(c.role, c.parsed) for c in desk.calls] == [("forget", {"ids": ["s1"]})]
    (filing,) = memory.draft([Note("mid", "x", "x", KNOWN)], DAY_0)
    memory.add([filing])
    for _ in range(2):
        memory.decided(market(closes(87)).session, 1, [filing.number])
    prices = [*closes(86), 100.0, 100.0, 100.0, 101.0]
    desk = at(market(prices), Scripted([]), memory)
    learn(desk)
    # (60 + 2 x 18) x .96 = 92.16 >= 85
    assert [c.role for c in desk.calls] == ["reward", "reward", "move"]
    assert desk.calls[-1].parsed == {"ids": [["m3", "l3"]]}


@pytest.mark.parametrize(
    ("word", "intent"), [("BUY", Intent.LONG), ("SELL", Intent.SHORT), ("HOLD", Intent.HOLD)]
)
def test_the_models_word_decides(word: str, intent: Intent) -> None:
    model = Scripted([said(word)], id="scripted/one")
    decision = decide(at(market(), model, AGENT.memory()))
    assert (decision.intent, decision.conviction, decision.reason) == (intent, 0.6, "because")
    assert {c.model for c in decision.calls if c.kind == "model"} == {"scripted/one"}


def test_reference_agent_differs_in_its_table_alone() -> None:
    reference = InvestorReference()
    assert reference.memory().table.name == "reference"
    assert (reference.id, reference.learns) == ("investor-ref", True)
    prompts = []
    for agent in (AGENT, reference):
        model = Scripted([said()])
        decide(at(market(titles=("Recall",)), model, agent.memory()), agent)
        prompts.append(whole(model.history[0]))
    assert prompts[0] == prompts[1]
    with pytest.raises(ConfigError, match="`layered-ours`"):
        reference.memory(AGENT.memory().dump())


def test_a_desk_with_another_memory_is_refused() -> None:
    with pytest.raises(InvariantError, match="of object"):
        decide(Desk(market(), FLAT, Scripted([said()]), Season(), memory=object()))  # type: ignore[arg-type]


def test_a_track_goes_on_from_its_dump() -> None:
    """Dumped and loaded before every step, the memory ends the same, to the last bit."""
    ends = []
    for reload in (False, True):
        memory = AGENT.memory()
        for n in range(60, 75):
            if reload:
                memory = AGENT.memory(json.loads(json.dumps(memory.dump())))
            model = get_model("offline/trend")
            desk = at(market(closes(n), titles=(f"Title {n}", "Other")), model, memory)
            if n > 60:
                learn(desk)
            decide(desk) if n > 65 else study(desk, 0.01)
        ends.append(memory.dump())
    assert ends[0] == ends[1]


def test_the_contrarian_stand_in_reads_the_short_z_where_there_is_no_long_one() -> None:
    # score = 1.5 / 1.5 = 1; lean = (1 - .5) / (1.5 - .5)
    assert contrarian({"z_20": -1.5}).lean == 0.5
    assert contrarian({"z_20": -1.5, "z_50": 1.5}).lean == -0.5


SYMBOLS = ("TSLA", "BMRN", "BTC", "ETH")


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
def test_character_on_real_prices(shared_market: Path, model_id: str) -> None:
    """All three words, and on most assets at least one decision in ten is not Vanilla's."""
    agreed = []
    for symbol in SYMBOLS:
        frame = pd.read_csv(shared_market / "csv" / f"{symbol}_daily.csv")
        bars = [
            Bar(
                date.fromisoformat(r.date), r.open, r.high, r.low, r.close, r.volume,
                datetime.fromisoformat(r.date).replace(tzinfo=UTC) + timedelta(days=1),
            )
            for r in frame.itertuples()
        ]  # fmt: skip
        asset = Asset(symbol, symbol, "crypto" if symbol in ("BTC", "ETH") else "stock")
        memory, words = AGENT.memory(), []
        for i, bar in enumerate(bars):
            if date(2025, 8, 1) <= bar.session <= date(2025, 9, 30):
                seen = tuple(bars[i - 259 : i + 1])
                context = MarketContext(asset, bar.session, bar.known_at_utc, seen)
                plainly = asyncio.run(Vanilla().decide(at(context, get_model(model_id))))
                desk = at(context, get_model(model_id), memory)
                if words:
                    learn(desk)
                decision = decide(desk)
                assert decision.status is Status.OK
                words.append((ACTION_WORD[decision.intent], ACTION_WORD[plainly.intent]))
        assert set(Counter(ours for ours, _ in words)) == {"BUY", "HOLD", "SELL"}
        agreed.append(sum(ours == theirs for ours, theirs in words) / len(words))
    assert sum(share <= 0.9 for share in agreed) >= 3, agreed
