"""Deterministic policies that stand in for a model: rule-based, labelled so, out of every ranking."""
