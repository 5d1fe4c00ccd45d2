"""One GET, bounded: what comes back, what is refused, and that it never takes longer than it may."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from time import monotonic

import pytest

from arena.core.errors import SourceError
from arena.market.sources.news import answers, http
from arena.market.sources.news.addresses import is_public, place
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.http import fetch
from tests.market.sources.news.server import Site, page, running

OK = b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.delenv("ARENA_CONTACT", raising=False)
    with running() as site:
        yield site


def refusal(site: Site, path: str, **options: object) -> str:
    with pytest.raises(SourceError) as caught:
        fetch("t", site.base + path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_what_comes_back(site: Site) -> None:
    site.answers["/a"] = page("é".encode("latin-1"), kind="Text/XML; charset=ISO-8859-1")
    got = fetch("t", f"{site.base}/a?x=1", params={"y": "2"})
    assert (got.body, got.content_type, got.encoding) == (b"\xe9", "text/xml", "iso-8859-1")
    assert got.url == f"{site.base}/a"
    [(path, headers)] = site.asked
    assert path == "/a?x=1&y=2"
    assert headers["User-Agent"].startswith("agent-market-arena/")


def test_a_contact_is_told_where_one_is_set(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.answers["/a"] = page(b"x")
    monkeypatch.setenv("ARENA_CONTACT", "host@example.org\r\nX-Evil: é1")
    fetch("t", f"{site.base}/a")
    [(_, headers)] = site.asked
    assert headers["User-Agent"].endswith(" host@example.orgX-Evil: 1")
    assert "X-Evil" not in headers


def test_the_network_switch_comes_first(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "off")
    assert "network is off" in refusal(site, "/a")
    assert site.asked == []


def test_it_works_inside_a_running_event_loop(site: Site) -> None:
    site.answers["/a"] = page(b"x")

    async def inside() -> bytes:
        return fetch("t", f"{site.base}/a").body

    assert asyncio.run(inside()) == b"x"


@pytest.mark.parametrize("header", [OK, b"HTTP/1.0 200 OK\r\nX-Slow: "], ids=["body", "header"])
def test_a_drip_ends_when_its_time_is_up(site: Site, header: bytes) -> None:
    site.answers["/drip"] = site.drip(header, b"z")
    begun = monotonic()
    assert "took more than 0.4 s" in refusal(site, "/drip", timeout_s=0.4)
    assert 0.4 <= monotonic() - begun < 2.0


def test_a_silent_site_ends_too(site: Site) -> None:
    site.answers["/silent"] = site.drip(b"", b"", gap_s=5.0)
    begun = monotonic()
    refusal(site, "/silent", timeout_s=0.3)
    assert monotonic() - begun < 2.0


def test_too_large_is_refused_while_it_comes(site: Site) -> None:
    """The drip has no end: only a cap on what was read can answer before the time is up."""
    site.answers["/big"] = site.drip(OK, b"z" * 5_000, gap_s=0.0)
    assert "larger than 20,000 bytes" in refusal(site, "/big", max_bytes=20_000)
    site.answers["/just"] = page(b"z" * 20_000)
    assert len(fetch("t", f"{site.base}/just", max_bytes=20_000).body) == 20_000


def test_gzip_is_unpacked_up_to_the_cap(site: Site) -> None:
    site.answers["/ok"] = page(gzip.compress(b"news"), Content_Encoding="gzip")
    assert fetch("t", f"{site.base}/ok").body == b"news"
    bomb = gzip.compress(b"\0" * 20_000_000)
    assert len(bomb) < 25_000
    site.answers["/bomb"] = page(bomb, Content_Encoding="gzip")
    assert "larger than 5,000,000 bytes" in refusal(site, "/bomb")
    site.answers["/cut"] = page(gzip.compress(bytes(range(256)))[:-9], Content_Encoding="gzip")
    assert "cut off" in refusal(site, "/cut")
    site.answers["/not"] = page(b"plain", Content_Encoding="gzip")
    assert "broken gzip" in refusal(site, "/not")
    site.answers["/br"] = page(b"plain", Content_Encoding="br")
    assert "not gzip" in refusal(site, "/br")


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("7", 7.0),
        ("999999999", 86_400.0),
        ("-5", 0.0),
        ("Fri, 01 Aug 2025 12:02:00 GMT", 120.0),  # the clock says 12:00:00
        ("Fri, 01 Aug 2025 11:00:00 GMT", 0.0),
        ("soon", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("code", [429, 503])
def test_a_limit_says_how_long(
    site: Site, monkeypatch: pytest.MonkeyPatch, code: int, header: str | None, wait: float | None
) -> None:
    monkeypatch.setattr(answers, "utc_now", lambda: datetime(2025, 8, 1, 12, tzinfo=UTC))
    site.answers["/a"] = page(b"", code, **({"Retry_After": header} if header else {}))
    with pytest.raises(LimitedError) as caught:
        fetch("t", f"{site.base}/a")
    assert caught.value.retry_after_s == wait
    assert str(code) in str(caught.value)


@pytest.mark.parametrize("code", [401, 403, 451])
def test_refused(site: Site, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    site.answers["/a"] = page(b"", code)
    said = refusal(site, "/a")
    assert f"refused ({code})" in said
    assert "ARENA_CONTACT" in said
    monkeypatch.setenv("ARENA_CONTACT", "host@example.org")
    assert "ARENA_CONTACT" not in refusal(site, "/a")


@pytest.mark.parametrize("code", [204, 304, 404, 500])
def test_other_answers_fail(site: Site, code: int) -> None:
    site.answers["/a"] = page(b"", code)
    assert f"answered {code}" in refusal(site, "/a")


def test_no_error_and_no_log_holds_a_key(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    site.answers["/403"] = page(b"", 403)
    site.answers["/loop"] = page(b"", 302, Location="/loop?token=SECRET")
    said = [
        refusal(site, f"/{path}?token=SECRET", params={"key": "SECRET"}, headers={"X": "SECRET"})
        for path in ("403", "404", "loop")
    ]
    with pytest.raises(SourceError) as caught:
        fetch("t", "http://me:SECRET@127.0.0.1:1/x?key=SECRET#SECRET")
    said.append(str(caught.value))
    assert "http://127.0.0.1:1/x: ConnectError" in said[-1]
    assert "SECRET" not in "".join([*said, caplog.text])


def test_redirects_are_followed_and_counted(site: Site) -> None:
    site.answers["/a"] = page(b"", 301, Location="b?x=1")
    site.answers["/b"] = page(b"", 307, Location=f"{site.base}/c")
    site.answers["/c"] = page(b"there")
    got = fetch("t", f"{site.base}/a", headers={"X-Key": "k"}, max_redirects=2)
    assert (got.body, got.url) == (b"there", f"{site.base}/c")
    assert [path for path, _ in site.asked] == ["/a", "/b?x=1", "/c"]
    assert "more than 1 times" in refusal(site, "/a", max_redirects=1)
    site.answers["/loop"] = page(b"", 302, Location="/loop")
    site.asked.clear()
    assert "more than 5 times" in refusal(site, "/loop")
    assert len(site.asked) == 6  # the first and five redirects


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("file:///etc/passwd", "file:/etc/passwd is not an http(s) address"),
        ("ftp://127.0.0.1/x", "ftp://127.0.0.1/x is not an http(s) address"),
        ("http://[::", "RemoteProtocolError"),
    ],
)
def test_a_redirect_stays_on_http(site: Site, to: str, said: str) -> None:
    site.answers["/a"] = page(b"", 302, Location=to)
    assert said in refusal(site, "/a")


def test_nobody_from_outside_leads_inside(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 plays the public site; 127.0.0.2 is this machine too, and stays private."""
    monkeypatch.setattr(http, "is_public", lambda a: a == ipaddress.ip_address("127.0.0.1"))
    inner = site.base.replace("127.0.0.1", "127.0.0.2")
    site.answers["/a"] = page(b"", 302, Location=f"{inner}/secret")
    assert "leads to the private address 127.0.0.2" in refusal(site, "/a")
    assert [path for path, _ in site.asked] == ["/a"]


def test_a_name_with_a_public_and_a_private_address_leads_nowhere(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, private = (ipaddress.ip_address(f"127.0.0.{n}") for n in (1, 2))

    async def both(*_: object) -> list[object]:
        return [public, private]

    monkeypatch.setattr(http, "is_public", lambda a: a == public)
    monkeypatch.setattr(http, "addresses_of", both)
    site.answers["/a"] = page(b"x")
    assert "leads to the private address 127.0.0.2" in refusal(site, "/a")
    assert site.asked == []


def test_who_has_left_this_network_is_not_led_back(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This machine plays a feed of this network, then a public site, then this network again."""
    public = iter([False, True, False])
    monkeypatch.setattr(http, "is_public", lambda _: next(public))
    site.answers["/a"] = page(b"", 302, Location="/b")
    site.answers["/b"] = page(b"", 302, Location="/secret")
    assert "leads to the private address 127.0.0.1" in refusal(site, "/a")
    assert [path for path, _ in site.asked] == ["/a", "/b"]


def test_a_feed_of_this_network_may_redirect_within_it(site: Site) -> None:
    """And what the caller sent to the first host is not sent to another one."""
    other = site.base.replace("127.0.0.1", "localhost")
    site.answers["/a"] = page(b"", 302, Location=f"{other}/b")
    site.answers["/b"] = page(b"inside")
    assert fetch("t", f"{site.base}/a", headers={"X-Key": "k"}).body == b"inside"
    (_, first), (_, second) = site.asked
    assert first["X-Key"] == "k"
    assert "X-Key" not in second
    assert second["Host"].startswith("localhost:")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("::7f00:1", False),
        ("64:ff9b::a00:1", False),  # 10.0.0.1 translated
        ("64:ff9b::808:808", True),  # 8.8.8.8 translated
        ("2002:a00:1::", False),  # 6to4 of 10.0.0.1
        ("fec0::1", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


def test_one_host_is_asked_eight_times_a_second_at_most() -> None:
    waits = [http._turn_in_s("a.example") for _ in range(9)]
    # The ninth call begins 8 gaps of 0.125 s after the first: one second, less the time passed here.
    assert waits[0] == 0.0
    assert waits == sorted(waits)
    assert 0.9 < waits[8] <= 1.0
    assert http._turn_in_s("b.example") == 0.0


def test_place_is_fit_for_an_error() -> None:
    assert place("https://u:p@x.org/a?k=1#f") == "https://x.org/a"
    assert place("https://x.org/a@b") == "https://x.org/a@b"
    assert len(place("https://x.org/" + "a" * 9_000)) == 200


def test_a_key_that_no_header_can_hold_is_a_failure_without_the_key(site: Site) -> None:
    said = refusal(site, "/a", headers={"X-Key": "SECRET-é"})
    assert "cannot be asked as it stands" in said
    assert "SECRET" not in said


def test_a_proxy_of_the_environment_connects_for_us(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site plays the proxy; it resolves the name, which exists nowhere."""
    monkeypatch.setenv("http_proxy", site.base)
    site.answers["http://feed.invalid/x"] = page(b"by proxy")
    assert fetch("t", "http://feed.invalid/x").body == b"by proxy"
