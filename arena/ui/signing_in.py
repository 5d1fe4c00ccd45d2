"""The ways in besides a token: an OIDC login with an allow-list, and a link that works once.

The link is printed in the terminal at the start. Whoever reads the terminal owns the process, so
the link may spend; when it was used, the next one is printed, for a reload or another browser.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sys
import threading
from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.core import settings

PARAMETER = "admin"
STALE = "That link was used, or is of an earlier start. The newest one stands in the terminal."
TOKEN_BYTES = 24


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class OneTimeLink:
    """The link of this process. Only digests of used ones are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._token = ""
        self._granted: set[bytes] = set()
        self._announced = False

    def announce(self) -> None:
        """Print the link, once a start."""
        with self._lock:
            if not self._announced:
                self._announced = True
                self._renew("Admin of this arena, once")

    def use(self, given: str) -> bool:
        """Whether `given` is the token; it is another one from then on."""
        with self._lock:
            if not self._token or not hmac.compare_digest(_digest(self._token), _digest(given)):
                return False
            self._granted.add(_digest(given))
            self._renew("The link was used. The next one, once")
            return True

    def granted(self, held: bytes) -> bool:
        """Whether a session holds the digest of a token that was used."""
        with self._lock:
            return any(hmac.compare_digest(held, one) for one in self._granted)

    def _renew(self, words: str) -> None:
        self._token = new_token()
        port = st.get_option("server.port")
        sys.stderr.write(f"{words}: http://localhost:{port}/?{PARAMETER}={self._token}\n")
        sys.stderr.flush()


LINK = OneTimeLink()


def announce() -> None:
    """At the start of the app: print the link where nothing else tells an admin from others."""
    if settings.runner_enabled() and settings.admin_token() is None and allowed() is None:
        LINK.announce()


def allowed() -> frozenset[str] | None:
    """Addresses of the admins where a login is set up (`[auth]` and `arena_admins` in the secrets).

    None where it is not. A login without a list admits nobody.
    """
    found = _secrets()
    if "auth" not in found:
        return None
    return frozenset(str(name).strip().lower() for name in found.get("arena_admins") or ())


def user() -> str:
    """The verified address of whoever is logged in, in small letters; '' for nobody."""
    who = st.user
    # Some providers write the word in place of the truth value.
    if not who.get("is_logged_in") or str(who.get("email_verified", True)).lower() != "true":
        return ""
    return str(who.get("email") or "").strip().lower()


def login_button(what: str) -> None:
    """How a visitor becomes the admin, or why this login does not."""
    name = user()
    if name:
        st.markdown(f":small[:gray[You are logged in, but not on this host's list, so you cannot {what}.]]")
        st.button("Log out", icon=":material/logout:", on_click=st.logout, key="log_out")
    else:
        st.button(
            f"Log in to {what}", icon=":material/login:", on_click=st.login, args=_provider(),
            key="log_in",
        )  # fmt: skip


def _provider() -> tuple[str, ...]:
    """The name of the provider where `[auth]` gives it one (`[auth.google]`)."""
    auth = _secrets()["auth"]
    named = sorted(name for name, value in auth.items() if isinstance(value, Mapping))
    return () if "client_id" in auth else tuple(named[:1])


def _secrets() -> Mapping[str, Any]:
    # Asking for a secret where there is no file draws an error and raises.
    return st.secrets if st.secrets.load_if_toml_exists() else {}


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
