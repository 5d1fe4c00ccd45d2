"""Secrets taken out of texts before anything is shown or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from arena.llm.roster import roster

HIDDEN = "[secret]"
MIN_CHARS = 8
"""A shorter value is a placeholder (`none`, `test`), and would be found inside ordinary words."""

SECRET_NAMES = ("_API_KEY", "_ACCESS_KEY", "_ACCESS_KEY_ID", "_SECRET", "_TOKEN", "_PASSWORD")

# Each begins with plain letters, which `re` finds 20 times faster than a look-behind; what stands
# before them is judged afterwards. Providers quote keys with their middle starred out, hence the `*`.
_SHAPES = tuple(
    (head, re.compile(f"{head}({tail})"))
    for head, tail in (
        ("sk-", r"[\w*.-]{12,}"),
        ("xai-", r"[\w*.-]{12,}"),
        ("gsk_", r"[\w*.-]{12,}"),
        ("AIza", r"[\w*.-]{12,}"),
        ("earer ", r"[\w*.~+/=-]{8,}"),
        ("://", r"[^\s/@:]*:[^\s/@]+@"),
    )
)
_protected: set[str] = set()
_own: ContextVar[tuple[str, ...]] = ContextVar("keys of whoever asked for this work", default=())


def protect(value: str) -> None:
    """Keep `value` out of every text from now on (a key that stands in no variable of the roster)."""
    if len(value) >= MIN_CHARS:
        _protected.add(value)


@contextmanager
def keeping_out(values: Collection[str]) -> Iterator[None]:
    """Keep `values` out of the texts of this block and of the tasks begun in it, and of no others.

    For keys that a visitor brings along: any word can be given as one, and would be taken out of
    everybody's prompts and answers.
    """
    token = _own.set((*_own.get(), *(v for v in values if len(v) >= MIN_CHARS)))
    try:
        yield
    finally:
        _own.reset(token)


def protect_environment() -> None:
    """Keep out whatever the environment holds under a name that sounds like a secret."""
    for name, value in os.environ.items():
        if name.endswith(SECRET_NAMES):
            protect(value)


def redact(text: str) -> str:
    """`text` without keys: values of the roster's variables, protected values, and the usual shapes."""
    for name in _key_names():
        value = os.environ.get(name, "")
        if len(value) >= MIN_CHARS and value in text:
            text = text.replace(value, HIDDEN)
    # The longest first: a value may be the beginning of another.
    for value in sorted((*_protected, *_own.get()), key=len, reverse=True):
        if value in text:
            text = text.replace(value, HIDDEN)
    for head, shape in _SHAPES:
        if head in text:
            text = shape.sub(_hide, text)
    return text


def redacted(value: Any) -> Any:
    """JSON-able `value` with every text in it redacted. In its JSON a secret could be part of a number."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: redacted(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(held) for held in value]
    return value


def _hide(found: re.Match[str]) -> str:
    if found[0].startswith("earer "):
        return f"earer {HIDDEN}"
    if found[0].startswith("://"):  # user and password of an address
        return f"://{HIDDEN}@"
    before = found.string[found.start() - 1 : found.start()]
    return found[0] if before.isalnum() else HIDDEN


@cache
def _key_names() -> tuple[str, ...]:
    return tuple({info.key_env for info in roster().values() if info.key_env})
