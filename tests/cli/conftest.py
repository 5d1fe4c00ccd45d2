"""Running the command line as a user would: another process, its two streams and its exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import forked


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def arena(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Said]:
    folder: Path = tmp_path_factory.mktemp("said")

    def run(*words: object, **env: str) -> Said:
        out, err = folder / "out", folder / "err"
        code = forked.start(*words, env={**os.environ, **env}, out=out, err=err).wait()
        return Said(code, out.read_text("utf-8"), err.read_text("utf-8"))

    return run
