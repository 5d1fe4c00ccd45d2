"""Models that fail in the middle of a live season: what is recorded, what is asked again, what is spent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.core.rows import TABLES
from arena.core.rows_host import HOST_TABLES
from arena.llm.gateway import load_litellm
from arena.llm.registry import known_models
from arena.llm.roster import roster
from arena.runner.live_seasons import Section
from arena.store import reader
from tests.live.made_seasons import KEY, MODELS, PAID
from tests.live.test_live import Arena
from tests.llm.mock_provider import MockProvider, Say, refusal

USAGE = (1_000, 100)  # 1,000 x 10 + 100 x 50 millionths of a dollar: 0.015 a call
TUESDAY = datetime(2026, 3, 3, 0, 10, tzinfo=UTC)
WEDNESDAY = datetime(2026, 3, 4, 0, 10, tzinfo=UTC)
BOTH = PAID.model_copy(update={"models": ("mock/priced", "scripted/cycle")})

Open = Callable[..., Arena]


@pytest.fixture
def mock() -> Iterator[MockProvider]:
    with MockProvider(Say(usage=USAGE)) as provider:
        yield provider


@pytest.fixture
def opened(tmp_path: Path, mock: MockProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """A live arena that asks the mock; `more` is a line of the priced model's row."""
    load_litellm()  # seconds, the first time; not part of any answer
    arenas = []

    def begin(section: Section = BOTH, more: str = "") -> Arena:
        path = tmp_path / "models.toml"
        path.write_text(MODELS.format(url=mock.url, more=more))
        monkeypatch.setenv("ARENA_MODELS", str(path))
        monkeypatch.setenv("MOCK_API_KEY", KEY)
        roster.cache_clear()
        known_models.cache_clear()
        arenas.append(Arena(tmp_path / f"live-{len(arenas)}.duckdb", section))
        arenas[-1].live.reconcile()
        return arenas[-1]

    yield begin
    for arena in arenas:
        arena.store.close()
    monkeypatch.undo()
    roster.cache_clear()
    known_models.cache_clear()


def looked(arena: Arena, at: datetime) -> pd.DataFrame:
    """What is decided by the model that costs money, once the clock says `at`."""
    arena.clock.now_utc = at
    arena.live.reconcile()
    frame = reader.decisions(arena.store, arena.run)
    rest = frame[frame["model"] == "scripted/cycle"]
    # The other entries of the season have gone on as if nothing were.
    assert set(rest["status"]) <= {"ok"}
    assert arena.breaches() == []
    ours = frame["model"].str.startswith("mock/")
    return frame[ours].reset_index(drop=True)


def everything(arena: Arena) -> str:
    text = []
    with arena.store.cursor() as cur:
        for kind in (*TABLES, *HOST_TABLES):
            cur.execute(f"SELECT * FROM {kind.TABLE}")
            text.append(str(cur.fetchall()))
    return "".join(text)


@pytest.mark.fault(26)
def test_fault_26_a_model_that_hangs_is_given_up(opened: Open, mock: MockProvider) -> None:
    mock.script = lambda _asked, _n: Say(delay_s=30.0)
    arena = opened(more="request_timeout_s = 1.0")
    rows = looked(arena, TUESDAY)
    assert rows["status"].tolist() == ["timeout"] * 2
    assert rows["action"].tolist() == ["HOLD"] * 2
    # Given up after a second, not after thirty, and asked once each: it may have been paid for.
    assert rows["latency_ms"].between(1_000, 10_000).all()
    assert len(mock.asked) == 2
    mock.script = lambda _asked, _n: Say(usage=USAGE)
    assert looked(arena, WEDNESDAY)["status"].tolist() == ["timeout"] * 2 + ["ok"] * 2


@pytest.mark.fault(27)
def test_fault_27_a_refused_key_is_not_tried_on_and_on_and_never_shown(
    opened: Open, mock: MockProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    mock.script = lambda _asked, _n: refusal(401, f"Incorrect API key provided: {KEY}.")
    arena = opened()
    rows = looked(arena, TUESDAY)
    assert rows["status"].tolist() == ["provider_error"] * 2
    assert rows["reason"].str.contains("refused the key").all()
    assert len(mock.asked) <= 2  # both coins may be under way when the first is refused
    assert rows["cost_usd"].sum() == 0
    assert KEY not in everything(arena) + caplog.text
    arena.store.close()
    assert KEY.encode() not in arena.path.read_bytes()
    arena.restart()
    mock.script = lambda _asked, _n: Say(usage=USAGE)
    assert looked(arena, WEDNESDAY)["status"].tolist()[2:] == ["ok"] * 2


@pytest.mark.fault(28)
def test_fault_28_an_answer_that_is_none_is_kept_and_not_guessed(
    opened: Open, mock: MockProvider
) -> None:
    mock.script = lambda _asked, _n: Say(text="I would buy. " * 80_000, usage=USAGE)
    arena = opened()
    rows = looked(arena, TUESDAY)
    assert rows["status"].tolist() == ["invalid_output"] * 2
    assert rows["action"].tolist() == ["HOLD"] * 2
    with arena.store.cursor() as cur:
        cur.execute("SELECT text FROM blobs WHERE text LIKE '%I would buy.%' AND text LIKE '%[cut here%'")
        kept = [text for (text,) in cur.fetchall()]
    # 80,000 x 13 characters came; the trace keeps 64 KiB and says how many they were.
    assert len(kept) == 1
    assert kept[0].endswith("[cut here: 1040000 characters in all]")
    assert len(kept[0]) < 66_000
    with arena.store.cursor() as cur:
        cur.execute("SELECT max(length(answer)) FROM attempts")
        assert 65_536 < cur.fetchall()[0][0] < 70_000


@pytest.mark.fault(29)
def test_fault_29_a_model_that_is_gone_is_named_and_not_replaced(
    opened: Open, mock: MockProvider
) -> None:
    mock.script = lambda _asked, _n: refusal(404, "the model does not exist")
    rows = looked(opened(), TUESDAY)
    assert rows["status"].tolist() == ["provider_error"] * 2
    assert rows["reason"].str.contains("does not exist at its provider").all()
    assert set(rows["model"]) == {"mock/priced"}


@pytest.mark.fault(29)
def test_fault_29_a_season_whose_model_went_waits_and_says_so(opened: Open, mock: MockProvider) -> None:
    mock.script = lambda _asked, _n: refusal(404, "the model does not exist")
    arena = opened()
    n_decided, n_asked = len(looked(arena, TUESDAY)), len(mock.asked)
    # The next day's slots: nothing is asked, nothing is decided, and the season says why.
    assert len(looked(arena, TUESDAY + timedelta(days=1))) == n_decided
    assert len(mock.asked) == n_asked
    (said,) = arena.live.troubles.values()
    assert "does not exist at its provider" in said
    assert "The season waits" in said


@pytest.mark.fault(29)
def test_fault_29_a_retired_model_keeps_its_season_waiting(opened: Open, mock: MockProvider) -> None:
    arena = opened(more="retired = 2026-03-01")
    (said,) = arena.live.troubles.values()
    assert "retired" in said
    assert "`mock/priced`" in said
    assert mock.asked == []
    assert reader.runs(arena.store).empty


@pytest.mark.fault(30)
def test_fault_30_a_model_without_a_price_is_not_asked(opened: Open, mock: MockProvider) -> None:
    arena = opened(PAID.model_copy(update={"models": ("mock/unpriced",)}))
    arena.clock.now_utc = TUESDAY
    arena.live.reconcile()
    # One season that waits, though it would begin on another day by now.
    (said,) = arena.live.troubles.values()
    assert "The price of `mock/unpriced` is not known" in said
    assert mock.asked == []
    assert reader.runs(arena.store).empty


@pytest.mark.fault(30)
def test_fault_30_a_budget_that_is_met_stops_the_same_entries_each_time(
    opened: Open, mock: MockProvider
) -> None:
    """Twenty cents a day, of which a call may take at most nine: two of four fit at once."""
    section = BOTH.model_copy(
        update={"models": ("mock/priced", "mock/second", "scripted/cycle"), "budget_day_usd": 0.2}
    )
    stopped = []
    for _ in range(2):
        arena = opened(section)
        rows = looked(arena, TUESDAY)
        stopped.append(rows.loc[rows["status"] == "budget_stop", "track"].tolist())
        assert len(rows) == 4
        assert len(stopped[-1]) == 2
        # Another day, another twenty cents.
        again = looked(arena, WEDNESDAY)
        assert again["status"].tolist()[4:] == again["status"].tolist()[:4]
        assert again["cost_usd"].sum() == pytest.approx(4 * 0.015)
    assert stopped[0] == stopped[1]
