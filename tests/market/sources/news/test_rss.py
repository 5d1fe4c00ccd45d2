"""Reading feeds: entries of every dialect, dates by what their text says, encodings, the list of feeds."""

from __future__ import annotations

import codecs
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import DataError, SourceError
from arena.core.types import Asset
from arena.market.sources.news import rss
from arena.market.sources.news.feed_text import dated, decoded
from arena.market.sources.news.feeds import Feed, load_feeds
from arena.market.sources.news.http import Fetched
from arena.market.sources.news.rss import RssSource, parse

NOW = datetime(2025, 8, 2, 9, tzinfo=UTC)
TSLA = Asset("TSLA", "Tesla", "stock")
BTC = Asset("BTC", "Bitcoin", "crypto")
WIRE = Feed(
    id="wire", url="http://feed.test/a/rss", outlet="Wire", trust="wire", classes=("stock",),
    category="macro",
)  # fmt: skip

RSS = b"""<?xml version="1.0"?><rss version="2.0"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>W</title>
<item><title>One &amp; only</title><link>https://x.test/1</link><description>short</description>
 <content:encoded><![CDATA[<p>The long one</p>]]></content:encoded>
 <pubDate>Fri, 01 Aug 2025 12:00:00 -0400</pubDate></item>
<item><title>Two</title><link>/2?a=1</link><pubDate>Fri, 01 Aug 2025</pubDate></item>
<item><description>no title, no date</description></item>
</channel></rss>"""

ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>W</title>
<entry><title>A</title><link href="https://x.test/a"/><summary>s</summary>
 <published>2025-08-01T10:00:00Z</published><updated>2025-08-01T11:00:00Z</updated></entry>
<entry><title>B</title><link href="https://x.test/b"/><updated>2025-08-01T11:00:00</updated></entry>
</feed>"""

RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<item><title>C</title><link>https://x.test/c</link><dc:date>2025-08-01T12:00:00+02:00</dc:date></item>
</rdf:RDF>"""


def answer(body: bytes, kind: str = "application/rss+xml", charset: str | None = None) -> Fetched:
    return Fetched(body, kind, "http://feed.test/a/rss", charset)


def read(monkeypatch: pytest.MonkeyPatch, body: bytes, feed: Feed = WIRE) -> list[rss.RawItem]:
    monkeypatch.setattr(rss, "fetch", lambda name, url, **_: answer(body))
    return RssSource(feed, lambda: NOW).fetch([TSLA], NOW, NOW)


def test_rss_items(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = read(monkeypatch, RSS)
    assert (one.title, one.url, one.text) == (
        "One & only", "https://x.test/1", "<p>The long one</p>",
    )  # fmt: skip
    # 12:00 at -04:00 is 16:00 UTC.
    assert (one.ts_quality, one.published_utc) == ("exact", datetime(2025, 8, 1, 16, tzinfo=UTC))
    assert (one.outlet, one.origin, one.trust, one.category) == (
        "Wire",
        "rss:wire",
        "wire",
        "macro",
    )
    assert (one.asset, one.must_mention, one.collected_at_utc) == (None, False, NOW)
    assert two.url == "http://feed.test/2?a=1"
    assert (two.ts_quality, two.published_utc) == ("date", datetime(2025, 8, 1, tzinfo=UTC))
    assert (three.title, three.ts_quality, three.published_utc) == ("", "none", None)
    assert three.text == "no title, no date"


def test_atom_and_rdf_items(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = read(monkeypatch, ATOM)
    assert (a.ts_quality, a.published_utc) == ("exact", datetime(2025, 8, 1, 10, tzinfo=UTC))
    assert (b.ts_quality, b.published_utc) == ("naive", datetime(2025, 8, 1, 11, tzinfo=UTC))
    assert a.url == "https://x.test/a"
    [c] = read(monkeypatch, RDF)
    assert (c.ts_quality, c.published_utc) == ("exact", datetime(2025, 8, 1, 10, tzinfo=UTC))


def test_a_feed_is_asked_only_for_whom_it_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> Fetched:
        raise AssertionError("asked")

    monkeypatch.setattr(rss, "fetch", never)
    source = RssSource(WIRE, lambda: NOW)
    assert source.fetch([BTC, Asset("TSLAX", "x", "stock", synthetic=True)], NOW, NOW) == []
    with pytest.raises(AssertionError, match="asked"):
        source.fetch([BTC, TSLA], NOW, NOW)


@pytest.mark.parametrize(
    ("raw", "quality", "moment"),
    [
        ("Fri, 01 Aug 2025 12:30:00 GMT", "exact", (8, 1, 12, 30)),
        ("Fri, 01 Aug 2025 12:30:00 Z", "exact", (8, 1, 12, 30)),
        ("Fri, 1 Aug 2025 08:30 EDT", "exact", (8, 1, 12, 30)),  # EDT is UTC-4
        ("01 Aug 25 23:30:00 -0800", "exact", (8, 2, 7, 30)),
        ("2025-08-01T12:30:00Z", "exact", (8, 1, 12, 30)),
        ("2025-08-01t12:30:00.123z", "exact", (8, 1, 12, 30)),
        ("2025-08-01T21:30:00+09:00", "exact", (8, 1, 12, 30)),
        ("2025-08-01 14:30:00 +0200", "exact", (8, 1, 12, 30)),
        ("2025-08-01 12:30:00 UTC", "exact", (8, 1, 12, 30)),
        ("2025-08-01 12:30:00", "naive", (8, 1, 12, 30)),
        ("Fri, 01 Aug 2025 12:30:00", "naive", (8, 1, 12, 30)),
        ("Fri, 01 Aug 2025 12:30:00 -0000", "naive", (8, 1, 12, 30)),  # RFC 5322: zone unknown
        ("Fri, 01 Aug 2025 12:30:00 CEST", "naive", (8, 1, 12, 30)),  # no name of RFC 822
        ("2025-08-01", "date", (8, 1, 0, 0)),
        ("Fri, 01 Aug 2025", "date", (8, 1, 0, 0)),
        ("1 August 2025", "date", (8, 1, 0, 0)),
        # Midnight sharp is a day without its hour: the day written, not the one it is in UTC.
        ("Fri, 01 Aug 2025 00:00:00 GMT", "date", (8, 1, 0, 0)),
        ("2025-08-01T00:00:00+09:00", "date", (8, 1, 0, 0)),
        ("2025-08-01T00:00:01Z", "exact", (8, 1, 0, 0)),
    ],
)
def test_dates_by_their_text(raw: str, quality: str, moment: tuple[int, int, int, int]) -> None:
    got_quality, got = dated(f"  {raw}\n")
    assert got is not None
    assert (got_quality, got.replace(second=0, microsecond=0)) == (
        quality, datetime(2025, *moment, tzinfo=UTC),
    )  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        "", "yesterday", "11 hours ago", "2025", "2025-08", "08/01/2025", "32 Aug 2025",
        "2025-13-01", "2025-08-01T25:00:00Z", "0001-01-01T00:00:01+09:00", "Fri, 01 Foo 2025",
        "9999-12-31T23:59:59-09:00", "1754049600", "1 2 3 4 5 6 7 8", "-" * 90,
    ],
)  # fmt: skip
def test_no_date_is_guessed(raw: str) -> None:
    assert dated(raw) == ("none", None)


@given(st.text(alphabet=st.sampled_from("0123456789-+:TZ ,.AugFriGMT٣٢é"), max_size=40))
def test_any_text_is_a_moment_in_utc_or_none(raw: str) -> None:
    quality, moment = dated(raw)
    assert (moment is None) == (quality == "none")
    assert moment is None or moment.utcoffset().total_seconds() == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("é€".encode(), None),
        (codecs.BOM_UTF8 + "é€".encode(), None),
        (codecs.BOM_UTF16_LE + "é€".encode("utf-16-le"), None),
        (codecs.BOM_UTF16_BE + "é€".encode("utf-16-be"), "utf-8"),
        (codecs.BOM_UTF32_LE + "é€".encode("utf-32-le"), None),
        ("é€".encode("cp1252"), "windows-1252"),
        ("é€".encode("cp1252"), "utf-8"),  # the header lies
        ("é€".encode(), "iso-8859-1"),  # it lies the other way
        ("é€".encode("cp1252"), "no-such-codec"),
        ("é€".encode("cp1252"), "punycode"),  # a codec of quadratic time, not for feeds
    ],
)
def test_encodings(body: bytes, charset: str | None) -> None:
    assert decoded(body, charset) == "é€"


def test_the_declared_encoding_counts_where_utf8_does_not_fit() -> None:
    xml = "<?xml version='1.0' encoding='{}'?><rss/>Привет"
    assert decoded(xml.format("koi8-r").encode("koi8-r"), None).endswith("Привет")
    assert decoded(xml.format("utf-16").encode("utf-16-le"), None).endswith("Привет")
    assert decoded(xml.format("koi8-r").encode("utf-8"), None).endswith("Привет")


def test_an_empty_feed_is_no_failure() -> None:
    assert parse("t", answer(b"<rss version='2.0'><channel><title>x</title></channel></rss>")) == []
    assert parse("t", answer(b"<feed xmlns='http://www.w3.org/2005/Atom'/>")) == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b" \n ", b"<", b"no markup at all", b"{\"error\": 1}", b"\x89PNG\r\n\x1a\n<a",
        b"<html><body><h1>Just a moment...</h1></body></html>",
        b"<!DOCTYPE html><html><head><title>403</title></head></html>",
        b"<error>limit</error>", b"<rss version='2.0'><channel><title>cut o",
    ],
)  # fmt: skip
def test_what_is_no_feed_fails(body: bytes) -> None:
    with pytest.raises(SourceError, match=r"^t: http://feed\.test/a/rss "):
        parse("t", answer(body))


def test_a_cut_or_careless_feed_gives_what_can_be_read() -> None:
    cut = RSS[: RSS.index(b"<item><title>Two") + 18]
    # What was open when the feed broke off has lost its title, and will be counted as such.
    assert [e.get("title") for e in parse("t", answer(cut))] == ["One & only", None]
    careless = b"<rss version='2.0'><item><title>R&D &nbsp;\x08 up 5% < 6%</title></item></rss>"
    [entry] = parse("t", answer(careless))
    assert entry.title.startswith("R&D")


def test_the_list_of_feeds_is_sound() -> None:
    feeds = load_feeds()
    assert len(feeds) >= 20
    assert len({f.url for f in feeds}) == len(feeds)
    for asset in (TSLA, BTC, Asset("SPY", "S&P 500 ETF", "etf"), Asset("BMRN", "B", "stock")):
        covering = [f for f in feeds if f.enabled and f.covers(asset)]
        assert len(covering) >= 5
        assert len({f.outlet for f in covering}) >= 5
        assert {"official", "press"} <= {f.trust for f in covering}


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (
            "[x]\nurl='https://x.test'\noutlet='X'\ntrust='press'",
            "[x]: entry: Value error, name the",
        ),
        ("[x]\nurl='ftp://x.test'\noutlet='X'\ntrust='press'\nassets=['A']", "[x]: url"),
        ("[x]\nurl='https://x.test'\noutlet='X'\ntrust='gossip'\nassets=['A']", "[x]: trust"),
        ("[x]\nurl='https://x.test'\noutlet='X'\ntrust='press'\nassets=['A']\nkey=1", "[x]: key"),
        (
            "[x]\nurl='https://x.test'\noutlet='X'\ntrust='press'\nclasses=['bond']",
            "[x]: classes.0",
        ),
        ("['X y']\nurl='https://x.test'\noutlet='X'\ntrust='press'\nassets=['A']", "[X y]: id"),
        ("x = 1", "`x` must be a table"),
        ("[x", "Cannot read feeds"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, lines: str, named: str) -> None:
    path = tmp_path / "feeds.toml"
    path.write_text(lines)
    with pytest.raises(DataError) as caught:
        load_feeds(path)
    assert named in str(caught.value)
    assert str(path) in str(caught.value)
