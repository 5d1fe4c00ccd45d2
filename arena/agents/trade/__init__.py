"""TradeAgent: a trading firm."""

from arena.agents.trade import agent as agent
