"""The paper's messages over HTTP, `ama/1`: strict in what is sent, tolerant in what is received.

Source: the published endpoints and their schemas; each rule here is one that some of them needs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.agents.trace import storable
from arena.core.actions import WORD_INTENT, Intent
from arena.core.text import clean_foreign
from arena.core.types import MarketContext

MAX_REPLY_BYTES = 64 * 1024
HISTORY_ROWS = 10
NEWS_CHARS = 1_000
NEWS_ITEMS = 50
REASON_CHARS = 4_000
NEUTRAL_BELOW_FRAC = 0.005
"""A move over three sessions smaller than this is neutral."""

MAX_DEPTH = 100
"""Levels of lists and objects; what is deeper could be read but not always written again."""

Momentum = Literal["bullish", "neutral", "bearish"]
_MOMENTA: tuple[Momentum, ...] = ("bullish", "neutral", "bearish")

MIN_PRICE, MAX_PRICE = 1e-12, 1e15
"""No price of anything lies outside, and within them no ratio overflows."""

Price = Annotated[float, Field(ge=MIN_PRICE, le=MAX_PRICE, allow_inf_nan=False)]


class Outcome(StrEnum):
    """What became of one exchange."""

    OK = "ok"
    TIMEOUT = "timeout"
    HTTP_ERROR = "http_error"
    UNREACHABLE = "unreachable"
    INVALID_RESPONSE = "invalid_response"


class SentRow(BaseModel):
    """One earlier close."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    date: date
    price: Price


class SentRequest(BaseModel):
    """A request as it leaves: every key present, one symbol, nothing beyond the paper's keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    date: date
    price: dict[str, Price]
    news: dict[str, list[str]]
    symbol: list[str] = Field(min_length=1, max_length=1)
    momentum: dict[str, Momentum]
    ten_k: dict[str, list[str]] | None = Field(default=None, alias="10k")
    ten_q: dict[str, list[str]] | None = Field(default=None, alias="10q")
    history_price: dict[str, Annotated[list[SentRow], Field(max_length=HISTORY_ROWS)]]
    model: str | None = None

    def payload(self) -> dict[str, Any]:
        """Plain values; `model` is left out where there is none."""
        whole = self.model_dump(mode="json", by_alias=True)
        return whole if self.model is not None else {k: v for k, v in whole.items() if k != "model"}


def paper_request(market: MarketContext, model: str | None = None) -> SentRequest:
    """What the paper's protocol says of a sealed market: today's close, ten before it, the news."""
    asset = market.asset.id
    earlier = [b for b in market.bars if b.session < market.session][-HISTORY_ROWS:]
    return SentRequest(
        date=market.session,
        price={asset: market.price},
        news={asset: [_news_line(s) for s in market.stories[-NEWS_ITEMS:]]},
        symbol=[asset],
        momentum={asset: momentum(market)},
        history_price={asset: [SentRow(date=b.session, price=b.close) for b in earlier]},
        model=model,
    )


def momentum(market: MarketContext) -> Momentum:
    """Tone of the day's brief, or else the sign of the return over three sessions."""
    tone = (market.brief or {}).get("sentiment")
    told: Momentum | None = next((m for m in _MOMENTA if m == tone), None)
    if told:
        return told
    if len(market.bars) < 4:
        return "neutral"
    change_frac = market.price / market.bars[-4].close - 1.0
    if abs(change_frac) < NEUTRAL_BELOW_FRAC:
        return "neutral"
    return "bullish" if change_frac > 0 else "bearish"


def _news_line(story: dict[str, Any]) -> str:
    text = str(story.get("text") or "")
    return clean_foreign(f"{story['title']}. {text}" if text else str(story["title"]), NEWS_CHARS)


class Usage(BaseModel):
    """What a remote agent says it used; None is unknown."""

    model_config = ConfigDict(extra="ignore")
    tokens_in: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    tokens_out: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class ReplyError(ValueError):
    """The reply holds no valid action; the message says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as far as the protocol knows it. Other keys stand in `raw`."""

    intent: Intent
    reasoning: str
    usage: Usage | None
    raw: dict[str, Any]


def read_json(raw: bytes | str) -> Any:
    """A JSON value of valid Unicode, without NaN, infinity, a key given twice, or deep nesting.

    Raises:
        ValueError: it is none.
    """
    try:
        found = json.loads(
            raw, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique
        )
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeError:
        raise ValueError("a text in it is not valid Unicode") from None
    level = _nests([found])
    for _ in range(MAX_DEPTH):
        level = [v for nest in level for v in _nests(nest.values() if isinstance(nest, dict) else nest)]
        if not level:
            return found
    raise ValueError("it is nested too deeply")


def _nests(values: Iterable[Any]) -> list[Any]:
    return [v for v in values if isinstance(v, dict | list)]


def read_reply(raw: bytes) -> Reply:
    """The reply in `raw`: its action is a whole word, never looked for inside a text.

    Raises:
        ReplyError: not a JSON object, or no BUY, HOLD or SELL in `recommended_action`.
    """
    try:
        found = read_json(raw)
    except ValueError as error:
        raise ReplyError(f"the reply is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ReplyError("the reply is no JSON object")
    word = found.get("recommended_action")
    if not isinstance(word, str) or word.strip().upper() not in WORD_INTENT:
        said = "is missing" if word is None else f"is {clean_foreign(repr(word), 80)}"
        raise ReplyError(f"`recommended_action` {said}; it must be BUY, HOLD or SELL")
    why = found.get("reasoning")
    return Reply(
        intent=WORD_INTENT[word.strip().upper()],
        reasoning=storable(why[:REASON_CHARS]) if isinstance(why, str) else "",
        usage=_usage(found.get("usage")),
        raw=found,
    )


def _usage(found: Any) -> Usage | None:
    try:
        return None if found is None else Usage.model_validate(found)
    except ValidationError:
        return None  # an unreadable bill is an unknown one


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number in JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is too large for a number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found
