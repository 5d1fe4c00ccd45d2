"""What a specialist can look at: the filings of a company beside its price and its news."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from arena.agents.fundamentals import Fundamentals, Period, ratio, read_fundamentals
from arena.agents.measures import closes_of, return_frac, session_volatility_frac
from arena.core.types import MarketContext

RECORD_YEARS = 4
"""Years that a track record needs; free filings seldom reach further back."""

LONG_WINDOW = 250
MIN_EV_FRAC = 0.01
"""Enterprise value is floored at this part of market cap: more cash than that is as cheap as it gets."""

BAD_NEWS = (
    "lawsuit", "fraud", "negative", "downturn", "decline", "investigation", "recall", "bankrupt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class News:
    """`score` from -1 to 1; `n_bad` of `n_stories` hold a word of `BAD_NEWS`."""

    score: float
    n_stories: int
    n_bad: int


@dataclass(frozen=True, slots=True)
class Company:
    """`filed` figures at today's `price`. Returns and volatility are fractions."""

    filed: Fundamentals
    price: float
    session_volatility_frac: float | None = None
    long_return_frac: float | None = None
    news: News | None = None

    @property
    def now(self) -> Period:
        return self.filed.now

    def values(self, read: Callable[[Period], float | None]) -> list[float]:
        """As `Fundamentals.values`: newest first, up to the first gap."""
        return self.filed.values(read)

    @property
    def cap(self) -> float | None:
        """Market capitalisation: price x shares."""
        return None if self.now.shares is None else self.price * self.now.shares

    @property
    def enterprise(self) -> float | None:
        """Market cap + debt - cash, not below `MIN_EV_FRAC` of the cap."""
        if self.cap is None or self.now.net_cash is None:
            return None
        return max(self.cap - self.now.net_cash, MIN_EV_FRAC * self.cap)

    @property
    def earnings_yield(self) -> float | None:
        """Net income over market cap, 1 / P/E: it stays in order where earnings turn negative."""
        return ratio(self.now.net_income, self.cap)

    @property
    def fcf_yield(self) -> float | None:
        return ratio(self.now.fcf, self.cap)

    @property
    def mean_fcf_yield(self) -> float | None:
        """Mean free cash flow of up to five years (at least two) over market cap."""
        flows = self.values(lambda y: y.fcf)[:5]
        return ratio(statistics.fmean(flows), self.cap) if len(flows) > 1 else None

    @property
    def ebit_yield(self) -> float | None:
        """Operating income over enterprise value, 1 / (EV/EBIT)."""
        return ratio(self.now.operating_income, self.enterprise)

    @property
    def ebitda_yield(self) -> float | None:
        return ratio(self.now.ebitda, self.enterprise)


def company_of(market: MarketContext) -> Company | None:
    """The company behind a sealed market; None where it holds no filings."""
    filed = read_fundamentals(market.fundamentals)
    if filed is None:
        return None
    closes = closes_of(market.bars)
    return Company(
        filed,
        market.price,
        session_volatility_frac(closes),
        return_frac(closes, LONG_WINDOW),
        news_of(market.stories, market.brief),
    )


def news_of(stories: Sequence[Mapping[str, Any]], brief: Mapping[str, Any] | None) -> News | None:
    """Tone of the news: that of the brief, else by the share of bad stories; None without news.

    No bad story is +0.6, some +0.2, more than 30 % -0.4.
    """
    texts = [f"{s['title']} {s.get('text') or ''}".lower() for s in stories]
    n_bad = sum(any(word in text for word in BAD_NEWS) for text in texts)
    if brief is not None:
        return News(float(brief["score"]), len(texts), n_bad)
    if not texts:
        return None
    score = 0.6 if n_bad == 0 else 0.2 if n_bad <= 0.3 * len(texts) else -0.4
    return News(score, len(texts), n_bad)


def cagr(values: Sequence[float]) -> float | None:
    """Yearly compound growth from the oldest to the newest; a fall to zero or below is -1.

    None for fewer than two values or a start that is not positive.
    """
    if len(values) < 2 or values[-1] <= 0:
        return None
    return math.pow(max(values[0], 0.0) / values[-1], 1.0 / (len(values) - 1)) - 1.0


def growth(values: Sequence[float], years: int | None = None) -> float | None:
    """Change over the last `years` (default: all) as a part of the start, which must be positive."""
    used = values if years is None else values[: years + 1]
    if len(used) < 2 or len(used) <= (years or 0) or used[-1] <= 0:
        return None
    return used[0] / used[-1] - 1.0


def change(values: Sequence[float]) -> float | None:
    """Newest less oldest."""
    return values[0] - values[-1] if len(values) > 1 else None


def share(values: Sequence[float], holds: Callable[[float], bool], n_min: int = 3) -> float | None:
    """Part of the values for which `holds`; None for fewer than `n_min`."""
    return sum(map(holds, values)) / len(values) if len(values) >= n_min else None


def share_up(values: Sequence[float], n_min: int = 3) -> float | None:
    """Part of the steps from year to year that went up; None for fewer than `n_min` years."""
    if len(values) < n_min:
        return None
    ups = sum(newer > older for newer, older in pairwise(values))
    return ups / (len(values) - 1)


def yearly_growth(values: Sequence[float]) -> list[float]:
    """Growth of each year, newest first, up to the first start that is not positive."""
    found: list[float] = []
    for newer, older in pairwise(values):
        if older <= 0:
            break
        found.append(newer / older - 1.0)
    return found


def deviation(values: Sequence[float], n_min: int = RECORD_YEARS) -> float | None:
    """Population deviation; None for fewer than `n_min` values."""
    return statistics.pstdev(values) if len(values) >= n_min else None
