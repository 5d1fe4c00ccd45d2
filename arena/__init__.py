"""Agent Market Arena: LLM trading agents compete on live markets under one protocol."""

__version__ = "0.1.0"
