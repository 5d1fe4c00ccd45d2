"""How much a text reads like an instruction to whoever reads it by machine. It is flagged, never obeyed.

Signs are wording and form: orders to a model, role markers, answers and tool calls laid ready, hidden or
disguised characters. Whether a report is true cannot be seen from it: invented news in the tone of news
passes here, and shows only in who else tells it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from arena.core.text import SUSPICIOUS
from arena.market.news.hostile_patterns import (
    CONFUSABLE,
    HIDDEN_TAGS,
    KEYS,
    LONG_CODE,
    OVERRIDES,
    PATTERNS,
    ROLE_INLINE,
    ROLE_LINE,
    SPACED_LETTERS,
    UNSEEN,
    ZERO_WIDTH,
)

FLAGGED = SUSPICIOUS
"""From this suspicion on a text is shown as suspect."""

MIN_DISGUISED_LETTERS = 4
"""A shorter word in two scripts is a unit or a symbol (`μm`, `ΔT`)."""

FEW_HIDDEN = 3
"""So many hidden characters inside words are no slip of a copy."""

MAX_READ_CHARS = 4_000
"""One character can unfold into eighteen; what is beyond this no prompt holds."""

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_LINK = re.compile(r"[a-z]{2,10}://\S+")
_REGIONAL_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")


def suspicion(title: str, text: str) -> tuple[float, tuple[str, ...]]:
    """Score in [0, 1] and the flags behind it, strongest first.

    Title and text come as they were written, hidden characters included. Each flag counts once, with its
    heaviest sign; together they make 1 - prod(1 - weight): another sign never takes anything away.
    """
    raw = f"{title}\n{text}"
    heaviest: dict[str, float] = {}
    for flag, weight in (*_in_characters(raw), *_in_form(raw), *_in_wording(raw)):
        heaviest[flag] = max(weight, heaviest.get(flag, 0.0))
    innocence = 1.0
    for weight in heaviest.values():
        innocence *= 1 - weight
    flags = sorted(heaviest, key=lambda flag: (-heaviest[flag], flag))
    return round(1 - innocence, 3), tuple(flags)


def _in_characters(raw: str) -> Iterator[tuple[str, float]]:
    """What a person does not see, or takes for another letter."""
    if raw.isascii():
        return
    if HIDDEN_TAGS.search(_REGIONAL_FLAG.sub("", raw)):
        yield "hidden-characters", 0.8
    if OVERRIDES.search(raw):
        yield "hidden-characters", 0.5
    if n_hidden := len(ZERO_WIDTH.findall(raw)):
        yield "hidden-characters", 0.5 if n_hidden >= FEW_HIDDEN else 0.2
    if n_disguised := sum(map(_is_disguised, _WORD.findall(raw))):
        yield "mixed-scripts", 0.5 if n_disguised > 1 else 0.4


def _is_disguised(word: str) -> bool:
    """Latin letters, and letters of another script that look Latin, in one word."""
    return (
        len(word) >= MIN_DISGUISED_LETTERS
        and not word.isascii()
        and any(ord(c) in CONFUSABLE for c in word.lower())
        and _LATIN.search(word) is not None
    )


def _in_form(raw: str) -> Iterator[tuple[str, float]]:
    """Turns of a conversation, and what only a machine reads."""
    if ROLE_LINE.search(raw) or ROLE_INLINE.search(raw):
        yield "role-marker", 0.5
    if LONG_CODE.search(raw) and any(map(_is_base64, LONG_CODE.findall(_LINK.sub(" ", raw)))):
        yield "encoded", 0.5
    if SPACED_LETTERS.search(raw):
        yield "spaced-letters", 0.5


def _is_base64(code: str) -> bool:
    return code != code.lower() and code != code.upper()


def _in_wording(raw: str) -> Iterator[tuple[str, float]]:
    """What the text says, with and without its disguise (Russian is no disguise of English)."""
    shown = _SPACES.sub(" ", unicodedata.normalize("NFKC", UNSEEN.sub("", raw)).lower())
    shown = shown[:MAX_READ_CHARS]
    bare = shown if shown.isascii() else shown.translate(CONFUSABLE)
    for read in {shown, bare}:
        held = {key for key in KEYS if key in read}
        for pattern in PATTERNS:
            if not held.isdisjoint(pattern.keys) and pattern.regex.search(read):
                yield pattern.flag, pattern.weight
