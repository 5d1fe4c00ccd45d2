"""What sources with a key share: a request that answers in JSON, and errors that never hold a key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from arena.core.errors import SourceError
from arena.core.text import clean_foreign
from arena.core.types import Asset
from arena.market.sources.news.addresses import place
from arena.market.sources.news.answers import RefusedError
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.http import fetch
from arena.market.symbols import newest_symbol

HIDDEN = "[secret]"
SAID_CHARS = 160


def ask_json(
    name: str,
    url: str,
    secrets: Mapping[str, str],
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> Any:
    """The JSON at `url`. `secrets` are what the request proves itself with, by environment variable.

    Raises:
        RefusedError: 401, 403 or 451; names the variables to look at.
        LimitedError, SourceError: as `fetch`; a secret cannot be sent; or the answer is no JSON.
    """
    for variable, value in secrets.items():
        if not value.isascii() or not value.isprintable():
            raise SourceError(f"{name}: {variable} holds characters that no key has. Copy it again.")
    try:
        # No redirect: what proves us is for this address alone.
        body = fetch(
            name, url, params=params, headers=headers, form=form, max_redirects=0
        ).body
    except RefusedError as error:
        raise RefusedError(
            f"{name}: {place(url)} refused ({error.code}). Check {' and '.join(secrets)}, and what "
            "its plan allows.",
            error.code,
        ) from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise SourceError(f"{name}: the answer of {place(url)} is no JSON.") from None


def list_in(name: str, document: Any, key: str) -> list[dict[str, Any]]:
    """The list under `key`. What is no object in it becomes an empty one, so that it is counted as an
    item without a title and not passed over.

    Raises:
        SourceError: there is no list.
    """
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise SourceError(f"{name}: the answer has no list `{key}`; its form may have changed.")
    return objects(found)


def objects(values: list[Any]) -> list[dict[str, Any]]:
    return [v if isinstance(v, dict) else {} for v in values]


def text_in(row: Mapping[str, Any], *keys: str) -> str:
    """The first text under one of `keys` that is not empty."""
    return next((v for k in keys if isinstance(v := row.get(k), str) and v.strip()), "")


def complaint(name: str, said: str, secrets: Mapping[str, str], limited: bool = False) -> SourceError:
    """What a source said of itself in its answer, as an error without keys."""
    for value in secrets.values():
        said = said.replace(value, HIDDEN)
    message = f"{name}: it says: {clean_foreign(said, SAID_CHARS) or 'an error without words'}"
    return LimitedError(message) if limited else SourceError(message)


def epoch_utc(value: Any) -> datetime | None:
    """Seconds since 1970 as a moment; None for 0, for what is no number, and beyond the calendar."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    try:
        return datetime.fromtimestamp(value, UTC) if value > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def iso_utc(text: str) -> tuple[datetime | None, bool]:
    """A moment in ISO 8601, and whether it came with a zone; without one it is read as UTC."""
    try:
        at = datetime.fromisoformat(text.strip())
        zoned = at.tzinfo is not None
        return (at.astimezone(UTC) if zoned else at.replace(tzinfo=UTC)), zoned
    except (ValueError, OverflowError):
        return None, False


def ticker(asset: Asset) -> str:
    """What vendors call it: BTC, TSLA."""
    if asset.asset_class == "crypto":
        return (newest_symbol(asset, "ccxt") or asset.id).split("/")[0]
    return newest_symbol(asset, "yahoo") or asset.id
