"""Ids: run, track, account, decision. One grammar, built and taken apart here only.

    run        replay-1a2b3c4d5e-e1            <kind>-<10 hex>-e<epoch>
    track      run:agent@model:ASSET
    account    run:agent@model:ASSET:strategy
    decision   run:agent@model:ASSET:2025-08-01

`: @ / %` inside a part are percent-encoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from arena.core.errors import ConfigError


def encode(part: str) -> str:
    """Percent-encode what would break the grammar (`:`, `@`, `/`, `%`) and anything not plain text."""
    return quote(part, safe="+ ()")


def decode(part: str) -> str:
    return unquote(part)


@dataclass(frozen=True, slots=True)
class TrackId:
    """One stream of decisions: agent x model x asset within a run."""

    run: str
    agent: str
    model: str
    asset: str

    def __str__(self) -> str:
        return f"{self.run}:{encode(self.agent)}@{encode(self.model)}:{encode(self.asset)}"

    @property
    def entry(self) -> str:
        """`agent@model`, what the leaderboard ranks; for people, so not encoded."""
        return f"{self.agent}@{self.model}"

    def account(self, strategy: str) -> str:
        return f"{self}:{strategy}"

    def decision(self, slot_key: str) -> str:
        return f"{self}:{slot_key}"

    @classmethod
    def parse(cls, text: str) -> TrackId:
        """The track at the head of a track, account or decision id.

        Raises:
            ConfigError: `text` does not follow the grammar.
        """
        parts = text.split(":")
        if len(parts) < 3 or "@" not in parts[1]:
            raise ConfigError(
                f"`{text}` is no track, account or decision id. "
                "The form is `run:agent@model:ASSET[:strategy or date]`."
            )
        agent, model = parts[1].split("@", 1)
        return cls(parts[0], decode(agent), decode(model), decode(parts[2]))
