"""Rows with chosen values, and other processes to try the store's lock with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.hashing import account_key, sha256_text
from arena.core.rows import (
    ActionRow,
    ArticleRow,
    AssetRow,
    BarRow,
    BlobRow,
    BriefRow,
    BriefScoreRow,
    CallRow,
    ContextRow,
    DecisionRow,
    EquityRow,
    FactRow,
    FillRow,
    MemoryRow,
    NoteRow,
    PriceCheckRow,
    ReviewRow,
    Row,
    RunRow,
    SeasonRow,
    SummaryRow,
    WriteUnit,
)
from arena.store.store import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
RUN = "replay-0123456789-e1"
FIRST = date(2025, 1, 1)
AT = datetime(2025, 1, 1, 0, 5, tzinfo=UTC)


class Make:
    """Rows of a small run. `day` counts sessions from 2025-01-01."""

    run_id = RUN
    first = FIRST
    at = AT

    def track(self, model: str = "m") -> str:
        return f"{RUN}:trade@{model}:BTC"

    def account(self, model: str = "m", strategy: str = "baseline") -> str:
        return f"{self.track(model)}:{strategy}"

    def season(self) -> SeasonRow:
        return SeasonRow("default", '{"fill":"next"}')

    def run(self, run: str = RUN) -> RunRow:
        return RunRow(
            run, "replay", 1, "default", None, "{}", "next", "sample", True, FIRST,
            date(2025, 3, 31), 90, 0, "running", None, None, "0", AT, None,
        )  # fmt: skip

    def asset(self) -> AssetRow:
        return AssetRow("BTC", "Bitcoin", "crypto", False, 365, '{"yahoo":"BTC-USD"}')

    def bar(self, day: int = 0, revision: int = 0, close: float = 100.0) -> BarRow:
        session = FIRST + timedelta(day)
        top = max(close, 101.0)
        return BarRow("BTC", session, revision, 100.0, top, 1.0, close, None, 7.0, "files", AT, AT)

    def check(self) -> PriceCheckRow:
        return PriceCheckRow("BTC", FIRST, "jump", "files", 0.5, None, "close up 50 %", AT)

    def context(self, day: int = 0) -> ContextRow:
        return ContextRow(
            f"hash{day}", "BTC", FIRST + timedelta(day), AT + timedelta(day), FIRST, 260, 0
        )

    def news(self) -> tuple[Row, ...]:
        """One row of each table about news."""
        return (
            ArticleRow("BTC", "a1", "n-1", "Title", "example.com/a", "Text", "Outlet", "files", "press",
                       "news", "", "exact", AT, AT, None, 0.0, "[]", AT),
            BriefRow("brief-1", "BTC", FIRST, AT, "digest", "digest", "ok", "{}", 1, 1, 1, 0, None,
                     None, None, None, None, None, AT, 0.5),
            BriefScoreRow("brief-1", "coverage", "code", 1, "two drivers of four"),
            ReviewRow("brief-1", "Ann", 0, 2, 1, 2, 0, False, "", AT),
            NoteRow("note-1", "BTC", FIRST, "A remark", "host", AT),
            FactRow("BTC", "revenue", "FY2024", FIRST, 1.5, "10-K", "files", AT, AT),
            ActionRow("BTC", FIRST, "split", "yahoo", 4.0, AT, AT),
        )  # fmt: skip

    def blob(self, text: str) -> BlobRow:
        return BlobRow(sha256_text(text), text)

    def chain(self, day: int = 0, model: str = "m") -> str:
        return sha256_text(f"{model}{day}")

    def decision(self, day: int = 0, model: str = "m", status: str = "ok") -> DecisionRow:
        session = FIRST + timedelta(day)
        return DecisionRow(
            f"{self.track(model)}:{session}", RUN, self.track(model), "trade", model, "BTC",
            session.isoformat(), session, AT + timedelta(day), day, "live", "long", "BUY", status,
            False, 0.7, "up", '["m:1"]', 100.0, 0, f"hash{day}", sha256_text('{"side":0}'), 1, 10,
            None, None, self.chain(day, model), AT, 3.5,
        )  # fmt: skip

    def call(self, day: int = 0, model: str = "m") -> CallRow:
        return CallRow(
            self.decision(day, model).decision, 0, "model", "final", model, "ok", 1,
            sha256_text(f"prompt {day}"), sha256_text(f"answer {day}"), '{"action":"BUY"}', None,
            "{}", 10, None, None, 3.5,
        )  # fmt: skip

    def fill(self, day: int = 0, model: str = "m", leg: int = 0) -> FillRow:
        session = FIRST + timedelta(day)
        return FillRow(
            self.account(model), session, leg, session.isoformat(), AT, 2.0, 100.0, 0.2, "close"
        )

    def equity(self, day: int = 0, model: str = "m", balance: float = 100.0) -> EquityRow:
        key = account_key(self.account(model))
        return EquityRow(key, FIRST + timedelta(day), 100.0, 1, 1.0, 0.0, balance, balance)

    def summary(self, day: int = 0, model: str = "m", balance: float = 100.0) -> SummaryRow:
        account = self.account(model)
        return SummaryRow(
            account, account_key(account), RUN, "trade", model, "BTC", "baseline", "model", FIRST,
            FIRST + timedelta(day), day + 1, day + 1, 0, 0, 0, balance, balance, False, 1, "BUY",
            FIRST + timedelta(day), "{}", "[0.0]",
        )  # fmt: skip

    def unit(self, day: int = 0, model: str = "m", balance: float = 100.0) -> WriteUnit:
        """One decision with everything a settled slot leaves behind."""
        decision = self.decision(day, model)
        return WriteUnit(
            rows=(
                decision,
                self.call(day, model),
                self.blob(f"prompt {day}"),
                self.blob(f"answer {day}"),
                self.blob('{"side":0}'),
                self.context(day),
                self.equity(day, model, balance),
                self.fill(day, model),
            ),
            summaries=(self.summary(day, model, balance),),
            memory=MemoryRow(decision.track, decision.run, decision.seq, f'{{"day":{day}}}'),
            key=decision.decision,
            heads=((decision.track, decision.chain_hash),),
        )

    def ground(self) -> WriteUnit:
        """What a run writes before its first slot."""
        bars = (self.bar(0), self.bar(1), self.bar(0, revision=1, close=50.0))
        return WriteUnit((self.season(), self.run(), self.asset(), self.check(), *self.news(), *bars))


@pytest.fixture
def make() -> Make:
    return Make()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def child() -> Callable[..., subprocess.Popen[str]]:
    """Start Python code in another process; `argv` reaches it as sys.argv[1:]."""

    def start(code: str, *argv: object, tz: str = "UTC") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, argv)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TZ": tz},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    return start


def counts(store: Store) -> dict[str, int]:
    names = ("decisions", "calls", "blobs", "contexts", "equity", "fills", "account_summary")
    with store.cursor() as cur:
        found = {}
        for name in names:
            cur.execute(f"SELECT count(*) FROM {name}")
            found[name] = cur.fetchall()[0][0]
    return found


@pytest.fixture(name="counts")
def counts_fixture() -> Callable[[Store], dict[str, int]]:
    return counts
