"""Prose with what tells an asset and its time taken out: names, dates, amounts of money, price levels.

A text can still give the asset away by what it tells (a product, a rival, a law suit); only names
that are known, calendar dates and figures of money are hidden here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from arena.core.text import clean_foreign
from arena.core.types import Asset

NAME, DATE, AMOUNT = "ASSET", "[date]", "[amount]"

ALIASES: dict[str, tuple[str, ...]] = {
    "TSLA": ("Musk", "Elon", "Cybertruck", "Robotaxi"),
    "BMRN": ("Voxzogo", "Roctavian"),
    "BTC": ("XBT", "Satoshi"),
    "ETH": ("Ether", "Buterin"),
}
"""Other names by which texts call an asset."""

GENERIC = frozenset(
    {"inc", "corp", "corporation", "company", "plc", "ltd", "group", "holdings", "trust", "fund",
     "etf", "the", "and", "of", "class", "common", "stock", "shares"}
)  # fmt: skip
"""Words of a name that name nobody."""

_YEAR = r"(?:19|20)\d\d"
_DAY = r"\d\d?(?:st|nd|rd|th)?"
# `may` and `march` are words too, so they count only beside a day or a year
_LONG_MONTH = "january|february|april|june|july|august|september|october|november|december"
_MONTH = rf"(?:{_LONG_MONTH}|march|may|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
_DATES = "|".join(
    (
        rf"{_YEAR}[-/.]\d\d?[-/.]\d\d?",
        rf"\d\d?[-/.]\d\d?[-/.](?:{_YEAR}|\d\d)",
        r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d",
        rf"{_YEAR}[-/.](?:0[1-9]|1[0-2])",
        r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])",
        rf"{_MONTH}\s*{_DAY}(?:\s*,?\s*{_YEAR})?",
        rf"{_DAY}(?:\s+of)?[\s-]*{_MONTH}(?:[\s,-]*{_YEAR})?",
        rf"{_MONTH}[\s,-]*'?{_YEAR}",
        rf"(?:q[1-4]|[1-4]q|fy|h[12]|[12]h)[\s-]?'?(?:{_YEAR}|\d\d)",
        rf"{_YEAR}[\s-]?(?:q[1-4]|h[12])",
        rf"{_YEAR}s?",
        rf"(?:{_LONG_MONTH})",
    )
)
# Feeds glue words to figures (`losers2022was`): a digit only ends at a digit, a letter at a letter.
_START, _END = r"(?<!\d)(?:(?=\d)|(?<![a-z]))", r"(?!\d)(?!(?<=[a-z])[a-z])"
_NUMBER = r"(?:\d{1,3}(?:[,.'\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_TIMES = r"(?:\s?(?:k|m|mn|mln|bn|b|t|tn|thousand|million|billion|trillion)(?![a-z]))?"
_SIGN = r"(?:(?:us|a|c|hk|s)?[$€£¥₿₩₹])"
_CODE = r"(?:usd[tc]?|eur|gbp|jpy|cny|chf|cad|aud|krw|inr|hkd)"
_UNIT = rf"(?:{_CODE}|u\.?s\.? dollars?|dollars?|euros?|pounds?|yen|cents?|bucks)"
_FIGURE = rf"{_NUMBER}{_TIMES}"
_AMOUNTS = "|".join(
    (
        rf"(?:{_SIGN}|(?<![a-z0-9]){_CODE})\s?{_FIGURE}(?:\s?(?:-|–|to)\s?{_SIGN}?{_FIGURE})?",
        rf"(?<![a-z0-9.,]){_FIGURE}[\s-]?(?:{_UNIT}(?![a-z])|[$€£¥])",
    )
)
_PERCENT = r"\s?(?:%|percent|per cent|pct|percentage|bps|bp|basis)"
_THOUSANDS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6}


class TextMask:
    """Masks prose about `asset`, whose prices lie between `low` and `high`.

    A plain number of two digits or more within a tenth of that range, and no percentage, is taken
    for a price level.
    """

    def __init__(self, asset: Asset, low: float, high: float) -> None:
        self.low, self.high = 0.9 * low, 1.1 * high
        self._pattern = re.compile(
            rf"(?P<link>https?://\S+|www\.\S+)|(?P<name>{'|'.join(_names(asset))})"
            rf"|{_START}(?P<date>{_DATES}){_END}|(?P<amount>{_AMOUNTS})"
            rf"|(?<![a-z0-9.,])(?P<number>{_NUMBER})(?P<times>{_TIMES})"
            rf"(?P<percent>{_PERCENT})?(?![a-z])",
            re.IGNORECASE,
        )

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._replaced, clean_foreign(text, 20 * len(text) + 1))

    def _replaced(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "link":
                return "[link]"
            case "name":
                return NAME
            case "date":
                return DATE
            case "amount":
                return AMOUNT
        return AMOUNT if self._is_level(found) else found.group()

    def _is_level(self, found: re.Match[str]) -> bool:
        digits = found["number"]
        if found["percent"] or sum(c.isdigit() for c in digits) < 2:
            return False
        factor = _THOUSANDS.get(found["times"].strip().lower(), 1.0)
        return any(self.low <= value * factor <= self.high for value in _readings(digits))


def _readings(digits: str) -> set[float]:
    """What a number may mean: its last separator cuts decimals, or thousands like the others."""
    *front, last = re.split(r"\D", digits)
    return {float("".join((*front, last))), float(f"{''.join(front)}.{last}" if front else last)}


def _names(asset: Asset) -> Iterable[str]:
    """Patterns of all that names the asset, the longest first."""
    symbols = {asset.id, *asset.symbols.values()}
    words = {w for w in re.findall(r"[^\W\d_]+", asset.name) if w.lower() not in GENERIC}
    found = [(s, _symbol_pattern(s)) for s in symbols]
    found += [(w, _name_pattern(w)) for w in words if len(w) > 1]
    found += [(w, _word_pattern(w)) for w in ALIASES.get(asset.id, ())]
    telling = " ".join(w for w in asset.name.split() if w.lower() not in GENERIC)
    found += [(phrase, re.escape(phrase)) for phrase in {asset.name, telling} if phrase]
    return [pattern for _, pattern in sorted(found, key=lambda f: (-len(f[0]), f[0]))]


def _symbol_pattern(symbol: str) -> str:
    """A ticker as a word, with a quote currency behind it or not; of one or two letters as written."""
    exact = re.escape(symbol) if len(symbol) > 2 else f"(?-i:{re.escape(symbol)})"
    return rf"(?<![a-z])[$#]?{exact}(?:[-/.]?{_CODE})?(?![a-z])"


def _name_pattern(word: str) -> str:
    """A word of the name; one of five letters and more also inside others (`Teslas`, `teslarati`)."""
    return rf"\w{{0,20}}{re.escape(word)}\w{{0,20}}" if len(word) > 4 else _word_pattern(word)


def _word_pattern(word: str) -> str:
    return rf"\b{re.escape(word)}s?\b"
