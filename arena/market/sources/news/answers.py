"""What a site answered: whether it lets us in, how long it wants us to wait, and the body up to a size."""

from __future__ import annotations

import re
import zlib
from email.utils import parsedate_to_datetime
from typing import Any

from arena.core.clock import utc_now
from arena.core.errors import SourceError
from arena.core.settings import secret
from arena.market.sources.news.addresses import place
from arena.market.sources.news.base import LimitedError

MAX_WAIT_S = 86_400.0
"""More than a day of Retry-After is taken as a day."""
_REFUSED = frozenset({401, 403, 451})


class RefusedError(SourceError):
    """The site knows us not, or does not let us in: `code` is 401, 403 or 451."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def check(name: str, response: Any, target: Any) -> None:
    """Raises LimitedError, RefusedError or SourceError for anything but 200."""
    code = response.status_code
    if code in (429, 503):
        wait = _retry_after_s(response.headers.get("retry-after"))
        if wait is None:
            wait = _until_reset_s(response.headers.get("x-rate-limit-reset"))
        raise LimitedError(f"{name}: {place(target)} asks to wait ({code}).", wait)
    if code in _REFUSED:
        contact = "" if secret("ARENA_CONTACT") else (
            " Some sites, the SEC among them, want a contact: set ARENA_CONTACT to an e-mail address."
        )  # fmt: skip
        raise RefusedError(f"{name}: {place(target)} refused ({code}).{contact}", code)
    if code != 200:
        raise SourceError(f"{name}: {place(target)} answered {code}.")


def _retry_after_s(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date; None where it holds neither."""
    if not value:
        return None
    try:
        wait = float(int(value))
    except ValueError:
        try:
            wait = (parsedate_to_datetime(value) - utc_now()).total_seconds()
        except (ValueError, TypeError):  # no date; or a date without a zone
            return None
    return min(max(wait, 0.0), MAX_WAIT_S)


def _until_reset_s(value: str | None) -> float | None:
    """Seconds until the moment, in seconds since 1970, at which X counts anew."""
    if not value or not re.fullmatch(r"[0-9]{1,12}", value):
        return None
    return min(max(int(value) - utc_now().timestamp(), 0.0), MAX_WAIT_S)


async def read(name: str, response: Any, target: Any, max_bytes: int) -> bytes:
    """The body, unpacked here so that a small answer cannot become a huge one before it is seen."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise SourceError(f"{name}: {place(target)} is packed as {packing[:20]!r}, not gzip.")
    unpack = zlib.decompressobj(wbits=31) if "gzip" in packing else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += unpack.decompress(chunk, max_bytes + 1 - len(body)) if unpack else chunk
        except zlib.error:
            raise SourceError(f"{name}: {place(target)} is broken gzip.") from None
        if len(body) > max_bytes:
            raise SourceError(f"{name}: {place(target)} is larger than {max_bytes:,} bytes.")
    if unpack and not unpack.eof:
        raise SourceError(f"{name}: {place(target)} is cut off.")
    return bytes(body)
