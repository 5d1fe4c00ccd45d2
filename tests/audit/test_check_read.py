"""`check` on a store whose run read news and figures: each altered or lost value is found, none crashes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.store.store import open_store
from tests.runner.test_intelligence import play, spec

STORIES = "(SELECT stories_sha256 FROM contexts WHERE n_stories > 0 ORDER BY as_of_utc, asset LIMIT 1)"
FIGURES = (
    "(SELECT fundamentals_sha256 FROM contexts WHERE fundamentals_sha256 IS NOT NULL "
    "ORDER BY as_of_utc LIMIT 1)"
)
BRIEF = "(SELECT brief FROM contexts WHERE brief IS NOT NULL ORDER BY as_of_utc, asset LIMIT 1)"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("read") / "a.duckdb"
    with open_store(path) as store:
        play(store, spec(agents=("vanilla",)))
        assert check_store(store).findings == []
    return path


def found_after(played: Path, tmp_path: Path, sql: str) -> set[tuple[str, str]]:
    copy = tmp_path / "a.duckdb"
    copy.write_bytes(played.read_bytes())
    head = played.with_name("a.head.json")
    copy.with_name(head.name).write_bytes(head.read_bytes())
    with open_store(copy) as store:
        store._writer().submit(lambda cur: cur.execute(sql)).result()
        return {(f.level, f.rule) for f in check_store(store).findings}


@pytest.mark.parametrize(
    ("sql", "rules"),
    [
        (f"UPDATE blobs SET text = replace(text, 'synthetic', 'official') WHERE sha256 = {STORIES}",
         {"texts", "bars"}),
        (f"UPDATE blobs SET text = '[{{' WHERE sha256 = {STORIES}", {"texts", "bars"}),
        (f"UPDATE blobs SET text = '7' WHERE sha256 = {STORIES}", {"texts", "bars"}),
        (f"UPDATE blobs SET text = replace(text, 'known_at_utc', 'known') WHERE sha256 = {STORIES}",
         {"texts", "bars"}),
        (f"UPDATE blobs SET text = replace(text, 'utc\":\"2025', 'utc\":\"x') WHERE sha256 = {STORIES}",
         {"texts", "bars"}),
        (f"DELETE FROM blobs WHERE sha256 = {STORIES}", {"bars"}),
        (f"UPDATE blobs SET text = replace(text, '\"value\":', '\"value\":1') WHERE sha256 = {FIGURES}",
         {"texts", "bars"}),
        (f"DELETE FROM blobs WHERE sha256 = {FIGURES}", {"bars"}),
        ("UPDATE contexts SET brief_sha256 = NULL", {"bars", "briefs"}),
        ("UPDATE contexts SET fundamentals_sha256 = NULL", {"bars"}),
        ("UPDATE contexts SET n_stories = n_stories + 1", {"contexts"}),
        ("UPDATE contexts SET brief = 'brief-0' WHERE brief IS NOT NULL", {"briefs"}),
        (f"UPDATE briefs SET content_json = 'null' WHERE brief = {BRIEF}", {"briefs"}),
        (f"DELETE FROM briefs WHERE brief = {BRIEF}", {"briefs"}),
        (f"UPDATE briefs SET prompt_sha256 = 'gone' WHERE brief = {BRIEF}", {"texts"}),
        (f"DELETE FROM brief_scores WHERE rule = 'coverage' AND brief = {BRIEF}", {"briefs"}),
    ],
)  # fmt: skip
def test_a_breach_is_found(played: Path, tmp_path: Path, sql: str, rules: set[str]) -> None:
    found = found_after(played, tmp_path, sql)
    assert {rule for level, rule in found if level == "breach"} == rules


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE articles SET title = 'Forged' WHERE story = (SELECT min(story) FROM articles)",
        "UPDATE articles SET text = text || ' Denied.'",
        "UPDATE articles SET known_at_utc = known_at_utc - INTERVAL 1 MINUTE",
        "DELETE FROM articles WHERE asset = 'ZORVANE'",
    ],
)
def test_a_story_without_its_article_is_a_warning(played: Path, tmp_path: Path, sql: str) -> None:
    """Nothing is decided on an article: the story that was read is in the context, under its hash."""
    assert found_after(played, tmp_path, sql) == {("warning", "articles")}


def test_a_lost_asset_is_named(played: Path, tmp_path: Path) -> None:
    found = found_after(played, tmp_path, "DELETE FROM assets WHERE asset = 'ZORVANE'")
    assert found == {("breach", "bars"), ("breach", "runs")}
