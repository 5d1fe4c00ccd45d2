"""One exchange: what is tried again, what is followed, how much is read, and where it may go."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
from typing import Any

import httpx
import pytest

from arena.agents.remote import address
from arena.agents.remote.client import Exchange, post
from arena.agents.remote.entry import RemoteEntry
from arena.agents.remote.protocol import Outcome
from arena.core.errors import ConfigError
from tests.agents.remote.support import URL, replying

BUY = b'{"recommended_action": "BUY"}'


def send(transport: Any, url: str = URL, **more: Any) -> Exchange:
    given = {
        "timeout_s": 2.0, "total_s": 5.0, "allow_private": True, "max_bytes": 100, "waits_s": (0.0, 0.0),
    } | more  # fmt: skip
    return asyncio.run(post(url, b"{}", transport=transport, **given))


def broken(error: type[httpx.TransportError]) -> Any:
    def raise_it(request: httpx.Request) -> httpx.Response:
        raise error("no")

    return raise_it


def test_a_good_reply_is_read_whole() -> None:
    transport = replying(httpx.Response(200, content=BUY))
    assert send(transport) == Exchange(Outcome.OK, BUY, attempts=1)
    (request,) = transport.seen
    assert (request.method, str(request.url), request.content) == ("POST", URL, b"{}")
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("replies", "outcome", "n"),
    [
        ([httpx.Response(503), httpx.Response(200, content=BUY)], Outcome.OK, 2),
        ([broken(httpx.ConnectError), httpx.Response(502), httpx.Response(200, content=BUY)], Outcome.OK, 3),
        ([httpx.Response(504)], Outcome.HTTP_ERROR, 3),
        ([broken(httpx.ConnectError)], Outcome.UNREACHABLE, 3),
        ([broken(httpx.ConnectTimeout)], Outcome.UNREACHABLE, 3),
        ([httpx.Response(500)], Outcome.HTTP_ERROR, 1),
        ([httpx.Response(422)], Outcome.HTTP_ERROR, 1),
        ([httpx.Response(204)], Outcome.HTTP_ERROR, 1),
        # The agent may have worked already: asking again could charge it twice.
        ([broken(httpx.ReadError)], Outcome.UNREACHABLE, 1),
        ([broken(httpx.RemoteProtocolError)], Outcome.UNREACHABLE, 1),
    ],
)
def test_only_an_agent_that_was_not_reached_is_tried_again(
    replies: list[Any], outcome: Outcome, n: int
) -> None:
    transport = replying(*replies)
    got = send(transport)
    assert (got.outcome, got.attempts, len(transport.seen)) == (outcome, n, n)


def test_pauses_that_do_not_fit_are_not_waited_for() -> None:
    transport = replying(httpx.Response(503))
    assert send(transport, waits_s=(9.0, 9.0), total_s=5.0).attempts == 1


def test_a_timeout_is_final() -> None:
    calls = []

    async def slow(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        await asyncio.sleep(5)
        return httpx.Response(200)

    got = send(httpx.MockTransport(slow), timeout_s=0.05)
    assert (got.outcome, got.attempts, len(calls)) == (Outcome.TIMEOUT, 1, 1)
    assert "0.05 s" in got.problem


def test_reason_of_a_refusal_is_kept_in_one_clean_line() -> None:
    got = send(replying(httpx.Response(422, text="bad\n\u202edate" + "x" * 5000)))
    assert got.problem.startswith("HTTP 422: bad datexxx")
    assert len(got.problem) < 320


@pytest.mark.parametrize("size", [100, 101])
def test_a_reply_is_read_up_to_its_limit(size: int) -> None:
    got = send(replying(httpx.Response(200, content=b"x" * size)))
    assert len(got.body) == 100
    assert got.outcome is (Outcome.OK if size == 100 else Outcome.INVALID_RESPONSE)


def test_a_compressed_reply_is_not_unpacked() -> None:
    packed = gzip.compress(b"0" * 1_000_000)
    got = send(replying(httpx.Response(200, headers={"content-encoding": "gzip"}, content=packed)))
    assert (got.outcome, got.body) == (Outcome.INVALID_RESPONSE, b"")


@pytest.mark.parametrize(
    ("status", "location", "n", "outcome"),
    [
        (307, "/trading_action/", 2, Outcome.OK),
        (308, "http://127.0.0.1:9/x", 2, Outcome.OK),
        (307, "http://127.0.0.1:10/trading_action/", 1, Outcome.HTTP_ERROR),
        (307, "https://127.0.0.1:9/trading_action/", 1, Outcome.HTTP_ERROR),
        (302, "/trading_action/", 1, Outcome.HTTP_ERROR),
        (307, None, 1, Outcome.HTTP_ERROR),
    ],
)
def test_redirects(status: int, location: str | None, n: int, outcome: Outcome) -> None:
    headers = {"location": location} if location else {}
    transport = replying(httpx.Response(status, headers=headers), httpx.Response(200, content=BUY))
    assert send(transport).outcome is outcome
    assert len(transport.seen) == n
    assert {r.method for r in transport.seen} == {"POST"}


def test_one_redirect_is_enough() -> None:
    transport = replying(httpx.Response(307, headers={"location": "/a"}))
    assert send(transport).outcome is Outcome.HTTP_ERROR
    assert len(transport.seen) == 2


PRIVATE = ["127.0.0.1", "10.1.2.3", "192.168.0.9", "169.254.169.254", "100.64.0.1", "0.0.0.0",
           "::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1", "2002:0a00:0001::", "224.0.0.1",
           "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::127.0.0.1", "fec0::1"]  # fmt: skip


@pytest.mark.parametrize("ip", PRIVATE)
def test_private_addresses_are_refused(ip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = f"[{ip}]" if ":" in ip else ip
    with pytest.raises(ValueError, match="private"):
        RemoteEntry(id="x", label="X", url=f"http://{host}/")
    RemoteEntry(id="x", label="X", url=f"http://{host}/", allow_private=True)
    # and when a name turns out to lead there, nothing is sent
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setattr(address, "_resolve", _names({"agent.test": ["93.184.216.34", ip]}))
    transport = replying(httpx.Response(200, content=BUY))
    got = send(transport, "https://agent.test/act", allow_private=False)
    assert (got.outcome, got.attempts, transport.seen) == (Outcome.UNREACHABLE, 1, [])
    assert "private" in got.problem


@pytest.mark.parametrize("ip", ["93.184.216.34", "2606:4700::1", "64:ff9b::5db8:d822"])
def test_public_addresses_are_admitted(ip: str) -> None:
    assert address.is_public(ipaddress.ip_address(ip))  # 5d.b8.d8.22 is 93.184.216.34


@pytest.mark.parametrize("host", ["a..test", "a" * 64 + ".test"])
def test_a_name_that_cannot_be_asked_for_is_unreachable(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    got = send(replying(httpx.Response(200, content=BUY)), f"http://{host}/")
    assert got.outcome is Outcome.UNREACHABLE
    assert "cannot be resolved" in got.problem


def test_the_judged_address_is_the_one_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second look-up could give another address; there is none."""
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setattr(address, "_resolve", _names({"agent.test": ["93.184.216.34"]}))
    transport = replying(httpx.Response(200, content=BUY))
    assert send(transport, "https://agent.test:8443/act?k=1", allow_private=False).outcome is Outcome.OK
    (request,) = transport.seen
    assert str(request.url) == "https://93.184.216.34:8443/act?k=1"
    assert request.headers["host"] == "agent.test:8443"
    assert request.extensions["sni_hostname"] == "agent.test"


def test_every_address_is_tried_before_a_host_counts_as_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setattr(address, "_resolve", _names({"agent.test": ["2606:4700::1", "93.184.216.34"]}))
    transport = replying(broken(httpx.ConnectError), httpx.Response(200, content=BUY))
    got = send(transport, "http://agent.test/", allow_private=False)
    assert (got.outcome, got.attempts, len(transport.seen)) == (Outcome.OK, 1, 2)


@pytest.mark.parametrize("url", ["https://agent.test/", "http://93.184.216.34/", "http://10.0.0.1/"])
def test_network_off_leaves_this_machine_only(url: str) -> None:
    transport = replying(httpx.Response(200, content=BUY))
    with pytest.raises(ConfigError, match="ARENA_NETWORK is off"):
        send(transport, url)
    assert transport.seen == []


def test_secrets_of_a_url_stay_out_of_what_is_stored() -> None:
    entry = RemoteEntry(id="x", label="X", url="https://user:word@a.test:8443/act/?token=abc#f")
    assert entry.public_url == "https://a.test:8443/act/"


@pytest.mark.parametrize("url", ["ftp://a.test/", "a.test/act", "http://", "http://[::1/"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        RemoteEntry(id="x", label="X", url=url)


def _names(table: dict[str, list[str]]) -> Any:
    async def resolve(host: str, port: int) -> Any:
        return [ipaddress.ip_address(ip) for ip in table[host]]

    return resolve
