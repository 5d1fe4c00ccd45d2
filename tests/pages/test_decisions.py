"""The Decisions page on `made_talk_store`: the list, one decision in full, search, and bad addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.store.store import open_store
from arena.ui import decision_queries
from arena.ui.decision_detail import verdict
from arena.ui.decisions import chosen_by
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_store import HOSTILE
from tests.ui.made_talk_store import BIG_CHARS, IDS, LONG_WORD, NEEDLE, TALK_RUN, build

PAGE = "pages/results/decisions.py"
PLACE = {"run": TALK_RUN, "entry": "trade@m-one", "asset": "AAA"}
Visit = Callable[..., AppTest]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("talk") / "talk.duckdb")


@pytest.fixture
def visit(serve: Callable[[Path], None], talk: Path) -> Visit:
    st.cache_data.clear()
    serve(talk)

    def opened(**params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        for name, value in {**PLACE, **params}.items():
            app.query_params[name] = value
        app.switch_page(str(SHELL.parents[2] / PAGE))
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return opened


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.text, app.code, app.header, app.metric)
    return "\n".join(str(e.value) for kind in kinds for e in kind)


def parameter(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if set(columns) <= set(d.value.columns))


def listed(app: AppTest) -> pd.DataFrame:
    return table(app, "session", "action", "next", "status")


def test_the_list_has_every_slot_and_its_next_move(visit: Visit) -> None:
    rows = listed(visit())
    assert list(rows["action"]) == ["▲ BUY", "□ HOLD", "▼ SELL", "▲ BUY", "▲ BUY"]
    assert list(rows["status"]) == ["ok", "timeout", "repaired", "ok", "warm-up"]
    # 14/13, 13/12, 12/11 and 11/10, less one, in percent; the newest has no later close.
    assert rows["next"].tolist()[1:] == [7.7, 8.3, 9.1, 10.0]
    assert pd.isna(rows["next"].iloc[0])


SHOWN = {
    # On 3 August long became short, on the 4th short became flat, and so on: warm-up apart, all.
    ("flips",): ["2025-08-05", "2025-08-04", "2025-08-03", "2025-08-02"],
    ("failed",): ["2025-08-04"],
    ("large loss",): ["2025-08-03"],
    ("repaired",): ["2025-08-03"],
    ("BUY", "SELL"): ["2025-08-05", "2025-08-03", "2025-08-02", "2025-08-01"],
    ("BUY", "flips"): ["2025-08-05", "2025-08-02"],
    ("warm-up",): ["2025-08-01"],
    ("failed", "warm-up"): [],
}


def test_filters(talk: Path) -> None:
    with open_store(talk, read=True) as store:
        made = decision_queries.listing.__wrapped__(("", 0), store, TALK_RUN, IDS[0].rsplit(":", 1)[0])
    for show, slots in SHOWN.items():
        assert list(chosen_by(made, show)["slot_key"]) == slots, show


def test_filters_are_in_the_address(visit: Visit) -> None:
    rows = listed(visit(show=["BUY", "flips"]))
    assert [d.isoformat()[:10] for d in rows["session"]] == SHOWN["BUY", "flips"]


def test_a_move_of_just_the_limit_is_a_large_loss() -> None:
    made = pd.DataFrame(
        {"side_after": [1, 1, -1, 0], "next_return": [-0.03, -0.0299, 0.03, -0.5], "status": "ok", "action": "BUY"}
    )
    assert chosen_by(made, ["large loss"]).index.size == 2


def test_one_decision_in_full(visit: Visit) -> None:
    app = visit(slot="2025-08-02")
    assert [h.value for h in app.header] == [
        "AAA · Sat 2 Aug 2025", "What the agent saw", "What the roles said", "Decision and outcome",
        "Other agents, same slot",
    ]  # fmt: skip
    said = words(app)
    for part in ("Buyers are spot.", "Two days are no trend.", "Spot-led inflow outweighs risk.", "n-04",
                 "agreed with BUY", "Told of its last 1 decision"):  # fmt: skip
        assert part in said
    metrics = {m.label: m.value for m in app.metric}
    assert metrics["Calls"] == "11"
    assert metrics["AAA, close to close 3 Aug 2025"] == "+9.1%"
    position = table(app, "what", "before", "after").set_index("what")
    assert position.loc["Side"].tolist() == ["■ flat", "▲ long"]
    assert position.loc["Equity", "before"] == "$101,000"


def test_a_failure_says_why_and_is_no_opinion(visit: Visit) -> None:
    app = visit(slot="2025-08-04")
    assert app.error[0].value.startswith("reason of day 3. It acts as HOLD")
    said = words(app)
    assert "□ HOLD · timeout" in said
    assert "no answer in 60 s" in said
    assert "no opinion to compare" in said


def test_warm_up_is_labelled_and_trades_on_no_account(visit: Visit) -> None:
    said = words(visit(slot="2025-08-01"))
    assert "Warm-up: counts nowhere" in said
    assert "Warm-up trades on no account" in said


@pytest.mark.parametrize(
    ("action", "status", "move", "said"),
    [
        ("BUY", "ok", 0.01, "agreed with BUY"), ("BUY", "ok", -0.01, "against BUY"),
        ("SELL", "repaired", -0.01, "agreed with SELL"), ("SELL", "ok", 0.01, "against SELL"),
        ("HOLD", "ok", 0.2, "HOLD takes no side"), ("BUY", "ok", 0.0, "unchanged"),
        ("HOLD", "timeout", 0.2, "no opinion to compare"), ("HOLD", "missed", 0.2, "no opinion to compare"),
    ],
)  # fmt: skip
def test_what_the_next_session_says(action: str, status: str, move: float, said: str) -> None:
    assert verdict(action, status, move)[0] == said


def test_previous_and_next_follow_the_filtered_list(visit: Visit) -> None:
    app = visit(slot="2025-08-04", show=["failed", "flips"])
    assert app.button(key="a_Previous").disabled
    assert app.button(key="a_Next").disabled
    app = visit(slot="2025-08-03")
    app.button(key="a_Previous").click().run()
    assert parameter(app, "slot") == "2025-08-02"
    assert app.header[0].value == "AAA · Sat 2 Aug 2025"
    app.button(key="a_Next").click().run()
    assert app.header[0].value == "AAA · Sun 3 Aug 2025"


def test_the_same_slot_of_another_agent(visit: Visit) -> None:
    app = visit(slot="2025-08-03")
    other = IDS[2].replace(":trade@", ":hedge@")
    app.button(key=f"open_{other}").click().run()
    assert not app.exception
    assert parameter(app, "entry") == "hedge@m-one"
    assert app.selectbox(key="de_entry").value == "hedge@m-one"
    assert app.header[0].value == "AAA · Sun 3 Aug 2025"
    assert "No role was asked" in words(app)


def test_two_decisions_side_by_side(visit: Visit) -> None:
    other = IDS[2].replace(":trade@", ":hedge@")
    app = visit(slot="2025-08-02", compare=other)
    heads = [h.value for h in app.header]
    assert heads.count("What the roles said") == 2
    assert {"AAA · Sat 2 Aug 2025", "AAA · Sun 3 Aug 2025"} <= set(heads)
    next(b for b in app.button if b.label == "Close comparison").click().run()
    assert "compare" not in app.query_params
    assert [h.value for h in app.header].count("What the roles said") == 1


def test_search_finds_a_word_of_an_answer_and_opens_it(visit: Visit) -> None:
    app = visit(q=NEEDLE)
    found = table(app, "place", "text")
    assert found["place"].tolist() == ["answer, bear"]
    assert "1 decision" in words(app)
    assert "Nothing in the prompts" in words(visit(q="nowhere at all"))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"run": "replay-none-e1"}, "asks for run replay-none-e1"),
        ({"entry": "nobody@m-one"}, "There are: hedge@m-one, trade@m-one"),
        ({"asset": "ZZZ"}, "There are: AAA"),
        ({"slot": "1999-01-01"}, "slots from 2025-08-01 to 2025-08-05"),
        ({"slot": HOSTILE}, "No decision at"),
        ({"slot": "2025-08-02", "compare": "rubbish"}, "holds no decision rubbish"),
    ],
)
def test_addresses_that_name_nothing(visit: Visit, params: dict[str, str], said: str) -> None:
    app = visit(**params)
    told = " ".join(str(e.value) for e in (*app.warning, *app.error)).replace("\u2060", "")
    assert said in told
    assert "](http" not in told.replace("\\]", "")
    assert any(h.value == "What the roles said" for h in app.header)


def test_filters_that_leave_nothing(visit: Visit) -> None:
    app = visit(show=["HOLD", "warm-up"])
    assert any("No decision passes" in m.value for m in app.markdown)
    next(b for b in app.button if b.label == "Show all").click().run()
    assert len(listed(app)) == 5


def test_hostile_texts_stay_texts(visit: Visit) -> None:
    app = visit(slot="2025-08-05")
    assert HOSTILE in [t.value for t in app.text]
    for element in (*app.markdown, *app.error, *app.warning):
        assert "![x](http" not in element.value
    cut = next(t.value for t in app.text if t.value.startswith("WWW"))
    assert len(cut) < 1_000 < len(LONG_WORD)
    assert any("20,000 characters in all" in m.value for m in app.markdown)


def test_texts_of_calls_are_not_kept_in_the_cache(visit: Visit) -> None:
    visit(slot="2025-08-05")
    from arena.runner import service
    from arena.ui import queries

    store = service.ensure_started().store
    assert store is not None
    doc = decision_queries.document(queries.version(store), store, IDS[4])
    assert doc is not None
    assert doc["calls"][-1]["answer_chars"] == BIG_CHARS
    assert len(json.dumps(doc, default=str)) < 60_000
    assert len(json.loads(decision_queries.whole(store, IDS[4]))["calls"][-1]["answer"]) == BIG_CHARS
