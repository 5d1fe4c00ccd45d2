"""HedgeFundAgent on filed figures: one session by hand, and the same the day before the filing.

The company of tests/market/filings/fundamentals.csv filed its second quarter of 2025 on 24 July.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.agents.desk import Desk
from arena.agents.hedge.company import Company, company_of
from arena.agents.hedge.personas import PERSONAS, net_net, owner_earnings, wonderful_business
from arena.agents.hedge.scoring import Persona, score
from arena.agents.registry import get_agent
from arena.core.actions import ActionSpec
from arena.core.season import Season
from arena.core.types import Asset, Bar, MarketContext, TrackView
from arena.llm.offline.policy import Opinion, fill
from arena.llm.types import ChatReply, ChatRequest, ModelKind
from arena.market.calendars import close_utc, sessions, slot
from arena.market.filings.facts import Fact
from arena.market.filings.fields import known_from
from arena.market.filings.known import known_facts
from arena.market.history import History
from arena.market.seal import seal
from arena.market.sources.filings.files import FilesFilings

FOLDER = Path(__file__).parents[1] / "market" / "filings"
ACME = Asset("ACME", "Acme", "stock")
BEFORE, AFTER = date(2025, 7, 23), date(2025, 7, 24)
PRICE = 10.0
SOURCE = FilesFilings(FOLDER, clock=lambda: datetime(2025, 8, 1, tzinfo=UTC))


def context(session: date, asset: Asset = ACME) -> MarketContext:
    """The market sealed after `session`, at five past midnight UTC; the price stands at 10."""
    days = sessions(asset.asset_class, date(2024, 1, 2), date(2025, 7, 31))
    bars = tuple(
        Bar(d, PRICE, PRICE, PRICE, PRICE, 1e6, close_utc(asset.asset_class, d)) for d in days
    )
    due = slot(asset, session, "ama")
    rows = known_facts(SOURCE.facts(asset), due.as_of_utc, PRICE)
    return seal(History(asset, bars), due, fundamentals=rows)


def company(session: date) -> Company:
    found = company_of(context(session))
    assert found is not None
    return found


def known(session: date) -> dict[tuple[str, str], dict[str, Any]]:
    return {(r["field"], r["period"]): r for r in context(session).fundamentals}


def shown(persona: Persona, company: Company) -> dict[str, str]:
    """What each check of a creed found, in its words."""
    return {f.id: f.shown for b in score(persona, company).blocks for f in b.findings}


def test_what_is_known_on_the_day_and_on_the_day_before() -> None:
    before, after = known(BEFORE), known(AFTER)
    assert {p for _, p in after} - {p for _, p in before} == {"2025Q2"}
    # 280 + 270 + 1000 - 240 - 250 = 1060; the day before 270 + 1000 - 240 = 1030.
    assert after["revenue", "TTM"]["value"] == 1060
    assert before["revenue", "TTM"]["value"] == 1030
    assert [r["revenue", "TTM"]["id"] for r in (before, after)] == [
        "revenue-TTM-2025Q1", "revenue-TTM-2025Q2",
    ]  # fmt: skip
    assert after["revenue", "TTM"]["known_at_utc"] == datetime(2025, 7, 25, tzinfo=UTC)
    # 98 shares at 10, of which there were 99 a quarter before.
    assert after["market_cap", "TTM"]["value"] == 980
    assert before["market_cap", "TTM"]["value"] == 990
    # 175 was filed for 2023, and 170 a year later.
    assert after["net_income", "FY2023"]["id"] == "net_income-FY2023-2025-02-20"
    assert known(date(2025, 2, 19))["net_income", "FY2023"]["value"] == 175
    assert known(date(2025, 2, 20))["net_income", "FY2023"]["value"] == 170


def test_the_hash_of_the_day_covers_what_was_known_and_nothing_later() -> None:
    day = context(AFTER)

    def resealed(facts: Sequence[Fact]) -> str:
        rows = known_facts(facts, day.as_of_utc, PRICE)
        return replace(day, fundamentals=rows).market_hash

    facts = SOURCE.facts(ACME)
    late = replace(
        facts[0], value=1.0, filed=date(2025, 7, 25), known_at_utc=known_from(date(2025, 7, 25))
    )
    assert resealed(facts) == day.market_hash
    assert resealed((*facts, late)) == day.market_hash
    assert resealed((*facts[:-1], replace(facts[-1], value=1.0))) != day.market_hash


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        # 217 + 42 - median(85 % of 66, 42, 6 % of 1060) - (480 - 430)
        #   = 217 + 42 - 56.1 - 50 = 152.9
        (AFTER, 152.9),
        # 209 + 41 - median(85 % of 63, 41, 6 % of 1030) - 50 = 209 + 41 - 53.55 - 50 = 146.45
        (BEFORE, 146.45),
    ],
)
def test_owner_earnings_by_hand(session: date, expected: float) -> None:
    assert owner_earnings.owner_earnings(company(session)) == pytest.approx(expected)


def test_owner_earnings_questions_by_hand() -> None:
    after = shown(owner_earnings.PERSONA, company(AFTER))
    assert (
        after
        | {
            "roe": "20.1 %",  # 217 / 1080
            "leverage": "0.08x",  # 90 / 1080
            "margin": "25.7 %",  # 272 / 1060
            "current_ratio": "2.50x",  # 850 / 340
            "turnover": "0.63x",  # 1060 / 1680
            "income_up": "100.0 %",  # 125, 145, 170, 200
            "gross_margin_change": "3.0 %",  # 600 / 1000 - 399 / 700
        }
        == after
    )
    before = shown(owner_earnings.PERSONA, company(BEFORE))
    # 209 / 1040, 100 / 1040, 262 / 1030, 820 / 330, 1030 / 1650
    assert before | {
        "leverage": "0.10x", "margin": "25.4 %", "current_ratio": "2.48x", "turnover": "0.62x",
        "income_up": "100.0 %",
    } == before  # fmt: skip


@pytest.mark.parametrize(
    ("session", "ncav_over_cap", "margin"),
    [
        # (850 - 600) / 980; sqrt(22.5 x 217 / 98 x 1080 / 98) = sqrt(549.05) = 23.432 against 10
        (AFTER, 250 / 980, 1.3432),
        # (820 - 610) / 990; sqrt(22.5 x 209 / 99 x 1040 / 99) = sqrt(498.99) = 22.338
        (BEFORE, 210 / 990, 1.2338),
    ],
)
def test_net_net_by_hand(session: date, ncav_over_cap: float, margin: float) -> None:
    c = company(session)
    assert net_net.net_current_assets_to_cap(c) == pytest.approx(ncav_over_cap)
    assert net_net.multiples_margin(c) == pytest.approx(margin, abs=1e-4)


def test_wonderful_business_by_hand() -> None:
    after = shown(wonderful_business.PERSONA, company(AFTER))
    before = shown(wonderful_business.PERSONA, company(BEFORE))
    assert (
        after
        | {
            "capex": "6.2 %",  # 66 / 1060
            "cash_profit": "0.99x",  # (281 - 66) / 217
            "cash": "22.6 %",  # 240 / 1060
            "fcf_yield": "16.3 %",  # mean(200, 170, 145, 125) / 980
            "fair_price": "229.1 %",  # 15 x 215 / 980 - 1
            "fcf_trend": "1.60x",  # 200 / 125
            "shares": "-5.7 %",  # 100 / 106 - 1
        }
        == after
    )
    assert (
        before
        | {
            "capex": "6.1 %",  # 63 / 1030
            "cash": "21.4 %",  # 220 / 1030
            "fcf_yield": "16.2 %",  # 160 / 990
            "fair_price": "213.6 %",  # 15 x (270 - 63) / 990 - 1
        }
        == before
    )


class Buyer:
    """Says yes to everything, and keeps what it was asked."""

    id = "scripted/buyer"
    kind: ModelKind = "scripted"

    def __init__(self) -> None:
        self.asked: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.asked.append(req)
        said = json.dumps(fill(req.schema, Opinion(1.0, 0.8, "because"), req.facts))
        return ChatReply(said, self.id, None, None, None, 0.0, dict(req.params))


def asked_on(market: MarketContext) -> dict[str, str]:
    """The prompts of a decision, by role."""
    model = Buyer()
    flat = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())
    desk = Desk(market, flat, model, Season(), deadline_s=5.0)
    asyncio.run(get_agent("hedge").decide(desk))
    return {req.role: "\n".join(m.content for m in req.messages) for req in model.asked}


def test_every_specialist_is_heard_and_reads_the_day() -> None:
    prompts = asked_on(context(AFTER))
    assert list(prompts) == [*(p.id for p in PERSONAS), "portfolio_manager"]
    assert "| 20.1 % |" in prompts["owner_earnings"]
    assert "| 2.50x |" in prompts["owner_earnings"]
    assert "| 2.48x |" in asked_on(context(BEFORE))["owner_earnings"]


def test_a_coin_has_no_figures() -> None:
    coin = context(AFTER, Asset("COIN", "Coin", "crypto"))
    assert coin.fundamentals == ()
    assert company_of(coin) is None
