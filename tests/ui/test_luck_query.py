"""What pages read about luck: cached with the board's own rows, and only as many as are shown."""

from __future__ import annotations

from pathlib import Path

from arena.runner.luck_board import row_key
from arena.store.store import open_store
from arena.ui import queries
from tests.ui.made_store import HOSTILE_RUN, MODELS_RUN, build

ALL: tuple[str, ...] = ()


def test_shown_rows_only_and_nothing_claimed_of_five_sessions(tmp_path: Path) -> None:
    path, run = build(tmp_path / "a.duckdb"), MODELS_RUN
    with open_store(path, read=True) as store:
        key = queries.version(store)
        rows = queries.rows(key, store, run, "entry", ALL, ALL, ALL, ("baseline",))
        luck = queries.luck(key, store, run, "entry", ALL, ALL, ALL, ("baseline",), limit=2)
        assert list(luck) == [row_key(r) for r in rows[:2]]
        everything = queries.luck(key, store, run, "entry", ALL, ALL, ALL, ("baseline",))
        assert list(everything) == [row_key(r) for r in rows]
    verdicts = {everything[row_key(r)]["verdict"] for r in rows if r["group"] != "benchmark"}
    assert verdicts == {"too short to tell"}
    labels = [everything[row_key(r)]["rank_label"] for r in rows]
    assert labels == [None if r["rank"] is None else str(r["rank"]) for r in rows]


def test_names_that_are_markup_stay_keys(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "a.duckdb"), read=True) as store:
        key = queries.version(store)
        rows = queries.rows(key, store, HOSTILE_RUN, "account", ALL, ALL, ALL, ALL)
        luck = queries.luck(key, store, HOSTILE_RUN, "account", ALL, ALL, ALL, ALL)
    assert set(luck) == {r["account"] for r in rows}
    scores = [v["decision_score"] for k, v in luck.items() if ":buy_hold@" not in k]
    # Closes rise by 1 a day and the words are BUY, HOLD, SELL, BUY, HOLD: two of three agreed.
    assert {(s["n_agreed"], s["n"]) for s in scores} == {(2, 3)}
