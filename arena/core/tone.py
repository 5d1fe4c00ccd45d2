"""Tone of a text by counting words: for the stand-in that reads news, the digest and its checks.

The two lists are equally long, so that neither side is likelier by construction. A negation (`not`,
`no`, `never`, `n't` ...) among the three words before a word turns it round; irony, questions, what is
only feared, and whom a word is about are beyond a list. It reads English.
"""

from __future__ import annotations

import re

NEGATION_REACH_WORDS = 3
FEW_WORDS = 3
"""With fewer words found than this, the score shrinks: one word is not the tone of the day."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GOOD = _words(
    """
    beat beats boost boosts breakthrough bullish climb climbed climbs exceed exceeded exceeds
    expand expands expansion gain gained gains growth jump jumped jumps optimism outperform
    outperformed outperforms profit profitable profits raise raised raises rallied rallies rally
    rebound rebounds recover recovers recovery rise rises rising soar soared soars strength strong
    stronger success surge surged surges upbeat upgrade upgraded upgrades win wins
    """
)
BAD = _words(
    """
    bankruptcy bearish crash crashed crashes cut cuts decline declined declines disappoint
    disappointing downgrade downgraded downgrades downturn drop dropped drops fall falling falls
    fear fears fraud hack hacked investigation lawsuit layoffs lose loss losses miss missed misses
    plunge plunged plunges probe recession sank selloff sink sinks slump slumped slumps tumble
    tumbled tumbles underperform underperforms warn warning warns weak weaker weakness
    """
)
NEGATIONS = frozenset({"no", "not", "never", "without", "cannot", "neither", "nor", "hardly"})

_WORD = re.compile(r"[a-z]+(?:['’]t)?")
_CLAUSE_END = re.compile(r"[.;:!?,]|\bbut\b")


def count_words(text: str) -> tuple[int, int]:
    """How many words of `text` are good and bad; a negated one counts for the other side."""
    good = bad = 0
    for clause in _CLAUSE_END.split(text.lower()):
        words = _WORD.findall(clause)
        for at, word in enumerate(words):
            if word not in GOOD and word not in BAD:
                continue
            before = words[max(0, at - NEGATION_REACH_WORDS) : at]
            negated = any(w in NEGATIONS or w.endswith(("n't", "n’t")) for w in before)
            if (word in GOOD) is not negated:
                good += 1
            else:
                bad += 1
    return good, bad


def tone(text: str) -> float:
    """(good - bad) / max(good + bad, 3): in [-1, 1], and 0 where no word of the lists stands."""
    good, bad = count_words(text)
    return (good - bad) / max(good + bad, FEW_WORDS)
