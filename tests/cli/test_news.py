"""The verb `news`: what it prints, what it refuses, and that silence is never taken for no news."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.cli.news import news
from arena.core.errors import ConfigError, UnknownNameError

WINDOW = {"start": "2025-08-04", "end": "2025-08-06"}
HEAD = "asset,published_at_utc,source,title,url,text,ts_quality\n"
BARS = "date,open,high,low,close\n2025-08-04,1,1,1,1\n2025-08-05,1,1,1,1\n"


def told(capsys: pytest.CaptureFixture[str], **options: Any) -> Any:
    assert news(as_json=True, **WINDOW, **options) == 0
    return json.loads(capsys.readouterr().out)


def folder(at: Path, *titles: str) -> str:
    (at / "BTC_daily.csv").write_text(BARS, "utf-8")
    rows = (f'BTC,2025-08-05T1{n}:00:00Z,Outlet,{t},,,exact' for n, t in enumerate(titles))
    if titles:
        (at / "news.csv").write_text(HEAD + "\n".join(rows) + "\n", "utf-8")
    return f"files:{at}"


def test_sessions_with_their_stories_briefs_and_scores(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, data="sample", asset="QUBIXCOIN")
    assert [s["session"] for s in found["sessions"]] == ["2025-08-04", "2025-08-05", "2025-08-06"]
    for session in found["sessions"]:
        ids = {story["id"] for story in session["stories"]}
        assert session["brief"]["kind"] == "digest"
        assert set(session["brief"]["story_ids"]) <= ids
        assert len(session["brief"]["quality"]) == 4
        for story in session["stories"]:
            assert session["since_utc"] < story["known_at_utc"] <= session["as_of_utc"]
    assert [s["status"] for s in found["sources"]] == ["ok"]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"asset": "NOPE"}, UnknownNameError, "Known: HELIQUA, LUMRACOIN, QUBIXCOIN, ZORVANE"),
        ({"end": ""}, ConfigError, "Give --start and --end"),
        ({"end": "2025-08-03"}, ConfigError, "--start 2025-08-04 is after --end 2025-08-03"),
        ({"start": "0001-01-01"}, ConfigError, "nothing here is older than 1970"),
        ({"asset": "ZORVANE", "start": "2025-08-02", "end": "2025-08-03"}, ConfigError,
         "From 2025-08-02 to 2025-08-03 there is no session whose slot is over"),
        ({"end": "2090-08-06", "start": "2090-08-04"}, ConfigError, "no session whose slot is over"),
        ({"brief": "offline/trend"}, ConfigError, "is a rule and cannot write a brief"),
        ({"brief": "gpt-4o"}, ConfigError, "a model that costs money"),
        ({"data": "auto"}, ConfigError, "choose files, live, sample"),
    ],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        news(**{"asset": "QUBIXCOIN", **WINDOW, **options})


@pytest.mark.parametrize("brief", ["digest", "none"])
def test_a_folder_without_news_is_no_folder_of_quiet_days(tmp_path: Path, brief: str) -> None:
    (tmp_path / "fundamentals.csv").write_text("symbol,field,period,value,filed\n", "utf-8")
    with pytest.raises(ConfigError, match=r"has no news\. Add news\.parquet"):
        news(data=folder(tmp_path), asset="BTC", brief=brief, **WINDOW)


def test_no_source_that_answers_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "off")
    assert news(data="live", asset="BTC", as_json=True, **WINDOW) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert {s["status"] for s in found["sources"]} == {"failed"}
    assert "No source answered" in err
    assert "earlier sessions stay empty" in err


def test_titles_cannot_drive_the_terminal_or_forge_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = folder(tmp_path, '"Bitcoin \x1b[2J\x9bz\nBTC 2025-08-05, known by: 9 stories\u202e"')
    assert news(data=data, asset="BTC", **WINDOW) == 0
    out = capsys.readouterr().out
    assert not any(c in out for c in "\x1b\x9b\u202e")
    assert [line for line in out.splitlines() if line.startswith("BTC 2025-08-05")] == [
        "BTC 2025-08-05, known by 2025-08-06 00:05 UTC: 1 stories"
    ]
