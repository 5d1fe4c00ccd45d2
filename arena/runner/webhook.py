"""Posting messages to one address of the host's: paced, retried, signed, and never in anybody's way.

The body has `text` (Slack, Mattermost), `content` (Discord) and, for programs, `arena`. With a secret,
the header `X-Arena-Signature-256` is `sha256=` and the HMAC-SHA256 of the body in hex.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.llm.redact import protect, redact, redacted

log = logging.getLogger("arena.webhook")

GAP_S = 60.0
"""Least time between two messages of one kind; what comes meanwhile is told in the next one."""

WAITS_S = (1.0, 4.0, 16.0)
"""Before the second, third and fourth try."""

TIMEOUT_S, MOST_WAIT_S = 10.0, 60.0
MOST_WAITING, MOST_LINES, MOST_CHARS = 50, 8, 1_900
"""Messages of a kind that are kept, lines of one that is sent, and its length (Discord takes 2,000)."""

SIGNATURE = "X-Arena-Signature-256"
PASSING = (408, 425, 429)
"""Refusals that another try may overcome, as every 5xx may."""


def check_address(url: str) -> None:
    """
    Raises:
        ConfigError: neither https nor this machine: what is posted could be read on the way.
    """
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"ARENA_WEBHOOK_URL is no address: {error}.") from error
    if not parts.host or not (parts.scheme == "https" or (parts.scheme == "http" and _here(parts.host))):
        raise ConfigError("ARENA_WEBHOOK_URL must begin with https:// (http:// only to this machine).")


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Webhook:
    """One address, and the thread that posts to it; the thread begins with the first message.

    Args:
        said: called with what is wrong when posting begins to fail, and with None when it works again.

    Raises:
        ConfigError: the address is neither https nor loopback.
    """

    def __init__(
        self, url: str, secret: str | None = None, *, gap_s: float = GAP_S,
        waits_s: Sequence[float] = WAITS_S, said: Callable[[str | None], None] = lambda _: None,
    ) -> None:  # fmt: skip
        check_address(url)
        protect(url)
        self._url, self._secret = url, secret
        self._gap_s, self._waits_s, self._said = gap_s, tuple(waits_s), said
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[tuple[str, dict[str, Any]]]] = {}
        self._n_left_out: dict[str, int] = {}
        self._sent_at_s: dict[str, float] = {}
        self._hurry = self._stopped = self._busy = False
        self._thread: threading.Thread | None = None
        self.trouble: str | None = None
        """Why the last message did not arrive; None where it did."""

    def say(self, kind: str, text: str, facts: dict[str, Any]) -> None:
        """Queue a message; returns at once."""
        with self._changed:
            queue = self._waiting.setdefault(kind, deque(maxlen=MOST_WAITING))
            if len(queue) == MOST_WAITING:
                self._n_left_out[kind] = self._n_left_out.get(kind, 0) + 1
            queue.append((text, facts))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="arena-webhook", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Send what waits without pacing; False if it was not all tried in time."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: not (self._busy or self._any_waiting()), timeout_s)
            self._hurry = False
        return done

    def stop(self, timeout_s: float = 0.5) -> None:
        """End the thread; what still waits is not sent."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _any_waiting(self) -> bool:
        return any(self._waiting.values())

    def _work(self) -> None:
        with httpx.Client(follow_redirects=False, trust_env=False, timeout=TIMEOUT_S) as client:
            while (batch := self._next()) is not None:
                try:
                    self._tell(self._deliver(client, self._body(*batch)))
                except Exception:
                    log.exception("a message to the webhook was lost")
                finally:
                    with self._changed:
                        self._busy = False
                        self._changed.notify_all()

    def _next(self) -> tuple[str, list[tuple[str, dict[str, Any]]], int] | None:
        """The messages of a kind whose turn it is, once there are any; None at the end."""
        with self._changed:
            while not self._stopped:
                now_s = time.monotonic()
                turns = {
                    kind: 0.0 if self._hurry else self._sent_at_s.get(kind, -self._gap_s) + self._gap_s
                    for kind, queue in self._waiting.items()
                    if queue
                }
                kind = min(turns, key=turns.__getitem__, default=None)
                if kind is not None and turns[kind] <= now_s:
                    held = list(self._waiting[kind])
                    self._waiting[kind].clear()
                    self._sent_at_s[kind], self._busy = now_s, True
                    return kind, held, self._n_left_out.pop(kind, 0)
                self._changed.wait(None if kind is None else turns[kind] - now_s)
            return None

    def _body(self, kind: str, held: list[tuple[str, dict[str, Any]]], n_left_out: int) -> bytes:
        lines = [text for text, _ in held[-MOST_LINES:]]
        earlier = len(held) - len(lines) + n_left_out
        text = redact("\n".join([*([f"({earlier} earlier)"] if earlier else []), *lines]))
        text = text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…"
        return json.dumps(
            {
                "text": text,
                "content": text,
                "allowed_mentions": {"parse": []},
                "arena": {
                    "kind": kind,
                    "events": redacted([facts for _, facts in held]),
                    "n_left_out": n_left_out,
                    "sent_at_utc": utc_now().isoformat(),
                },
            },
            ensure_ascii=False,
        ).encode()

    def _deliver(self, client: httpx.Client, body: bytes) -> str | None:
        """None once it has arrived, else why it did not."""
        headers = {"content-type": "application/json", "user-agent": "agent-market-arena"}
        if self._secret:
            mac = hmac.new(self._secret.encode(), body, hashlib.sha256)
            headers[SIGNATURE] = f"sha256={mac.hexdigest()}"
        problem = ""
        for wait_s in (*self._waits_s, None):
            again, asked_s = True, 0.0
            try:
                with client.stream("POST", self._url, content=body, headers=headers) as reply:
                    if reply.is_success:
                        return None
                    problem = f"answered {reply.status_code}"
                    again = reply.status_code in PASSING or reply.status_code >= 500
                    after = reply.headers.get("retry-after", "")
                    asked_s = min(float(after), MOST_WAIT_S) if after.isdecimal() else 0.0
            except httpx.HTTPError as error:
                problem = type(error).__name__
            if not again or wait_s is None or self._pause(max(wait_s, asked_s)):
                break
        return problem

    def _pause(self, wait_s: float) -> bool:
        """Wait; True when it is time to stop."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopped, wait_s)

    def _tell(self, problem: str | None) -> None:
        if problem == self.trouble:
            return
        self.trouble = problem
        if problem is None:
            log.info("the webhook takes messages again")
        else:
            log.warning("a message to the webhook did not arrive: it %s", problem)
        self._said(problem)
