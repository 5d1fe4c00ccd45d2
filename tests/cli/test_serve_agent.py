"""serve-agent and check-agent: a real server on loopback, and requests of every kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agents.external import load_file
from arena.agents.vanilla import Vanilla
from arena.cli.admission import Candidate, _scaled, check_agent, examine, make_samples
from arena.cli.serving import make_served
from arena.core.errors import ConfigError
from arena.llm.budgeted import Budget
from arena.llm.registry import get_model
from tests.agents.remote.support import desk, market, remote, served, stories
from tests.cli.serving import serving

GUESSER = '''
from arena.agents.base import Agent
from arena.core.actions import Intent, Status

class Guesser(Agent):
    id = "guesser"
    label = "Guesser"
    n = 0

    async def decide(self, desk):
        {body}
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a served Vanilla."""
    with serving(tmp_path_factory.mktemp("served"), "vanilla", "offline/trend,offline/contrarian") as url:
        yield url


def test_on_loopback_as_in_process(server: str) -> None:
    """With `arena/2` every decision is that of the agent in process; with the paper's it is one of eleven bars."""
    for model_id in ("offline/trend", "offline/contrarian"):
        model = get_model(model_id)
        full = remote(None, url=server, protocol="arena/2", models=[model_id])
        paper = remote(None, url=server.rstrip("/"), models=[model_id])
        for growth in (0.99, 1.0, 1.01):
            context = market([100.0 * growth**i + (i * 7) % 3 for i in range(260)], stories=stories())
            here = asyncio.run(Vanilla().decide(desk(context, model)))
            there = asyncio.run(full.decide(desk(context, model)))
            assert (there.intent, there.status, there.reason, there.conviction) == (
                here.intent, here.status, here.reason, here.conviction,
            )  # fmt: skip
            assert there.calls[1].prompt == here.calls[0].prompt
            short = asyncio.run(paper.decide(desk(context, model)))
            assert short.status == "ok"
            assert short.calls[0].params["outcome"] == "ok"


def test_who_is_there(server: str) -> None:
    base = server.removesuffix("/trading_action/")
    about = httpx.get(base).json()
    assert (about["agent"], about["protocols"]) == ("vanilla", ["ama/1", "arena/2"])
    assert about["models"] == ["offline/trend", "offline/contrarian"]
    assert httpx.get(f"{base}/health").json() == {"status": "ok"}
    assert httpx.get(server).status_code == 405


def test_check_agent_of_an_url(server: str, arena: Callable[..., Any]) -> None:
    done = arena("check-agent", server, "--protocol", "arena/2", "--slots", "2", "--json")
    assert done.code == 0, done.err
    levels = {f["check"]: f["level"] for f in done.json}
    assert levels.pop("address") == "note"
    assert levels.pop("variety") in ("ok", "note")
    assert levels == dict.fromkeys(
        ("answers", "timing", "repeatable", "sealed input", "price scale", "extra keys"), "ok"
    )


PAPER: dict[str, Any] = {
    "date": "2025-01-15", "price": {"TSLA": 250.5}, "symbol": ["TSLA"], "10k": None, "10q": None,
    "news": {"TSLA": ["New milestone"]}, "momentum": {"TSLA": "bullish"},
    "history_price": {"TSLA": [{"date": "2025-01-13", "price": 249.1}, {"date": "2025-01-14", "price": 250.3}]},
}  # fmt: skip
JSON = {"content-type": "application/json"}


def ask(body: bytes, path: str = "/trading_action/", headers: dict[str, str] = JSON) -> httpx.Response:
    """One request to the application itself; an exception in it would be raised here."""

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=served(Vanilla()), base_url="http://x") as client:
            return await client.post(path, content=body, headers=headers)

    return asyncio.run(send())


@pytest.mark.parametrize("path", ["/trading_action/", "/trading_action", "/competition_action/", "/competition_action"])
def test_paths(path: str) -> None:
    reply = ask(json.dumps(PAPER).encode(), path)
    assert reply.status_code == 200
    assert reply.json()["recommended_action"] in ("BUY", "HOLD", "SELL")
    assert reply.json()["model"] == "offline/trend"
    assert len(reply.content) < 64 * 1024


@pytest.mark.parametrize(
    ("body", "headers", "status", "said"),
    [
        (b"{}", JSON, 422, "`date`"),
        (b"not json", JSON, 422, "not JSON"),
        (b"[]", JSON, 422, "no JSON object"),
        (b"[" * 200_000, JSON, 422, "nested"),
        (b'{"date": "2025-01-15"}', JSON, 400, "`symbol`"),
        (b'{"date": "9999-12-31", "price": {"A": 1}}', JSON, 422, "`date`"),
        (b'{"date": "2025-01-15", "price": {"A": "x"}}', JSON, 422, "`price.A`"),
        (b'{"date": "2025-01-15", "price": {"A": 1}, "model": "gpt"}', JSON, 422, "not served"),
        (b'{"date": "2025-01-15", "arena": {"protocol": "arena/2"}}', JSON, 422, "`market_hash`"),
        (json.dumps(PAPER).encode(), {"content-type": "text/plain"}, 415, "application/json"),
        (json.dumps(PAPER).encode(), {}, 415, "application/json"),
        (b" " * (8 * 1024 * 1024 + 1), JSON, 413, "longer"),
    ],
)
def test_refusals_say_what_is_wrong(body: bytes, headers: dict[str, str], status: int, said: str) -> None:
    reply = ask(body, headers=headers)
    assert reply.status_code == status
    assert said in reply.json()["detail"]


def test_altered_contexts_are_refused() -> None:
    agent = remote(None, protocol="arena/2")
    good = agent.request(desk(market(stories=stories())))
    assert ask(json.dumps(good).encode()).status_code == 200
    changes: list[Callable[[Any], Any]] = [
        lambda a: a["context"]["bars"][0].__setitem__(4, 1.0),
        lambda a: a["context"]["stories"][0].__setitem__("title", "x"),
        lambda a: a["view"].__setitem__("side", 1),
        lambda a: a.__setitem__("market_hash", "0" * 64),
    ]
    for change in changes:
        altered = json.loads(json.dumps(good))
        change(altered["arena"])
        reply = ask(json.dumps(altered).encode())
        assert reply.status_code == 422
        assert "hash" in reply.json()["detail"]
    later = json.loads(json.dumps(good))
    later["arena"]["context"]["bars"][-1][6] = "2025-09-01T00:00:00+00:00"
    assert "look-ahead" in ask(json.dumps(later).encode()).json()["detail"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["A", "B", "date", "price"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
GOOD_2 = json.loads(json.dumps(remote(None, protocol="arena/2").request(desk(market([100.0, 101.0, 99.0])))))


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """A request with some of its values replaced, dropped or added; of either protocol."""
    document = json.loads(json.dumps(draw(st.sampled_from([PAPER, GOOD_2]))))
    for _ in range(draw(st.integers(1, 4))):
        at: Any = document
        while True:
            key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
            if not at[key] or not isinstance(at[key], dict | list) or draw(st.booleans()):
                break
            at = at[key]
        if isinstance(at, dict) and len(at) > 1 and draw(st.booleans()):
            del at[key]
        else:
            at[key] = draw(json_values)
    return json.dumps(document).encode()


@given(st.binary(max_size=100) | json_values.map(lambda v: json.dumps(v).encode()) | requests())
@settings(max_examples=400)
def test_no_request_breaks_the_server(body: bytes) -> None:
    reply = ask(body)
    assert reply.status_code in (200, 400, 422)
    if reply.status_code == 200:
        assert reply.json()["recommended_action"] in ("BUY", "HOLD", "SELL")
    else:
        assert set(reply.json()) == {"detail"}
        assert "Traceback" not in reply.text


def test_command_line_refuses(arena: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("class A(:\n", encoding="utf-8")
    done = arena("serve-agent", "--file", tmp_path / "bad.py")
    assert done.code == 2
    assert "bad.py line 1: SyntaxError" in done.err
    assert "Traceback" not in done.err
    with pytest.raises(ConfigError, match="either --agent NAME or --file PATH"):
        make_served("vanilla", tmp_path / "bad.py", ("offline/trend",), Budget())
    with pytest.raises(ConfigError, match="Unknown model `offline/tend`"):
        make_served("vanilla", None, ("offline/tend",), Budget())
    with pytest.raises(ConfigError, match="no http"):
        check_agent("http://")


def check(tmp_path: Path, body: str, **limits: float) -> dict[str, tuple[str, str]]:
    path = tmp_path / "guesser.py"
    path.write_text(GUESSER.format(body=body), encoding="utf-8")
    candidate = Candidate(load_file(path), lambda _: get_model("offline/trend"), limits.get("timeout_s", 9), path)
    return {f.check: (f.level, f.text) for f in asyncio.run(examine(candidate, make_samples(2)))}


def test_check_agent_of_files(tmp_path: Path, root: Path) -> None:
    decision = "return desk.decision({}, Status.OK, '')"
    steady = check(tmp_path, decision.format("Intent.HOLD"))
    assert {k: v for k, (v, _) in steady.items()} == {
        "loads": "ok", "answers": "ok", "timing": "ok", "repeatable": "ok", "sealed input": "ok",
        "price scale": "ok", "variety": "note",
    }  # fmt: skip
    assert "HOLD" in steady["variety"][1]
    fickle = check(tmp_path, "self.n += 1; " + decision.format("(Intent.LONG, Intent.SHORT, Intent.FLAT)[self.n % 3]"))
    assert fickle["repeatable"][0] == fickle["sealed input"][0] == "note"
    scaled = check(tmp_path, decision.format("Intent.LONG if desk.context.price < 400 else Intent.SHORT"))
    assert scaled["price scale"][0] == "note"
    slow = check(tmp_path, "import time; time.sleep(0.02); " + decision.format("Intent.LONG"), timeout_s=0.01)
    assert slow["timing"][0] == "FAIL"
    broken = check(tmp_path, "return 1 / 0")
    assert broken["answers"][0] == "FAIL"
    assert "guesser.py line 11: ZeroDivisionError" in broken["answers"][1]
    assert check(tmp_path, "return 'BUY'")["answers"] == (
        "FAIL", "4 of 4 slots without an answer; the first: decide returned str, not a Decision",
    )  # fmt: skip


def test_an_agent_that_sees_later_prices_is_kept_out(tmp_path: Path) -> None:
    """It can see them only if the sealed context carries them, which is what the check would notice."""
    samples = make_samples(2)
    assert all(s.market.market_hash == s.poisoned.market_hash for s in samples)
    leaking = [type(s)(s.market, market()) for s in samples]
    candidate = Candidate(Vanilla(), lambda _: get_model("offline/trend"), 9)
    findings = {f.check: f.level for f in asyncio.run(examine(candidate, leaking))}
    assert findings["sealed input"] == "FAIL"


def test_samples_are_spread_over_both_classes() -> None:
    samples = make_samples(4)
    kinds = [s.market.asset.asset_class for s in samples]
    assert kinds == ["stock"] * 4 + ["crypto"] * 4
    days = [s.market.session for s in samples[:4]]
    assert days == sorted(set(days))
    assert (days[-1] - days[0]).days > 150
    assert all(date(2025, 5, 5) <= d <= date(2025, 12, 19) for d in days)
    assert sum(len(s.market.stories) > 0 and s.market.brief is not None for s in samples) >= 4
    assert [bool(s.market.fundamentals) for s in samples] == [True] * 4 + [False] * 4, "a coin files nothing"


def test_an_agent_that_cannot_read_news_is_kept_out(tmp_path: Path) -> None:
    findings = check(tmp_path, "return desk.context.brief['tone']")
    assert findings["answers"][0] == "FAIL"
    assert "KeyError" in findings["answers"][1] or "TypeError" in findings["answers"][1]


def test_another_unit_of_money_moves_prices_and_figures_alike() -> None:
    market = make_samples(1)[0].market
    scaled = _scaled(market)
    assert scaled.price == 8 * market.price
    for before, after in zip(market.fundamentals, scaled.fundamentals, strict=True):
        factor = 1 if before["field"] in ("shares", "tax_rate", "beta") else 8
        assert after["value"] == factor * before["value"] or "insider" in before["field"]


def test_a_listed_file_plays_a_replay(arena: Callable[..., Any], tmp_path: Path, root: Path) -> None:
    (tmp_path / "agents.toml").write_text(
        f'[[agent]]\nid = "moving_average"\npath = "{root / "docs/examples/moving_average.py"}"\n'
        '[[agent]]\nid = "bad"\npath = "bad.py"\n', encoding="utf-8",
    )  # fmt: skip
    (tmp_path / "bad.py").write_text("class A(:\n", encoding="utf-8")
    words = ("replay", "--data", "sample", "--assets", "ZORVANE", "--models", "offline/trend", "--start",
             "2025-08-01", "--end", "2025-08-08", "--store", tmp_path / "a.duckdb", "--json")  # fmt: skip
    at = {"ARENA_AGENTS": str(tmp_path / "agents.toml")}
    done = arena(*words, "--agents", "moving_average,vanilla", **at)
    assert done.code == 0, done.err
    # six sessions from Friday to Friday, two agents
    assert (done.json["n_decisions"], done.json["n_failed"]) == (12, 0)
    refused = arena(*words, "--agents", "bad", **at)
    assert refused.code == 2
    assert "Agent `bad` could not be loaded: bad.py line 1: SyntaxError" in refused.err
