"""Reddit: new posts of a few forums that name an asset. Anybody may have written them.

Form, from Reddit's documents: a token by `client_credentials`, then listings `data.children[].data`
with `title`, `selftext`, `permalink`, `subreddit`, `created_utc` (seconds since 1970).
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.settings import secret
from arena.core.types import Asset, AssetClass
from arena.market.news.items import RawItem, Trust
from arena.market.sources.news.answers import RefusedError
from arena.market.sources.news.keyed import ask_json, epoch_utc, list_in, text_in, ticker

ID_KEY, SECRET_KEY = "REDDIT_CLIENT_ID", "REDDIT_CLIENT_SECRET"
TOKEN_URL = "https://www.reddit.com/api/v1/access_token"  # noqa: S105
BASE_URL = "https://oauth.reddit.com"
FORUMS: dict[AssetClass, tuple[str, ...]] = {
    "crypto": ("CryptoCurrency", "CryptoMarkets", "Bitcoin", "ethereum"),
    "stock": ("stocks", "investing", "StockMarket"),
    "etf": ("stocks", "investing", "ETFs"),
}
MAX_POSTS = 100
GONE = frozenset({"[removed]", "[deleted]"})
RENEW_BEFORE = timedelta(seconds=60)


class RedditSource:
    """One search per asset; the token serves until it expires, and is renewed once if refused."""

    name = "reddit"
    trust: Trust = "social"

    def __init__(
        self, client_id: str, client_secret: str, base_url: str = BASE_URL,
        token_url: str = TOKEN_URL, clock: Clock = utc_now,
    ) -> None:  # fmt: skip
        self._secrets = {ID_KEY: client_id, SECRET_KEY: client_secret}
        self._base_url, self._token_url, self._clock = base_url, token_url, clock
        self._lock = threading.Lock()
        self._token, self._token_until_utc = "", clock()

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime  # noqa: ARG002
    ) -> list[RawItem]:
        """As the protocol says: per asset the newest `MAX_POSTS` posts of at most a month."""
        found: list[RawItem] = []
        for asset in assets:
            if not asset.synthetic:
                found += parse(self._search(asset, since_utc), asset.id, self._clock())
        return found

    def _search(self, asset: Asset, since_utc: datetime) -> Any:
        age = self._clock() - since_utc
        url = f"{self._base_url}/r/{'+'.join(FORUMS[asset.asset_class])}/search"
        params = {
            "q": f'"{asset.name}" OR {ticker(asset)}', "restrict_sr": "1", "sort": "new",
            "t": "day" if age <= timedelta(days=1) else "week" if age.days < 7 else "month",
            "type": "link", "limit": str(MAX_POSTS), "raw_json": "1",
        }  # fmt: skip
        with self._lock:
            try:
                return self._ask(url, params)
            except RefusedError as error:
                if error.code != 401:
                    raise
                self._token = ""
            return self._ask(url, params)

    def _ask(self, url: str, params: dict[str, str]) -> Any:
        headers = {"Authorization": f"Bearer {self._valid_token()}"}
        return ask_json(self.name, url, self._secrets, params=params, headers=headers)

    def _valid_token(self) -> str:
        if self._token and self._clock() < self._token_until_utc:
            return self._token
        pair = b64encode(":".join(self._secrets.values()).encode()).decode()
        asked_at = self._clock()
        answer = ask_json(
            self.name, self._token_url, self._secrets,
            headers={"Authorization": f"Basic {pair}"}, form={"grant_type": "client_credentials"},
        )  # fmt: skip
        granted = answer if isinstance(answer, dict) else {}
        token, lasts_s = text_in(granted, "access_token"), granted.get("expires_in")
        if not token or not token.isascii() or not isinstance(lasts_s, int) or lasts_s < 0:
            raise SourceError(f"reddit: no token came back. Check {ID_KEY} and {SECRET_KEY}.")
        self._token = token
        self._token_until_utc = asked_at + timedelta(seconds=min(lasts_s, 86_400)) - RENEW_BEFORE
        return token


def parse(answer: Any, asset: str, collected_at_utc: datetime) -> list[RawItem]:
    """Posts of a listing.

    Raises:
        SourceError: the answer is no listing.
    """
    listing = answer.get("data") if isinstance(answer, dict) else None
    rows = list_in("reddit", listing, "children")
    posts = [d if isinstance(d := row.get("data"), dict) else {} for row in rows]
    return [_item(post, asset, collected_at_utc) for post in posts]


def _item(post: dict[str, Any], asset: str, collected_at_utc: datetime) -> RawItem:
    at = epoch_utc(post.get("created_utc"))
    text, path = text_in(post, "selftext"), text_in(post, "permalink")
    forum = text_in(post, "subreddit")
    return RawItem(
        title=text_in(post, "title"),
        # The post's own address: `url` is where it links to, and that article was not read.
        url=f"https://www.reddit.com{path}" if path else "",
        text="" if text.strip() in GONE else text,
        outlet=f"r/{forum}" if forum else "Reddit",
        origin="reddit",
        trust="social",
        ts_quality="exact" if at else "none",
        published_utc=at,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=True,
        kind="social",
    )


def source(clock: Clock = utc_now) -> RedditSource | None:
    """The source, where `REDDIT_CLIENT_ID` and `REDDIT_CLIENT_SECRET` are set."""
    client_id, client_secret = secret(ID_KEY), secret(SECRET_KEY)
    if client_id is None or client_secret is None:
        return None
    return RedditSource(client_id, client_secret, clock=clock)
