"""What the runner says: without secrets, one record a line, and never at the price of its work."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from arena.runner import logs
from arena.runner.logs import start_logging

KEY = "sk-abcdefghijklmnop"


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """`arena` loggers as they were: other tests listen to them through the root."""
    ours = logging.getLogger(logs.OURS)
    before = (list(ours.handlers), ours.level, ours.propagate)
    yield
    ours.handlers[:], ours.propagate = before[0], before[2]
    ours.setLevel(before[1])


def said(monkeypatch: pytest.MonkeyPatch, form: str, *words: object, **more: object) -> str:
    monkeypatch.setenv("ARENA_LOG", form)
    out = io.StringIO()
    start_logging(out)
    logging.getLogger("arena.live").warning(*words, **more)  # type: ignore[arg-type]
    return out.getvalue()


def test_a_short_line_is_one_line_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    line = said(monkeypatch, "", "the key %s\nof \x1b[31m%s", KEY, "x")
    assert line.endswith("WARNING live: the key [secret]\\nof \\x1b[31mx\n")
    assert line.count("\n") == 1


def test_json_has_the_extras_and_the_trace_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        int(KEY)
    except ValueError:
        line = said(
            monkeypatch, "json", "round of %s", "r1", exc_info=True,
            extra={"run": "r1", "n": 3, "share": float("nan"), "token": KEY},
        )  # fmt: skip
    found = json.loads(line, parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))
    assert (found["level"], found["logger"], found["message"]) == ("warning", "arena.live", "round of r1")
    assert (found["run"], found["n"], found["share"], found["token"]) == ("r1", 3, "nan", "[secret]")
    assert "ValueError: invalid literal for int() with base 10: '[secret]'" in found["trace"]
    assert found["at_utc"].endswith("+00:00")
    assert KEY not in line


def test_a_secret_of_the_environment_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_WEBHOOK_SECRET", "correct horse battery")
    assert "horse" not in said(monkeypatch, "json", "it was correct horse battery")


def test_starting_twice_says_things_once(monkeypatch: pytest.MonkeyPatch) -> None:
    start_logging(first := io.StringIO())
    assert said(monkeypatch, "", "hello").count("hello") == 1
    assert first.getvalue() == ""


@pytest.mark.fault(36)
def test_fault_36_a_closed_stream_loses_lines_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.StringIO()
    handler = start_logging(out)
    out.close()
    # The standard library answers a broken handler with a traceback on this stream.
    monkeypatch.setattr(sys, "stderr", out)
    for _ in range(3):
        logging.getLogger("arena.live").info("a round")
    assert handler.n_lost == 3
