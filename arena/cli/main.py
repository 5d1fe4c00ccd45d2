"""The command table and the exit codes: 0 ok, 1 failed, 2 bad arguments or an unusable store."""

from __future__ import annotations

import sys

import typer
from pydantic import ValidationError

from arena.cli import admission, care, live, news, reading, running, serving
from arena.core.errors import ArenaError, ConfigError, StoreError

app = typer.Typer(
    name="arena",
    help="Agent Market Arena: LLM trading agents under one protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("replay")(running.replay)
app.command("import")(running.import_)
app.command("rescore")(running.rescore)
app.command("void")(running.void)
app.command("live")(live.live)
app.command("round")(live.round_)
app.command("news")(news.news)
app.command("leaderboard")(reading.leaderboard)
app.command("equity")(reading.equity)
app.command("decision")(reading.decision)
app.command("export")(reading.export)
app.command("manifest")(reading.manifest)
app.command("check")(care.check)
app.command("doctor")(care.doctor)
app.command("restore")(care.restore)
app.command("serve-agent")(serving.serve_agent)
app.command("check-agent")(admission.check_agent)


def explain(error: ValidationError) -> str:
    """A pydantic refusal as one sentence a value."""
    parts = []
    for item in error.errors():
        where = ".".join(str(p) for p in item["loc"]) or error.title
        parts.append(f"`{where}`: {item['msg'].removeprefix('Value error, ')}")
    return "; ".join(parts) + "."


def _said(error: typer.TyperException) -> str:
    """The refusal with the option it concerns; a missing one has no message of its own."""
    return str(error.format_message()) if hasattr(error, "format_message") else str(error)


def main() -> None:
    """Run one verb; every expected failure becomes a sentence and an exit code."""
    try:
        code = app(standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _leave("Stopped. What was decided is stored; the same command goes on from there.", 1)
    except typer.TyperException as error:
        _leave(_said(error), 2)
    except ValidationError as error:
        _leave(explain(error), 2)
    except (ConfigError, StoreError) as error:
        _leave(str(error), 2)
    except ArenaError as error:
        _leave(str(error), 1)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(message: str, code: int) -> None:
    print(f"arena: {message}", file=sys.stderr)
    sys.exit(code)
