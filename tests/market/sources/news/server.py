"""A site on this machine that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


def page(body: bytes, code: int = 200, kind: str = "application/rss+xml", **headers: str) -> Answer:
    """An ordinary answer; `Retry_After="5"` is the header Retry-After."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


class Site:
    """`answers` by path without its query; `asked` are (path with query, headers), `posted` forms."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.posted: list[bytes] = []
        self.closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, dict(self.headers)))
                known = site.answers.get(self.path.partition("?")[0], page(b"", 404))
                try:
                    known(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def do_POST(self) -> None:
                site.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:
                """Tests read `asked` instead."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.server.server_port}"

    def drip(self, before: bytes, piece: bytes, gap_s: float = 0.05) -> Answer:
        """Raw bytes `before`, then `piece` again and again without end."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(before)
            while not self.closing.wait(gap_s):
                handler.wfile.write(piece)

        return answer


@contextmanager
def running() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site.server.shutdown()
        site.server.server_close()
        thread.join()
