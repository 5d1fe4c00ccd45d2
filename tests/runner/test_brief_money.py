"""Briefs and their judge cost money like decisions do: within the run's budget, in its journal, paid once."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.core.season import RunSpec, Season
from arena.llm.registry import known_models
from arena.llm.roster import roster
from arena.market.sources import open_source
from arena.runner.intelligence import gather
from arena.runner.journal import Spending
from arena.runner.replay import RunResult, run_replay
from arena.store.store import Store, open_store
from tests import forked
from tests.llm.mock_provider import Asked, MockProvider, Say
from tests.llm.paid import KEY

N_IN, N_OUT = 1_000, 100
COST_USD = (N_IN * 10 + N_OUT * 50) / 1e6  # 0.015


def coins() -> tuple[str, ...]:
    return tuple(a.id for a in open_source("sample").assets().values() if a.asset_class == "crypto")


SUMMARY = f"Holders of {' and '.join(coins())} met."
BRIEF = json.dumps({"sentiment": "neutral", "score": 0.0, "summary": SUMMARY, "stories": ["s1"]})
SCORES = json.dumps({"coverage_reason": "one", "coverage": 1, "bias_reason": "even", "bias": 2})
ROSTER = """
[[model]]
id = "mock/writer"
label = "Writer"
kind = "model"
route = "openai/writer"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0

[[model]]
id = "mock/judge"
label = "Judge"
kind = "model"
route = "openai/judge"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0

[[model]]
id = "mock/gone"
label = "Gone"
kind = "model"
route = "openai/gone"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0
retired = 2024-01-01
"""


def answer(asked: Asked, _n: int) -> Say:
    judged = asked.body["model"] == "judge"
    return Say(SCORES if judged else BRIEF, usage=(N_IN, N_OUT), delay_s=0.05)


def forget_the_roster() -> None:
    roster.cache_clear()
    known_models.cache_clear()


@pytest.fixture
def mock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockProvider]:
    with MockProvider(answer) as provider:
        path = tmp_path / "models.toml"
        own = (Path(__file__).parents[2] / "data" / "models.toml").read_text()
        path.write_text(own + ROSTER.format(url=provider.url))
        monkeypatch.setenv("ARENA_MODELS", str(path))
        monkeypatch.setenv("MOCK_API_KEY", KEY)
        forget_the_roster()
        yield provider
    forget_the_roster()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.duckdb") as opened:
        yield opened


def spec(**changes: object) -> RunSpec:
    """Two coins, whose slots come at one moment, so that their briefs are written at once."""
    values = {
        "kind": "replay", "season": Season(), "source": "sample", "assets": coins(),
        "agents": ("vanilla",), "models": ("offline/news",), "warmup": 0, "brief": "mock/writer",
        "start": date(2025, 8, 1), "end": date(2025, 8, 4),
    }  # fmt: skip
    return RunSpec.model_validate({**values, **changes})


def play(store: Store, run: RunSpec, usd: float | None, judge: str | None = None) -> RunResult:
    source = open_source("sample")
    read = gather(run, "sample", source.assets(), store, utc_now())
    return run_replay(
        run, ("baseline",), source, store, intelligence=read, spending=Spending(usd), judge=judge
    )


def query(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cur:
        return cur.execute(sql).fetchall()


def attempts(store: Store) -> dict[str, int]:
    return dict(query(store, "SELECT status, count(*) FROM attempts WHERE event = 'closed' GROUP BY 1"))


def reserved_usd(tmp_path: Path) -> float:
    """The worst case of the first brief, as a calm run reserves it."""
    with open_store(tmp_path / "calm.duckdb") as calm:
        play(calm, spec(), 5.0)
        found = query(calm, "SELECT usd FROM attempts WHERE event = 'opened' ORDER BY at_utc LIMIT 1")
    return float(found[0][0])


def n_days_with_news(store: Store) -> int:
    return int(query(store, "SELECT count(*) FROM contexts WHERE n_stories > 0")[0][0])


def test_a_brief_and_its_scores_are_paid_once_and_in_the_journal(
    mock: MockProvider, store: Store
) -> None:
    done = play(store, spec(), 5.0, "mock/judge")
    n = n_days_with_news(store)
    assert n >= 4
    assert (done.stopped, done.n_failed, len(mock.asked)) == (False, 0, 2 * n)
    assert attempts(store) == {"answered": 2 * n}
    scopes = query(
        store, "SELECT role, split_part(decision, ':', 1), count(*) FROM attempts "
        "WHERE event = 'closed' GROUP BY ALL ORDER BY ALL"
    )  # fmt: skip
    assert scopes == [("brief_judge", "judge", n), ("brief_writer", "brief", n)]
    assert query(store, "SELECT count(*), round(sum(cost_usd), 6) FROM briefs") == [
        (n, round(n * COST_USD, 6))
    ]
    scorers = query(store, "SELECT scorer, count(*) FROM brief_scores GROUP BY 1 ORDER BY 1")
    assert scorers == [("code", 4 * n), ("judge:mock/judge", 2 * n)]
    # The same run, a second epoch of it, and another run on the same stories ask nobody.
    play(store, spec(), 5.0, "mock/judge")
    play(store, spec(seed=1), 5.0, "mock/judge")
    assert len(mock.asked) == 2 * n


def test_a_budget_met_inside_a_brief_cuts_off_no_other_that_is_being_paid_for(
    mock: MockProvider, store: Store, tmp_path: Path
) -> None:
    worst = reserved_usd(tmp_path)
    mock.asked.clear()
    mock.bill.clear()
    stopped = play(store, spec(), 1.5 * worst)
    assert stopped.stopped
    assert "--budget-usd" in (stopped.budget_stop or "")
    assert stopped.n_decisions == 0
    # One of the two briefs of the first moment had room; its answer was waited for.
    assert len(mock.asked) == 1
    assert attempts(store) == {"answered": 1}
    done = play(store, spec(), 5.0)
    assert (done.stopped, done.n_failed) == (False, 0)
    n = n_days_with_news(store)
    assert len(mock.asked) == n
    assert query(store, "SELECT round(sum(usd), 6) FROM attempts WHERE event = 'closed'") == [
        (round(n * COST_USD, 6),)
    ]


def test_a_budget_met_by_the_judge_keeps_the_brief_that_was_paid_for(
    mock: MockProvider, store: Store
) -> None:
    """The brief of one coin fits, its scores do not: they come with more money, and the brief is not asked
    for again."""
    one = spec(assets=coins()[:1], end=date(2025, 8, 1))
    for cents in range(1, 100):
        stopped = play(store, one, cents / 100, "mock/judge")
        if len(mock.asked) == 1:
            break
    assert stopped.stopped
    assert [asked.body["model"] for asked in mock.asked] == ["writer"]
    assert query(store, "SELECT count(*) FROM briefs") == [(0,)]
    assert play(store, one, 5.0, "mock/judge").stopped is False
    assert [asked.body["model"] for asked in mock.asked] == ["writer", "judge"]
    assert query(store, "SELECT count(*) FROM brief_scores WHERE scorer LIKE 'judge%'") == [(2,)]


def test_a_run_that_dies_while_a_brief_is_judged_does_not_pay_for_the_brief_again(
    mock: MockProvider, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = spec(assets=coins()[:1], end=date(2025, 8, 1))

    class Killed(BaseException):
        """As from outside: nothing may catch it."""

    def dies(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("arena.runner.brief_judge.judge", dies)
        with pytest.raises(Killed):
            play(store, one, 5.0, "mock/judge")
    assert query(store, "SELECT count(*) FROM briefs") == [(0,)]
    play(store, one, 5.0, "mock/judge")
    assert [asked.body["model"] for asked in mock.asked] == ["writer", "judge"]


def test_a_model_that_fails_leaves_a_brief_that_says_so_and_the_run_goes_on(
    mock: MockProvider, store: Store
) -> None:
    mock.script = lambda _asked, _n: Say(f"Bearer {KEY}", usage=(N_IN, N_OUT))
    done = play(store, spec(assets=coins()[:1]), 5.0, "mock/judge")
    assert (done.stopped, done.n_failed) == (False, 0)
    assert query(store, "SELECT DISTINCT status, content_json FROM briefs") == [
        ("invalid_output", "null")
    ]
    # Nobody judges what was not made; and a brief that failed is not asked for again.
    assert {asked.body["model"] for asked in mock.asked} == {"writer"}
    n_asked = len(mock.asked)
    play(store, spec(assets=coins()[:1]), 5.0, "mock/judge")
    assert len(mock.asked) == n_asked
    texts = query(store, "SELECT * FROM attempts") + query(store, "SELECT * FROM blobs")
    assert KEY not in str(texts)


def test_a_rule_as_judge_is_refused_before_the_run_exists(mock: MockProvider, store: Store) -> None:
    with pytest.raises(ConfigError, match="cannot judge a brief"):
        play(store, spec(), 5.0, "offline/trend")
    assert query(store, "SELECT count(*) FROM runs") == [(0,)]
    assert mock.asked == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--brief", "mock/writer"), "Give --budget-usd"),
        (("--brief", "mock/gone", "--budget-usd", "5"), "was retired by its provider"),
        (("--brief", "gpt-4o", "--budget-usd", "5"), "OPENAI_API_KEY is not set"),
        (("--brief", "offline/news"), "is a rule and cannot write a brief"),
        (("--judge", "mock/gone", "--budget-usd", "5"), "was retired by its provider"),
        (("--judge", "gpt-4o", "--budget-usd", "5"), "OPENAI_API_KEY is not set"),
        (("--judge", "mock/judge"), "Give --budget-usd"),
        (("--judge", "offline/news"), "cannot judge a brief"),
        (("--judge", "mock/judge", "--budget-usd", "5", "--brief", "none"), "no brief to judge"),
        (("--search", "mock/judge", "--budget-usd", "5"), "has its own news"),
        (("--search", "mock/gone", "--budget-usd", "5", "--data", "live"), "was retired"),
        (("--search", "mock/judge", "--budget-usd", "5", "--data", "live"), "cannot search the web"),
        (("--search", "offline/news", "--data", "live"), "cannot search the web"),
        (("--search", "mock/judge", "--budget-usd", "5", "--data", "live", "--brief", "none"), "reads no news"),
    ],
)
def test_what_cannot_be_is_refused_before_a_store_exists(
    words: tuple[str, ...], said: str, mock: MockProvider, tmp_path: Path
) -> None:
    path = tmp_path / "new.duckdb"
    command = [
        "replay", "--start", "2025-08-01", "--end", "2025-08-04", "--models", "offline/news",
        "--store", str(path), *(() if "--data" in words else ("--data", "sample")), *words,
    ]  # fmt: skip
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, ConfigError)
    assert said in str(refused.exception)
    assert not path.exists()
    assert mock.asked == []


def test_kill_9_while_briefs_are_written_and_judged(
    mock: MockProvider, tmp_path: Path
) -> None:
    """Only what was under way at the kill is asked again, and its reservation counts as spent."""
    mock.script = lambda asked, n: replace(answer(asked, n), delay_s=0.3)
    path, budget = tmp_path / "killed.duckdb", 5.0
    command = [
        "replay", "--data", "sample", "--store", str(path), "--json",
        "--assets", ",".join(coins()), "--agents", "vanilla", "--models", "offline/news",
        "--warmup", "0", "--start", "2025-08-01", "--end", "2025-08-04", "--strategies", "baseline",
        "--brief", "mock/writer", "--judge", "mock/judge", "--budget-usd", str(budget),
    ]  # fmt: skip
    run = forked.start(*command)
    deadline = time.monotonic() + 60
    while len(mock.asked) < 5 and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    run.kill()
    run.wait()
    n_before = len(mock.asked)
    assert n_before >= 5
    said = tmp_path / "said.json"
    assert forked.start(*command, out=said).wait() == 0
    assert "budget_stop" not in json.loads(said.read_text("utf-8"))
    with open_store(path) as store:
        n = n_days_with_news(store)
        ended = query(store, "SELECT count(*), sum(usd) FROM attempts WHERE status = 'answered'")
        # Never closed: these were under way, at most one of each of the two assets.
        torn = query(
            store, "SELECT count(*) FROM attempts o WHERE event = 'opened' AND NOT EXISTS "
            "(FROM attempts c WHERE c.attempt = o.attempt AND c.event = 'closed')"
        )[0][0]  # fmt: skip
        scored = query(store, "SELECT count(*) FROM brief_scores WHERE scorer LIKE 'judge%'")
    assert ended == [(2 * n, pytest.approx(2 * n * COST_USD))]
    assert scored == [(2 * n,)]
    assert 1 <= torn <= 2
    assert len(mock.asked) <= 2 * n + torn
    asked = Counter(json.dumps(one.body, sort_keys=True) for one in mock.asked)
    assert len(asked) == 2 * n
