"""How runs are listed: live seasons first, ad-hoc runs last and under their own heading."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd

from arena.ui.filters import in_groups, run_group, run_label


def run(name: str, kind: str, *, workbench: bool = False, status: str = "done", void: str | None = None) -> dict[str, Any]:  # fmt: skip
    return {
        "run": name, "kind": kind, "workbench": workbench, "status": status, "fill": "next",
        "start": date(2025, 8, 1), "end": date(2025, 9, 30), "voided_reason": void,
    }  # fmt: skip


def test_order_and_headings() -> None:
    runs = pd.DataFrame(
        [
            run("w", "replay", workbench=True), run("i", "import"), run("r", "replay"),
            run("l", "live", status="running"), run("v", "replay", workbench=True),
        ]
    )  # fmt: skip
    found = in_groups(runs)
    assert found["run"].tolist() == ["l", "i", "r", "w", "v"]
    assert [run_group(r) for _, r in found.iterrows()] == [
        "Live season", "Import", "Replay", "Workbench", "Workbench",
    ]  # fmt: skip


def test_labels_tell_open_ended_ended_and_voided_runs_apart() -> None:
    labels = [
        run_label(pd.Series(r))
        for r in (run("l", "live", status="running"), run("m", "live"), run("r", "replay", void="wrong prices"))
    ]
    assert labels == [
        "Live season · since 1 Aug 2025 · fill next · l",
        "Live season · 1 Aug to 30 Sep 2025 · fill next · m",
        "Replay · 1 Aug to 30 Sep 2025 · fill next · r · void",
    ]
