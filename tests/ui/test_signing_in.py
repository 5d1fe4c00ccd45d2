"""The ways in besides a token: a link that works once, and a login with an allow-list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import streamlit as st

from arena.ui import auth, signing_in


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """One visitor's session on a host without a token, and a link that was not printed yet."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "query_params", {})
    monkeypatch.setattr(signing_in, "LINK", signing_in.OneTimeLink())
    monkeypatch.delenv("ARENA_ADMIN_TOKEN", raising=False)
    monkeypatch.setenv("ARENA_RUNNER", "on")
    auth._failed_at_s.clear()
    yield state
    auth._failed_at_s.clear()


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return re.findall(r"http://localhost:\d+/\?admin=(\S+)", capsys.readouterr().err)


def open_link(token: str) -> None:
    st.query_params["admin"] = token
    auth.take_link(None)


def test_the_link_opens_one_session_and_leaves_the_address(
    capsys: pytest.CaptureFixture[str], session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    signing_in.announce()
    signing_in.announce()
    [token] = printed(capsys)
    assert len(token) == 32  # 24 bytes in base64
    open_link(token)
    assert auth.unlocked()
    assert dict(st.query_params) == {}
    assert token not in str(session)
    # Another session cannot use it; the terminal shows the next one.
    [following] = printed(capsys)
    monkeypatch.setattr(st, "session_state", other := {})
    open_link(token)
    assert not auth.unlocked()
    assert "was used" in str(other[auth.SAID])
    open_link(following)
    assert auth.unlocked()
    monkeypatch.setattr(st, "session_state", session)
    assert auth.unlocked()


def test_a_stranger_who_guesses_keeps_no_admin_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signing_in.announce()
    [token] = printed(capsys)
    for _ in range(50):
        monkeypatch.setattr(st, "session_state", {})
        open_link("guess")
        assert not auth.unlocked()
    open_link(token)
    assert auth.unlocked()


def test_an_empty_link_opens_nothing_before_it_is_printed() -> None:
    open_link("")
    assert not auth.unlocked()


@pytest.mark.parametrize("name", ["ARENA_ADMIN_TOKEN", "ARENA_RUNNER"])
def test_no_link_where_a_token_is_set_or_nothing_can_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "off")
    signing_in.announce()
    assert printed(capsys) == []


def test_a_token_ends_what_a_link_opened(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signing_in.announce()
    open_link(printed(capsys)[0])
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "a-secret")
    assert not auth.unlocked()
    open_link("a-secret")
    assert not auth.unlocked(), "a token in an address would stay in histories and logs"


class User(dict[str, Any]):
    """`st.user` of somebody."""


@pytest.mark.parametrize(
    ("user", "admin"),
    [
        ({"is_logged_in": True, "email": "Anna@Example.org"}, True),
        ({"is_logged_in": True, "email": "anna@example.org", "email_verified": True}, True),
        ({"is_logged_in": True, "email": "anna@example.org", "email_verified": False}, False),
        ({"is_logged_in": True, "email": "anna@example.org", "email_verified": "true"}, True),
        ({"is_logged_in": True, "email": "anna@example.org", "email_verified": "false"}, False),
        ({"is_logged_in": True, "email": "ben@example.org"}, False),
        ({"is_logged_in": True}, False),
        ({"is_logged_in": False, "email": "anna@example.org"}, False),
        ({}, False),
    ],
)
def test_a_login_counts_by_its_verified_address(
    monkeypatch: pytest.MonkeyPatch, user: Mapping[str, Any], admin: bool
) -> None:
    secrets = {"auth": {"client_id": "x"}, "arena_admins": ["anna@example.org"]}
    monkeypatch.setattr(signing_in, "_secrets", lambda: secrets)
    monkeypatch.setattr(st, "user", User(user))
    # A token beside a login is no second way in.
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "a-secret")
    assert auth.way() == "login"
    st.session_state[auth.HELD] = auth._digest("a-secret")
    assert auth.unlocked() is admin


def test_a_login_without_a_list_admits_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_in, "_secrets", lambda: {"auth": {"client_id": "x"}})
    monkeypatch.setattr(st, "user", User({"is_logged_in": True, "email": ""}))
    assert not auth.unlocked()


def test_a_provider_with_a_name_is_asked_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_in, "_secrets", lambda: {"auth": {"cookie_secret": "x", "google": {"client_id": "y"}}})
    assert signing_in._provider() == ("google",)
    monkeypatch.setattr(signing_in, "_secrets", lambda: {"auth": {"client_id": "x"}})
    assert signing_in._provider() == ()
