"""Drives the other rooms: one round, replays, imports, rescoring, and the embedded service."""
