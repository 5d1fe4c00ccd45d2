"""What hosting promises: files and commands that exist, scripts that do as the guide says, every switch named."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from arena.cli.main import app
from arena.core.settings import VisitorLimits
from arena.shell.api import ROUTES

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs/deploy.md").read_text("utf-8")
VERBS = {command.name: command for command in app.registered_commands}


def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/round.yml").read_text("utf-8"))
    return loaded


def steps() -> dict[str, dict[str, Any]]:
    return {s.get("name", s.get("uses", "")): s for s in workflow()["jobs"]["round"]["steps"]}


def check_command(words: list[str]) -> None:
    """A command line of ours: `python -m arena VERB --option ...` or `python -m streamlit run FILE`."""
    at = words.index("-m")
    if words[at + 1] == "streamlit":
        assert words[at + 2] == "run"
        assert (ROOT / words[at + 3]).is_file()
        return
    assert words[at + 1] == "arena"
    command = VERBS[words[at + 2]]
    group = typer.main.get_command(app)
    known = {name for p in group.commands[command.name].params for name in p.opts}  # type: ignore[attr-defined]
    assert {w for w in words[at + 3 :] if w.startswith("--")} <= known


def test_every_switch_of_the_code_is_in_the_table() -> None:
    read = {
        name
        for path in (ROOT / "arena").rglob("*.py")
        for name in re.findall(r"\bARENA_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
    }
    read |= {f"ARENA_VISITOR_{name.upper()}" for name in VisitorLimits.__dataclass_fields__}
    table = set(re.findall(r"`(ARENA_[A-Z_]+)", GUIDE[GUIDE.index("## Every switch") :]))
    # Protocol names, not switches.
    assert read - {"ARENA_2"} - table == set()
    assert table - read == set()


def test_defaults_of_the_table_are_those_of_the_code() -> None:
    limits = VisitorLimits()
    row = next(line for line in GUIDE.splitlines() if "ARENA_VISITOR_QUEUE" in line)
    assert re.findall(r"\d+", row.split("|")[2]) == [
        str(getattr(limits, name)) for name in VisitorLimits.__dataclass_fields__
    ]


def test_every_address_for_programs_is_in_the_guide_and_the_other_way_round() -> None:
    ours = {re.sub(r"\{entry:path\}", "AGENT@MODEL", r.path) for r in ROUTES} - {"/api/{rest:path}"}
    told = set(re.findall(r"^\| `(/[^`]+)`", GUIDE, re.MULTILINE))
    assert told == ours


def test_files_and_verbs_that_the_guide_names_exist() -> None:
    for name in re.findall(r"`((?:deploy|arena|\.github|\.streamlit)/[\w./-]+)`", GUIDE):
        assert (ROOT / name).is_file(), name
    for line in re.findall(r"`(python -m arena [^`]+)`", GUIDE):
        check_command(shlex.split(line.replace("\n", " ").split("|")[0]))


# systemd


def test_the_unit_starts_the_app_and_may_write_where_stores_lie() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(ROOT / "deploy/arena.service")
    service = unit["Service"]
    check_command(shlex.split(service["ExecStart"]))
    assert service["User"] != "root"
    assert service["KillSignal"] == "SIGTERM"
    assert float(service["TimeoutStopSec"]) >= 5
    home = service["WorkingDirectory"]
    assert service["ExecStart"].startswith(f"{home}/.venv/")
    assert service["ReadWritePaths"] == f"{home}/data/runtime"
    assert service["EnvironmentFile"].lstrip("-") in GUIDE
    assert "127.0.0.1" in service["ExecStart"]


# Docker


def dockerfile() -> list[tuple[str, str]]:
    text = (ROOT / "deploy/Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def test_the_image_is_pinned_and_runs_as_nobody_special() -> None:
    found = dockerfile()
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-\w+@sha256:[0-9a-f]{64}", dict(found)["FROM"])
    order = [kind for kind, _ in found]
    assert order.index("USER") < order.index("CMD")
    assert dict(found)["USER"] != "root"
    install = next(text for kind, text in found if kind == "RUN" and "pip install" in text)
    assert "-r requirements.txt -c constraints.txt" in install
    loose = [
        line for line in (ROOT / "requirements.txt").read_text().splitlines()
        if line and not line.startswith("#") and not re.fullmatch(r"[\w.-]+==[\w.]+", line)
    ]  # fmt: skip
    assert not loose


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    for kind, text in dockerfile():
        if kind == "COPY":
            for source in text.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source in kept, source
    # Later lines win: no store of this checkout gets into an image.
    assert ignored.index("data/runtime") > ignored.index("!data")
    assert not any("secrets" in line or "/docs" in line for line in kept)


def test_the_image_keeps_its_data_in_a_volume_and_asks_for_its_health() -> None:
    found = dockerfile()
    assert dict(found)["VOLUME"] == "/srv/arena/data/runtime"
    assert dict(found)["WORKDIR"] == "/srv/arena"
    assert f":{dict(found)['VOLUME']} " in GUIDE
    check_command(yaml.safe_load(dict(found)["CMD"]))
    health = dict(found)["HEALTHCHECK"]
    (path,) = re.findall(r"8501(/[\w/]+)'", health)
    assert path in {r.path for r in ROUTES}
    code = yaml.safe_load(health[health.index("CMD") + 4 :])[2]
    compile(code, "healthcheck", "exec")


# The workflow


def test_the_workflow_is_pinned_small_in_rights_and_alone() -> None:
    loaded = workflow()
    assert loaded["permissions"] == {"contents": "write"}
    assert loaded["concurrency"]["cancel-in-progress"] is False
    job = loaded["jobs"]["round"]
    assert job["timeout-minutes"] <= 60
    assert job["if"] == "vars.ARENA_ROUNDS == 'on'"
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        # A secret in a script would stand in the log when the script is shown.
        assert "secrets." not in step.get("run", "")
    triggers = loaded[True]  # YAML reads `on` as true
    assert set(triggers) == {"schedule", "workflow_dispatch"}


def test_the_workflow_looks_after_each_slot_and_before_its_wait_is_over() -> None:
    """Coins wait for a bar from 00:05 to 02:00; stocks for half an hour from 13:00 (summer) or 14:00."""
    minutes = {}
    for entry in workflow()[True]["schedule"]:
        minute, hour, *days = entry["cron"].split()
        minutes[60 * int(hour) + int(minute)] = days
    assert sorted(minutes) == [12, 13 * 60 + 7, 14 * 60 + 7]
    assert 5 < 12 < 120
    for begin in (13 * 60, 14 * 60):
        assert any(begin < at < begin + 30 for at in minutes)
    assert minutes[12] == ["*", "*", "*"]


def test_the_workflow_decides_with_commands_that_exist() -> None:
    decide = steps()["Decide"]
    check_command(shlex.split(decide["run"]))
    assert decide["env"]["ARENA_UPLOAD_URL"].endswith("/kept")
    assert set(decide["env"]) <= {
        "ARENA_DATA", "ARENA_UPLOAD_URL", "ARENA_BACKUPS_KEPT", "ARENA_WEBHOOK_URL", "OPENAI_API_KEY",
    }  # fmt: skip
    assert "hashFiles('kept/latest.json')" in steps()["Push"]["if"]


@pytest.fixture
def runner(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A step of the workflow, as GitHub runs it, in a fresh clone of a repository with one commit."""
    origin = tmp_path / "origin.git"
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

    def git(*words: str, cwd: Path = tmp_path) -> None:
        subprocess.run(["git", *who, *words], cwd=cwd, env=quiet, check=True, capture_output=True)

    git("init", "--quiet", "--bare", str(origin))
    git("init", "--quiet", "seed")
    (tmp_path / "seed/code").write_text("1")
    (tmp_path / "seed/.gitignore").write_text("*.duckdb\n")
    git("add", ".", cwd=tmp_path / "seed")
    git("commit", "--quiet", "-m", "code", cwd=tmp_path / "seed")
    git("push", "--quiet", str(origin), "HEAD:refs/heads/main", cwd=tmp_path / "seed")

    def step(name: str, clone: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / clone
        if not folder.exists():
            git("clone", "--quiet", "--branch", "main", str(origin), str(folder))
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", steps()[name]["run"]], cwd=folder, text=True,
            env={**quiet, "DATA_BRANCH": workflow()["env"]["DATA_BRANCH"]}, capture_output=True, check=False,
        )  # fmt: skip

    return step


def test_the_store_comes_back_at_the_next_run(
    runner: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for day, held in enumerate([[], ["1.duckdb"], ["2.duckdb"]]):
        clone = tmp_path / f"run{day}"
        done = runner("Fetch", clone.name)
        assert done.returncode == 0, done.stderr
        kept = clone / "kept"
        assert sorted(p.name for p in kept.glob("*.duckdb")) == held
        for old in kept.iterdir():
            old.unlink()
        (kept / f"{day + 1}.duckdb").write_bytes(bytes([day]) * 1000)
        (kept / "latest.json").write_text(f"{day}")
        done = runner("Push", clone.name)
        assert done.returncode == 0, done.stderr
    count = subprocess.run(
        ["git", "rev-list", "--count", "arena-data"], cwd=tmp_path / "origin.git", check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert count.stdout.strip() == "1"


def test_a_network_that_fails_never_begins_a_new_arena(
    runner: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    assert runner("Fetch", "one").returncode == 0
    (tmp_path / "origin.git").rename(tmp_path / "away.git")
    (tmp_path / "one/fetched").unlink()
    done = runner("Fetch", "one")
    assert done.returncode not in (0, 2)
    assert not (tmp_path / "one/fetched").exists()


def test_the_store_of_somebody_else_is_not_overwritten(
    runner: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for name in ("slow", "quick"):
        assert runner("Fetch", name).returncode == 0
        (tmp_path / name / "kept/latest.json").write_text(name)
    assert runner("Push", "quick").returncode == 0
    assert runner("Push", "slow").returncode != 0
    assert runner("Fetch", "after").returncode == 0
    assert (tmp_path / "after/kept/latest.json").read_text() == "quick"


def test_a_file_that_github_would_refuse_is_said_before(
    runner: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    assert runner("Fetch", "big").returncode == 0
    with (tmp_path / "big/kept/x.duckdb").open("wb") as out:
        out.truncate(96 * 2**20)
    done = runner("Push", "big")
    assert done.returncode == 1
    assert "95 MB" in done.stdout


# Secrets


def test_the_example_of_secrets_is_valid_and_the_real_file_is_never_committed() -> None:
    text = (ROOT / ".streamlit/secrets.toml.example").read_text("utf-8")
    assert tomllib.loads(text) == {"ARENA_ADMIN_TOKEN": ""}
    # With every line switched on it is still valid, and gives away nothing.
    every = tomllib.loads(re.sub(r"^# (?=[\w\[]+[\]\w]* ?[=\n])|^# (?=\[auth\])", "", text, flags=re.MULTILINE))
    assert every["auth"]["redirect_uri"].endswith("/oauth2callback")
    assert {n for n in every if n.startswith("ARENA_")} <= set(re.findall(r"\bARENA_[A-Z_]+", GUIDE))
    assert all(not every[n] for n in ("HF_TOKEN", "OPENAI_API_KEY", "ARENA_WEBHOOK_SECRET"))
    assert ".streamlit/secrets.toml" in (ROOT / ".gitignore").read_text().splitlines()


def test_what_could_not_be_pushed_is_not_decided(
    runner: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Else each run would decide, and pay for, the same slots again."""
    assert runner("Fetch", "one").returncode == 0
    subprocess.run(
        ["git", "config", "remote.origin.pushurl", str(tmp_path / "forbidden.git")],
        cwd=tmp_path / "one", check=True,
    )  # fmt: skip
    assert runner("Fetch", "one").returncode != 0
    assert runner("Fetch", "grown").returncode == 0
    with (tmp_path / "grown/kept/x.duckdb").open("wb") as out:
        out.truncate(91 * 2**20)
    done = runner("Fetch", "grown")
    assert done.returncode == 1
    assert "90 MB" in done.stdout


def test_the_decisions_end_before_the_job_does() -> None:
    words = shlex.split(steps()["Decide"]["run"])
    minutes = [int(w.removesuffix("m")) for w in words[: words.index("python")] if w.endswith("m")]
    # Six minutes or so for the steps around it.
    assert words[0] == "timeout"
    assert 0 < sum(minutes) + 6 <= workflow()["jobs"]["round"]["timeout-minutes"]


def test_the_image_holds_the_texts_that_pages_show() -> None:
    copied = [text.split()[0] for kind, text in dockerfile() if kind == "COPY"]
    assert "docs" in copied
