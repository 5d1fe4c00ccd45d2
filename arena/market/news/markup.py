"""Markup taken out of foreign text, in time that grows with its length only, whatever it holds.

The standard library's parser needs seconds for 20 KB of unclosed tags, and raises on some of them.
"""

from __future__ import annotations

import html
import re

_SILENT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TURN = re.compile(
    r"</?(?:system|user|assistant|instructions?|prompt|tool_call|tool_use|function_calls?|invoke)\s*>",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[!?][^<>]*>")
_KEPT = "\x02", "\x03"
_NO_MARKS = dict.fromkeys(map(ord, _KEPT))
MAX_DECODINGS = 3
"""Feeds wrap HTML in escaped HTML; deeper than this nobody means it."""


def plain_text(markup: str) -> str:
    """`markup` without tags, comments and scripts, its entities decoded; other text is not touched.

    Tags in the shape of turns with a model (`<system>`) stay as the text they are, so that they are
    seen and flagged.
    """
    text = markup.translate(_NO_MARKS)
    for _ in range(MAX_DECODINGS):
        if "<" not in text and "&" not in text:
            break
        before = text
        text = html.unescape(_without_tags(text))
        if text == before:
            break
    return text


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    opened, closed = _KEPT
    text = _SILENT.sub(" ", text)
    text = _TURN.sub(lambda tag: f"{opened}{tag[0][1:-1]}{closed}", text)
    text = _TAG.sub(" ", _INLINE.sub("", text))
    return text.replace(opened, "<").replace(closed, ">")
