"""Measurements against the targets: `make bench`, or `python -m bench NAME ...` for some of them.

Each `bench_NAME.py` has `run() -> list[dict]` with the keys name, value, unit, target, ok.
"""
