"""The metrics page names every metric and every reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.analytics.result import REASONS
from arena.analytics.series import ALL_METRICS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*ALL_METRICS, *REASONS])
def test_is_explained(name: str) -> None:
    assert f"`{name}`" in PAGE
