"""The switch that every model outside this machine must pass before a request leaves."""

from __future__ import annotations

from arena.core.errors import ConfigError
from arena.core.settings import network_allowed


def ensure_network(model_id: str) -> None:
    """Let `model_id` use the network, or refuse.

    Raises:
        ConfigError: the operator switched the network off.
    """
    if not network_allowed():
        raise ConfigError(
            f"Model `{model_id}` needs the network, and ARENA_NETWORK is off. "
            "Set ARENA_NETWORK=on, or choose a model that runs here."
        )
