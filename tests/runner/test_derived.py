"""Imported decisions and rescored runs."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.core.errors import ConfigError, DataError, UnknownNameError
from arena.core.season import Season
from arena.market.sources import open_source
from arena.runner.actions_file import read_actions
from arena.runner.derived import UNRANKED, run_import, run_rescore
from arena.runner.replay import RunResult
from arena.store import reader
from arena.store.store import Store, open_store

FEES = dict.fromkeys(("stock", "etf", "crypto"), 5.0)


def write(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def bring(store: Store, path: Path, fill: str = "close") -> RunResult:
    season = Season(fill=fill, fee_bps=FEES)  # type: ignore[arg-type]
    return run_import(
        read_actions(path), "Someone", "gpt-x", "ZORVANE", season, ("baseline",),
        open_source("sample"), "sample", store,
    )  # fmt: skip


def test_closed_days_missing_sessions_and_unknown_words(tmp_path: Path) -> None:
    # 1 Aug is a Friday, 2 Aug a Saturday, 5 Aug has no row, `SHRUG` is no action.
    path = write(tmp_path, "date,action\n2025-08-01,buy\n2025-08-02,SELL\n2025-08-04,SHRUG\n2025-08-06,Hold\n")
    with open_store(tmp_path / "s.duckdb") as store:
        result = bring(store, path)
        assert (result.n_decisions, result.n_failed, result.n_gaps, result.n_ignored) == (4, 1, 1, 1)
        rows = reader.decisions(store, result.runs[0])
        assert rows["status"].tolist() == ["ok", "invalid_output", "missed", "ok"]
        assert rows["intent"].tolist() == ["long", "hold", "keep", "hold"]
        assert check_store(store).n_breaches == 0
        again = bring(store, path)
        assert again.runs == result.runs
        assert again.n_resumed == 4


def test_the_testbeds_json_record(tmp_path: Path) -> None:
    record = {
        "status": "ok", "start_date": "2025-08-01", "end_date": "2025-08-04", "model": "m",
        "recommendations": [
            {"date": "2025-08-01", "price": 1.0, "recommended_action": "SELL", "news_count": 0},
            {"date": "2025-08-04", "price": None, "recommended_action": None},
        ],
    }  # fmt: skip
    read = read_actions(write(tmp_path, json.dumps(record), "r.json"))
    assert read.actions == {date(2025, 8, 1): "SELL", date(2025, 8, 4): ""}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "date,action\n2025-08-01,BUY\n2025-08-01,SELL\n", "line 3: 2025-08-01 stands twice"),
        ("a.csv", "day,action\n2025-08-01,BUY\n", "column `date` is missing"),
        ("a.csv", "date,action\nfirst,BUY\n", "line 2: `first` is no date"),
        ("a.csv", "date,action\n", "holds no action"),
        ("a.json", "{", "is no JSON"),
        ("a.json", "[]", "has not the testbed's form"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        read_actions(write(tmp_path, text, name))
    assert words in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Cannot read actions"):
        read_actions(tmp_path / "none.csv")


def test_rescore_moves_every_fill_and_asks_nobody(tmp_path: Path) -> None:
    days = ["2025-08-01", "2025-08-04", "2025-08-05", "2025-08-06"]
    rows = "".join(f"{d},{w}\n" for d, w in zip(days, ("BUY", "BUY", "SELL", "HOLD"), strict=True))
    path = write(tmp_path, "date,action\n" + rows)
    with open_store(tmp_path / "s.duckdb") as store:
        parent = bring(store, path, "next").runs[0]
        child = run_rescore(store, parent, "close").runs[0]
        assert reader.run(store, child)["parent"] == parent
        assert reader.run(store, child)["note"] == UNRANKED
        kept = [reader.decisions(store, r)["intent"].tolist() for r in (parent, child)]
        assert kept[0] == kept[1]
        closes = dict(zip(days, reader.bars(store, "ZORVANE", 0)["close"], strict=True))
        curve = reader.equity(store, [f"{child}:Someone@gpt-x:ZORVANE:baseline"])["balance"].tolist()
        # close fills, f = 0.0005: buy 1 Aug, hold 4 Aug, flip short 5 Aug (2 fees), flat 6 Aug.
        f = 0.9995
        p = [closes[d] for d in days]
        long_ = 100_000 * f * p[2] / p[0]
        short = long_ * f * f
        expected = [
            100_000 * f, 100_000 * f * p[1] / p[0], short, short * (1 + (p[2] - p[3]) / p[2]) * f
        ]  # fmt: skip
        assert curve == pytest.approx(expected, rel=1e-12)
        assert check_store(store).n_breaches == 0
        with pytest.raises(ConfigError, match="has fill `next` already"):
            run_rescore(store, parent, "next")
        with pytest.raises(UnknownNameError, match="Unknown run"):
            run_rescore(store, "replay-nope-e1", "close")
