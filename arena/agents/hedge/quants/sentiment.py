"""Sentiment desk: insiders and news, each reduced to one number before they are weighed.

A hundred small trades count no more than a hundred articles: it is not a count of rows.
"""

from __future__ import annotations

from arena.agents.hedge.company import News
from arena.agents.hedge.quants.reading import Reading, Vote, weighted

INSIDER_WEIGHT, NEWS_WEIGHT = 0.3, 0.7
DEAD_ZONE = 0.1


def sentiment(insider_buy_share: float | None, news: News | None) -> Reading:
    """0.3 x insiders + 0.7 x news, renormalised over what there is."""
    insiders = None if insider_buy_share is None else 2.0 * insider_buy_share - 1.0
    tone = None if news is None else news.score
    votes = (
        _vote("insiders", INSIDER_WEIGHT, insiders),
        _vote("news", NEWS_WEIGHT, tone),
    )
    return weighted("sentiment", votes, DEAD_ZONE, by_confidence=False)


def _vote(name: str, weight: float, lean: float | None) -> Vote:
    if lean is None:
        return Vote(name, weight, None, 0.0, f"{name}: none")
    return Vote(name, weight, round(lean, 6), round(abs(lean), 6), f"{name} {lean:+z.2f}")
