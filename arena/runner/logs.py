"""What the runner says to stderr: a line a record, without secrets, and never at the price of a round.

`ARENA_LOG=json` makes each line a JSON document for a collector; otherwise a person reads them. A
closed stream or a full disk loses lines, which are counted, and nothing else.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from math import isfinite
from typing import TextIO

from arena.core.errors import ArenaError
from arena.core.settings import log_format
from arena.llm.redact import protect_environment, redact

OURS = "arena"

PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest was given as `extra`."""

WITHHELD = "(withheld: the roster of models cannot be read, so keys could not be told from words)"


def start_logging(stream: TextIO | None = None) -> LossyHandler:
    """Send what `arena.*` loggers say to `stream` (stderr). Called again, it replaces what it set up."""
    protect_environment()
    handler = LossyHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if log_format() == "json" else ShortLines())
    ours = logging.getLogger(OURS)
    for old in [h for h in ours.handlers if isinstance(h, LossyHandler)]:
        ours.removeHandler(old)
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    # Others configure the root as they like; a line said twice is noise.
    ours.propagate = False
    return handler


class LossyHandler(logging.StreamHandler[TextIO]):
    """Writes where it can. `n_lost` lines could not be written."""

    n_lost = 0

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802
        # The standard answer prints a traceback to the very stream that is broken.
        self.n_lost += 1


class _Lines(logging.Formatter):
    def said(self, record: logging.LogRecord) -> tuple[str, str]:
        """Message and traceback of a record, both without secrets."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        try:
            return redact(record.getMessage()), redact(trace)
        except ArenaError:
            return WITHHELD, ""


class ShortLines(_Lines):
    """`2025-10-01 00:05:02 INFO service: ...`; control characters of a message are spelt out."""

    def format(self, record: logging.LogRecord) -> str:
        message, trace = self.said(record)
        one_line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
        name = record.name.removeprefix(f"{OURS}.")
        line = f"{_moment(record):%Y-%m-%d %H:%M:%S} {record.levelname} {name}: {one_line}"
        return f"{line}\n{trace}" if trace else line


class JsonLines(_Lines):
    """at_utc, level, logger, message; what was given as `extra`; `trace` of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        message, trace = self.said(record)
        fields = {
            "at_utc": _moment(record).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            **{k: _plain(v) for k, v in vars(record).items() if k not in PLAIN},
        }
        return json.dumps(fields | ({"trace": trace} if trace else {}), ensure_ascii=False)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _plain(value: object) -> object:
    if isinstance(value, int) or value is None or (isinstance(value, float) and isfinite(value)):
        return value
    return redact(str(value))
