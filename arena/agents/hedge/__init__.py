"""HedgeFundAgent: specialists scored by code, judged by a model."""

from arena.agents.hedge import agent as agent
