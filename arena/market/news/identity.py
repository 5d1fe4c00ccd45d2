"""Which items tell the same story: one told by five outlets is one story with five sources.

Causal: items are taken in the order in which they became known, and each joins a story or starts one by
looking only at what came before it. So no later item changes what an earlier one belongs to. An item
joins a story whose page or headline it has, or whose text it tells (`likeness`), within three days of
the story's first item.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from arena.core.errors import InvariantError
from arena.market.news.items import Item, Told
from arena.market.news.likeness import Gist, Usual, gist_of, shared_frac
from arena.market.news.urls import canonical_url

SAME_STORY = timedelta(hours=72)
"""A retelling comes within this time of the story's first item; the very same page may come later."""

USUAL_FOR = timedelta(days=30)
"""So long a story counts for what is usual for the asset."""

MAX_OPEN = 500
"""So many of the newest stories are compared with; it bounds the work of a flood."""

MAX_WORDINGS = 3
"""A story is recognised by its first item and the next tellings in other words, so many in all: more
would let it drift from one event to another."""

ID_DIGITS = 8

WHOLE_TEXT_CHARS = 40
"""Two items with the same text of this length or more tell the same, whatever the headline."""


@dataclass(frozen=True, slots=True)
class Story:
    """Items that tell the same, in the order in which they became known.

    `id` is `n-` and 8 hex digits over the asset and the first item; more where two would be alike.
    """

    id: str
    items: tuple[Item, ...]

    @property
    def first(self) -> Item:
        return self.items[0]

    def told(self, as_of_utc: datetime) -> Told | None:
        """The story as it was known at a moment; None before its first item was."""
        known = tuple(item for item in self.items if item.known_at_utc <= as_of_utc)
        return Told(self.id, known) if known else None


def stories_of(items: Sequence[Item], names: Iterable[str] = ()) -> tuple[Story, ...]:
    """The stories behind the items of one asset, by the moment their first item became known.

    `names` are what the asset is called: that a text has them tells no event from another.

    Raises:
        InvariantError: the items are about several assets.
    """
    assets = {item.asset for item in items}
    if len(assets) > 1:
        raise InvariantError(f"stories are told of one asset, not of {', '.join(sorted(assets))}")
    told = _SoFar(Usual((*assets, *names)))
    for item in sorted(items, key=lambda i: (i.known_at_utc, i.id)):
        told.add(item)
    return tuple(Story(begun.id, tuple(begun.items)) for begun in told.stories)


@dataclass(slots=True)
class _Begun:
    """A story so far. `wordings` are of its first items that told it in other words."""

    id: str
    items: list[Item] = field(default_factory=list)
    wordings: list[Gist] = field(default_factory=list)

    def is_near(self, item: Item) -> bool:
        return item.known_at_utc - self.items[0].known_at_utc <= SAME_STORY


class _SoFar:
    """The stories so far, and what they say is usual for the asset."""

    def __init__(self, usual: Usual) -> None:
        self.stories: list[_Begun] = []
        self._usual = usual
        self._counted: deque[_Begun] = deque()
        self._newest: deque[_Begun] = deque(maxlen=MAX_OPEN)
        self._ids: set[str] = set()
        self._by_page: dict[tuple[str, str], _Begun] = {}
        self._by_url: dict[str, _Begun] = {}
        self._by_title: dict[str, _Begun] = {}
        self._by_text: dict[str, _Begun] = {}

    def add(self, item: Item) -> None:
        gist, url = gist_of(item.title, item.text), canonical_url(item.url)
        # A bare host is a front page: what stands on it is another story every day.
        url = url if "/" in url else ""
        # "Bitcoin price today" is said every day: such a headline is no identity.
        title = gist.title if self._usual.telling(gist.title_words) else ""
        text = item.text.casefold() if len(item.text) >= WHOLE_TEXT_CHARS else ""
        self._forget(item.known_at_utc)
        page = (url, gist.title)
        story = (
            self._by_page.get(page)
            or self._near(self._by_url.get(url), item)
            or self._near(self._by_title.get(title), item)
            or self._near(self._by_text.get(text), item)
            or self._told_by(item, gist)
            or self._begin(item, gist)
        )
        story.items.append(item)
        if url:
            self._by_url[url] = self._by_page[page] = story
        if title:
            self._by_title[title] = story
        if text:
            self._by_text[text] = story

    @staticmethod
    def _near(story: _Begun | None, item: Item) -> _Begun | None:
        return story if story is not None and story.is_near(item) else None

    def _told_by(self, item: Item, gist: Gist) -> _Begun | None:
        """The story that the item's text tells most of, the earliest of equals."""
        best, most = None, 0.0
        for story in reversed(self._newest):
            if not story.is_near(item):
                break
            share = max(shared_frac(gist, wording, self._usual) for wording in story.wordings)
            if share and share >= most:
                best, most = story, share
        if best is not None and len(best.wordings) < MAX_WORDINGS:
            best.wordings.append(gist)
        return best

    def _begin(self, item: Item, gist: Gist) -> _Begun:
        digest = sha256(f"{item.asset}|{item.id}".encode()).hexdigest()
        ids = (f"n-{digest[:n]}" for n in range(ID_DIGITS, len(digest) + 1))
        story = _Begun(next(i for i in ids if i not in self._ids), wordings=[gist])
        self._ids.add(story.id)
        for stories in (self.stories, self._newest, self._counted):
            stories.append(story)
        self._usual.count(gist)
        return story

    def _forget(self, now_utc: datetime) -> None:
        while self._counted and now_utc - self._counted[0].items[0].known_at_utc > USUAL_FOR:
            self._usual.forget(self._counted.popleft().wordings[0])
