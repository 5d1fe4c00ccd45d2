"""The app as a process, for trials that speak with it as a browser does, without one."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import forked as fork
from tests.browser.harness import free_port, popen

PATIENCE_S = 90.0


class Server:
    """`streamlit run APP` as a process of its own, and what it says of itself. `forked`: with imports
    made beforehand."""

    def __init__(
        self, log: Path, env: dict[str, str], app: str = "app.py", *, forked: bool = False
    ) -> None:
        port, self.log = free_port(), log
        self.host = f"127.0.0.1:{port}"
        words = ["run", app, "--server.address", "127.0.0.1", "--server.port", str(port)]
        self.process = (
            fork.start(*words, env=env, out=log, err=log, main=fork.streamlit)
            if forked
            else popen(words, env, log)
        )

    def health(self) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"http://{self.host}/api/health", timeout=10) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as refusal:
            return dict(json.load(refusal))
        except (OSError, ValueError):
            # Streamlit answers any address with its page until the app has been loaded.
            return {}

    def wait(
        self, good: Callable[[dict[str, Any]], object], what: str, patience_s: float = PATIENCE_S,
        every_s: float = 0.1,
    ) -> dict[str, Any]:  # fmt: skip
        """Its health, once that is `good`.

        Raises:
            AssertionError: it never was; with the end of the log.
        """
        ends_at = time.monotonic() + patience_s
        while time.monotonic() < ends_at and self.process.poll() is None:
            if (seen := self.health()) and good(seen):
                return seen
            time.sleep(every_s)
        raise AssertionError(f"{what}: {self.health()}\n{self.log.read_text('utf-8')[-3000:]}")

    def visit(self) -> bytes:
        """One cold session: everything that the first run of the page sends."""
        with self.session() as run:
            return run()

    @contextmanager
    def session(self, query: str = "") -> Iterator[Callable[[], bytes]]:
        """A visitor without a browser: each call runs the page's script and returns what it sends."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
        from websockets.sync.client import connect

        said = BackMsg()
        said.rerun_script.query_string = query
        address = f"ws://{self.host}/_stcore/stream"
        with connect(address, max_size=None, open_timeout=30) as socket:

            def run() -> bytes:
                socket.send(said.SerializeToString())
                heard = b""
                while True:
                    message = socket.recv(timeout=60)
                    assert isinstance(message, bytes)
                    heard += message
                    if ForwardMsg.FromString(message).WhichOneof("type") == "script_finished":
                        return heard

            yield run

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except (subprocess.TimeoutExpired, TimeoutError):
            self.process.kill()
            self.process.wait()
