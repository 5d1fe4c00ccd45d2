"""News that a model finds on the web. What it says of a page is a claim: nothing here is verified.

The model is reached through `ask`, a function from question to answer that the runner makes: this
room knows no models. A date in an answer proves nothing, so an item counts as known from the moment
it was collected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust
from arena.market.sources.news.keyed import iso_utc

MAX_CHARS = 65_536
_ARRAY_START = re.compile(r"\[(?=\s*[{\]])")  # not the bracket of a link or a footnote


class Found(BaseModel):
    """One article as the model reports it. Who published it is read from its address: a name would
    be one more claim, and could lend the trust of an agency to any page."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: str
    url: str = ""
    published: str = ""
    summary: str = ""


class Articles(RootModel[list[Found]]):
    """The whole answer: a JSON array."""


class WebSearchSource:
    """One question per asset. `ask` raises SourceError where the model fails or did not search."""

    name = "web-search"
    trust: Trust = "vendor"

    def __init__(self, ask: Callable[[str], str], clock: Clock = utc_now) -> None:
        self._ask, self._clock = ask, clock

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime
    ) -> list[RawItem]:
        """As the protocol says; articles without an address are left out, as nobody could check them."""
        found: list[RawItem] = []
        for asset in assets:
            if not asset.synthetic:
                answer = self._ask(question(asset, since_utc, until_utc))
                found += parse(answer, asset.id, self._clock())
        return found


def question(asset: Asset, since_utc: datetime, until_utc: datetime) -> str:
    """What the model is asked, by whole days (UTC): a run that is started again on the same day asks the
    same, and what is the same is paid for once."""
    since, until = (f"{at:%Y-%m-%d}" for at in (since_utc, until_utc))
    return (
        f"Search the web for news about {asset.name} ({asset.id}, {asset.asset_class}) that was "
        f"published from {since} to {until}.\n"
        "Answer with one JSON array and no other text. Each element is an object with these texts:\n"
        "  title      headline, as printed\n"
        "  url        full address of the article itself\n"
        "  published  date and time with zone as the page gives it, or empty\n"
        "  summary    what the article says, at most 60 words, without opinion of yours\n"
        "Only articles that you opened or saw in the results of this search. None found: []"
    )


def parse(answer: str, asset: str, collected_at_utc: datetime) -> list[RawItem]:
    """Items of an answer that ends with the array asked for, in a code fence or not; models say what
    they are about to do before it.

    Raises:
        SourceError: it is anything else: longer than 64 Ki characters, cut off, or of another form.
    """
    text = answer.strip().removesuffix("```").rstrip()
    start = _ARRAY_START.search(text)
    if len(text) > MAX_CHARS or start is None:
        raise SourceError(f"web-search: the answer about {asset} holds no list of articles.")
    try:
        articles = Articles.model_validate_json(text[start.start() :]).root
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "answer"
        raise SourceError(
            f"web-search: the answer about {asset} is not the list asked for (`{where[:60]}`: "
            f"{first['msg'][:100]})."
        ) from None
    return [
        _item(article, host, asset, collected_at_utc)
        for article in articles
        if (host := _host(article.url))
    ]


def _item(article: Found, host: str, asset: str, collected_at_utc: datetime) -> RawItem:
    return RawItem(
        title=article.title,
        url=article.url.strip(),
        text=article.summary,
        outlet=host,
        origin="web-search",
        trust="vendor",
        ts_quality="collected",
        published_utc=iso_utc(article.published)[0],
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=True,
    )


def _host(url: str) -> str:
    """The host of a web address; empty where it is none."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
