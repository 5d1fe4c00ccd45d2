"""Keys of pages and headlines: what is one, what is not, and that junk costs little and breaks nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.market.news.urls import MAX_TITLE_CHARS, MAX_URL_CHARS, canonical_url, title_key

PAGE = "example.com/markets/Story"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/markets/Story",
        "http://EXAMPLE.com/markets/Story/",
        "https://www.example.com/markets/Story#comments",
        "https://m.example.com/markets/Story",
        "https://amp.example.com/markets/Story/amp",
        "https://www.example.com:443/markets/Story/amp/",
        "example.com/markets/Story",
        "//example.com/markets/Story",
        "  https://example.com/markets/Story?utm_source=rss&utm_medium=feed  ",
        "https://example.com/markets/Story?fbclid=1&gclid=2&ref=home&src=x&cmpid=9&.tsrc=rss",
        "https://user:pass@example.com./markets/Story?mod=hp",
    ],
)
def test_ways_to_write_one_page(url: str) -> None:
    assert canonical_url(url) == PAGE


@pytest.mark.parametrize(
    ("url", "key"),
    [
        # The parameter is the article.
        ("https://finnhub.io/api/news?id=5d19", "finnhub.io/api/news?id=5d19"),
        ("https://x.test/a?b=2&utm_id=7&a=1", "x.test/a?a=1&b=2"),
        ("https://x.test/a?q=", "x.test/a?q="),
        # Some sites tell pages apart by case, and /amplifier is no AMP page.
        ("https://x.test/Amplifier", "x.test/Amplifier"),
        ("https://x.test:8080/a", "x.test:8080/a"),
        # Where a browser would go.
        ("https://x.test\\@sec.gov/a", "x.test/@sec.gov/a"),
        ("https://sec.gov@x.test/a", "x.test/a"),
        # m.test is a host of two parts: nothing is left of it without its "m.".
        ("https://m.test/a", "m.test/a"),
        ("https://x.test", "x.test"),
    ],
)
def test_what_tells_pages_apart_stays(url: str, key: str) -> None:
    assert canonical_url(url) == key


@pytest.mark.parametrize(
    "junk",
    [
        "", "   ", "javascript:alert(1)", "data:text/html,<b>x</b>", "mailto:a@example.com",
        "http://[::1", "http://x.test:99999/a", "http://", "not an address", "\x00\n", "ftp://x.test/a",
    ],
)  # fmt: skip
def test_no_web_address_is_no_page(junk: str) -> None:
    assert canonical_url(junk) == ""


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Fed holds rates steady", "fed holds rates steady"),
        ("Fed holds rates steady - Reuters", "fed holds rates steady"),
        ("Fed Holds Rates Steady | CNBC", "fed holds rates steady"),
        ("Fed holds rates steady – The Wall Street Journal", "fed holds rates steady"),
        ("Fed holds rates steady - finance.yahoo.com", "fed holds rates steady"),
        ("  Fed  holds\trates: “steady”!  ", "fed holds rates steady"),
        ("Ｆｅｄ holds rates steady", "fed holds rates steady"),
        ("Tesla’s Q3: up 5%", "teslas q3 up 5"),
        # A ticker, a date, a second half and a short title are no outlets.
        ("Firm investigates losses - DXCM", "firm investigates losses dxcm"),
        ("Fund letter to holders - Q4 2024 Update", "fund letter to holders q4 2024 update"),
        ("Apple is down again - what to watch next", "apple is down again what to watch next"),
        ("Deals - Reuters", "deals reuters"),
        ("比特币 上涨！", "比特币 上涨"),
        ("?!… —", ""),
    ],
)
def test_title_key(title: str, key: str) -> None:
    assert title_key(title) == key


@given(st.text(max_size=300))
def test_any_text_has_keys_that_can_be_stored(text: str) -> None:
    """Lone surrogates and control characters included: an id is made of the keys."""
    for junk in (text, f"https://{text}", f"https://x.test/{text}?a={text}"):
        key = canonical_url(junk)
        assert key.encode("utf-8").decode() == key
        assert not key.startswith(("http:", "https:"))
    words = title_key(text)
    assert words.encode("utf-8").decode() == words
    assert words == " ".join(words.split())


@given(
    st.from_regex(
        r"[a-z]{2,8}\.(com|org)/[A-Za-z0-9/._-]{0,20}(\?[a-z]{1,3}=[a-z0-9]{0,4})?", fullmatch=True
    )
)
def test_a_key_is_its_own_key(address: str) -> None:
    key = canonical_url(f"https://{address}")
    assert canonical_url(f"http://www.{key}#x") == key
    assert canonical_url(key) == key


def test_a_flood_of_characters_is_cut_first() -> None:
    start = time.perf_counter()
    for junk in (
        "Ａ - " * 25_000,
        "ﷺ" * 100_000,
        "a" * 100_000,
        "http://x.test/?" + "a=1&" * 25_000,
    ):
        # One character of compatibility may become 18; a percent sign triples a byte of four.
        assert len(title_key(junk)) <= 18 * MAX_TITLE_CHARS
        assert len(canonical_url(junk)) <= 12 * MAX_URL_CHARS
    assert time.perf_counter() - start < 1.0
