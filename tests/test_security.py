"""What the code as a whole must not do: open addresses on a visitor's word, unpickle, take uploads, loosen the server."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from arena.core.season import RunSpec, Season
from arena.store.connection import CONFIG, memory_limit_mb

ROOT = Path(__file__).resolve().parents[1]
CODE = [*(ROOT / "arena").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]

REACHES_OUT = {
    "arena/agents/remote/": "agents of the host's own list",
    "arena/llm/": "models of the host's own list",
    "arena/market/": "sources of prices, news and filings",
    "arena/runner/webhook.py": "the address that the host set",
    "arena/store/offsite.py": "the upload target that the host set",
    "arena/cli/": "commands of the host",
}
"""Where requests may leave from. No page is among them."""

CLIENTS = {"httpx", "requests", "urllib3", "aiohttp", "fsspec", "ccxt", "yfinance", "litellm"}
UNSAFE = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def called(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_requests_leave_from_where_the_host_named_the_address() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in CODE
        for name in imported(path)
        if name.split(".")[0] in CLIENTS or name == "urllib.request"
    }
    assert "arena/runner/webhook.py" in found
    assert [f for f in sorted(found) if not f.startswith(tuple(REACHES_OUT))] == []


def test_nothing_is_unpickled_or_run_from_data() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in CODE
        for name in (*imported(path), *(c for c in called(path) if c in ("eval", "exec", "read_pickle")))
        if name.split(".")[0] in UNSAFE | {"eval", "exec", "read_pickle"}
    ]
    assert wrong == []


def test_no_page_takes_a_file() -> None:
    takers = ("file_uploader", "camera_input", "audio_input")
    assert [p.name for p in CODE if any(c in takers for c in called(p))] == []


def test_the_server_is_no_looser_than_streamlit_makes_it() -> None:
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
    server = settings["server"]
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    # On unless they are switched off, and off unless it is switched on.
    assert server.get("enableXsrfProtection", True) is True
    assert server.get("enableCORS", True) is True
    assert server.get("enableAgentApi", False) is False
    assert server.get("enableStaticServing", False) is False


def test_the_database_has_bounds_and_no_extensions() -> None:
    assert memory_limit_mb(ROOT, read_only=True) <= memory_limit_mb(ROOT, read_only=False) <= 256
    assert CONFIG["threads"] == 2
    extensions = ("autoinstall_known", "autoload_known", "allow_community")
    assert [CONFIG[f"{name}_extensions"] for name in extensions] == [False] * 3


@given(
    words=st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3, unique=True),
    protocol=st.text(min_size=1, max_size=30), epoch=st.integers(1, 99),
)  # fmt: skip
def test_a_run_id_is_plain_whatever_is_in_the_run(words: list[str], protocol: str, epoch: int) -> None:
    """It names files and folders: no separator, no dot, nothing of what anybody typed."""
    start = date(2025, 8, 4)
    spec = RunSpec(
        kind="replay",
        season=Season(protocol=protocol), source="sample", assets=tuple(words), agents=("vanilla",),
        models=tuple(words), start=start, end=start + timedelta(days=1),
    )  # fmt: skip
    assert re.fullmatch(r"[a-z]+-[0-9a-f]{10}-e\d+", spec.run_id(epoch))

