"""Readers that fetch less: the same values as those that fetch all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pandas as pd

from arena.store import reader
from arena.store.search import search
from arena.store.signals import signals
from arena.store.store import open_store
from tests.ui.made_store import MODELS_RUN, build


def test_narrow_reads_are_parts_of_the_whole(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "made.duckdb"), read=True) as store:
        whole = reader.summaries(store, MODELS_RUN)
        long = ["metrics_json", "sparkline_json"]
        pd.testing.assert_frame_equal(reader.accounts(store, MODELS_RUN), whole.drop(columns=long))
        names = whole["account"].tolist()[3:6]
        some = whole[whole["account"].isin(names)].reset_index(drop=True)
        pd.testing.assert_frame_equal(reader.summaries(store, MODELS_RUN, names), some)
        assert reader.summaries(store, MODELS_RUN, []).empty

        curves = reader.equity(store, names)
        narrow = reader.equity(store, names[::-1], ("balance",))
        pd.testing.assert_frame_equal(narrow, curves[["account", "session", "balance"]])
        assert curves["account"].tolist() == [n for n in sorted(names) for _ in range(5)]
        assert curves.groupby("account")["session"].is_monotonic_increasing.all()


def test_actions_of_some_tracks_are_those_of_all(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "made.duckdb"), read=True) as store:
        every = reader.decisions(store, MODELS_RUN)
        keep = (every["agent"] == "trade") & (every["asset"] == "BBB")
        some = reader.track_actions(store, MODELS_RUN, ("trade",), ("BBB",))
        # Three models of the agent, each with five decisions.
        assert len(some) == 15
        pd.testing.assert_frame_equal(
            some, every.loc[keep, list(some.columns)].reset_index(drop=True)
        )


def test_what_reads_much_takes_turns_and_what_reads_little_does_not(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "made.duckdb"), read=True) as store, ThreadPoolExecutor() as pool:
        names = reader.accounts(store, MODELS_RUN)["account"].tolist()
        with store.bulk():
            much = [
                pool.submit(ask)
                for ask in (
                    lambda: reader.summaries(store, MODELS_RUN),
                    lambda: reader.equity(store, [*names, *map(str, range(reader.MANY))]),
                    lambda: reader.decisions(store, MODELS_RUN, columns=["action"]),
                    lambda: signals(store, MODELS_RUN),
                    lambda: search(store, MODELS_RUN, "a"),
                )
            ]
            little = pool.submit(lambda: reader.equity(store, names[:10]))
            assert not little.result(20).empty
            assert wait(much, 0.1).done == set()
        assert wait(much, 20).not_done == set()
        assert all(len(f.result()) for f in much[:3])
