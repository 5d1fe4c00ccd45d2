"""Who published a text, under one name however a source writes it, and how far that name is trusted."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from arena.core.errors import DataError
from arena.core.settings import DATA
from arena.core.text import clean_foreign
from arena.market.news.items import Trust
from arena.market.news.urls import canonical_url

MAX_OUTLET_CHARS = 60
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:www|m|feeds?|rss|news|amp)\.(?=.+\..)")
_EDITION = re.compile(
    r"\s(?:UK|US|USA|India|Canada|Australia|Singapore|Nigeria|South Africa|Philippines|Malaysia)$"
)


@dataclass(frozen=True, slots=True)
class Outlet:
    """A publisher. `hosts` are those of `known_as` that are addresses."""

    name: str
    trust: Trust
    hosts: frozenset[str]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    trust: Trust
    known_as: tuple[str, ...] = ()


@cache
def load_outlets(path: Path | None = None) -> dict[str, Outlet]:
    """Outlets of `data/outlets.toml` (or `path`) by each name and host they go by, in small letters.

    Raises:
        DataError: the file is missing, an entry is malformed, or two outlets go by one name.
    """
    path = path or DATA / "outlets.toml"
    try:
        with path.open("rb") as file:
            entries = {name: _Entry(**value) for name, value in tomllib.load(file).items()}
    except (OSError, tomllib.TOMLDecodeError, ValueError, TypeError) as error:
        raise DataError(f"Cannot read outlets from `{path}`: {error}") from error
    found: dict[str, Outlet] = {}
    for name, entry in entries.items():
        hosts = frozenset(k for k in entry.known_as if _HOST.fullmatch(k))
        outlet = Outlet(name, entry.trust, hosts)
        for key in {name.casefold(), *(k.casefold() for k in entry.known_as)}:
            if key in found:
                raise DataError(f"`{path}`: `{key}` is both {found[key].name} and {name}.")
            found[key] = outlet
    return found


def outlet_of(written: str, url: str, origin: str, trust: Trust) -> tuple[str, Trust]:
    """Name and trust of the publisher: as written, else by the host of `url`, else the `origin`.

    A known outlet has the trust of the table. A name is only a claim, so it lifts neither social nor
    synthetic texts, and makes nothing official that does not lie on the authority's own host. An
    unknown one keeps the trust that its source gave.
    """
    name = clean_foreign(written[: 4 * MAX_OUTLET_CHARS], MAX_OUTLET_CHARS)
    outlet = _lookup(name) if name else load_outlets().get(_known_host(url))
    if outlet is None:
        shown = name or _known_host(url) or clean_foreign(origin, MAX_OUTLET_CHARS)
        return (_PREFIX.sub("", shown.lower()) if _HOST.fullmatch(shown) else shown), trust
    if trust in ("social", "synthetic") or (
        outlet.trust == "official" and _known_host(url) not in outlet.hosts
    ):
        return outlet.name, trust
    return outlet.name, outlet.trust


def _lookup(name: str) -> Outlet | None:
    """By name, without the country of an edition, or by what is left of a host."""
    known = load_outlets()
    key = name.casefold()
    return (
        known.get(key)
        or known.get(_PREFIX.sub("", key))
        or known.get(_EDITION.sub("", name).casefold())
    )


def _known_host(url: str) -> str:
    """The host of `url`, cut down to one that the table knows where it does (`uk.reuters.com`)."""
    host = canonical_url(url).partition("/")[0].partition("?")[0].partition(":")[0]
    known, labels = load_outlets(), host.split(".")
    for at in range(len(labels) - 1):
        if (part := ".".join(labels[at:])) in known:
            return part
    return host
