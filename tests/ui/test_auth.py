"""The host's token: taken, refused, throttled, taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import streamlit as st

from arena.core.errors import ConfigError
from arena.ui import auth


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """One visitor's session, and nobody who failed before."""
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    auth._failed_at_s.clear()
    yield state
    auth._failed_at_s.clear()


def test_without_a_token_nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_ADMIN_TOKEN", raising=False)
    assert auth.attempt("", 0.0) == "No token is set on this host."
    assert not auth.unlocked()
    with pytest.raises(ConfigError, match="host's token"):
        auth.require()


def test_the_token_unlocks_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "gehéim")
    assert auth.attempt("gehém", 0.0) == "That is not the token."
    assert not auth.unlocked()
    assert auth.attempt("gehéim", 1.0) is None
    assert auth.unlocked()
    auth.require()
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "another")
    assert not auth.unlocked()


def test_the_session_does_not_hold_the_token_itself(
    monkeypatch: pytest.MonkeyPatch, session: dict[str, object]
) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "geheim")
    auth.attempt("geheim", 0.0)
    assert "geheim" not in str(session)


def test_five_wrong_tokens_make_everybody_wait_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "geheim")
    for second in range(5):
        assert auth.attempt("wrong", float(second)) == "That is not the token."
    # The oldest of five was at 0 s: until 60 s even the right one is refused.
    assert auth.attempt("geheim", 20.0) == "Too many wrong tokens. Try again in 40 s."
    assert not auth.unlocked()
    assert auth.wait_s(60.0) == 0.0
    assert auth.attempt("wrong", 60.0) == "That is not the token."
    # Now the oldest is the one of 1 s.
    assert auth.wait_s(60.5) == pytest.approx(0.5)
    assert auth.attempt("geheim", 61.0) is None
