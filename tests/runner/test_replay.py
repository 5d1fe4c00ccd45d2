"""A run from end to end on the sample: what is stored, what resumes, what is refused."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.audit.check import check_store
from arena.core.errors import ConfigError
from arena.core.season import RunSpec, Season
from arena.core.types import Asset
from arena.market.sources import open_source
from arena.runner.replay import RunResult, fresh_spec, run_replay
from arena.store import reader
from arena.store.export import export
from arena.store.store import open_store

PAPER = ("baseline", "flip_on_reversal", "pyramid_exit")


def spec(**changes: object) -> RunSpec:
    values = {
        "kind": "replay", "season": Season(), "source": "sample",
        "assets": ("QUBIXCOIN", "ZORVANE"), "agents": ("vanilla",),
        "models": ("offline/contrarian", "offline/trend"),
        "start": date(2025, 8, 1), "end": date(2025, 8, 15),
    }  # fmt: skip
    return RunSpec.model_validate({**values, **changes})


def play(path: Path, run: RunSpec, strategies: tuple[str, ...] = PAPER, **more: object) -> RunResult:
    with open_store(path) as store:
        return run_replay(run, strategies, open_source("sample"), store, **more)  # type: ignore[arg-type]


def digest(store: Path, out: Path) -> dict[str, str]:
    with open_store(store, read=True) as opened:
        files = export(opened, out, "csv")
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@pytest.mark.parametrize("fill", ["next", "close"])
def test_a_run_is_complete_and_passes_every_check(tmp_path: Path, fill: str) -> None:
    run = spec(season=Season(fill=fill, slippage_bps=3, borrow_bps_year=50))  # type: ignore[arg-type]
    result = play(tmp_path / "a.duckdb", run)
    # 15 days of a coin and 11 sessions of a stock, two models each.
    assert result.n_decisions == 2 * 15 + 2 * 11
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        report = check_store(store)
        assert [f for f in report.findings if f.level == "breach"] == []
        summaries = reader.summaries(store)
        # 4 tracks and 2 votes x 3 strategies, and Buy & Hold of 2 assets.
        assert len(summaries) == 20
        equity = reader.equity(store, summaries["account"].tolist())
        assert len(equity) == 3 * 3 * (15 + 11) + 15 + 11
        if fill == "next":
            first = equity.groupby("account")["balance"].first()
            assert set(first) == {100_000.0}


def test_the_same_command_asks_nothing_and_adds_missing_strategies(tmp_path: Path) -> None:
    both, later = tmp_path / "both.duckdb", tmp_path / "later.duckdb"
    play(both, spec(), PAPER)
    play(later, spec(), ("baseline",))
    again = play(later, spec(), PAPER)
    assert again.n_resumed == again.n_decisions == 52
    one, two = digest(both, tmp_path / "1"), digest(later, tmp_path / "2")
    assert one == two


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    play(tmp_path / "1.duckdb", spec(), workers=1)
    play(tmp_path / "8.duckdb", spec(), workers=8)
    assert digest(tmp_path / "1.duckdb", tmp_path / "x") == digest(tmp_path / "8.duckdb", tmp_path / "y")


def test_new_makes_another_run(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    first = play(path, spec())
    with open_store(path) as store:
        other = fresh_spec(store, spec())
    assert other.ordinal == 2
    assert play(path, other).runs != first.runs


def test_epochs_are_runs_of_their_own(tmp_path: Path) -> None:
    result = play(tmp_path / "a.duckdb", spec(assets=("ZORVANE",)), epochs=2)
    assert [r.rsplit("-", 1)[1] for r in result.runs] == ["e1", "e2"]
    assert result.runs[0].rsplit("-", 1)[0] == result.runs[1].rsplit("-", 1)[0]


class Altered:
    """The sample with one close moved."""

    name, synthetic = "sample", True

    def __init__(self, session: date) -> None:
        self.inner, self.session = open_source("sample"), session

    def assets(self) -> dict[str, Asset]:
        return self.inner.assets()

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        frame = self.inner.daily(asset, start, end).copy()
        hit = frame["session"] == self.session
        frame.loc[hit, ["close", "high"]] = frame.loc[hit, ["close", "high"]] * 1.01
        return frame


def test_a_changed_past_bar_refuses_to_resume_and_becomes_a_revision(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    play(path, spec())
    before = digest(path, tmp_path / "x")
    changed = Altered(date(2025, 7, 31))
    with open_store(path) as store:
        with pytest.raises(ConfigError, match=r"2025-07-31 differs .* Use --new"):
            run_replay(spec(), PAPER, changed, store)
        assert reader.runs(store)["status"].tolist() == ["done"]
    assert digest(path, tmp_path / "y") == before
    with open_store(path) as store:
        run_replay(fresh_spec(store, spec()), PAPER, changed, store)
        checks = reader.price_checks(store)
        revised = checks[checks["kind"] == "revision"]
        assert len(revised) == 2  # one asset-day each of the two assets
        assert sorted(reader.runs(store)["revision"]) == [0, 1]
        breaches = [f for f in check_store(store).findings if f.level == "breach"]
        assert breaches == []


def test_a_bar_after_the_window_changes_nothing(tmp_path: Path) -> None:
    play(tmp_path / "a.duckdb", spec())
    with open_store(tmp_path / "b.duckdb") as store:
        run_replay(spec(), PAPER, Altered(date(2025, 8, 16)), store)
    assert digest(tmp_path / "a.duckdb", tmp_path / "x") == digest(tmp_path / "b.duckdb", tmp_path / "y")


def test_a_poisoned_later_bar_inside_the_window_changes_no_earlier_decision(tmp_path: Path) -> None:
    play(tmp_path / "a.duckdb", spec())
    with open_store(tmp_path / "b.duckdb") as store:
        run_replay(spec(), PAPER, Altered(date(2025, 8, 12)), store)
    kept = []
    for name in ("a", "b"):
        with open_store(tmp_path / f"{name}.duckdb", read=True) as store:
            rows = reader.decisions(store, reader.runs(store)["run"].iloc[0])
            early = rows[rows["session"] < pd.Timestamp(2025, 8, 12)]
            kept.append(early[["decision", "market_hash", "chain_hash", "action"]])
            late = rows[rows["session"] == pd.Timestamp(2025, 8, 12)]
            kept.append(set(late["market_hash"]))
    pd.testing.assert_frame_equal(kept[0], kept[2])
    assert not kept[1] & kept[3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agents": ("vanila",)}, "Did you mean `vanilla`"),
        ({"models": ("offline/trnd",)}, "Did you mean `offline/trend`"),
        ({"assets": ("ZORVAN",)}, "Did you mean `ZORVANE`"),
        ({"start": date(2023, 9, 1), "end": date(2023, 9, 5)}, "The first possible start is 2024-"),
        ({"start": date(2022, 1, 3), "end": date(2022, 1, 5)}, "Choose a later window"),
        ({"end": date(2026, 2, 1)}, "prices of QUBIXCOIN end 2025-12-31. Use --end 2025-12-31"),
        ({"assets": ("ZORVANE",), "start": date(2025, 8, 2), "end": date(2025, 8, 3)}, "was closed"),
    ],
)
def test_bad_requests_name_the_fix_and_write_nothing(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with open_store(tmp_path / "a.duckdb") as store:
        with pytest.raises(ConfigError) as caught:
            run_replay(spec(**changes), PAPER, open_source("sample"), store)
        assert words in str(caught.value)
        assert reader.runs(store).empty


def test_start_after_end_is_refused() -> None:
    with pytest.raises(ValueError, match="start 2025-08-15 is after end 2025-08-01"):
        spec(start=date(2025, 8, 15), end=date(2025, 8, 1))


def test_an_unfinished_run_goes_on(tmp_path: Path) -> None:
    import threading

    path, stop = tmp_path / "a.duckdb", threading.Event()
    half = play(path, spec(), progress=lambda t: stop.set() if t.done > 20 else None, stop=stop)
    assert half.stopped
    assert 20 < half.n_decisions < 52
    whole = play(path, spec())
    assert (whole.n_decisions, whole.n_resumed) == (52, half.n_decisions)
    play(tmp_path / "b.duckdb", spec())
    assert digest(path, tmp_path / "x") == digest(tmp_path / "b.duckdb", tmp_path / "y")


def test_buy_and_hold_by_hand(tmp_path: Path) -> None:
    """Fill close, 5 bp: V = 100,000 x (1 - f) x P_t / P_0, and (1 - f) once more at the end."""
    fees = dict.fromkeys(("stock", "etf", "crypto"), 5.0)
    play(tmp_path / "a.duckdb", spec(season=Season(fill="close", fee_bps=fees)))
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        run = reader.runs(store)["run"].iloc[0]
        rows = reader.equity(store, [f"{run}:buy_hold@-:QUBIXCOIN:buy_hold"])
    closes = rows["price"].to_numpy()
    expected = 100_000 * 0.9995 * closes / closes[0]
    expected[-1] *= 0.9995
    assert rows["balance"].to_numpy() == pytest.approx(expected, rel=1e-12)
    assert rows["session"].iloc[0].date() + timedelta(days=14) == rows["session"].iloc[-1].date()
