"""The Market page on `made_news_store`: every kind of day, and the numbers beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.core.rows import ReviewRow, WriteUnit
from arena.store.store import open_store
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_news_store import MADE, MODEL_RUN, NEWS_RUN, PRICES_RUN, august, brief_id, build
from tests.ui.made_store import HOSTILE

MARKET, EQUITY = "pages/results/market.py", "pages/results/equity.py"
Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _no_memory_of_other_copies() -> None:
    """Copies of one made store share its id, by which pages cache what they read."""
    st.cache_data.clear()


def open_page(file: str, **params: str) -> AppTest:
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    for name, value in params.items():
        app.query_params[name] = value
    app.switch_page(str(SHELL.parents[2] / file))
    app.run()
    assert not app.exception, app.exception[0].stack_trace
    return app


@pytest.fixture
def market(serve: Callable[[Path], None], tmp_path: Path) -> Visit:
    serve(build(tmp_path / "news.duckdb"))

    def visit(file: str = MARKET, **params: str) -> AppTest:
        return open_page(file, **params)

    return visit


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in app.markdown)


def texts(app: AppTest) -> list[str]:
    return [t.value for t in app.text]


def heads(app: AppTest) -> list[str]:
    return [h.value for h in app.header]


def table(app: AppTest, column: str) -> list:
    """The one table on the page that has the column, that column."""
    (found,) = [d.value for d in app.dataframe if column in d.value.columns]
    return found[column].tolist()


def titles(app: AppTest) -> list[str]:
    (stories,) = [d.value for d in app.dataframe if "flag" in d.value.columns]
    return stories["title"].tolist()


def test_the_newest_day_opens_with_its_brief_and_scores(market: Visit) -> None:
    app = market()
    assert app.title[0].value == "Market & news"
    assert "AAA · Sun 10 Aug 2025" in heads(app)
    words = said(app)
    for badge in ("▲ bullish +0.70", "extract, no model", "Synthetic news", "not reviewed"):
        assert badge in words
    # Scores of the 10th in made_news_store: 2 1 0 2.
    for badge in ("●● dates", "●○ coverage", "○○ bias", "●● diversity"):
        assert badge in words
    assert "3 stories from 5 items of 3 outlets" in words


def test_the_list_has_every_slot_with_its_state(market: Visit) -> None:
    app = market()
    days = next(d.value for d in app.dataframe if "news" in d.value.columns)
    assert [s.day for s in days["session"]] == [10, 9, 8, 7, 5, 4, 3, 2, 1]
    assert days["news"].tolist() == [
        "▲ bullish", "no story", "■ neutral", "▼ bearish", "sources failed", "▲ bullish", "▼ bearish",
        "■ neutral", "▲ bullish",
    ]  # fmt: skip
    # The 7th scores 1 1 1 1.
    assert days.iloc[3][["date_accuracy", "source_diversity"]].tolist() == ["●○", "●○"]
    assert days["coverage"].tolist()[4] == "–"


def test_a_day_comes_from_the_url(market: Visit) -> None:
    app = market(day="2025-08-03")
    assert "AAA · Sun 3 Aug 2025" in heads(app)
    assert "Summary of 2025-08-03." in texts(app)
    assert titles(app)[0] == "Story 0 of 2025-08-03"
    assert "AAA · Sun 10 Aug 2025" in heads(market(day="1999-01-01"))


def test_days_without_a_brief_say_which_kind(market: Visit) -> None:
    assert market(day="2025-08-05").warning[0].value.startswith("1 poll on that day, none answered")
    quiet = market(day="2025-08-09")
    assert "No story about AAA became known" in said(quiet)
    assert not quiet.warning
    failed = market(run=MODEL_RUN, day="2025-08-03")
    assert "lab/brief-1 made no brief of 3 stories (invalid_output)" in failed.error[0].value
    assert "three answers without a summary" in texts(failed)
    # The stories themselves were there, and agents read them.
    assert titles(failed)[0] == "Story 0 of 2025-08-03"


def test_a_models_brief_carries_its_name(market: Visit) -> None:
    words = said(market(run=MODEL_RUN, day="2025-08-02"))
    assert "lab/brief-1" in words
    assert "extract, no model" not in words
    assert "1 call, cost unknown" in words


def test_pins_name_the_move_the_turn_and_the_note(market: Visit) -> None:
    app = market()
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    pins = [t["customdata"][0] for t in figure["data"] if t["name"] == "pin"]
    # -9 % after 60 returns of +-1 %; the brief goes from -0.6 to +0.5 on the same day.
    assert pins[0].startswith("−9.0%, ")
    assert "news −0.6 to +0.5" in pins[0]
    assert pins[1].startswith("note: &lt;script>")
    closes = next(t for t in figure["data"] if t["name"] == "close")
    assert len(closes["x"]) == 10


def test_candles_are_another_drawing_of_the_same_sessions(market: Visit) -> None:
    app = market(mk_price="Candles")
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    assert (drawn["type"], len(drawn["x"])) == ("candlestick", 10)


def test_items_behind_the_stories_are_those_known_by_then(market: Visit) -> None:
    app = market(day="2025-08-03")
    # Three tellers of story 0 in time, one of each other; the fourth came an hour late.
    assert table(app, "origin") == ["files"] * 5
    assert "https://0.invalid/a" in table(app, "url")
    assert any("5 items behind the stories" in e.label for e in app.expander)


def test_hostile_texts_are_shown_as_text(market: Visit) -> None:
    app = market()
    assert f"{HOSTILE} summary" in texts(app)
    assert titles(app)[0] == f"{HOSTILE} 0"
    assert table(app, "flag") == ["", "⚑", ""]
    assert set(table(app, "url")) == {"javascript:alert(1)"}
    for body in (m.value for m in app.markdown):
        # No image, link or tag of theirs is left in what is rendered as Markdown.
        assert "![x]" not in body.replace("\\!\\[", "")
        assert "](http" not in body.replace("\\]", "")
        assert "<script" not in body.replace("\\<", "")
    assert [c for d in app.dataframe for c in d.value.columns if c == "link"] == []


def test_sources_tell_their_state_and_why_items_stayed_out(market: Visit) -> None:
    app = market()
    health = next(d.value for d in app.dataframe if "refused" in d.value.columns).set_index("source")
    assert health["status"].to_dict() == {
        "edgar": "✕ failed", "finnhub": "◔ limited", "rss:one": "ok"
    }  # fmt: skip
    assert health.loc["rss:one", "refused"] == "duplicate 3, no date 2"
    assert health.loc["finnhub", "answered"] == "never"
    assert health.loc["finnhub", "wait"] == 90
    assert health.loc["edgar", "error"] == f"{HOSTILE} 503"
    assert health.loc["edgar", "answered"].endswith(" ago")


def test_price_checks_are_listed(market: Visit) -> None:
    app = market()
    assert table(app, "kind") == ["gap"]
    assert "gap 1" in said(app)


def test_a_run_without_news_says_so(market: Visit) -> None:
    app = market(run=PRICES_RUN)
    assert "no story and no brief" in app.info[0].value
    assert not [d for d in app.dataframe if "news" in d.value.columns]
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert {t["name"] for t in figure["data"]} >= {"close", "volume"}
    assert "yaxis3" not in figure["layout"]


def test_an_asset_without_news_says_so(market: Visit) -> None:
    app = market(mk_asset="SSS")
    assert app.info[0].value.startswith("No story about SSS was known at any of the 9 slots")


def review(brief: str, who: str, scores: tuple[int, int, int, int], *, rejected: bool = False) -> ReviewRow:
    return ReviewRow(brief, who, 0, *scores, rejected, "", MADE)


@pytest.fixture
def reviewed(serve: Callable[[Path], None], tmp_path: Path) -> Visit:
    """Four briefs that Ann and Bob scored; a fifth by Ann alone, which she rejects."""
    path = build(tmp_path / "reviewed.duckdb")
    briefs = [brief_id("digest", august(d)) for d in (1, 2, 3, 4)]
    ann = [(2, 2, 2, 0), (2, 1, 2, 1), (2, 1, 1, 2), (2, 0, 2, 2)]
    bob = [(2, 2, 2, 2), (2, 1, 1, 1), (2, 0, 1, 0), (2, 0, 2, 2)]
    rows = [review(b, "Ann", s) for b, s in zip(briefs, ann, strict=True)]
    rows += [review(b, "Bob", s) for b, s in zip(briefs, bob, strict=True)]
    rows.append(review(brief_id("digest", august(8)), "Ann", (0, 0, 0, 0), rejected=True))
    with open_store(path) as store:
        store.write([WriteUnit(tuple(rows))])
    serve(path)

    def visit(file: str = MARKET, **params: str) -> AppTest:
        return open_page(file, **params)

    return visit


def test_agreement_and_kappa_of_two_reviewers(reviewed: Visit) -> None:
    """By hand, four briefs:

    dates      all twos: 100 %, no kappa (one category).
    coverage   Ann 2 1 1 0, Bob 2 1 0 0: 75 %; p_e = (1*1 + 2*1 + 1*2) / 16 = 5/16;
               kappa = (3/4 - 5/16) / (11/16) = 7/11 = 0.64.
    bias       Ann 2 2 1 2, Bob 2 1 1 2: 75 %; p_e = (3*2 + 1*2) / 16 = 1/2; kappa = 0.5.
    diversity  Ann 0 1 2 2, Bob 2 1 0 2: 50 %; p_e = (1*1 + 1*1 + 2*2) / 16 = 3/8;
               kappa = (1/2 - 3/8) / (5/8) = 0.2.
    """
    app = reviewed()
    found = next(d.value for d in app.dataframe if "kappa" in d.value.columns).set_index("rule")
    assert found["n"].tolist() == [4, 4, 4, 4]
    assert found["agree"].tolist() == [100.0, 75.0, 75.0, 50.0]
    assert found["kappa"].tolist() == ["– one score only", "0.64", "0.50", "0.20"]
    apart = next(d.value for d in app.dataframe if "a" in d.value.columns)
    # Two of diversity by 2 come first, then coverage and bias by 1.
    assert apart["rule"].tolist() == ["diversity", "diversity", "coverage", "bias"]
    assert "Ann 5 of 9" in said(app)


def test_a_rejected_brief_shows_beside_what_read_it(reviewed: Visit) -> None:
    app = reviewed(day="2025-08-08")
    words = said(app)
    assert "Brief rejected in review" in words
    assert "1 decision read a rejected brief" in words
    assert "reviewed by 1 of 2" in words
    days = next(d.value for d in app.dataframe if "news" in d.value.columns)
    assert days["news"].tolist()[2] == "⊘ rejected"
    tape = reviewed(EQUITY, eq_asset="AAA", run=NEWS_RUN)
    assert "1 decision read a rejected brief" in said(tape)
    drawn = json.loads(tape.get("plotly_chart")[1].proto.spec)
    notes = [words for t in drawn["data"] for _, words, _ in t.get("customdata", [])]
    assert sorted(notes) == [""] * 8 + [", read a rejected brief"]


def test_a_viewer_is_told_how_writing_is_switched_on(market: Visit) -> None:
    # The service of tests opens the store for reading only: that comes before the token.
    words = said(market())
    assert "cannot score briefs" in words
    assert not market().text_input


def test_with_a_runner_the_token_opens_the_forms(
    serve: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_RUNNER", "on")
    path = build(tmp_path / "owned.duckdb")
    monkeypatch.setattr("arena.runner.service.recorded_runs", list)
    serve(path)
    assert "`ARENA_ADMIN_TOKEN`" in said(open_page(MARKET))
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "geheim")
    app = open_page(MARKET)
    assert [t.label for t in app.text_input] == ["Token of the host, to score briefs"]
    app.text_input[0].set_value("geheim").run()
    assert "Your name" in [t.label for t in app.text_input]
    app.text_input(key="note_text_0").set_value(f"{HOSTILE} halving")
    app.text_input(key="note_by").set_value("host")
    next(b for b in app.button if b.label == "Add note").click().run()
    assert not app.exception
    assert not app.error, app.error[0].value
    assert f"{HOSTILE} halving" in texts(app)
    # A new, empty form; what was given to the old one is not sent again.
    assert app.text_input(key="note_text_1").value == ""
    # A name that cannot be taken is refused before anything is scored under it.
    app.text_input(key="reviewer").set_value("An\u200bn").run()
    assert "Type it as \\`Ann\\`" in app.error[0].value
    assert not [b for b in app.button if b.label == "Save scores"]
