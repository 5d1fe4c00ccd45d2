"""One exchange with a remote agent: post, perhaps again, and say what became of it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import httpx

from arena.agents.remote.address import AddressRefused, GuardedTransport
from arena.agents.remote.protocol import Outcome
from arena.core.text import clean_foreign

CONNECT_S = 10.0
WAITS_S = (0.5, 2.0)
"""Pauses before the second and the third attempt, which are all there are."""

TOTAL_S = 600.0
REASON_BYTES, REASON_CHARS = 2_000, 300
RETRIED_STATUS = frozenset({502, 503, 504})
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    # A compressed reply could unpack to any size; nothing else bounds it.
    "Accept-Encoding": "identity",
    "User-Agent": "agent-market-arena",
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """`body` is what came with HTTP 200; otherwise `problem` says what went wrong.

    `again` marks what may be tried once more: then the agent has not begun to work.
    """

    outcome: Outcome
    body: bytes = b""
    problem: str = ""
    attempts: int = 1
    again: bool = False


async def post(
    url: str, body: bytes, *, timeout_s: float, total_s: float, allow_private: bool, max_bytes: int,
    waits_s: Sequence[float] = WAITS_S, transport: httpx.AsyncBaseTransport | None = None,
) -> Exchange:  # fmt: skip
    """Post `body` to `url`.

    A second and third attempt follow only where the agent was not reached (no connection, or 502,
    503, 504), within `total_s`; never after a timeout, which would make it work and charge twice.
    `timeout_s` is for one attempt; replies beyond `max_bytes` are not read to the end.

    Raises:
        ConfigError: the network is switched off and the host is not this machine.
    """
    ends_at = time.monotonic() + min(total_s, TOTAL_S)
    inner = transport or httpx.AsyncHTTPTransport(verify=_tls(), trust_env=False)
    guard = GuardedTransport(inner, allow_private=allow_private)
    # A proxy of the environment would connect in our place, past the guard.
    async with httpx.AsyncClient(
        transport=guard, trust_env=False, timeout=httpx.Timeout(None, connect=CONNECT_S)
    ) as client:
        attempt = 1
        while True:
            got = await _attempt(client, url, body, min(timeout_s, ends_at - time.monotonic()), max_bytes)
            wait_s = waits_s[attempt - 1] if attempt <= len(waits_s) else None
            if not got.again or wait_s is None or time.monotonic() + wait_s >= ends_at:
                return replace(got, attempts=attempt)
            await asyncio.sleep(wait_s)
            attempt += 1


async def _attempt(
    client: httpx.AsyncClient, url: str, body: bytes, timeout_s: float, max_bytes: int
) -> Exchange:
    try:
        async with asyncio.timeout(timeout_s):
            return await _follow(client, httpx.URL(url), body, max_bytes)
    except TimeoutError:
        return Exchange(Outcome.TIMEOUT, problem=f"no answer within {round(timeout_s, 2):g} s")
    except AddressRefused as error:
        return Exchange(Outcome.UNREACHABLE, problem=str(error))
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        return Exchange(Outcome.UNREACHABLE, problem=_words(error), again=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Exchange(Outcome.UNREACHABLE, problem=_words(error))


async def _follow(
    client: httpx.AsyncClient, url: httpx.URL, body: bytes, max_bytes: int
) -> Exchange:
    """One post; a 307 or 308 within the same origin is followed once (a slash is often missing)."""
    for may_move in (True, False):
        async with client.stream("POST", url, content=body, headers=HEADERS) as response:
            moved_to = response.headers.get("location")
            if may_move and response.status_code in (307, 308) and moved_to:
                there = url.join(moved_to)
                if _origin(there) == _origin(url):
                    url = there
                    continue
            if response.status_code != 200:
                return await _refusal(response)
            return await _read(response, max_bytes)
    raise AssertionError("the second post returns")


async def _read(response: httpx.Response, max_bytes: int) -> Exchange:
    if (coding := response.headers.get("content-encoding", "identity")) != "identity":
        return Exchange(Outcome.INVALID_RESPONSE, problem=f"the reply is encoded as {coding[:40]}")
    held = bytearray()
    async for chunk in response.aiter_raw():
        held += chunk
        if len(held) > max_bytes:
            return Exchange(
                Outcome.INVALID_RESPONSE, bytes(held[:max_bytes]),
                f"the reply is longer than {max_bytes} bytes",
            )  # fmt: skip
    return Exchange(Outcome.OK, bytes(held))


async def _refusal(response: httpx.Response) -> Exchange:
    """HTTP status, with the first words of the reason where one came along."""
    held = bytearray()
    async for chunk in response.aiter_raw():
        held += chunk
        if len(held) > REASON_BYTES:
            break
    said = clean_foreign(bytes(held[:REASON_BYTES]).decode("utf-8", "replace"), REASON_CHARS)
    status = response.status_code
    return Exchange(
        Outcome.HTTP_ERROR, problem=f"HTTP {status}: {said}" if said else f"HTTP {status}",
        again=status in RETRIED_STATUS,
    )  # fmt: skip


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()
