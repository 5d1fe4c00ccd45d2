"""What an agent is."""

from __future__ import annotations

from arena.agents.desk import Desk
from arena.agents.memory.base import Dump, Memory
from arena.core.types import Decision, Past


class Agent:
    """A way of deciding. Agents keep no state of their own: what they know comes over the desk.

    `id` goes into ids and JSON, `label` is for people. An agent with a memory also sets `learns`,
    gives a memory to each track, and is told what followed its decisions. Only `id`, `label` and
    `decide` are needed.
    """

    id: str
    label: str
    learns: bool = False
    own_models: tuple[str, ...] = ()
    """Names of models that it brings along (an agent elsewhere); it is then paired with these only."""

    async def decide(self, desk: Desk) -> Decision:
        """One decision for the desk's slot. A model that fails gives a Decision that says so."""
        raise NotImplementedError

    def memory(self, dump: Dump | None = None) -> Memory | None:  # noqa: ARG002
        """An empty memory for one track, or the one that was dumped.

        Raises:
            ConfigError: a dump of another kind or of a newer version.
        """
        return None

    async def learn(self, desk: Desk, outcome: Past) -> None:
        """What the asset did after the decision before this one; called before `decide`.

        `outcome.next_return_frac` is close to next close. Calls made here stand in the trace of the
        decision that follows.
        """

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        """One session of a warm-up with the answer at hand: `outcome` is what follows the desk's slot.

        The action is given (the sign of the move); the agent may explain it to itself. `learn` is
        called for the session before, as in `decide`.
        """
        raise NotImplementedError
