"""The only way to print text that is not ours: names from imports, reasons, notes.

Markdown loads remote images and Plotly's labels take links, so foreign text reaches neither as it
came (see tests/ui/test_prose.py).
"""

from __future__ import annotations

import re

import streamlit as st

# An underscore inside a word, as in `my_agent`, means nothing to Markdown.
_MARKDOWN = re.compile(r"([\\`*\[\]<>$~!#|]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_]))")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_SPACE = re.compile(r"\s+")
# Markdown makes links of bare addresses, and of `trade@claude-3.5-haiku` a mail address.
_AUTOLINK = re.compile(r"(:(?=//)|\bwww(?=\.)|@(?=[-\w]+\.))", re.IGNORECASE)
_SHORTCODE = re.compile(r":(?=[A-Za-z]|[\w+-]+:)")
"""Streamlit draws `:100:` and `:material/delete:` as pictures, and swallows `:red` even without brackets."""
_WORD_JOINER = "\u2060"
"""Shows as nothing and breaks no line."""


def plain(text: str) -> None:
    """Print `text` exactly as it is, whatever it contains."""
    st.text(text)


def for_markdown(text: str) -> str:
    """`text` on one line for labels, badges and titles; ordinary names look unchanged."""
    escaped = _MARKDOWN.sub(r"\\\1", _SPACE.sub(" ", text))
    return _SHORTCODE.sub(f":{_WORD_JOINER}", _AUTOLINK.sub(rf"\1{_WORD_JOINER}", escaped))


def for_badge(text: str) -> str:
    """`text` for `st.badge`, which escapes brackets itself: twice escaped they would be live again."""
    return for_markdown(text).replace("\\[", "[").replace("\\]", "]")


def for_csv(text: str) -> str:
    """`text` as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def for_plotly(text: str) -> str:
    """`text` for traces, labels and hovers: no markup, and no `%{...}` of a hover template."""
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("%{", "% {")
