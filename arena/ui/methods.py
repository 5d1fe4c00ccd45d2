"""Parts of the Methods page. Formulas and rules come from where they are kept: the registry of metrics,
the presets, and `docs/`; nothing is typed a second time here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pandas as pd
import streamlit as st

from arena.analytics.registry import BOARD_METRICS, Metric, pick
from arena.analytics.series import ALL_METRICS
from arena.core.settings import ROOT
from arena.runner.presets import Preset, load_presets
from arena.ui import board
from arena.ui.states import DISCLAIMER

DOCS = ROOT / "docs"
PARTS = ("Protocol", "Metrics", "News", "Agents", "Limits")
COUNTED = {
    "n_periods": "sessions", "n_returns": "returns", "n_all_returns": "returns", "n_marks": "sessions",
    "n_trips": "closed round trips", "n_exposed": "sessions that began with a position",
}  # fmt: skip
UNITS = {"fraction": "fraction, shown in %", "ratio": "ratio", "count": "count"}
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Explained:
    """A metric's row in docs/metrics.md; `names` where one formula tells of several."""

    names: tuple[str, ...]
    family: str
    formula: str
    needs: str
    note: str


@cache
def section(file: str, heading: str) -> str:
    """The text under a heading of `docs/<file>.md`, without its sub-sections' siblings.

    Links between the files become the names of the files: here they would lead nowhere.

    Raises:
        KeyError: there is no such heading.
    """
    lines = (DOCS / f"{file}.md").read_text(encoding="utf-8").splitlines()
    level = len(heading) - len(heading.lstrip("#"))
    if heading not in lines:
        raise KeyError(f"docs/{file}.md has no heading `{heading}`")
    kept: list[str] = []
    for line in lines[lines.index(heading) + 1 :]:
        if re.match(rf"#{{1,{level}}} ", line):
            break
        kept.append(line)
    return _LINK.sub(r"`docs/\1`", "\n".join(kept)).strip()


@cache
def explained() -> dict[str, Explained]:
    """What docs/metrics.md says of every metric, by name."""
    found: dict[str, Explained] = {}
    family = ""
    for line in section("metrics", "## Formulas").splitlines():
        if line.startswith("### "):
            family = line.removeprefix("### ")
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        names = tuple(re.findall(r"`(\w+)`", cells[0]))
        found.update(dict.fromkeys(names, Explained(names, family, *cells[1:])))
    return found


def docstring(metric: Metric) -> str:
    """The formula's own words in one paragraph."""
    return " ".join((metric.formula.__doc__ or "").split())


def anchor(name: str) -> str:
    """Part of the address behind `#` that leads to a metric."""
    return f"metric-{name.lower().replace('_', '-')}"


def part() -> str:
    """The chosen part of the page; the address holds it."""
    return str(
        st.segmented_control(
            "Part", PARTS, default=PARTS[0], required=True, key="part", bind="query-params",
            label_visibility="collapsed",
        )
    )  # fmt: skip


def protocol() -> None:
    st.markdown(
        """
An **entry** is an agent with a model. At every **slot**, after a session of an asset has closed, each
entry is shown the same sealed market and its own position, and answers BUY, SELL or HOLD. A **strategy**
turns these words into positions; each strategy is an account of its own. **Net return** and **Sharpe** are
explained under Metrics. Sample assets are fictional and their prices are made up.
"""
    )
    headings = ("One decision", "Strategies", "Fill", "Live seasons", "Costs", "Status", "Warm-up", "Vote", "Epochs")
    links = [f"[{h}](#{h.lower().replace(' ', '-')})" for h in (*headings, "Presets")]
    st.markdown(" · ".join(links))
    for heading in headings:
        st.header(heading, anchor=heading.lower().replace(" ", "-"))
        st.markdown(section("protocol", f"## {heading}"))
    st.header("Presets", anchor="presets")
    for name, preset in load_presets().items():
        st.markdown(f"- `{name}`: {preset.label}")
    table = preset_frame()
    st.dataframe(
        table, hide_index=True, key="presets", row_height=board.ROW_HEIGHT, placeholder="–",
        height=board.height(len(table)), alt="Protocol presets, rule by rule",
        column_config={
            "rule": st.column_config.TextColumn("Rule", width=140),
            **{n: st.column_config.TextColumn(n, width=300) for n in load_presets()},
        },
    )  # fmt: skip
    st.markdown(
        ":small[:gray[`replay --protocol NAME` takes one; what a preset leaves open stands as in "
        "`default`, or comes from the command line. From `data/seasons.toml`.]]"
    )


def preset_frame() -> pd.DataFrame:
    """Rules down, presets across, as text; None where the preset leaves a rule open."""
    presets = load_presets()
    rules: dict[str, dict[str, str | None]] = {}
    for name, preset in presets.items():
        for rule, text in _rules(name, preset):
            rules.setdefault(rule, {})[name] = text
    return pd.DataFrame([{"rule": r, **{n: v.get(n) for n in presets}} for r, v in rules.items()])


def _rules(name: str, preset: Preset) -> Iterator[tuple[str, str | None]]:
    season = preset.make_season(name, {})
    fees = ", ".join(f"{kind} {bps:g}" for kind, bps in season.fee_bps.items())
    window = None if preset.start is None else f"{preset.start} to {preset.end}"
    warmup = f"from {preset.warmup_from}" if preset.warmup_from else f"{preset.warmup} sessions"
    yield "Assets", ", ".join(preset.assets) or None
    yield "Window", window
    yield "Warm-up", f"{warmup}, {preset.warmup_mode}"
    yield "Strategies", ", ".join(preset.strategies) or None
    yield "Capital", f"{season.capital:,.0f}"
    yield "Fees, bp", fees
    yield "Slippage, borrow, bp", f"{season.slippage_bps:g}, {season.borrow_bps_year:g} a year"
    yield "Fill", season.fill
    yield "HOLD means", season.hold
    yield "Shorting", "yes" if season.shorting else "no"
    yield "Past decisions shown", str(season.memory)
    yield "Temperature", f"{season.generation.temperature:g}"
    yield "Answers per question", str(season.generation.tries)
    yield "Epochs", str(preset.epochs)
    yield "Metrics mode", season.metrics_mode


def metrics() -> None:
    """Every registered metric with formula, unit, edge cases and source, each with an address."""
    words = explained()
    registered = {m.name: m for m in pick(ALL_METRICS)}
    families: dict[str, list[str]] = {}
    for name, row in words.items():
        families.setdefault(row.family, []).append(name)
    for family, names in families.items():
        links = [f"[{n}](#{anchor(n)})" for n in names]
        st.markdown(f"**{family}**: {' · '.join(links)}")
    st.header("The curve behind them", anchor="the-curve")
    st.markdown(section("metrics", "## The curve"))
    for family, names in families.items():
        st.header(family, anchor=family.lower().replace(" ", "-").replace("&", "and"))
        for name in names:
            _metric(registered[name], words[name])
    for heading in ("When there is no value", "Where the paper differs", "Ranking", "Reading a result"):
        st.header(heading, anchor=heading.lower().replace(" ", "-"))
        st.markdown(section("metrics", f"## {heading}"))


def _metric(metric: Metric, words: Explained) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(metric.name, anchor=anchor(metric.name), width="content")
            if metric.name in BOARD_METRICS:
                st.badge("on the board", color="blue")
        st.code(f"{', '.join(words.names)} = {words.formula}", language=None, wrap_lines=True)
        facts = [f"Unit: {UNITS.get(metric.unit, metric.unit)}", f"n counts {COUNTED[metric.count]}"]
        facts.append(f"needs {words.needs}")
        if metric.annualised:
            facts.append("annualised with B = 252, or 365 with a coin; flagged below 30 observations")
        if words.note:
            facts.append(words.note)
        st.markdown(docstring(metric).replace("$", r"\$").replace("~", r"\~"))
        st.markdown(f":small[:gray[{' · '.join(facts)}]]")


def news() -> None:
    st.markdown(section("protocol", "## News"))
    for heading in ("Four scores, by code", "Who writes it", "A judge", "Reviews by people"):
        st.header(heading, anchor=heading.lower().replace(",", "").replace(" ", "-"))
        st.markdown(_lower_heads(section("briefs", f"## {heading}")))


def agents() -> None:
    from arena.audit.health import agent_facts

    facts = agent_facts()
    st.dataframe(
        pd.DataFrame(
            {
                "id": [f.id for f in facts],
                "label": [f.label for f in facts],
                "memory": ["yes" if f.learns else "no" for f in facts],
                "origin": [f.origin for f in facts],
                "what": [f.what for f in facts],
            }
        ),
        hide_index=True, key="agents_known", row_height=board.ROW_HEIGHT,
        height=board.height(len(facts)), alt="Agents that can be asked for",
        column_config={
            "id": st.column_config.TextColumn("Id", width=130),
            "label": st.column_config.TextColumn("Name", width=230),
            "memory": st.column_config.TextColumn("Learns", width=60),
            "origin": st.column_config.TextColumn("Origin", width=90),
            "what": st.column_config.TextColumn("What it is", width=540),
        },
    )  # fmt: skip
    for heading in ("Sources", "Calls", "Common to all", "From native words to an intent"):
        st.header(heading, anchor=heading.lower().replace(" ", "-"))
        st.markdown(section("fidelity", f"## {heading}"))
    st.markdown(
        ":small[:gray[Each agent role by role, and where it departs from its source: `docs/fidelity.md`. "
        "To add one: `docs/adding-an-agent.md`.]]"
    )


def limits() -> None:
    st.markdown(
        """
What does not follow from these tables: that an entry is better than another. Windows are short: two
months are one market. Where the pages give an interval or call two entries indistinguishable, that is
about this window only.

- **A model may know the past.** A replay asks about days that may lie in a model's training. Rows of a model whose
  knowledge reaches into the window carry a mark; where nobody says what a model knows, there is none.
- **Paper money moves no market.** Orders of any size are filled at the printed price and the stated cost.
- **Stand-ins are rules**, no language models. They are there so that the arena can be seen at work
  without a key, and nothing about models can be read from them.
- **Failures count.** A failed answer is a status, drawn as a cross and counted. It acts as HOLD; it is never hidden.
- **The sample is made up**: fictional assets, synthetic prices, invented news.
- **An agent here is not the paper's agent.** Its wrappers are not public; ours are built from what is.
"""
    )
    st.header("What the quality of briefs leaves out", anchor="briefs-limits")
    st.markdown(section("briefs", "## What is not measured"))


def _lower_heads(text: str) -> str:
    """Sub-headings one size smaller, so that the page's own order of headings holds."""
    return re.sub(r"(?m)^(#{2,4}) ", r"#\1 ", text)


def footer() -> None:
    st.markdown(f":small[:gray[{DISCLAIMER}]]")
