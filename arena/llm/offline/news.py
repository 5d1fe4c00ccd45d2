"""Stand-in that goes by the news: the tone of the day's brief, else a count of words in the headlines."""

from __future__ import annotations

from arena.core.tone import FEW_WORDS, count_words
from arena.llm.offline.policy import Facts, Opinion, opinion_from_score, policy

DEAD_ZONE, FULL = 0.15, 0.8


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


def _opinion(score: float, found: str) -> Opinion:
    verdict = "no tone" if abs(score) < DEAD_ZONE else "good" if score > 0 else "bad"
    text = f"Rule, no model: news. {found}: {verdict} (threshold {DEAD_ZONE})."
    return opinion_from_score(score, DEAD_ZONE, FULL, text)
