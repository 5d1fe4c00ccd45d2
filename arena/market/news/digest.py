"""The brief that needs no model: the day's most central stories, word for word.

A story is central when many outlets told it, then when its words stand in the others too. Nothing
is written by the rule but how many outlets stand behind a sentence, and what was set aside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from arena.core.actions import Status
from arena.core.errors import InvariantError
from arena.core.types import Asset
from arena.market.news.brief import DIGEST, Brief, brief_id, sentiment_of
from arena.market.news.drivers import DRIVERS
from arena.market.news.hostile import FLAGGED
from arena.market.news.items import DayNews, Told
from arena.market.news.price_talk import price_talk

MAX_CHARS, MAX_SENTENCES, MAX_THEMES = 900, 5, 5
THEME_CHARS = 80
SENTENCE_CHARS = (40, 240)
SHARED_WORDS = 2
"""A sentence of the text stands for its story only if it shares so many words with the title: much
that is fetched opens with menus and notices."""

_WORD = re.compile(r"[a-z0-9]{3,}")
_SMALL = frozenset(
    _WORD.findall("""about after all amid and are but for from had has have her his how into its more new not now
    off one our out over said says than that the their them they this was were what when which who
    why will with you your""")
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]?\s+(?=[\"'“‘(]?[A-Z0-9$])")
_DEBRIS = re.compile(r"\.\.\.|…|[=*#|_~-]{2,}|\]\(|https?:")
_CLOSING = "\"'”’)"
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|[ap]\.m|Mr|Mrs|Ms|Dr|Inc|Corp|Co|Ltd|St|No|vs|Jan|Feb|Aug|Sept?|Oct|Nov|Dec)\.)$"
)


def readable(day: DayNews) -> list[Told]:
    """The day's stories without those that read like instructions."""
    return [story for story in day.stories if story.suspicion < FLAGGED]


def mean_tone(stories: Sequence[Told]) -> float:
    """Tone of `stories` in [-1, 1], each weighted by its outlets; 0 without any."""
    weight = sum(len(s.outlets) for s in stories)
    return math.fsum(s.first.tone * len(s.outlets) for s in stories) / weight if weight else 0.0


def drivers_told(asset: Asset, stories: Sequence[Told]) -> tuple[str, ...]:
    """Price drivers that `stories` speak of, in the order of the class."""
    told = {driver for story in stories for driver in story.drivers}
    return tuple(d for d in DRIVERS[asset.asset_class] if d in told)


def digest(asset: Asset, day: DayNews) -> Brief:
    """The extractive brief of a day that has stories: at most five sentences and 900 characters.

    The score is the `mean_tone` of all stories but those set aside, whether or not they were chosen.

    Raises:
        InvariantError: the day has no stories.
    """
    if not day.stories:
        raise InvariantError(f"no stories of {asset.id} by {day.as_of_utc}, so there is no brief")
    stories = readable(day)
    note = _set_aside(len(day.stories) - len(stories))
    chosen = _chosen(stories, MAX_CHARS - len(note) - 1)
    used = [story for story, _ in chosen]
    titles = [story.first.title for story in used]
    plain = [t for t in titles if not price_talk(t)]
    score = round(mean_tone(stories), 4) + 0.0
    return Brief(
        id=brief_id(asset.id, day, DIGEST),
        maker=DIGEST,
        kind="digest",
        status=Status.OK,
        summary=" ".join([*(line for _, line in chosen), note]).strip(),
        themes=tuple(_short(t) for t in plain[:MAX_THEMES]),
        drivers=drivers_told(asset, used),
        sentiment=sentiment_of(score),
        score=score,
        story_ids=tuple(story.id for story in used),
    )


def _set_aside(n: int) -> str:
    if not n:
        return ""
    counted = "1 story was" if n == 1 else f"{n} stories were"
    return f"[{counted} set aside: text that reads like instructions to the reader.]"


def _chosen(stories: Sequence[Told], room_chars: int) -> list[tuple[Told, str]]:
    """Stories with the line that stands for each: the most central one, then those that bring a new
    driver, then the rest by rank; a single story may give two sentences."""
    ranked = _ranked(stories)
    lines = {s.id: _sentences(s) for s in ranked}
    free_of_prices = [s for s in ranked if lines[s.id]]
    if not free_of_prices:
        lines = {s.id: [s.first.title] for s in ranked}
    pool = free_of_prices or ranked
    most = 2 if len(pool) == 1 else 1
    taken: list[tuple[Told, str]] = []
    said: set[str] = set()
    for story in _widest_first(pool):
        if lines[story.id][0] in said:
            continue
        line = f"{' '.join(map(_stopped, reversed(lines[story.id][:most])))} ({_outlets(story)})"
        if len(taken) < MAX_SENTENCES and len(line) + 1 <= room_chars:
            taken.append((story, line))
            said.add(lines[story.id][0])
            room_chars -= len(line) + 1
    order = {story.id: i for i, story in enumerate(ranked)}
    return sorted(taken, key=lambda pair: order[pair[0].id])


def _ranked(stories: Sequence[Told]) -> list[Told]:
    """Most central first; what is equally central stays in the day's order."""
    words = [_words(s.first.title) for s in stories]
    shared = [
        math.fsum(len(mine & w) / max(len(mine | w), 1) for j, w in enumerate(words) if j != i)
        for i, mine in enumerate(words)
    ]
    order = sorted(range(len(stories)), key=lambda i: (-len(stories[i].outlets), -shared[i], i))
    return [stories[i] for i in order]


def _widest_first(ranked: Sequence[Told]) -> Iterator[Told]:
    covered: set[str] = set()
    later = []
    for n, story in enumerate(ranked):
        if n == 0 or set(story.drivers) - covered:
            covered |= set(story.drivers)
            yield story
        else:
            later.append(story)
    yield from later


def _sentences(story: Told) -> list[str]:
    """What may stand for the story, as written, without prices and forecasts: the first sentence of
    its text that belongs to its title, then the title."""
    item = story.first
    about = _words(item.title)
    low, high = SENTENCE_CHARS
    fitting = (
        s
        for s in sentences(item.text)
        if low <= len(s) <= high and _whole(s) and len(_words(s) & about) >= SHARED_WORDS
    )
    lead = next((s for s in fitting if not price_talk(s)), None)
    own = [item.title, f"{item.title}."]
    return [s for s in (None if lead in own else lead, item.title) if s and not price_talk(s)]


def sentences(text: str) -> list[str]:
    """`text` cut into sentences, each as written; no cut after initials and common abbreviations."""
    parts: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        upto = text[start : end.end()].rstrip()
        if not _ABBREVIATION.search(upto):
            parts.append(upto)
            start = end.end()
    return [p for p in (*parts, text[start:].strip()) if p]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _SMALL


def _stopped(text: str) -> str:
    """A headline gets the full stop that it does without."""
    return text if text.rstrip(_CLOSING).endswith((".", "!", "?", "…")) else f"{text}."


def _whole(sentence: str) -> bool:
    """Whether it ends as a sentence does, nothing was cut out of it, and it holds no marks of a page."""
    return not _DEBRIS.search(sentence) and sentence.rstrip(_CLOSING).endswith((".", "!", "?"))


def _outlets(story: Told) -> str:
    n = len(story.outlets)
    return "1 outlet" if n == 1 else f"{n} outlets"


def _short(title: str) -> str:
    if len(title) <= THEME_CHARS:
        return title
    return title[:THEME_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"
