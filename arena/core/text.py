"""Text from outside (news, filings, other agents) made harmless to read; its meaning is not judged here."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What no reader sees, as the inside of a character class: zero-width and bidi characters, fillers that are
drawn blank, selectors of a character's variant, and tags. Words and whole messages hide in them."""

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACES = re.compile(r"\s+")

SUSPICIOUS = 0.5
"""From this score on a text from outside is shown as one that reads like an instruction."""


def clean_foreign(text: str, max_chars: int) -> str:
    """`text` in one line: NFKC, no zero-width, bidi or control characters, at most `max_chars` long."""
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    # Printable text holds none of them; most texts are, and a look at each character is slow.
    plain = (
        shown
        if shown.isprintable()
        else "".join(c if unicodedata.category(c)[0] != "C" else " " for c in shown)
    )
    line = _SPACES.sub(" ", plain).strip()
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
