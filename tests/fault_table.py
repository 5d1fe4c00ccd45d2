"""docs/reliability.md: every fault, invariant and rule of security with its tests and their results.

`make fault-table` runs all those tests and writes the page; `python -m tests.fault_table --junit FILE`
writes it from the results of a run that was made already (several files may be given).
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

TESTS = Path(__file__).resolve().parent
TABLE, PAGE = TESTS / "fault_table.toml", TESTS.parent / "docs" / "reliability.md"

Result = Literal["passed", "failed", "skipped", "not run"]
Kind = Literal["fault", "invariant", "security"]
LETTER = {"fault": "", "invariant": "I", "security": "S"}


@dataclass(frozen=True)
class Row:
    """`tests` are FILE::TEST within tests/; `said` is what is expected of a fault, or what holds a rule."""

    name: str
    what: str
    said: str
    tests: tuple[str, ...]
    short: str = ""


def rows() -> dict[Kind, list[Row]]:
    """Everything that the table names, with the tests that are marked for a fault."""
    written, marked = tomllib.loads(TABLE.read_text("utf-8")), marks()
    found: dict[Kind, list[Row]] = {}
    for kind in ("fault", "invariant", "security"):
        found[kind] = [
            Row(
                f"{LETTER[kind]}{number}", row["what"], row.get("expected") or row["held_by"],
                tuple(dict.fromkeys([*(marked[number] if kind == "fault" else ()), *row.get("tests", ())])),
                row.get("short", ""),
            )
            for number, row in enumerate(written[kind], 1)
        ]  # fmt: skip
    return found


def marks() -> defaultdict[int, list[str]]:
    """Tests by the number of the fault that they are marked with; read, not imported."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        if "mark.fault(" not in (text := path.read_text("utf-8")):
            continue
        for node in ast.parse(text).body:
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
                    number = int(ast.literal_eval(mark.args[0]))
                    assert isinstance(node, ast.FunctionDef)
                    found[number].append(f"{path.relative_to(TESTS).as_posix()}::{node.name}")
    return found


def missing(names: Iterable[str]) -> list[str]:
    """Those that are no tests."""
    return [
        name for name in names
        if not (path := TESTS / name.split("::")[0]).is_file()
        or not re.search(rf"^def {name.split('::')[1]}\(", path.read_text("utf-8"), re.MULTILINE)
    ]  # fmt: skip


def results(files: Sequence[Path]) -> dict[str, Result]:
    """What became of each test; one with parameters passed if all of them did. A later file counts more."""
    found: dict[str, Result] = {}
    for file in files:
        ended: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            module = case.get("classname", "").removeprefix("tests.").replace(".", "/")
            name = f"{module}.py::{case.get('name', '').split('[')[0]}"
            ended[name][_ending(case)] += 1
        for name, counted in ended.items():
            bad = next((word for word in ("failed", "skipped") if counted[word]), "passed")
            # Some parameters may be skipped where the others have run.
            found[name] = "passed" if bad == "skipped" and counted["passed"] else bad  # type: ignore[assignment]
    return found


def _ending(case: ElementTree.Element) -> Result:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


HEAD = """# What it survives

Made by `make fault-table` from [`tests/fault_table.toml`](../tests/fault_table.toml) and from the run of the
tests that it names. A row is *as expected* where all of its tests passed.
"""
TITLES: dict[Kind, tuple[str, str]] = {
    "fault": ("Faults", "Expected"),
    "invariant": ("Invariants", "Held by"),
    "security": ("Security", "Held by"),
}


def page(found: Mapping[str, Result]) -> str:
    """The document."""
    every, parts = rows(), [HEAD]
    faults = every["fault"]
    good = sum(verdict(row, found) == "as expected" for row in faults)
    parts.append(f"{good} of {len(faults)} faults end as expected; every other one says why below it.\n")
    for kind, (title, said) in TITLES.items():
        lines = [f"## {title}", "", f"| | {title.rstrip('s')} | {said} | Result | Tests |", "|---|---|---|---|---|"]
        for row in every[kind]:
            tests = "<br>".join(f"{found.get(t, 'not run')}: `{t}`" for t in row.tests)
            lines.append(f"| {row.name} | {row.what} | {row.said} | {verdict(row, found)} | {tests} |")
        notes = [f"- **{row.name}**: {row.short}" for row in every[kind] if row.short]
        parts.append("\n".join([*lines, *(["", "Not wholly as expected:", "", *notes] if notes else [])]) + "\n")
    return "\n".join(parts)


def verdict(row: Row, found: Mapping[str, Result]) -> str:
    ended: set[str] = {found.get(test, "not run") for test in row.tests} or {"no test"}
    for bad in ("failed", "not run", "skipped", "no test"):
        if bad in ended:
            return f"**{bad}**"
    return "in part, see below" if row.short else "as expected"


def told(text: str) -> dict[str, Result]:
    """The results that a page shows."""
    return {name: result for result, name in re.findall(r"(passed|failed|skipped|not run): `([^`]+)`", text)}


def to_run(names: Iterable[str]) -> list[str]:
    """What to give to pytest. Tests of a browser build on those before them in their file."""
    return sorted({n.split("::")[0] if n.startswith("browser/") else n for n in names})


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--junit", type=Path, nargs="*")
    given.add_argument("--list", action="store_true", help="say what there is to run, and end")
    args = given.parse_args()
    names = sorted({test for group in rows().values() for row in group for test in row.tests})
    if gone := missing(names):
        raise SystemExit(f"fault_table.toml names what is no test: {gone}")
    if args.list:
        print("\n".join(f"tests/{name}" for name in to_run(names)))
        return 0
    if args.junit:
        found = results(args.junit)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "junit.xml"
            words = ["-m", "pytest", "-q", f"--junitxml={file}", *(f"tests/{name}" for name in to_run(names))]
            subprocess.run([sys.executable, *words], cwd=TESTS.parent, check=False)
            found = results([file])
    text = page({name: found[name] for name in names if name in found})
    PAGE.write_text(text, "utf-8")
    bad = [name for name in names if found.get(name) != "passed"]
    print(f"{len(names)} tests, {len(bad)} of them not passed{': ' if bad else ''}{', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
