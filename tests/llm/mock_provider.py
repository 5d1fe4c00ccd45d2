"""An OpenAI-compatible server on loopback that misbehaves as told, and counts what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

ANSWER = '{"action": "BUY", "confidence": 0.7, "reason": "mock"}'


@dataclass(frozen=True)
class Say:
    """One answer. `cut` drops the connection before it or in the middle of its body; `drip_s` is
    the time between two bytes of it."""

    text: str | None = ANSWER
    status: int = 200
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    finish: str = "stop"
    model: str | None = None
    usage: tuple[int, int] | None = (100, 20)
    cut: Literal["", "before", "midway"] = ""
    drip_s: float = 0.0

    def body(self, asked: dict[str, Any]) -> bytes:
        if self.raw is not None:
            return self.raw
        answer: dict[str, Any] = {
            "id": "mock", "object": "chat.completion", "created": 1,
            "model": self.model or asked["model"],
            "choices": [{
                "index": 0, "finish_reason": self.finish,
                "message": {"role": "assistant", "content": self.text},
            }],
        }  # fmt: skip
        if self.usage:
            n_in, n_out = self.usage
            answer["usage"] = {
                "prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out,
            }  # fmt: skip
        return json.dumps(answer).encode()


def refusal(status: int, message: str = "no", **headers: str) -> Say:
    """An HTTP error in the provider's form; `retry_after="7"` becomes the header Retry-After."""
    body = json.dumps({"error": {"message": message, "type": "mock", "code": None}}).encode()
    return Say(
        status=status, raw=body, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


Script = Callable[[Asked, int], Say]
"""The answer to a request, given how many came before it."""


class MockProvider:
    """`with MockProvider(script) as mock:` and ask `mock.url`. `bill` holds what it would charge for:
    tokens of each request that was not refused, whether or not anybody waited for the answer."""

    def __init__(self, script: Script | Say | list[Say] = Say()) -> None:
        if isinstance(script, Say):
            self.script: Script = lambda _asked, _n: script
        elif isinstance(script, list):
            self.script = lambda _asked, n: script[min(n, len(script) - 1)]
        else:
            self.script = script
        self.asked: list[Asked] = []
        self.bill: list[tuple[int, int]] = []
        self.in_flight = self.most_in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mock", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        start = asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result(5)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:  # fmt: skip
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if not await self._one(head.decode("latin-1"), reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _one(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        first, *lines = head.split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines if x)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(first.split()[1], json.loads(body), headers)
        say = self.script(asked, len(self.asked))
        self.asked.append(asked)
        if say.status == 200 and say.usage:
            self.bill.append(say.usage)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(say.delay_s)
        finally:
            self.in_flight -= 1
        return await self._answer(say, asked, writer)

    async def _answer(self, say: Say, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        if say.cut == "before":
            writer.transport.abort()
            return False
        content = say.body(asked.body)
        kind = "text/html" if content.startswith(b"<") else "application/json"
        headers = {"content-type": kind, "content-length": str(len(content)), **say.headers}
        head = f"HTTP/1.1 {say.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
        writer.write(head.encode() + b"\r\n")
        for i in range(len(content) if say.drip_s else 0):
            writer.write(content[i : i + 1])
            await writer.drain()
            await asyncio.sleep(say.drip_s)
        if not say.drip_s:
            writer.write(content[: len(content) // 2] if say.cut else content)
        await writer.drain()
        if say.cut:
            await asyncio.sleep(0.02)
            writer.transport.abort()
        return not say.cut


def sleeper(asked: Asked, _n: int) -> Say:
    """Waits as long as the last message says: `sleep 0.25`."""
    return Say(delay_s=float(asked.body["messages"][-1]["content"].split()[1]))


if __name__ == "__main__":
    with MockProvider(sleeper) as server:
        print(server.url, flush=True)
        sys.stdin.read()
