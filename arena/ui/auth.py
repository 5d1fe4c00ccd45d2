"""Who may write and spend, and how it is shown: a login with an allow-list where the host set one up,
else the host's token, else a link that the terminal printed at the start.

The check in an action counts; the forms are only hidden for convenience.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import threading
import time
from collections import deque
from typing import Literal

import streamlit as st

from arena.core import settings
from arena.core.errors import ConfigError
from arena.runner.asker import Admin, Asker, Visitor
from arena.runner.audit_log import origin_of, refusal
from arena.store.store import Store
from arena.ui import signing_in

MOST_FAILURES, WINDOW_S = 5, 60.0
"""Wrong tokens of all visitors together in a window; after that everybody waits. Links are too long to
be guessed: there the wait would only let strangers keep the admin out."""

HELD, FIELD, SAID = "admin_held", "admin_token_field", "admin_said"
BROWSER_COOKIE = "_streamlit_xsrf"
"""Streamlit gives each browser one; it outlives a reload, which a session does not."""

Way = Literal["login", "token", "link"]

_LOCK = threading.Lock()
_failed_at_s: deque[float] = deque(maxlen=MOST_FAILURES)


def way() -> Way:
    """How an admin is told from others on this host."""
    if signing_in.allowed() is not None:
        return "login"
    return "token" if settings.admin_token() else "link"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def unlocked() -> bool:
    """Whether this session is the admin's now."""
    if (names := signing_in.allowed()) is not None:
        return signing_in.user() in names
    held = st.session_state.get(HELD)
    if not held:
        return False
    if token := settings.admin_token():
        return hmac.compare_digest(_digest(token), held)
    return signing_in.LINK.granted(held)


def require() -> None:
    """To be called inside every action that writes.

    Raises:
        ConfigError: this session is not the admin's.
    """
    if not unlocked():
        raise ConfigError("Writing needs the host's token. Unlock this page with it first.")


def asker(store: Store) -> Asker:
    """Who is at this session, as a proof that the runner checks again."""
    origin = origin_of(store, _address())
    return Admin(origin, unlocked) if unlocked() else Visitor(origin)


def _address() -> str:
    """What stands for whoever is there: their address; the browser's cookie where a proxy or this
    machine hides it; else the session."""
    address = st.context.ip_address
    try:
        if address and ipaddress.ip_address(address).is_global:
            return f"address {address}"
    except ValueError:
        return f"address {address}"
    if cookie := st.context.cookies.get(BROWSER_COOKIE):
        return f"browser {cookie}"
    if "session_origin" not in st.session_state:
        st.session_state.session_origin = signing_in.new_token()
    return f"session {st.session_state.session_origin}"


def wait_s(now_s: float) -> float:
    """How long every attempt is refused, at a moment of the monotonic clock; 0 for not at all."""
    with _LOCK:
        full = len(_failed_at_s) == MOST_FAILURES
        return max(0.0, _failed_at_s[0] + WINDOW_S - now_s) if full else 0.0


def attempt(given: str, now_s: float) -> str | None:
    """Take a token; returns why it was not taken, or None."""
    token = settings.admin_token()
    if token is None:
        return "No token is set on this host."
    if (wait := wait_s(now_s)) > 0:
        return f"Too many wrong tokens. Try again in {wait:.0f} s."
    if not hmac.compare_digest(_digest(token), _digest(given)):
        with _LOCK:
            _failed_at_s.append(now_s)
        return "That is not the token."
    st.session_state[HELD] = _digest(given)
    return None


def attempt_link(given: str) -> str | None:
    """Take the token of a link; returns why it was not taken, or None. A link works once."""
    if way() != "link":
        return "Links are not used on this host."
    if not signing_in.LINK.use(given):
        return signing_in.STALE
    st.session_state[HELD] = _digest(given)
    return None


def take_link(store: Store | None) -> None:
    """Unlock the session with `?admin=TOKEN` and take it out of the address; every page begins with it."""
    given = st.query_params.get(signing_in.PARAMETER)
    if given is None:
        return
    del st.query_params[signing_in.PARAMETER]
    if unlocked():
        return
    why = attempt_link(given.strip())
    st.session_state[SAID] = why
    if why is not None:
        _note_wrong(store, "wrong link")


def gate(what: str) -> bool:
    """Whether `what` (a verb: "score briefs") may be offered; else how to get there is drawn."""
    if unlocked():
        return True
    now = way()
    if now == "login":
        signing_in.login_button(what)
    elif now == "link":
        st.markdown(
            f":small[:gray[To {what}, open the link that the terminal printed at the start, or start the app "
            "with `ARENA_ADMIN_TOKEN` set to a secret of yours and give it here.]]"
        )
    else:
        st.text_input(
            f"Token of the host, to {what}", type="password", key=FIELD, on_change=_take, width=360,
            autocomplete="off",
        )  # fmt: skip
    if said := st.session_state.get(SAID):
        st.error(said)
    return False


def _take() -> None:
    given = st.session_state.get(FIELD, "")
    # The field is emptied: a token stays in a session no longer than it must.
    st.session_state[FIELD] = ""
    why = attempt(given.strip(), time.monotonic()) if given else None
    st.session_state[SAID] = why
    if why is not None:
        from arena.ui.session import state

        _note_wrong(state().store, "wrong token")


def _note_wrong(store: Store | None, action: str) -> None:
    """Kept in the audit, without what was given: it may be another secret of theirs."""
    if store is not None:
        refusal(store, Visitor.who, action, {}, origin_of(store, _address()))
