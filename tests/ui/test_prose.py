"""Foreign text reaches Markdown and Plotly only as letters."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from arena.ui.prose import for_badge, for_csv, for_markdown, for_plotly
from tests.ui.made_store import HOSTILE


@pytest.mark.parametrize("name", ["trade@gpt-4o", "gpt-4.1", "offline/trend", "ollama/llama3:8b", "my_agent+x", "a: b", "B&H"])
def test_ordinary_names_are_unchanged(name: str) -> None:
    assert for_markdown(name) == name
    assert for_plotly(name) == name


def test_markdown_is_disarmed() -> None:
    text = for_markdown(HOSTILE + "\n# big $a$ :red[x] &lt;b&gt; _it_")
    # Every opening of an image, link, tag, heading, formula, directive, entity or emphasis is escaped.
    for opening in ("!", "[", "<", "#", "$", "&", "_"):
        assert text.count(opening) == text.count("\\" + opening) > 0
    assert "\n" not in text


@pytest.mark.parametrize("text", ["trade@claude-3.5-haiku", "https://x.invalid", "www.x.invalid"])
def test_nothing_becomes_a_link_by_itself(text: str) -> None:
    shown = for_markdown(text)
    assert shown.replace("\u2060", "") == text
    assert "://" not in shown
    assert "www." not in shown
    assert "@claude" not in shown


@pytest.mark.parametrize("text", [":material/delete:", ":smile:", "1:100:2", "x:red", ":red[x]"])
def test_nothing_becomes_a_picture_or_a_colour(text: str) -> None:
    """Streamlit reads a colon and the name right after it; an invisible character parts them."""
    shown = for_markdown(text)
    assert shown.replace("\u2060", "").replace("\\", "") == text
    assert not re.search(r":[A-Za-z]|:\d+:", shown)


def test_no_cell_is_a_formula() -> None:
    assert for_csv("=1+1") == "'=1+1"
    assert for_csv("@sum") == "'@sum"
    assert for_csv("trade@m-one") == "trade@m-one"


def test_plotly_markup_is_disarmed() -> None:
    text = for_plotly('<a href="http://x.invalid">%{customdata}</a>')
    assert "<" not in text
    assert "%{" not in text
    # Plotly reads entities, so that `&lt;` would be shown as one letter.
    assert for_plotly("AT&T &lt;b>") == "AT&T &amp;lt;b>"


@pytest.mark.parametrize("text", [HOSTILE, "a [b](c)", r"back\[slash](d)", "plain"])
def test_a_badge_escapes_brackets_once(text: str) -> None:
    app = AppTest.from_string(f"import streamlit as st\nst.badge({for_badge(text)!r})").run()
    assert app.markdown[0].value == f":blue-badge[{for_markdown(text)}]"
