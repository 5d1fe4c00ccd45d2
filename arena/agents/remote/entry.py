"""One remote agent in `data/agents.toml`."""

from __future__ import annotations

from typing import Literal, Self

import httpx
from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.agents.remote.address import is_public, literal

Protocol = Literal["ama/1", "arena/2"]


class RemoteEntry(BaseModel):
    """Where a remote agent is and what it is sent.

    `protocol` is `ama/1` (the paper's: ten closes, news, no position) or `arena/2` (beside those the
    whole sealed context, the track's view and its memory). `timeout_s` is for one attempt. `models`
    are names of backbones that it offers: only then is the model's name sent. `learns` keeps a
    memory for it, which `arena/2` carries. `allow_private` admits addresses inside this network.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    label: str
    url: str
    protocol: Protocol = "ama/1"
    timeout_s: float = Field(default=180.0, gt=0, le=600)
    models: tuple[str, ...] = ()
    learns: bool = False
    allow_private: bool = False

    @model_validator(mode="after")
    def _usable(self) -> Self:
        # These messages are shown; the URL itself may hold a password or a key.
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL:
            raise ValueError("`url` is no URL: host, port or a character cannot be read") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("`url` is no http(s) URL with a host")
        if url.port is not None and not 0 < url.port < 65_536:
            raise ValueError(f"`url` has the port {url.port}; it must be 1 to 65535")
        if self.names_private and not self.allow_private:
            raise ValueError(f"{url.host} is a private address; set allow_private = true to admit it")
        if self.learns and self.protocol != "arena/2":
            raise ValueError('a memory travels only with protocol = "arena/2"')
        return self

    @property
    def names_private(self) -> bool:
        """Whether the URL itself, before any look-up, names a private address or this machine."""
        host = httpx.URL(self.url).host
        address = literal(host)
        return host == "localhost" or (address is not None and not is_public(address))

    @property
    def public_url(self) -> str:
        """The URL without user, password, query and fragment, which may hold secrets."""
        url = httpx.URL(self.url)
        host = f"[{url.host}]" if ":" in url.host else url.host
        port = f":{url.port}" if url.port else ""
        return f"{url.scheme}://{host}{port}{url.path}"
