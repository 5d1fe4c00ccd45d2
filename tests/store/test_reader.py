"""Questions to a store, with answers known beforehand."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta

import pandas as pd
import pytest

from arena.core.errors import UnknownNameError
from arena.core.rows import EquityRow, SummaryRow, WriteUnit
from arena.store import reader


def test_data_version_moves_with_every_change(store, make) -> None:
    seen = [reader.data_version(store)]
    for unit in (make.ground(), make.unit(0), make.unit(1)):
        store.write([unit])
        seen.append(reader.data_version(store))
    assert seen == [0, 1, 2, 3]


def test_runs_and_run(store, make) -> None:
    store.write([WriteUnit((make.run(), make.run("replay-ffffffffff-e1")))])
    assert reader.runs(store)["run"].tolist() == [make.run_id, "replay-ffffffffff-e1"]
    found = reader.run(store, make.run_id)
    assert (found["start"], found["created_at_utc"], found["parent"]) == (make.first, make.at, None)
    assert found["created_at_utc"].utcoffset() == timedelta(0)
    with pytest.raises(UnknownNameError, match="Did you mean `replay-0123456789-e1`"):
        reader.run(store, "replay-0123456789-e2")


def test_summaries_of_one_run_or_of_all(store, make) -> None:
    store.write([make.unit(0, "b"), make.unit(0, "a")])
    found = reader.summaries(store)
    assert list(found.columns) == [f.name for f in fields(SummaryRow)]
    assert found["model"].tolist() == ["a", "b"]
    assert len(reader.summaries(store, make.run_id)) == 2
    assert len(reader.summaries(store, "other")) == 0
    assert found["start"].dt.date.tolist() == [make.first] * 2


def test_equity_of_the_accounts_asked_for(store, make) -> None:
    store.write([make.unit(d, m, 100.0 + d) for d in (2, 0, 1) for m in "cab"])
    found = reader.equity(store, [make.account("b"), make.account("a"), "no such account"])
    assert list(found.columns) == ["account", *(f.name for f in fields(EquityRow))]
    assert found["account"].tolist() == [make.account("a")] * 3 + [make.account("b")] * 3
    assert found["balance"].tolist() == [100.0, 101.0, 102.0] * 2
    assert found["session"].iloc[0] == pd.Timestamp(make.first)
    assert len(reader.equity(store, [])) == 0


def test_decisions_and_fills_in_time_order(store, make) -> None:
    store.write([make.unit(d, m) for d in (1, 0) for m in "ba"])
    found = reader.decisions(store, make.run_id)
    assert list(zip(found["seq"], found["model"], strict=True)) == [
        (0, "a"), (0, "b"), (1, "a"), (1, "b"),
    ]  # fmt: skip
    assert reader.decisions(store, make.run_id, make.track("b"))["seq"].tolist() == [0, 1]
    assert str(found["as_of_utc"].dt.tz) == "UTC"
    assert reader.fills(store, make.account("a"))["slot_key"].tolist() == [
        "2025-01-01", "2025-01-02",
    ]  # fmt: skip


def test_one_decision_with_all_behind_it(store, make) -> None:
    store.write([make.unit(0)])
    found = reader.decision(store, make.decision(0).decision)
    assert (found["action"], found["tokens_out"], found["session"]) == ("BUY", None, make.first)
    assert [(c["role"], c["prompt"], c["answer"]) for c in found["calls"]] == [
        ("final", "prompt 0", "answer 0")
    ]
    assert found["context"]["n_bars"] == 260
    assert found["view"] == {"side": 0}
    assert reader.decision(store, "no such id") is None


def test_a_decision_without_market_or_texts(store, make) -> None:
    store.write([WriteUnit((make.decision(0), make.call(0)))])
    found = reader.decision(store, make.decision(0).decision)
    assert (found["context"], found["view"], found["calls"][0]["prompt"]) == (None, None, None)


def test_bars_as_they_stood_at_a_revision(store, make) -> None:
    store.write([make.ground()])  # day 0 closes at 100, revised to 50; day 1 at 100
    assert reader.bars(store, "BTC", 0)["close"].tolist() == [100.0, 100.0]
    assert reader.bars(store, "BTC", 1)["close"].tolist() == [50.0, 100.0]
    assert reader.bars(store, "BTC", 9)["close"].tolist() == [50.0, 100.0]
    assert len(reader.bars(store, "ETH", 0)) == 0


def test_assets_contexts_and_price_checks(store, make) -> None:
    store.write([make.ground(), make.unit(1), make.unit(0)])
    assert reader.assets(store)["asset"].tolist() == ["BTC"]
    assert reader.contexts(store, make.run_id)["market_hash"].tolist() == ["hash0", "hash1"]
    assert len(reader.contexts(store, "other")) == 0
    assert reader.price_checks(store)["kind"].tolist() == ["jump"]
    assert len(reader.price_checks(store, ["BTC", "ETH"])) == 1
    assert len(reader.price_checks(store, ["ETH"])) == len(reader.price_checks(store, [])) == 0


def test_last_round(store, make) -> None:
    assert reader.last_round(store, make.run_id) is None
    store.write([make.unit(0, "a"), make.unit(1, "a"), make.unit(1, "b")])
    late = make.decision(1, "c", status="timeout")
    store.write([WriteUnit((late,), key=late.decision)])
    assert reader.last_round(store, make.run_id) == {
        "as_of_utc": make.at + timedelta(1),
        "slot_key": "2025-01-02",
        "n_decisions": 3,
        "statuses": {"ok": 2, "timeout": 1},
        "decided_at_utc": make.at,
    }


def test_values_are_parameters(store, make) -> None:
    store.write([make.unit(0)])
    evil = "x' OR 1=1; DROP TABLE decisions; --"
    assert len(reader.decisions(store, evil)) == 0
    assert len(reader.summaries(store, evil)) == 0
    assert len(reader.equity(store, [evil])) == 0
    assert len(reader.price_checks(store, [evil])) == 0
    assert reader.decision(store, evil) is None
    assert len(reader.decisions(store, make.run_id)) == 1
