"""Commands of tests begin as a user's do, whatever the tests before them left behind."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from tests import forked


def test_a_script_left_as_main_is_not_run_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, script, err = tmp_path / "ran", tmp_path / "page.py", tmp_path / "err"
    script.write_text(f"open({str(ran)!r}, 'w').close()\n")
    # As AppTest leaves it.
    page = types.ModuleType("__main__")
    page.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", page)
    assert forked.start("round", err=err).wait() == 2
    assert "round --once" in err.read_text()
    assert not ran.exists()
    assert sys.modules["__main__"] is page
