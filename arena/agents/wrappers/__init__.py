"""Wrappers: what may stand around any agent, as `prefix+agent`."""

from arena.agents.wrappers import agents as agents
