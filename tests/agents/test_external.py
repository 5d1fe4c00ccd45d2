"""Agents from outside: files, packages and URLs; what cannot be loaded says why and stops nobody else."""

from __future__ import annotations

import asyncio
import os
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from arena.agents import registry
from arena.agents.base import Agent
from arena.agents.external import load_file, load_outside
from arena.agents.registry import agent_origin, broken_agents, get_agent, known_agents
from arena.agents.remote.agent import RemoteAgent
from arena.core.actions import Intent, Status
from arena.core.errors import ConfigError, InvariantError, UnknownNameError
from arena.core.hashing import sha256_text
from tests.agents.remote.support import desk, market

GOOD = '''
from arena.agents.base import Agent
from arena.core.actions import Intent, Status

class Mine(Agent):
    id = "mine"
    label = "Mine"

    async def decide(self, desk):
        return desk.decision(Intent.LONG, Status.OK, "always")
'''


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a list of agents, with files beside it, and make it the arena's."""

    def write(text: str, **files: str) -> Path:
        for name, body in files.items():
            (tmp_path / f"{name}.py").write_text(body, encoding="utf-8")
        path = tmp_path / "agents.toml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv("ARENA_AGENTS", str(path))
        return path

    return write


def entry(id: str, path: str) -> str:
    return f'[[agent]]\nid = "{id}"\npath = "{path}"\n'


def test_the_example_decides_by_its_mean(root: Path) -> None:
    agent = load_file(root / "docs/examples/moving_average.py")

    def decide(closes: list[float]) -> Any:
        return asyncio.run(agent.decide(desk(market(closes))))

    # mean of 49 x 100 and 200 is 102; 200 / 102 - 1 = 96.08 %
    up = decide([1.0] * 9 + [100.0] * 49 + [200.0])
    assert (up.intent, up.reason) == (Intent.LONG, "+96.08% from the 50-session mean.")
    # mean of 49 x 100 and 50 is 99; 50 / 99 - 1 = -49.49 %
    assert decide([100.0] * 49 + [50.0]).intent is Intent.SHORT
    assert decide([100.0] * 50).intent is Intent.FLAT
    short = decide([100.0] * 49)
    assert (short.intent, short.status) == (Intent.KEEP, Status.NO_DATA)
    assert [c.parsed for c in up.calls] == [{"gap_frac": 200 / 102 - 1}]


def test_the_agent_in_the_docs_works(root: Path, tmp_path: Path) -> None:
    text = (root / "docs/adding-an-agent.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(code) == 1
    (tmp_path / "mine.py").write_text(code[0], encoding="utf-8")
    got = asyncio.run(load_file(tmp_path / "mine.py").decide(desk()))
    assert (got.intent, got.reason) == (Intent.LONG, "It always is.")


def test_a_listed_file_is_an_agent_like_others(listed: Any) -> None:
    listed(entry("mine", "mine.py"), mine=GOOD)
    assert {"mine", "vanilla"} <= set(known_agents())
    assert get_agent("Mine") is get_agent("mine")
    assert agent_origin("mine") == f"mine.py sha256 {sha256_text(GOOD)}"
    assert agent_origin("vanilla") == "built in"
    with pytest.raises(UnknownNameError, match="Did you mean `mine`"):
        get_agent("mne")


def test_the_list_is_read_again_when_it_changes(listed: Any) -> None:
    path = listed("", mine=GOOD)
    assert "mine" not in known_agents()
    listed(entry("mine", "mine.py"))
    os.utime(path, ns=(1, 1))
    assert "mine" in known_agents()


def test_an_url_is_an_agent_like_others(listed: Any) -> None:
    listed('[[agent]]\nid = "guest"\nlabel = "Guest"\nurl = "https://u:p@a.test/act/?k=1"\ntimeout_s = 30\n')
    guest = get_agent("guest")
    assert isinstance(guest, RemoteAgent)
    assert guest.entry.timeout_s == 30
    assert agent_origin("guest") == "https://a.test/act/ (ama/1)"


HEAD = "from arena.agents.base import Agent\n"
CLASS = "class A(Agent):\n    id = 'bad'\n    label = 'Bad'\n"
DECIDE = "    async def decide(self, desk): ...\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\ny = (\n", r"bad\.py line 2: SyntaxError: '\(' was never closed\. Correct that line"),
        ("  x = 1\n", r"bad\.py line 1: IndentationError"),
        ("import os\n\nos.nothing()\n", r"bad\.py line 3: AttributeError"),
        ("import no_such_module_of_ours\n", r"bad\.py line 1: ModuleNotFoundError"),
        ("def f():\n    return 1 / 0\nf()\n", r"bad\.py line 2: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", r"bad\.py line 2: SystemExit: 3"),
        ("x = 1\n", r"one class derived from Agent; it has none"),
        (HEAD + CLASS + DECIDE + "class B(A): ...\n", r"it has A, B"),
        (HEAD + CLASS, r"A needs `async def decide"),
        (HEAD + CLASS + "    def decide(self, desk): ...\n", r"A needs `async def decide"),
        (HEAD + CLASS + DECIDE + "    learns = True\n", r"needs `memory"),
        (HEAD + CLASS + DECIDE + "    def __init__(self, x): ...\n", r"A\(\) failed: TypeError"),
        (HEAD + CLASS + DECIDE + "    def __init__(self): raise SystemExit(3)\n", r"A\(\) failed: SystemExit"),
        (HEAD + "class A(Agent):\n    label = 'x'\n" + DECIDE, r"`None` cannot be an agent's id"),
        (HEAD + "class A(Agent):\n    id = 'Bad One'\n    label = 'x'\n" + DECIDE, r"`Bad One` cannot be"),
        (HEAD + "class A(Agent):\n    id = 'buy_hold'\n    label = 'x'\n" + DECIDE, r"`buy_hold` cannot be"),
        (HEAD + "class A(Agent):\n    id = 'bad'\n    label = 'a+b'\n" + DECIDE, r"cannot be the label"),
        (HEAD + "class A(Agent):\n    id = 'bad'\n    label = 'Buy & Hold'\n" + DECIDE, r"benchmark"),
        (HEAD + "class A(Agent):\n    id = 'other'\n    label = 'x'\n" + DECIDE, r"make them equal"),
    ],
)  # fmt: skip
def test_a_bad_file_says_where_and_the_others_go_on(listed: Any, code: str, said: str) -> None:
    listed(entry("bad", "bad.py") + entry("mine", "mine.py"), bad=code, mine=GOOD)
    assert "bad" not in known_agents()
    assert "mine" in known_agents()
    assert list(broken_agents()) == ["bad"]
    with pytest.raises(ConfigError, match=said) as refused:
        get_agent("bad")
    assert str(refused.value).startswith("Agent `bad` could not be loaded: ")
    with pytest.raises(UnknownNameError):
        get_agent("nobody")


@pytest.mark.parametrize(
    ("row", "key", "said"),
    [
        ('id = "x"', "x", "either `path`"),
        ('id = "x"\npath = "a.py"\nurl = "http://a.test"', "x", "either `path`"),
        ('id = "x"\npath = "nowhere.py"', "x", "no file"),
        ('id = "x"\npath = "mine.py"\ncolour = "red"', "x", "`colour`: Extra inputs"),
        ('path = "mine.py"', "agents.toml entry 1", "`id`: Field required"),
        ('id = "x"\nlabel = "X"\nurl = "http://10.0.0.1/"', "x", "allow_private = true"),
        ('id = "x"\nlabel = "X"\nurl = "http://localhost:62237/"', "x", "private"),
        ('id = "x"\nlabel = "X"\nurl = "https://a.test/"\nprotocol = "ama/2"', "x", "`protocol`"),
        ('id = "x"\nlabel = "X"\nurl = "https://a.test/"\nlearns = true', "x", "arena/2"),
        ('id = "x"\nlabel = "X"\nurl = "http://a.test:99999/"', "x", "the port 99999"),
        ('id = "X!"\nlabel = "X"\nurl = "https://a.test/"', "X!", "cannot be an agent's id"),
        ('id = "vanilla"\nlabel = "V"\nurl = "https://a.test/"', "vanilla", "`vanilla` is taken"),
        ('id = "v"\nlabel = "Vanilla"\nurl = "https://a.test/"', "v", "`Vanilla` is taken"),
    ],
)
def test_a_bad_entry_says_what_is_wrong(listed: Any, row: str, key: str, said: str) -> None:
    listed(f"[[agent]]\n{row}\n" + entry("mine", "mine.py"), mine=GOOD)
    assert list(broken_agents()) == [key]
    assert said in broken_agents()[key]
    assert "mine" in known_agents()
    assert get_agent("vanilla").label == "Vanilla"


@pytest.mark.parametrize("url", ["htps://me:hush@a.test/?key=hush", "http://me:hush@a.test:8x/"])
def test_a_bad_url_is_told_without_its_secrets(listed: Any, url: str) -> None:
    listed(f'[[agent]]\nid = "x"\nlabel = "X"\nurl = "{url}"\n')
    assert "`url` is no" in broken_agents()["x"]
    assert "hush" not in broken_agents()["x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("[[agent]\n", "cannot be read"), ("[agent]\nid = 1\n", "`agent` is no"), ("x = 1\n", "`x` is no")],
)
def test_a_list_that_cannot_be_read_is_told_with_an_unknown_name(listed: Any, text: str, said: str) -> None:
    listed(text)
    assert get_agent("vanilla").id == "vanilla"
    with pytest.raises(ConfigError, match=f"Unknown agent `mine`.*{said}"):
        get_agent("mine")


def test_first_of_two_with_one_name_stays(listed: Any) -> None:
    listed(entry("mine", "mine.py") * 2, mine=GOOD)
    assert "`Mine` is taken" in broken_agents()["mine"]
    assert get_agent("mine").id == "mine"


def test_the_list_of_this_repository_is_empty_and_sound() -> None:
    assert broken_agents() == {}
    assert not any(isinstance(a, RemoteAgent) for a in known_agents().values())


class Packaged(Agent):
    id, label = "packaged", "Packaged"

    async def decide(self, desk: Any) -> Any: ...


def test_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        def __init__(self, name: str, found: Any) -> None:
            self.name, self.value, self.dist, self.found = name, f"somewhere:{name}", None, found

        def load(self) -> Any:
            if isinstance(self.found, Exception):
                raise self.found
            return self.found

    points = [
        Point("packaged", Packaged), Point("renamed", Packaged), Point("odd", "text"),
        Point("gone", ImportError("no module named x")),
    ]  # fmt: skip
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)
    got = load_outside(tmp_path / "none.toml", frozenset({"vanilla"}))
    assert list(got.agents) == ["packaged"]
    assert got.origins == {"packaged": "package somewhere:packaged"}
    assert "make them equal" in got.broken["renamed"]
    assert "no class" in got.broken["odd"]
    assert "ImportError: no module named x. Repair or uninstall it" in got.broken["gone"]


def test_a_built_in_agent_fails_loudly() -> None:
    class Nameless(Agent):
        label = "x"

        async def decide(self, desk: Any) -> Any: ...

    with pytest.raises(InvariantError, match="cannot be an agent's id"):
        registry.register_agent(Nameless)


def test_the_decorator_does_nothing_in_an_agent_file(listed: Any) -> None:
    code = GOOD.replace("class Mine", "@register_agent\nclass Mine")
    listed(entry("mine", "mine.py"), mine="from arena.agents.registry import register_agent\n" + code)
    assert get_agent("mine").id == "mine"
    assert broken_agents() == {}
