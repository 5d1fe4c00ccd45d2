"""DeepFundAgent: analysts, risk control, a careful manager."""

from arena.agents.deepfund import agent as agent
