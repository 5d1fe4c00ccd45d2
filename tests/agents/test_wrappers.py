"""Wrappers: inverted trades the other way and is told so; masked sees no name, no date, no level."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from arena.agents.base import Agent
from arena.agents.blocks import brief_block, stories_block
from arena.agents.desk import Desk, Role
from arena.agents.measures import measure
from arena.agents.memory.base import Dump, Memory
from arena.agents.prompt import Sheet, account_blocks, market_blocks
from arena.agents.registry import get_agent, known_agents
from arena.agents.wrappers.agents import Inverted, Masked
from arena.agents.wrappers.masked_text import TextMask
from arena.agents.wrappers.masking import SHIFT_DAYS, Mask, masked_period
from arena.core.actions import ActionSpec, Intent, Status
from arena.core.errors import InvariantError
from arena.core.season import Season
from arena.core.types import Asset, Bar, Decision, MarketContext, Past, TrackView
from arena.llm.fields import Cites, Confidence, Lean, Text
from arena.llm.registry import get_model
from arena.llm.scripted import Scripted
from arena.llm.types import ChatReply, ChatRequest, ModelKind

BTC = Asset("BTC", "Bitcoin", "crypto", symbols={"yahoo": "BTC-USD", "ccxt": "BTC/USD"})
TSLA = Asset("TSLA", "Tesla", "stock", symbols={"yahoo": "TSLA"})
START = datetime(2024, 11, 15, tzinfo=UTC)
SPEC = ActionSpec()
FLAT = TrackView(0, 100_000.0, 0.0, None, (), SPEC)


def market(
    asset: Asset = BTC, level: float = 23_456.78, n: int = 260, **feeds: Any
) -> MarketContext:
    """Daily bars whose last close is `level`, with the volume of a large market."""
    shape = [100.0 + (i * 7) % 13 + 0.05 * i for i in range(n)]
    bars = []
    for i, s in enumerate(shape):
        at, close = START + timedelta(days=i), level * s / shape[-1]
        bars.append(
            Bar(at.date(), close * 0.99, close * 1.02, close * 0.97, close,
                31_234_567.0 + 1_000 * i, at + timedelta(days=1))
        )  # fmt: skip
    return MarketContext(asset, bars[-1].session, bars[-1].known_at_utc, tuple(bars), **feeds)


def story(text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "btc-2025-08-01-7", "title": "Bitcoin at $23,456", "text": text, "source": "bitcoin.com",
        "known_at_utc": datetime(2025, 7, 30, 12, tzinfo=UTC), **more,
    }  # fmt: skip


LONG = TrackView(
    1, 101_234.56, 0.9995, 21_987.65,
    (Past(date(2025, 7, 30), "BUY", 22_222.22, 0.0123), Past(date(2025, 7, 31), "SELL", 23_333.33, None)),
    SPEC,
)  # fmt: skip


class Said(BaseModel):
    outlook: Annotated[float, Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(600)]
    sources: Annotated[list[str], Cites()] = []


PROBE = Role("probe", "Say what you see.", Said, acts=True)
ANSWER = '{"outlook": 1, "confidence": 0.8, "reason": "up"}'


class Probe(Agent):
    """Shows its model everything that a desk holds, and keeps what it was given."""

    id = "probe"
    label = "Probe"
    learns = True

    def __init__(self, intent: Intent | None = None) -> None:
        self.intent = intent
        self.desks: list[Desk] = []
        self.outcomes: list[Past] = []

    async def decide(self, desk: Desk) -> Decision:
        self.desks.append(desk)
        sheet = Sheet()
        market_blocks(sheet, desk.context)
        account_blocks(sheet, desk.view)
        stories_block(sheet, "News", desk.context.stories)
        brief_block(sheet, desk.context.brief)
        rows = [
            [str(f[k]) for k in ("id", "field", "period", "value")]
            for f in desk.context.fundamentals
        ]
        sheet.table("Fundamentals", "fundamentals", ("id", "field", "period", "value"), rows)
        bar = desk.context.bars[-1]
        sheet.values("Bar", [(f"bar_{k}", k, str(v), "") for k, v in asdict(bar).items()])
        answer = await desk.ask(PROBE, sheet)
        if answer.value is None:
            return desk.give_up(PROBE, answer)
        intent = self.intent or (Intent.LONG if answer.value.outlook > 0 else Intent.SHORT)
        return desk.decision(
            intent,
            answer.status,
            answer.value.reason,
            answer.value.confidence,
            answer.value.sources,
        )

    def memory(self, dump: Dump | None = None) -> Memory | None:
        return Notes(dict(dump or {"kind": "probe", "version": 1}))

    async def learn(self, desk: Desk, outcome: Past) -> None:
        self.desks.append(desk)
        self.outcomes.append(outcome)
        desk.noted("reward", {"by": outcome.next_return_frac})

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        self.desks.append(desk)
        self.outcomes.append(outcome)
        return desk.decision(
            Intent.LONG, Status.OK, "it rose", evidence=[s["id"] for s in desk.context.stories]
        )


class Notes:
    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def dump(self) -> dict[str, Any]:
        return self.held


def at_work(
    agent: Agent, model: Any, context: MarketContext | None = None, view: TrackView = FLAT
) -> tuple[Decision, Desk]:
    desk = Desk(context or market(), view, model, Season(), seed=3)
    return asyncio.run(agent.decide(desk)), desk


# Inverted


@pytest.mark.parametrize(
    ("said", "traded"),
    [
        (Intent.LONG, Intent.SHORT), (Intent.SHORT, Intent.LONG), (Intent.HOLD, Intent.HOLD),
        (Intent.FLAT, Intent.FLAT), (Intent.KEEP, Intent.KEEP),
    ],
)  # fmt: skip
def test_inverted_turns_the_side_and_nothing_else(said: Intent, traded: Intent) -> None:
    plain, _ = at_work(Probe(said), Scripted([ANSWER]))
    turned, _ = at_work(Inverted(Probe(said)), Scripted([ANSWER]))
    assert turned.intent is traded
    words = {Intent.LONG: "Inverted from BUY. up", Intent.SHORT: "Inverted from SELL. up"}
    assert turned.reason == words.get(said, "up")
    untimed = replace(turned.calls[0], latency_ms=plain.calls[0].latency_ms)
    back = replace(turned, intent=said, reason="up", calls=(untimed,))
    assert back == plain


def test_inverted_twice_is_the_agent_itself() -> None:
    twice, _ = at_work(Inverted(Inverted(Probe(Intent.LONG))), Scripted([ANSWER]))
    assert twice.intent is Intent.LONG
    assert twice.reason == "Inverted from SELL. Inverted from BUY. up"


def test_a_failure_is_not_inverted_into_an_opinion() -> None:
    failed, _ = at_work(Inverted(Probe()), Scripted([]))
    assert (failed.intent, failed.status) == (Intent.HOLD, Status.PROVIDER_ERROR)
    assert failed.reason.startswith("No usable answer of probe")


def test_the_inverted_agent_sees_the_account_that_trades() -> None:
    short = replace(LONG, side=-1, exposure_frac=-1.0)
    model = Scripted([ANSWER])
    at_work(Inverted(Probe()), model, view=short)
    prompt = model.history[0].messages[1].content
    assert "Position now: short" in prompt
    assert "2025-07-30 | BUY | 22222.22 | 1.23" in prompt


# Masked

BRIEF = {
    "summary": "Bitcoin ($BTC) rose to 23,400 on Aug 1, 2025; Tesla sold 1.2bn dollars of BTC.",
    "themes": ["Bitcoin treasuries of Q2 2025"], "sentiment": "bullish", "score": 0.4,
}  # fmt: skip
FILED = datetime(2025, 7, 25, tzinfo=UTC)
FUNDAMENTALS: tuple[dict[str, Any], ...] = (
    {"id": "TSLA-rev", "field": "revenue", "period": "2025Q2", "value": 22_496e6, "known_at_utc": FILED},
    {"id": "TSLA-eps", "field": "eps", "period": "FY2024", "value": 2.04, "known_at_utc": FILED},
    {"id": "TSLA-sh", "field": "shares", "period": "TTM", "value": 3_216e6, "known_at_utc": FILED},
    {"id": "TSLA-tax", "field": "tax_rate", "period": "TTM", "value": 0.21, "known_at_utc": FILED},
)  # fmt: skip


NAMES_AND_LEVELS = {
    "BTC": r"\bbtc|bitcoin|xbt|(?<![\dx.])2[0-5][,.]?\d{3}(?:\.\d+)?(?!\d)|(?<!\d)31[2-4]\d{5}(?!\d)",
    "TSLA": r"tsla|tesla|musk|(?<![\d.])(?:2[5-9]|30)\d\.\d\d|22[,.]?496|2\.04|3[,.]?216",
}


def leaks(text: str, asset: str = "BTC") -> list[str]:
    """Traces in `text` of the asset, of the years 2024 and 2025, and of price level and volume."""
    when = r"(?<!\d)202[45]|\baug|\bjuly"
    return re.findall(rf"(?i){NAMES_AND_LEVELS[asset]}|{when}", text)


def test_the_leak_finder_finds() -> None:
    model = Scripted([ANSWER])
    at_work(Probe(), model, market(stories=(story("x"),), brief=BRIEF), LONG)
    found = {x.lower() for x in leaks(model.history[0].messages[1].content)}
    assert {"btc", "bitcoin", "2025", "aug", "23456.78", "21987.65", "31493567"} <= found
    tesla = market(TSLA, 302.63, fundamentals=FUNDAMENTALS)
    at_work(Probe(), model := Scripted([ANSWER]), tesla)
    found = {x.lower() for x in leaks(model.history[0].messages[1].content, "TSLA")}
    assert {"tsla", "tesla", "2024", "302.63", "22496", "2.04", "3216"} <= found


def test_masked_prompts_tell_no_asset_no_day_and_no_level() -> None:
    model = Scripted([ANSWER])
    context = market(stories=(story("BTC was 22,900 on 2025-07-29"),), brief=BRIEF)
    _, desk = at_work(Masked(Probe()), model, context, LONG)
    prompt = model.history[0].messages[1].content
    assert leaks(desk.calls[0].prompt) == []
    assert prompt in desk.calls[0].prompt, "the trace shows what was sent"
    assert "Symbol: ASSET\nName: ASSET\nKind: cryptocurrency" in prompt
    # 78 years after 2025-08-01 are 78 * 365 + 18 leap days = 28,488; the 184 left end on 1 February
    assert "Session just closed: 2104-02-01\nIts close: 100\n" in prompt
    # 21,987.65 / 23,456.78 = 0.937369; 22,222.22 / 23,456.78 = 0.947369
    assert "Entered at: 93.7369" in prompt
    assert "2104-01-30 | BUY | 94.7369 | 1.23" in prompt
    assert "<<ASSET at [amount]. ASSET was [amount] on [date]>>" in prompt
    assert "<<ASSET (ASSET) rose to [amount] on [date]; Tesla sold [amount] of ASSET.>>" in prompt


NAMES = st.sampled_from(["BTC", "btc", "$BTC", "#bitcoin", "Bitcoin's", "BTC-USD", "BTCUSDT", "BTC/USD",
                         "Bitcoiners", "ＢＴＣ", "Bit\u200bcoin", "XBT", "https://x.com/btc/2025/08/01"])  # fmt: skip
DATES = st.dates(date(2024, 1, 1), date(2025, 12, 31)).flatmap(
    lambda d: st.sampled_from(
        [d.isoformat(), f"{d:%Y/%m/%d}", f"{d:%m/%d/%Y}", f"{d:%d.%m.%Y}", f"{d:%B} {d.day}, {d.year}",
         f"{d.day} {d:%b} {d.year}", f"{d:%b}. {d.day}", f"{d:%B %Y}", f"Q{(d.month + 2) // 3} {d.year}",
         f"{d:%Y%m%d}", f"in {d.year}", f"FY{d.year}", f"the {d.day}th of {d:%B}"]
    )
)  # fmt: skip
LEVELS = st.floats(20_000, 25_999).flatmap(
    lambda p: st.sampled_from(
        [f"${p:,.2f}", f"{p:.2f}", f"{p:,.0f}", f"{p / 1000:.1f}k", f"{p:.0f} USD", f"USD {p:,.0f}",
         f"€{p:.0f}", f"{p:,.2f} dollars", f"US$ {p:.0f}", f"${p:,.0f}-${p + 90:,.0f}"]
    )
)  # fmt: skip
GLUE = st.sampled_from([" ", ", ", " (", ") ", "; ", " near ", "\n", " - ", ": "])


@settings(max_examples=60)
@given(st.lists(st.tuples(NAMES | DATES | LEVELS, GLUE), max_size=12))
def test_no_text_from_outside_gives_it_away(parts: list[tuple[str, str]]) -> None:
    text = "".join(part + glue for part, glue in parts)
    context = market(
        stories=(story(text, id=text or "-"),), brief={**BRIEF, "summary": text or "-"}
    )
    model = Scripted([ANSWER])
    at_work(Masked(Probe()), model, context, LONG)
    assert leaks(model.history[0].messages[1].content) == []


class Recorder:
    """A stand-in that keeps every prompt."""

    kind: ModelKind = "stand_in"

    def __init__(self, model_id: str) -> None:
        self.id, self.inner, self.seen = model_id, get_model(model_id), []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.seen.append("\n".join(m.content for m in req.messages))
        return await self.inner.complete(req)


BUILT_IN = sorted(known_agents())


@pytest.mark.parametrize("agent_id", BUILT_IN)
def test_no_role_of_any_agent_is_told(agent_id: str) -> None:
    agent = get_agent(f"masked+{agent_id}")
    for asset, level in ((BTC, 23_456.78), (TSLA, 302.63)):
        context = market(
            asset, level, stories=(story(f"{asset.name} ({asset.id}) fell 3 % to ${level}"),),
            brief={**BRIEF, "summary": f"{asset.name} in August 2025: {level}."},
            fundamentals=FUNDAMENTALS if asset is TSLA else (),
        )  # fmt: skip
        model = Recorder("offline/trend")
        desk = Desk(context, FLAT, model, Season(), memory=agent.memory())
        decision = asyncio.run(agent.decide(desk))
        assert decision.status in (Status.OK, Status.REPAIRED)
        assert model.seen
        for prompt in model.seen:
            assert leaks(prompt, asset.id) == []


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
@pytest.mark.parametrize("level", [0.8, 54.16, 113_343.12])
def test_stand_ins_decide_the_same_behind_a_mask(model_id: str, level: float) -> None:
    words = set()
    for n in range(60, 80):
        context = market(level=level, n=n)
        seen, _ = at_work(get_agent("vanilla"), get_model(model_id), context)
        blind, _ = at_work(get_agent("masked+vanilla"), get_model(model_id), context)
        assert (blind.intent, blind.conviction, blind.reason) == (
            seen.intent, seen.conviction, seen.reason,
        )  # fmt: skip
        words.add(seen.intent)
    assert len(words) > 1, "a rule that always says the same would prove nothing"


@given(st.floats(1e-4, 1e6), st.integers(2, 260))
def test_measures_without_a_scale_are_the_same(level: float, n: int) -> None:
    context = market(level=level, n=n)
    plain, masked = measure(context.bars, 365), measure(Mask(context).context.bars, 365)
    for name, value in asdict(plain).items():
        assert getattr(masked, name) == (None if value is None else pytest.approx(value, abs=1e-9))


def test_the_masked_market_keeps_its_shape() -> None:
    real = market(TSLA, 302.63, stories=(story("x"),))
    masked = Mask(real).context
    assert masked.price == 100.0
    assert masked.market_hash != real.market_hash
    assert masked.asset == Asset("ASSET", "ASSET", "stock")
    assert SHIFT_DAYS % 7 == 0
    for was, now in zip(real.bars, masked.bars, strict=True):
        assert now.session.weekday() == was.session.weekday()
        assert (now.session - was.session).days == SHIFT_DAYS
        assert now.known_at_utc <= masked.as_of_utc
        assert now.high / now.low == pytest.approx(was.high / was.low)
    volumes = [b.volume or 0 for b in masked.bars]
    assert sum(volumes) / len(volumes) == pytest.approx(1e6)


def test_volumes_that_are_unknown_or_zero_stay_so() -> None:
    real = market(n=3)
    bars = tuple(replace(b, volume=v) for b, v in zip(real.bars, (None, 0.0, None), strict=True))
    assert [b.volume for b in Mask(replace(real, bars=bars)).context.bars] == [None, 0.0, None]


def test_the_check_against_look_ahead_holds_behind_a_mask() -> None:
    context = Mask(market(stories=(story("x"),))).context
    with pytest.raises(InvariantError, match="look-ahead"):
        replace(context, as_of_utc=context.stories[0]["known_at_utc"] - timedelta(seconds=1))
    with pytest.raises(InvariantError, match="look-ahead"):
        replace(context, as_of_utc=context.bars[-1].known_at_utc - timedelta(seconds=1))


def test_evidence_is_told_by_its_real_id_again() -> None:
    context = market(stories=(story("x"), story("y", id="btc-8")))
    masked_id = Mask(context).context.stories[1]["id"]
    assert re.fullmatch(r"x\d+", masked_id)
    answer = ANSWER[:-1] + f', "sources": ["{masked_id}"]}}'
    decision, _ = at_work(Masked(Probe()), Scripted([answer]), context)
    assert (decision.status, decision.evidence) == (Status.OK, ("btc-8",))
    refused, desk = at_work(
        Masked(Probe()), Scripted([answer.replace(masked_id, "btc-8"), answer]), context
    )
    assert refused.status is Status.REPAIRED
    assert "`btc-8` is no id" in (desk.calls[0].error or "")


def test_fundamentals_keep_their_ratios() -> None:
    real = market(TSLA, 302.63, fundamentals=FUNDAMENTALS)
    rows = Mask(real).context.fundamentals
    value = {r["field"]: r["value"] for r in rows}
    # price / eps = 302.63 / 2.04 = 148.348
    assert 100.0 / value["eps"] == pytest.approx(302.63 / 2.04)
    # market value / revenue = 302.63 * 3,216e6 / 22,496e6 = 43.2636
    assert 100.0 * value["shares"] / value["revenue"] == pytest.approx(302.63 * 3_216 / 22_496)
    assert (value["shares"], value["tax_rate"]) == (1_000_000.0, 0.21)
    # 2025 + 79 = 2104, 2024 + 79 = 2103
    assert [r["period"] for r in rows] == ["2104Q2", "FY2103", "TTM", "TTM"]
    assert rows[0]["known_at_utc"] == FILED + timedelta(days=SHIFT_DAYS)
    assert not any("TSLA" in r["id"] for r in rows)
    assert real.fundamentals == FUNDAMENTALS


@pytest.mark.parametrize(
    ("period", "masked"),
    [
        ("2025-Q1", "2104-Q1"),
        ("2025-06-30", "2103-12-31"),
        ("2024", "2103"),
        ("FY2024", "FY2103"),
        ("TTM", "TTM"),
        ("latest", "latest"),
    ],
)
def test_periods(period: str, masked: str) -> None:
    assert masked_period(period) == masked


@pytest.mark.parametrize(
    ("asset", "text", "masked"),
    [
        (TSLA, "Tesla's Musk: $TSLA up 5% (TSLA.US)", "ASSET's ASSET: ASSET up 5% (ASSET.US)"),
        (TSLA, "It may rise 12 percent; march on, in May it may", "It may rise 12 percent; march on, in May it may"),
        (TSLA, "Deliveries of 384,122 cars, 37% less than in Q2 2024", "Deliveries of 384,122 cars, 37% less than in [date]"),
        (TSLA, "support at 298.5 and 300-310 dollars", "support at [amount] and [amount]-[amount]"),
        (TSLA, "a $1.1 trillion company, 4.5bn euros, 45 cents", "a [amount] company, [amount], [amount]"),
        (TSLA, "up 300 % or 305 percent, 310 bps, not 312", "up 300 % or 305 percent, 310 bps, not [amount]"),
        (TSLA, "Q3 begins on 1st July", "Q3 begins on [date]"),
        (BTC, "Bitcoiners hodl; bitcoin-backed loans", "ASSET hodl; ASSET-backed loans"),
        (Asset("ETH", "Ethereum", "crypto"), "Whether ETH or ether: something", "Whether ASSET or ASSET: something"),
        (Asset("IT", "Gartner", "stock"), "it says IT is cheap, Gartner too", "it says ASSET is cheap, ASSET too"),
        (Asset("SPY", "S&P 500 ETF", "etf"), "The S&P 500 and SPY", "The ASSET and ASSET"),
    ],
)  # fmt: skip
def test_texts(asset: Asset, text: str, masked: str) -> None:
    assert TextMask(asset, 290.0, 330.0)(text) == masked
