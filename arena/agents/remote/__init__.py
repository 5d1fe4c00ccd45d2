"""Agents elsewhere: the paper's HTTP protocol (`ama/1`) and ours beside it (`arena/2`), both ways.

`entry` is a line of `data/agents.toml`, `agent` the agent behind it, `client` the one that posts and
`address` the one that says where to. `protocol` has the forms of the paper's messages, `wire` those of
`arena/2`. `answering` is the other side: from a request to a decision of an agent of ours.
"""
