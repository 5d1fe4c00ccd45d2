"""The page about faults is made from the table, from the marks of the tests, and from results that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import fault_table
from tests.fault_table import PAGE, Row, marks, missing, page, results, rows, told, verdict

JUNIT = """<testsuites><testsuite>
<testcase classname="tests.store.test_a" name="test_one[x]"/>
<testcase classname="tests.store.test_a" name="test_one[y]"><failure message="no"/></testcase>
<testcase classname="tests.store.test_a" name="test_two[x]"/>
<testcase classname="tests.store.test_a" name="test_two[y]"><skipped message="not here"/></testcase>
<testcase classname="tests.test_b" name="test_three"><skipped message="not here"/></testcase>
</testsuite></testsuites>
"""


def test_every_fault_rule_and_risk_has_its_tests() -> None:
    every = rows()
    assert {kind: len(found) for kind, found in every.items()} == {
        "fault": 38, "invariant": 18, "security": 12,
    }  # fmt: skip
    assert [row.name for found in every.values() for row in found if not row.tests] == []
    assert missing(test for found in every.values() for row in found for test in row.tests) == []
    assert max(marks()) <= 38


def test_the_page_is_that_of_the_table_and_of_its_own_results() -> None:
    text = PAGE.read_text("utf-8")
    assert text == page(told(text)), "run `make fault-table`"
    assert "not run: " not in text


def test_a_test_that_is_none_is_named() -> None:
    here = "test_fault_table.py"
    names = [f"{here}::test_a_test_that_is_none_is_named", f"{here}::test_x", "gone.py::test_y"]
    assert missing(names) == names[1:]


def test_a_test_passed_if_all_its_cases_did(tmp_path: Path) -> None:
    first, second = tmp_path / "1.xml", tmp_path / "2.xml"
    first.write_text(JUNIT)
    assert results([first]) == {
        "store/test_a.py::test_one": "failed", "store/test_a.py::test_two": "passed",
        "test_b.py::test_three": "skipped",
    }  # fmt: skip
    second.write_text(JUNIT.replace('<failure message="no"/>', ""))
    assert results([first, second])["store/test_a.py::test_one"] == "passed"


@pytest.mark.parametrize(
    ("found", "short", "word"),
    [
        ({"a": "passed", "b": "passed"}, "", "as expected"),
        ({"a": "passed", "b": "passed"}, "why", "in part, see below"),
        ({"a": "passed", "b": "failed"}, "", "**failed**"),
        ({"a": "passed"}, "", "**not run**"),
        ({"a": "passed", "b": "skipped"}, "why", "**skipped**"),
    ],
)
def test_one_test_that_did_not_pass_is_the_result_of_its_row(
    found: dict[str, fault_table.Result], short: str, word: str
) -> None:
    assert verdict(Row("1", "what", "said", ("a", "b"), short), found) == word
