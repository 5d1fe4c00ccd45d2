"""What an exception of litellm means: read from its chain of causes, since its own class may not tell.

litellm calls a page of HTML with status 200 a 500, and a refused connection too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from arena.core.clock import utc_now
from arena.llm.failure import AttemptFailed, AttemptTimedOut
from arena.llm.redact import redact
from arena.llm.roster import ModelInfo

QUOTED_CHARS = 200
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?: Error)?(?::| -) )+")
_SUFFIX = re.compile(r"\s*(?:Traceback \(most recent call last\)|Handle with `litellm).*", re.DOTALL)
DOUBTFUL = frozenset({408, 499, 504, 522, 524})
"""Somebody on the way gave up waiting; the model may have gone on, and be paid for it."""

GONE = "does not exist at its provider"
"""What is said of a model that was retired, renamed or never there."""


def explain(error: Exception, info: ModelInfo, limit_s: float) -> AttemptFailed:
    """`error` as a failure with words for people, and with what follows for retry and money."""
    chain = list(_chain(error))
    kinds = {type(link).__name__ for link in chain}
    status = _http_status(chain)
    who, said = f"`{info.id}`", _quoted(error)
    if status is None:
        if kinds & {"ConnectError", "ConnectTimeout", "ClientConnectorError", "gaierror"}:
            return AttemptFailed(
                f"{who} cannot be reached at {redact(info.api_base or 'its provider')}: {said}. "
                "Check that the server runs and the network works.",
                retry=True,
            )
        if any(isinstance(link, httpx.TimeoutException | TimeoutError) for link in chain):
            return AttemptTimedOut(
                f"{who} did not answer within {limit_s:.0f} s", maybe_charged=True
            )
        if kinds & {"ReadError", "RemoteProtocolError", "WriteError", "ClientPayloadError",
                    "ServerDisconnectedError", "ClientOSError", "ConnectionResetError"}:  # fmt: skip
            return AttemptFailed(
                f"{who} lost the connection before its answer was complete: {said}",
                retry=True, maybe_charged=True,
            )  # fmt: skip
        status = _refused_before_sending(error)
    return _by_status(status, error, info, who, said)


def _by_status(
    status: int | None, error: Exception, info: ModelInfo, who: str, said: str
) -> AttemptFailed:
    if "ContextWindowExceeded" in type(error).__name__:
        room = f" ({info.max_prompt_tokens} tokens)" if info.max_prompt_tokens else ""
        return AttemptFailed(f"The prompt is too long for {who}{room}: {said}. Choose another model.")
    match status:
        case 401 | 403:
            where = info.key_env or "its key variable"
            return AttemptFailed(
                f"{who} refused the key ({status}): {said}. Check {where} and what it may use; "
                "the model is not asked again in this run.",
                fatal=True,
            )
        case 404:
            return AttemptFailed(
                f"{who} {GONE} (404): {said}. It may be retired or "
                "misspelt; choose another model. It is not asked again in this run.",
                fatal=True,
            )
        case None:
            return AttemptFailed(
                f"{who} sent something that is no answer: {said}. If it goes through a proxy or "
                "a server of your own, check its address.",
                maybe_charged=True,
            )
        case _:
            return AttemptFailed(
                f"{who} answered {status}: {said}",
                retry=status in (408, 429) or status >= 500,
                maybe_charged=status in DOUBTFUL,
                retry_after_s=_retry_after_s(error),
            )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _http_status(chain: list[BaseException]) -> int | None:
    """Status of the HTTP error that came back, if one did."""
    for link in chain:
        if isinstance(link, httpx.HTTPStatusError):
            return link.response.status_code
    return None


def _refused_before_sending(error: Exception) -> int | None:
    """litellm's own 4xx: an unknown provider, a missing key, a parameter that it knows to be refused."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 400 <= status < 500 else None


def _quoted(error: Exception) -> str:
    text = redact(str(error).encode("utf-8", "replace").decode())
    plain = _SUFFIX.sub("", _PREFIX.sub("", text))
    said = " ".join(plain.split()).rstrip(".") or type(error).__name__
    return said if len(said) <= QUOTED_CHARS else f"{said[:QUOTED_CHARS].rstrip()} ..."


def _retry_after_s(error: Exception) -> float | None:
    """Seconds that the provider asks to wait: `retry-after-ms`, or `Retry-After` as seconds or a date."""
    headers: Any = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return ms / 1e3
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        until = parsedate_to_datetime(str(value))
    except (ValueError, OverflowError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - _now()).total_seconds())


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _now() -> datetime:
    return utc_now()
