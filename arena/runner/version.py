"""Which code made a run: package version and, in a git checkout, the commit."""

from __future__ import annotations

import subprocess
from functools import cache

from arena import __version__
from arena.core.settings import ROOT


@cache
def code_version() -> str:
    """`0.1.0+abc1234`, with `-dirty` for uncommitted changes; the plain version without git."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=10"],
            cwd=ROOT, capture_output=True, text=True, timeout=5, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__}+{described}" if described else __version__
