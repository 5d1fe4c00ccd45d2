"""Where a request may go: the addresses of a host, and which of them anyone on the internet may have."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from typing import Any
from urllib.request import getproxies

from arena.core.errors import SourceError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SITE = tuple(map(ipaddress.IPv6Network, ("::/64", "64:ff9b:1::/48", "fec0::/10")))
"""IPv4 in old disguises, translation within a site, and old site-local: nobody's public address."""


def place(url: object) -> str:
    """Scheme, host and path of an address, fit for an error: no user, no parameters."""
    plain = re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", str(url), maxsplit=1)[0])
    return "".join(c for c in plain if c.isprintable())[:200]


async def addresses_of(name: str, target: Any) -> list[Address]:
    """Every address of the host. Behind a proxy only a literal one: names are the proxy's to resolve."""
    if target.scheme not in ("http", "https") or not target.host:
        raise SourceError(f"{name}: {place(target)} is not an http(s) address.")
    try:
        return [ipaddress.ip_address(target.host)]
    except ValueError:
        if proxied():
            return []
    loop, port = asyncio.get_running_loop(), target.port or 0
    try:
        rows = await loop.getaddrinfo(target.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SourceError(f"{name}: the host of {place(target)} cannot be found.") from None
    return list(dict.fromkeys(ipaddress.ip_address(str(r[4][0]).split("%")[0]) for r in rows))


def is_public(address: Address) -> bool:
    """Whether anyone on the internet may have this address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        else:
            address = address.ipv4_mapped or address.sixtofour or address
    if isinstance(address, ipaddress.IPv6Address) and any(address in net for net in _SITE):
        return False
    return address.is_global and not address.is_multicast


def proxied() -> bool:
    """Whether the environment names a proxy: then that connects, not we."""
    return any(scheme in getproxies() for scheme in ("http", "https", "all"))
