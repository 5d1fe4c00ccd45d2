"""To which addresses a request may go, decided on the address that is really connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import httpx

from arena.core.errors import ConfigError
from arena.core.settings import network_allowed

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(httpx.ConnectError):
    """The name leads to an address inside this network, and the entry does not admit that."""


def literal(host: str) -> Address | None:
    """`host` as an address, or None where it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SITE = tuple(map(ipaddress.IPv6Network, ("::/64", "64:ff9b:1::/48", "fec0::/10")))
"""IPv4 in old disguises, translation within a site, and old site-local: nobody's public address."""


def is_public(address: Address) -> bool:
    """Whether anyone on the internet may have this address; loopback, link-local and site are not."""
    plain = _plain(address)
    if isinstance(plain, ipaddress.IPv6Address) and any(plain in net for net in _SITE):
        return False
    return plain.is_global and not plain.is_multicast


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one, where that is what it means."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


class GuardedTransport(httpx.AsyncBaseTransport):
    """Resolves the host once, judges every address found, and connects to one of just those.

    So a name cannot lead to another address between check and connection. TLS still checks the name.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, *, allow_private: bool) -> None:
        self.inner, self.allow_private = inner, allow_private

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`, its Host header unchanged, to the first address that accepts.

        Raises:
            AddressRefused: one of the addresses is private and that is not admitted.
            ConfigError: the network is switched off and the host is not this machine.
        """
        url = request.url
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        refused: httpx.ConnectError | httpx.ConnectTimeout | None = None
        for address in await self._addresses(url.host, url.port or 0):
            request.url = url.copy_with(host=str(address))
            try:
                return await self.inner.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                refused = error
        raise refused or httpx.ConnectError(f"{url.host} has no address")

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def _addresses(self, host: str, port: int) -> list[Address]:
        known = literal(host)
        here = host == "localhost" or (known is not None and _plain(known).is_loopback)
        if not network_allowed() and not here:
            raise ConfigError(
                f"`{host}` is outside this machine, and ARENA_NETWORK is off. Set ARENA_NETWORK=on, "
                "or leave this agent out."
            )
        found = [known] if known else await _resolve(host, port)
        for address in found:
            if not self.allow_private and not is_public(address):
                raise AddressRefused(
                    f"{host} is at the private address {address}; allow_private = true admits it"
                )
        return found


async def _resolve(host: str, port: int) -> list[Address]:
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # the latter where a label is empty or too long
        raise httpx.ConnectError(f"{host} cannot be resolved: {error}") from error
    # A scope after `%` belongs to link-local addresses, which are judged without it.
    return list(dict.fromkeys(ipaddress.ip_address(str(row[4][0]).split("%")[0]) for row in rows))
