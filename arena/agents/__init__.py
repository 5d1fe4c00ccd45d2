"""Agents: async functions over a desk. One module each, registered by a decorator."""
