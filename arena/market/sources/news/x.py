"""X: recent posts that name an asset. Anybody may have written them; each one read is paid for.

Form, from X's documents: `data` of `id`, `text`, `created_at` (ISO 8601 with Z), `author_id`; authors
under `includes.users`; without posts only `meta.result_count` 0. The search reaches seven days back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.settings import secret
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust, TsQuality
from arena.market.sources.news.keyed import (
    ask_json,
    complaint,
    iso_utc,
    list_in,
    objects,
    text_in,
)

KEY = "X_BEARER_TOKEN"
BASE_URL = "https://api.x.com/2"
MAX_POSTS = 100
REACH = timedelta(days=7) - timedelta(minutes=5)
"""A little less than the endpoint allows: a request takes time, and an earlier start is refused."""


class XSource:
    """One search per asset, at most `MAX_POSTS` posts, without reposts."""

    name = "x"
    trust: Trust = "social"

    def __init__(self, token: str, base_url: str = BASE_URL, clock: Clock = utc_now) -> None:
        self._token, self._base_url, self._clock = token, base_url, clock

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime  # noqa: ARG002
    ) -> list[RawItem]:
        """As the protocol says, but nothing older than `REACH`."""
        found: list[RawItem] = []
        for asset in assets:
            if not asset.synthetic:
                found += parse(self._search(asset, since_utc), asset.id, self._clock())
        return found

    def _search(self, asset: Asset, since_utc: datetime) -> Any:
        start = max(since_utc, self._clock() - REACH)
        secrets = {KEY: self._token}
        params = {
            "query": f'"{asset.name}" lang:en -is:retweet', "max_results": str(MAX_POSTS),
            "start_time": start.strftime("%Y-%m-%dT%H:%M:%SZ"), "tweet.fields": "created_at,author_id",
            "expansions": "author_id", "user.fields": "username",
        }  # fmt: skip
        answer = ask_json(
            self.name, f"{self._base_url}/tweets/search/recent", secrets,
            params=params, headers={"Authorization": f"Bearer {self._token}"},
        )  # fmt: skip
        if isinstance(answer, dict) and not {"data", "meta"} & answer.keys():
            raise complaint(self.name, text_in(answer, "detail", "title"), secrets)
        return answer


def parse(answer: Any, asset: str, collected_at_utc: datetime) -> list[RawItem]:
    """Posts of an answer; none where it says that it found none.

    Raises:
        SourceError: the answer holds no list of posts.
    """
    if isinstance(answer, dict) and "data" not in answer and answer.get("meta") == {"result_count": 0}:
        return []
    posts = list_in("x", answer, "data")
    people = answer.get("includes")
    users = people.get("users") if isinstance(people, dict) else None
    names = {
        text_in(u, "id"): text_in(u, "username")
        for u in objects(users if isinstance(users, list) else [])
    }
    return [
        _item(post, names.get(text_in(post, "author_id"), ""), asset, collected_at_utc)
        for post in posts
    ]


def _item(post: dict[str, Any], author: str, asset: str, collected_at_utc: datetime) -> RawItem:
    at, zoned = iso_utc(text_in(post, "created_at"))
    quality: TsQuality = "none" if at is None else "exact" if zoned else "naive"
    number = text_in(post, "id")
    return RawItem(
        title=text_in(post, "text"),
        url=f"https://x.com/{author or 'i/web'}/status/{number}" if number else "",
        text="",
        outlet=f"@{author}" if author else "X",
        origin="x",
        trust="social",
        ts_quality=quality,
        published_utc=at,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=True,
        kind="social",
    )


def source(clock: Clock = utc_now) -> XSource | None:
    """The source, where `X_BEARER_TOKEN` is set."""
    token = secret(KEY)
    return XSource(token, clock=clock) if token else None
