"""Prices and forecasts in prose: what a brief of the news is to leave out.

Two kinds are looked for: an amount of money as a price is written ("$113,000", "$118K"), and words
that say where a price will go. Sums in millions and more are deals, and an amount beside a word like
`earnings`, `dividend` or `fine` is an event. It reads English; a level without a currency sign
passes, and a small sum that nothing near explains is taken for a price.
"""

from __future__ import annotations

import re

_LEVEL = re.compile(
    r"[$€£]\s?\d[\d,]*(?:\.\d+)?"
    r"(?![.,]?\d|\s?-?(?:m|mn|mln|b|bn|bln|t|tn|million|billion|trillion)\b)(?:\s?k\b)?",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:eps|earn\w*|dividends?|revenues?|profits?|loss(?:es)?|fine[sd]?|penalty|tax|fees?|bail)\b",
    re.IGNORECASE,
)
_NEAR_CHARS = 40
_MOVE = (
    r"(?:reach|hit|climb|rise|soar|surge|rally|jump|gain|rebound|double|triple|fall|drop|slide|sink|"
    r"plunge|crash|tumble|retest|test|break|top)"
)
_FORECAST = re.compile(
    r"\bprice[- ](?:predictions?|forecasts?|targets?|outlooks?|projections?)\b"
    r"|\btarget price\b"
    rf"|\b(?:could|may|might|will|would|should)(?: \w+)?(?: \w+)? {_MOVE}\b"
    rf"|\b(?:expected|poised|set|likely|due|ready|on track|on course) to(?: \w+)? {_MOVE}\b"
    r"|\b(?:upside|downside) (?:of|potential)\b"
    r"|\b(?:support|resistance) (?:level|zone)s?\b"
    r"|\bheaded (?:to|for)\b",
    re.IGNORECASE,
)


def price_talk(text: str) -> str | None:
    """The first words of `text` that name a price level or a forecast; None where there are none."""
    for level in _LEVEL.finditer(text):
        near = text[max(0, level.start() - _NEAR_CHARS) : level.end() + _NEAR_CHARS]
        if not _EVENT.search(near):
            return level[0].strip()
    forecast = _FORECAST.search(text)
    return forecast[0] if forecast else None
