"""InvestorAgent: one agent with layered memory."""

from arena.agents.investor import agent as agent
