"""The made-up store is a real one: its rows obey the schema, agree with each other, and pages read it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from arena.analytics.entry_curve import account_curve, base_of, curves_of, entry_curve
from arena.analytics.leaderboard import board
from arena.core.hashing import sha256_text
from arena.runner.behind import behind
from arena.runner.boards import select_board
from arena.store import reader
from arena.store.search import search
from arena.store.store import Store, open_store
from bench import big_store
from bench.big_store import ABSENT, ASSETS, COMMON, RARE, STRATEGIES, Field, Size
from bench.dashboard_peers import agree, by_pandas, by_sql, ours

SIZE = Size(Field(2, 3, 4), Field(1, 2, 2), n_older=2, sessions=30)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = big_store.build(tmp_path_factory.mktemp("big") / "big.duckdb", SIZE)
    with open_store(path, read=True) as opened:
        yield opened


def newest(store: Store) -> str:
    return str(reader.runs(store)["run"].iloc[0])


def test_it_has_the_rows_that_were_asked_for(store: Store) -> None:
    # Newest: 2 agents x 3 models x 4 coins = 24 tracks, under 3 strategies 72 accounts, with Buy & Hold
    # 76; each of 2 older runs: 1 x 2 x 4 = 8 tracks, 24 accounts, 28. Together 76 + 2 x 28 = 132.
    every = reader.summaries(store)
    assert len(every) == 132
    assert len(reader.equity(store, every["account"].tolist())) == 132 * 30
    run = newest(store)
    assert len(reader.accounts(store, run)) == 76
    assert len(reader.decisions(store, run)) == 24 * 4
    assert reader.settled_runs(store) == set(reader.runs(store)["run"])


def test_at_full_size_it_is_what_the_targets_speak_of() -> None:
    full = big_store.FULL

    def tracks(f: Field) -> int:
        return f.agents * f.models * len(ASSETS)

    fields = [full.newest, *[full.older] * full.n_older]
    accounts = sum(tracks(f) * len(STRATEGIES) + len(ASSETS) for f in fields)
    assert accounts >= 16_000
    assert accounts * full.sessions >= 8_000_000
    assert sum(tracks(f) * f.decided for f in fields) >= 100_000
    assert tracks(full.newest) * len(STRATEGIES) >= 2_000


def test_summaries_are_those_of_the_curves(store: Store) -> None:
    data = select_board(store, newest(store), strategies=("baseline",))
    for row in board(data.summaries, data.equity, by="account", capital=data.capital):
        curve = data.equity[data.equity["account"] == row["account"]]["balance"].to_numpy()
        assert row["balance"] == curve[-1]
        assert row["metrics"]["CR"]["value"] == pytest.approx(curve[-1] / 100_000 - 1, abs=1e-12)


def test_a_decision_has_its_trace(store: Store) -> None:
    made = reader.decisions(store, newest(store))
    found = behind(store, str(made["decision"].iloc[-1]))
    assert found is not None
    assert [c["role"] for c in found["calls"]] == ["analyst", "trader"]
    for call in found["calls"]:
        assert call["prompt_sha256"] == sha256_text(call["prompt"])
    chars = sum(len(c["prompt"]) + len(c["answer"]) for c in found["calls"])
    assert 4_000 < chars < 6_000


def test_words_are_as_rare_as_they_are_said_to_be(store: Store) -> None:
    run = newest(store)
    # Two of 96 x 2 answers: one of each role.
    assert len(search(store, run, RARE).hits) == 2
    assert search(store, run, COMMON).more
    assert not search(store, run, ABSENT).hits


def test_other_means_come_to_the_same_board(store: Store) -> None:
    run = newest(store)
    mine = ours(store, run)
    assert len(mine) == 6
    agree(mine, by_sql(store, run))
    agree(mine, by_pandas(store, run))


def test_curves_of_a_frame_are_those_of_each_account(store: Store) -> None:
    data = select_board(store, newest(store), assets=("AAA",), strategies=("baseline",))
    shuffled = data.equity.sample(frac=1.0, random_state=3).sort_values("session", kind="stable")
    made = curves_of(data.summaries, shuffled, data.capital)
    spans = {id(c.sessions) for c in made.values()}
    assert len(made) == 7
    assert len(spans) == 1
    for s in data.summaries.itertuples():
        own = data.equity[data.equity["account"] == s.account]
        plain = account_curve(own, 100_000.0, base_of(s))
        assert made[s.account].sessions.equals(plain.sessions)
        assert np.array_equal(made[s.account].values, plain.values)
        assert np.array_equal(made[s.account].gross, plain.gross)


def test_the_mean_of_shared_days_is_the_mean_by_search(store: Store) -> None:
    data = select_board(store, newest(store), strategies=("baseline",))
    made = list(curves_of(data.summaries, data.equity, data.capital).values())[:5]
    # The same days as other objects: the way that accounts of different days take.
    apart = [type(c)(c.sessions.copy(), c.values, c.gross, c.base) for c in made]
    together, searched = entry_curve(made), entry_curve(apart)
    assert together.sessions is made[0].sessions
    assert searched.sessions.equals(together.sessions)
    assert np.array_equal(together.values, searched.values)
