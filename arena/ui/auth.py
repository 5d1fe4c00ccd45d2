"""Who may write: whoever knows the host's token. Without a token pages only show.

The check in an action counts; the forms are only hidden for convenience.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import deque

import streamlit as st

from arena.core import settings
from arena.core.errors import ConfigError

MOST_FAILURES, WINDOW_S = 5, 60.0
"""Wrong tokens of all visitors together in a window; after that everybody waits."""

HELD, FIELD, SAID = "admin_held", "admin_token_field", "admin_said"

_LOCK = threading.Lock()
_failed_at_s: deque[float] = deque(maxlen=MOST_FAILURES)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def unlocked() -> bool:
    """Whether this session has given the token that is set now."""
    token, held = settings.admin_token(), st.session_state.get(HELD)
    return bool(token and held and hmac.compare_digest(_digest(token), held))


def require() -> None:
    """To be called inside every action that writes.

    Raises:
        ConfigError: this session has not given the token.
    """
    if not unlocked():
        raise ConfigError("Writing needs the host's token. Unlock this page with it first.")


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


def gate(what: str) -> bool:
    """Whether `what` (a verb: "score briefs") may be offered; else how to get there is drawn."""
    if unlocked():
        return True
    if settings.admin_token() is None:
        st.markdown(
            f":small[:gray[To {what}, start the app with `ARENA_ADMIN_TOKEN` set to a secret of yours "
            "and give it here. Until then this page only shows.]]"
        )
        return False
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
    st.session_state[SAID] = attempt(given.strip(), time.monotonic()) if given else None
