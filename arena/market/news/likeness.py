"""When two texts tell the same: what is read of a text, what counts as telling, and what is a series.

A word is *telling* unless it stands in every market text (`COMMON_WORDS`) or is usual for the asset: in
its names, or in a tenth of its stories of the last 30 days. Two texts tell the same when they share
enough telling words in title and lead. Headlines that are alike but for their figures ("shares up 3%",
"shares up 5%") are a series, not a story.

The limits were chosen on labelled pairs of real news. Words are counted, not understood: read one by
one, about four of five joins in other words were right, and the others told of one topic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

from arena.market.news.common_words import COMMON_WORDS, SHORT_FORMS
from arena.market.news.urls import title_key

LEAD_CHARS = 300

FEW, FEW_FRAC = 3, 0.5
SOME, SOME_FRAC = 4, 0.4
MANY, MANY_FRAC = 6, 0.6
"""Enough in common: so many words, and such a share of the shorter text's. Few and some are of telling
words; many also counts usual ones, so that what an asset is always written about can be retold."""

SAME_TITLE_PCT, SAME_TITLE_WORDS = 88.0, 6
"""Ratio of sorted titles from which two of so many words, without figures, are one."""

SERIES_PCT, SERIES_LEAD_PCT = 68.0, 90.0
"""Token set ratio of titles from which other figures in them, or in the leads, make a series."""

USUAL_FRAC, USUAL_MIN = 0.1, 3
"""Usual: in this share of an asset's stories, and in at least so many."""

_WORD = re.compile(r"[^\W_]+(?:['&-][^\W_]+|(?<=\d)[.,:/](?=\d)[^\W_]+)*")
_SHORTER = re.compile("|".join(map(re.escape, SHORT_FORMS)))
_FIGURE = re.compile(r"\d+(?:[.:/]\d+)*[^\W\d_]*")
_UNIT = re.compile(r"(?<=\d)(?:bn?|mn?|mln|k|th|st|nd|rd)$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WEEKDAYS = frozenset(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
)


@dataclass(frozen=True, slots=True)
class Gist:
    """What is compared of a text. `title` is its key, also with its words in alphabetical order; `words`
    are the uncommon ones of title and lead."""

    title: str
    sorted_title: str
    words: frozenset[str]
    title_words: frozenset[str]
    title_figures: frozenset[str]
    lead_figures: frozenset[str]


def gist_of(title: str, text: str) -> Gist:
    """The gist of a clean title and of the text's first `LEAD_CHARS` characters."""
    in_title, in_lead = words_of(title), words_of(text[:LEAD_CHARS])
    of_title, key = _uncommon(in_title), title_key(title)
    return Gist(
        title=key,
        sorted_title=" ".join(sorted(key.split())),
        words=of_title | _uncommon(in_lead),
        title_words=of_title,
        title_figures=_figures(in_title) | (_WEEKDAYS & set(in_title)),
        lead_figures=_figures(in_lead),
    )


def words_of(text: str) -> list[str]:
    """Words in small letters, without possessives, with titles and institutions in their short form."""
    folded = text.casefold().replace("’", "'")
    shorter = _SHORTER.sub(lambda found: SHORT_FORMS[found[0]], folded)
    return [word.removesuffix("'s").replace(",", "") for word in _WORD.findall(shorter)]


def _uncommon(words: Iterable[str]) -> frozenset[str]:
    return frozenset(
        w for w in words if len(w) > 1 and w not in COMMON_WORDS and not _is_bare_number(w)
    )


def _is_bare_number(word: str) -> bool:
    """Small counts, days and years stand in texts about anything."""
    return word.isdigit() and (len(word) < 3 or _YEAR.fullmatch(word) is not None)


def _figures(words: Iterable[str]) -> frozenset[str]:
    """Numbers in the words, without what they count: `$616m`, `616-page` and `layer-616` say 616."""
    return frozenset(_UNIT.sub("", figure) for w in words for figure in _FIGURE.findall(w))


class Usual:
    """What an asset is always written about with: its names, and words of many of its stories.

    Worked out anew after each change, or after a hundredth of many stories changed: a flood of words
    must not cost its square.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(word for name in names for word in words_of(name))
        self._counts: Counter[str] = Counter()
        self._often: set[str] = set()
        self._stories = self._n_changes = 0
        self._usual = self._names

    def count(self, gist: Gist) -> None:
        """A story of the asset has come up."""
        self._counts.update(gist.words)
        self._often |= {w for w in gist.words if self._counts[w] >= USUAL_MIN}
        self._stories += 1
        self._n_changes += 1

    def forget(self, gist: Gist) -> None:
        """A story that was counted is too old to count."""
        self._counts.subtract(gist.words)
        self._often -= {w for w in gist.words if self._counts[w] < USUAL_MIN}
        for word in gist.words:
            if not self._counts[word]:
                del self._counts[word]
        self._stories -= 1
        self._n_changes += 1

    def telling(self, words: frozenset[str]) -> frozenset[str]:
        """Those of `words` that are not usual."""
        if self._n_changes > self._stories // 100:
            least = USUAL_FRAC * self._stories
            self._usual = self._names | {w for w in self._often if self._counts[w] >= least}
            self._n_changes = 0
        return words - self._usual


def shared_frac(a: Gist, b: Gist, usual: Usual) -> float:
    """Share of the shorter text's words that both have, where they tell the same; 0 where not."""
    common = a.words & b.words
    if not common or not (_is_enough(common, a, b, usual) or _have_one_title(a, b)):
        return 0.0
    return 0.0 if is_series(a, b) else len(common) / min(len(a.words), len(b.words))


def _is_enough(common: frozenset[str], a: Gist, b: Gist, usual: Usual) -> bool:
    if len(common) < FEW:
        return False
    if len(common) >= MANY and len(common) >= MANY_FRAC * min(len(a.words), len(b.words)):
        return True
    n = len(usual.telling(common))
    if n < FEW:
        return False
    shorter = min(len(usual.telling(a.words)), len(usual.telling(b.words)))
    return n >= FEW_FRAC * shorter or (n >= SOME and n >= SOME_FRAC * shorter)


def _have_one_title(a: Gist, b: Gist) -> bool:
    if a.title_figures or b.title_figures:
        return False
    words = min(a.sorted_title.count(" "), b.sorted_title.count(" ")) + 1
    return words >= SAME_TITLE_WORDS and bool(
        fuzz.ratio(a.sorted_title, b.sorted_title, score_cutoff=SAME_TITLE_PCT)
    )


def is_series(a: Gist, b: Gist) -> bool:
    """Whether two headlines are one form with other figures filled in."""
    titles_differ = _differ(a.title_figures, b.title_figures)
    leads_differ = a.title != b.title and _differ(a.lead_figures, b.lead_figures)
    if not (titles_differ or leads_differ):
        return False
    alike_pct = fuzz.token_set_ratio(a.title, b.title)
    return alike_pct >= (SERIES_PCT if titles_differ else SERIES_LEAD_PCT)


def _differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Each has a figure that the other lacks; one that only says more does not differ."""
    return not (a <= b or b <= a)
