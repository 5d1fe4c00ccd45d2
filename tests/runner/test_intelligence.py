"""Runs that read: news, briefs and filed figures in the sealed market, kept, resumed and checked."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.core.season import RunSpec, Season
from arena.market.sources import open_source
from arena.runner.intelligence import AUTO, brief_maker, gather
from arena.runner.replay import RunResult, asked_models, run_replay
from arena.runner.sealing import parse_part
from arena.store.export import export
from arena.store.store import Store, open_store

BASELINE = ("baseline",)


def spec(**changes: object) -> RunSpec:
    values = {
        "kind": "replay", "season": Season(), "source": "sample",
        "assets": ("QUBIXCOIN", "ZORVANE"), "agents": ("deepfund", "vanilla"),
        "models": ("offline/news", "offline/trend"), "warmup": 0, "brief": "digest",
        "start": date(2025, 8, 1), "end": date(2025, 8, 8),
    }  # fmt: skip
    return RunSpec.model_validate({**values, **changes})


def play(store: Store, run: RunSpec, data: str = "sample", **more: object) -> RunResult:
    source = open_source(data)
    read = gather(run, data, source.assets(), store, utc_now())
    return run_replay(run, BASELINE, source, store, intelligence=read, **more)  # type: ignore[arg-type]


def query(store: Store, sql: str, params: list[object] | None = None) -> list[tuple]:
    with store.cursor() as cur:
        return cur.execute(sql, params or []).fetchall()


def digests(store: Store, out: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in export(store, out, "csv")}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("read") / "a.duckdb"
    with open_store(path) as store:
        play(store, spec())
    return path


def test_what_was_read_is_kept_and_follows_from_the_store(played: Path) -> None:
    with open_store(played, read=True) as store:
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        contexts = query(store, "SELECT n_stories, stories_sha256, brief FROM contexts")
        # 8 days of a coin and 6 sessions of a stock: 1, 4, 5, 6, 7 and 8 August.
        assert len(contexts) == 8 + 6
        assert sum(n > 0 for n, _, _ in contexts) >= 10
        assert all((n > 0) == (sha is not None) == (brief is not None) for n, sha, brief in contexts)
        briefs = query(store, "SELECT maker, kind, status FROM briefs")
        assert set(briefs) == {("digest", "digest", "ok")}
        scores = query(store, "SELECT brief, count(*) FROM brief_scores GROUP BY brief")
        assert len(scores) == len(briefs)
        assert {n for _, n in scores} == {4}


def test_every_story_was_known_and_stands_among_the_articles(played: Path) -> None:
    with open_store(played, read=True) as store:
        rows = query(
            store,
            "SELECT c.asset, c.as_of_utc, b.text FROM contexts c JOIN blobs b ON b.sha256 = stories_sha256",
        )
        stories = {row[0] for row in query(store, "SELECT DISTINCT story FROM articles")}
        for _, as_of, text in rows:
            for story in parse_part(text):
                assert story["known_at_utc"] <= as_of
                assert story["id"] in stories


def test_agents_cite_what_stands_in_their_context(played: Path) -> None:
    """Ids of stories are the only ones offered on a coin, which has no filed figures."""
    with open_store(played, read=True) as store:
        rows = query(
            store,
            "SELECT d.evidence_json, b.text FROM decisions d JOIN contexts c USING (market_hash) "
            "JOIN blobs b ON b.sha256 = c.stories_sha256 "
            "WHERE d.asset = 'QUBIXCOIN' AND d.agent = 'deepfund' AND d.model = 'offline/news'",
        )
        cited = [(set(json.loads(e)), {s["id"] for s in json.loads(t)}) for e, t in rows]
        assert any(ids for ids, _ in cited)
        for ids, offered in cited:
            assert ids <= offered


def test_the_same_run_again_changes_no_byte(played: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "b.duckdb") as store:
        play(store, spec())
        before = digests(store, tmp_path / "1")
        again = play(store, spec())
        assert again.n_resumed == again.n_decisions
        assert digests(store, tmp_path / "2") == before
    with open_store(played, read=True) as store:
        assert digests(store, tmp_path / "3") == before


def test_a_run_that_reads_is_another_run_and_older_names_stay() -> None:
    assert spec().run_id() != spec(brief="none").run_id()
    plain = spec(brief="none").model_dump(mode="json")
    del plain["brief"]
    assert RunSpec.model_validate(plain).run_id() == spec(brief="none").run_id()


def test_an_altered_story_is_found(played: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.duckdb"
    copy.write_bytes(played.read_bytes())
    with open_store(copy) as store:

        def alter(cur) -> None:
            cur.execute(
                "UPDATE blobs SET text = replace(text, '\"trust\":\"synthetic\"', '\"trust\":\"official\"') "
                "WHERE sha256 = (SELECT stories_sha256 FROM contexts WHERE n_stories > 0 "
                "ORDER BY as_of_utc, asset LIMIT 1)"
            )

        store._writer().submit(alter).result()
        found = {f.rule for f in check_store(store).findings if f.level == "breach"}
    assert {"texts", "bars"} <= found


def test_who_writes_the_brief(tmp_path: Path) -> None:
    assert brief_maker(AUTO, "sample", ("offline/trend",)) == "digest"
    assert brief_maker("none", "sample", ()) == "none"
    # Prices alone: there is nothing to write about.
    (tmp_path / "daily.csv").write_text("symbol,date,open,high,low,close\n")
    assert brief_maker(AUTO, f"files:{tmp_path}", ()) == "none"
    with pytest.raises(ConfigError, match="neither news nor filed figures"):
        brief_maker("digest", f"files:{tmp_path}", ())
    with pytest.raises(ConfigError, match="is a rule and cannot write a brief"):
        brief_maker("offline/news", "sample", ())
    assert asked_models(spec(brief="gpt-4o"), "gpt-4.1") == (
        "offline/news", "offline/trend", "gpt-4o", "gpt-4.1"
    )  # fmt: skip
