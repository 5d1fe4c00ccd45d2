"""One GET for every source of news and filings: bounded in time and size, and never inside this network.

A feed is foreign: it may drip, unpack to gigabytes, or redirect to an address that only this machine
reaches. Errors name scheme, host and path; parameters, which may hold a key, stay out of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from threading import Lock, Thread
from time import monotonic
from typing import Any

from arena import __version__
from arena.core.errors import SourceError
from arena.core.settings import secret
from arena.market.sources.base import ensure_network
from arena.market.sources.news.addresses import Address, addresses_of, is_public, place, proxied
from arena.market.sources.news.answers import check, read

MAX_BYTES = 5_000_000
TIMEOUT_S = 20.0
GAP_S = 0.125
"""Between two requests to one public host; SEC allows ten a second."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NEXT_AT: dict[str, float] = {}
_NEXT_AT_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: unpacked `body`, media type, last address without its query, declared charset."""

    body: bytes
    content_type: str
    url: str
    encoding: str | None


@dataclass(frozen=True, slots=True)
class _Ask:
    name: str
    url: str
    params: Mapping[str, str] | None
    headers: Mapping[str, str]
    max_bytes: int
    timeout_s: float
    max_redirects: int
    form: Mapping[str, str] | None


def fetch(
    name: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_BYTES,
    timeout_s: float = TIMEOUT_S,
    max_redirects: int = 5,
    form: Mapping[str, str] | None = None,
) -> Fetched:
    """GET `url` for the source `name`, or POST it a `form`.

    `timeout_s` covers everything from looking up the host to the last byte. May be called from any
    thread, with or without a running event loop. `headers` are not sent to another host than the
    first. `ARENA_CONTACT`, where set, is told to the sites asked.

    Raises:
        LimitedError: 429 or 503, with the wait that the answer asks for, at most a day.
        RefusedError: 401, 403 or 451.
        SourceError: network off, unreachable, refused, too slow, too large, or another bad answer.
    """
    ensure_network(name)
    ask = _Ask(name, url, params, headers or {}, max_bytes, timeout_s, max_redirects, form)
    answer: Future[Fetched] = Future()

    def work() -> None:
        try:
            answer.set_result(asyncio.run(_in_time(ask)))
        except Exception as error:  # noqa: BLE001 - handed over to the caller's thread
            answer.set_exception(error)

    # A daemon: a name server that never answers cannot be cancelled, and must not hold the caller.
    Thread(target=work, name=f"arena-fetch-{name}", daemon=True).start()
    try:
        return answer.result(timeout_s + 0.5)
    except TimeoutError:
        raise SourceError(f"{name}: {place(url)} took more than {timeout_s:g} s.") from None


async def _in_time(ask: _Ask) -> Fetched:
    import httpx

    # Below WARNING they write whole addresses, keys among their parameters, into the log.
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    limits = httpx.Timeout(ask.timeout_s, connect=ask.timeout_s / 4)
    try:
        async with (
            asyncio.timeout(ask.timeout_s),
            httpx.AsyncClient(verify=_tls(), timeout=limits, trust_env=proxied()) as client,
        ):
            return await _follow(client, ask)
    except (httpx.InvalidURL, UnicodeError):  # the latter for a header that is not ASCII
        raise SourceError(f"{ask.name}: {place(ask.url)} cannot be asked as it stands.") from None
    except httpx.HTTPError as error:
        # Its text may quote the whole address; the class says enough.
        raise SourceError(f"{ask.name}: {place(ask.url)}: {type(error).__name__}.") from None


async def _follow(client: Any, ask: _Ask) -> Fetched:
    import httpx

    target = httpx.URL(ask.url)
    if ask.params:
        target = target.copy_merge_params(dict(ask.params))
    first_host, inside = target.host, False
    for hop in range(ask.max_redirects + 1):
        addresses = await addresses_of(ask.name, target)
        private = [a for a in addresses if not is_public(a)]
        if hop == 0:
            # Whoever enters a feed of this network means it; nobody from outside may lead there, be it by
            # a redirect, or by a name that has a private address beside its public one.
            inside = addresses == private
        if private and not inside:
            raise SourceError(
                f"{ask.name}: {place(ask.url)} leads to the private address {private[0]}."
            )
        inside = inside and bool(private)
        if not inside:
            await asyncio.sleep(_turn_in_s(target.host))
        headers = {**_own_headers(), **(ask.headers if target.host == first_host else {})}
        response = await _send(client, target, headers, addresses, ask.form)
        try:
            location = response.headers.get("location")
            if response.status_code in _REDIRECTS and location:
                target = target.join(location)
                continue
            check(ask.name, response, target)
            body = await read(ask.name, response, target, ask.max_bytes)
        finally:
            await response.aclose()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(body, kind, place(target), response.charset_encoding)
    raise SourceError(
        f"{ask.name}: {place(ask.url)} redirects more than {ask.max_redirects} times."
    )


async def _send(
    client: Any, target: Any, headers: dict[str, str], addresses: list[Address],
    form: Mapping[str, str] | None,
) -> Any:  # fmt: skip
    """Connect to an address that was judged, so that the name cannot lead elsewhere meanwhile."""
    import httpx

    method = "GET" if form is None else "POST"
    if proxied():
        request = client.build_request(method, target, headers=headers, data=form)
        return await client.send(request, stream=True)
    failed: httpx.HTTPError | None = None
    for address in addresses:
        extensions = {"sni_hostname": target.host}
        request = client.build_request(
            method, target, headers=headers, data=form, extensions=extensions
        )
        request.url = target.copy_with(host=str(address))
        try:
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            failed = error
    raise failed or httpx.ConnectError("no address")


def _turn_in_s(host: str) -> float:
    """Seconds until the caller may ask `host`; calls are spread `GAP_S` apart over all threads."""
    with _NEXT_AT_LOCK:
        now = monotonic()
        at = max(now, _NEXT_AT.get(host, now))
        _NEXT_AT[host] = at + GAP_S
    return at - now


def _own_headers() -> dict[str, str]:
    contact = "".join(c for c in secret("ARENA_CONTACT") or "" if c.isascii() and c.isprintable())
    agent = f"agent-market-arena/{__version__}" + (f" {contact}" if contact else "")
    return {"User-Agent": agent, "Accept-Encoding": "gzip", "Accept": "*/*"}


@cache
def _tls() -> Any:
    import httpx

    return httpx.create_ssl_context()
