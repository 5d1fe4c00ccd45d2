"""Running the command line as a user would: another process, its two streams and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def arena(root: Path) -> Callable[..., Said]:
    def run(*words: object, **env: str) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words)],
            cwd=root, capture_output=True, text=True, timeout=240, env={**os.environ, **env},
        )  # fmt: skip
        return Said(done.returncode, done.stdout, done.stderr)

    return run
