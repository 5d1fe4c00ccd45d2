"""Stand-in that goes by the news: the tone of the day's brief, else a count of words in the headlines.

The two lists are equally long, so that neither side is likelier by construction. A negation (`not`,
`no`, `never`, `n't` ...) among the three words before a word turns it round; irony, questions, what is
only feared, and whom a word is about are beyond a list. It reads English.
"""

from __future__ import annotations

import re

from arena.llm.offline.policy import Facts, Opinion, opinion_from_score, policy

DEAD_ZONE, FULL = 0.15, 0.8
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


@policy("offline/news")
def news(facts: Facts) -> Opinion:
    """Score = the brief's (-1 to 1), or (good - bad) / max(good + bad, 3) over all headlines."""
    if (tone := facts.get("brief_score")) is not None:
        score = float(tone)
        return _opinion(score, f"The brief of the day scores {score:+.2f}")
    stories = facts.get("stories")
    if not stories:
        return Opinion(0.0, 0.0, "Rule, no model: news. No news to go by.")
    good, bad = count_words(" . ".join(str(row[-1]) for row in stories))
    if good + bad == 0:
        return Opinion(
            0.0, 0.0, f"Rule, no model: news. No word of its lists in {len(stories)} stories."
        )
    score = (good - bad) / max(good + bad, FEW_WORDS)
    return _opinion(
        score, f"{good} good and {bad} bad words in {len(stories)} stories give {score:+.2f}"
    )


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


def _opinion(score: float, found: str) -> Opinion:
    verdict = "no tone" if abs(score) < DEAD_ZONE else "good" if score > 0 else "bad"
    text = f"Rule, no model: news. {found}: {verdict} (threshold {DEAD_ZONE})."
    return opinion_from_score(score, DEAD_ZONE, FULL, text)
