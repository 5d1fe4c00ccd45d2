"""What axe finds on a page, less what Streamlit itself brings along."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe

BASELINE = {
    "list": '[data-testid="stSidebarNavItems"]',
    "listitem": '[data-testid="stSidebarNavItems"]',
    "svg-img-alt": '[data-testid="stMetric"]',
}
"""Rules that a part of Streamlit breaks by its own markup: the menu's sections, and the lines in metrics."""

INSIDE = "([target, part]) => !!document.querySelector(target)?.closest(part)"


def findings(page: Any, *rules: str) -> list[str]:
    """A line for each violation that is ours; `rules` names those to try, else all of axe's."""
    # Of what passes axe would else describe every element.
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    return [
        f"{found['id']}: {node['target']} {node['html'][:200]} {node['failureSummary']}"
        for found in Axe().run(page, options=options).response["violations"]
        for node in found["nodes"]
        if not _theirs(page, found["id"], node["target"])
    ]


def _theirs(page: Any, rule: str, target: list[Any]) -> bool:
    part = BASELINE.get(rule)
    return part is not None and bool(page.evaluate(INSIDE, [str(target[0]), part]))
