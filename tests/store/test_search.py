"""Words in prompts, answers and reasons: where they are found, what is found first, and limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

import arena.store.search as module
from arena.core.errors import ConfigError
from arena.store.search import MAX_CHARS, Found, search
from arena.store.store import Store, open_store
from tests.ui.made_store import build as build_boards
from tests.ui.made_talk_store import IDS, MODELS_RUN, NEEDLE, TALK_RUN, build, decisions


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = build(tmp_path_factory.mktemp("search") / "talk.duckdb")
    with open_store(path, read=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = build_boards(tmp_path_factory.mktemp("small") / "made.duckdb")
    with open_store(path, read=True) as opened:
        yield opened


def places(found: Found) -> list[tuple[str, str, str]]:
    return [(h.decision, h.place, h.role) for h in found.hits]


def test_an_answer_is_found_whatever_the_case(store: Store) -> None:
    found = search(store, TALK_RUN, NEEDLE.upper())
    assert places(found) == [(IDS[1], "answer", "bear")]
    assert "Quixotic Heron" in found.hits[0].snippet
    assert (found.more, found.complete) == (False, True)


def test_the_best_place_of_a_decision_counts(store: Store) -> None:
    # "day 2" stands in the reason of the third decision alone; "prompt 1 of" in prompts alone.
    assert places(search(store, TALK_RUN, "of day 2")) == [(IDS[2], "reason", "")]
    first = search(store, TALK_RUN, f"prompt 1 of {IDS[1]}")
    assert places(first) == [(IDS[1], "prompt", "market_analyst")]


def test_reasons_stand_before_answers_and_newer_before_older(store: Store) -> None:
    found = search(store, TALK_RUN, "tracker.invalid")
    assert found.hits[0].place == "reason"
    assert [h.place for h in found.hits] == sorted((h.place for h in found.hits), key=["reason", "answer", "prompt"].index)
    same = [h.session for h in found.hits if h.place == "reason"]
    assert same == sorted(same, reverse=True)


@pytest.mark.parametrize("words", ["%", "A_A", ".*", "[sys.em]", "(", "\\d", "a|b"])
def test_signs_of_patterns_mean_themselves(store: Store, words: str) -> None:
    texts = {row.decision: row.reason for row, _ in decisions()}
    for row, steps in decisions():
        for seq, step in enumerate(steps):
            prompt = f"[system]\nYou are {step[1]}.\n\n[user]\nprompt {seq} of {row.decision}" if step[0] == "model" else ""
            texts[row.decision] += f"\0{prompt}\0{step[3]}"
    wanted = {d for d, text in texts.items() if words.lower() in text.lower()}
    found = {h.decision for h in search(store, TALK_RUN, words).hits}
    assert found & set(texts) == wanted


@given(some.text(alphabet=some.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20))
def test_any_words_are_words(small: Store, words: str) -> None:
    if words.strip():
        found = search(small, None, words, limit=3)
        assert found.complete
        assert len(found.hits) <= 3


def test_a_run_bounds_it(store: Store) -> None:
    assert search(store, MODELS_RUN, NEEDLE).hits == ()
    assert len(search(store, None, NEEDLE).hits) == 1
    every = {h.decision.split(":")[0] for h in search(store, None, "tracker", limit=500).hits}
    assert {MODELS_RUN, TALK_RUN} <= every


def test_rows_are_bounded_and_say_so(store: Store) -> None:
    found = search(store, None, "tracker", limit=4)
    assert (len(found.hits), found.more) == (4, True)


@pytest.mark.parametrize("words", ["tracker", "prompt", "a"])
def test_a_limit_cuts_the_same_list_wherever_a_place_ends(store: Store, words: str) -> None:
    every = search(store, None, words, limit=500).hits
    assert len({h.decision for h in every}) == len(every) > 3
    for limit in range(1, len(every) + 1):
        assert search(store, None, words, limit) == Found(every[:limit], more=limit < len(every), complete=True)


def test_a_snippet_of_an_endless_word_is_short(store: Store) -> None:
    (hit,) = search(store, TALK_RUN, "W" * 150).hits
    assert len(hit.snippet) <= 60 + 150 + 140


def test_a_scan_past_its_time_is_broken_off_and_harms_nobody(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = (
        "SELECT count(*) FROM range(1000000000000) t(i) WHERE hash(i) = 1 AND $pattern <> '' "
        "AND $most > 0 AND $run IS NULL AND len($known) = 0"
    )
    with monkeypatch.context() as slow:
        slow.setattr(module, "_BEST", endless)
        began = time.monotonic()
        assert search(store, None, "x", timeout_s=0.2) == Found((), more=False, complete=False)
        assert time.monotonic() - began < 5.0
    assert search(store, TALK_RUN, NEEDLE).hits


@pytest.mark.parametrize("words", ["", "  \n", "x" * (MAX_CHARS + 1)])
def test_no_words_and_too_many_are_refused(store: Store, words: str) -> None:
    with pytest.raises(ConfigError, match=f"1 to {MAX_CHARS}"):
        search(store, None, words)


def test_paths_are_not_read(store: Store, tmp_path: Path) -> None:
    assert search(store, None, f"'; ATTACH '{tmp_path}/x.duckdb'; --").hits == ()
    assert not list(tmp_path.iterdir())
