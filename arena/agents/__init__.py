"""Agents: each is an async function over a Desk. One module or folder an agent, registered by a decorator."""
