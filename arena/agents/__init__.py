"""Agents: each is an async function over a Desk. One module an agent, registered by a decorator."""
