"""What programs read of an arena: health, leaderboard, badges, feed. Nothing here writes.

The functions are plain, so Starlette runs each in a thread and the pages' loop never waits for one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import date, datetime
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.core.clock import utc_now
from arena.core.errors import ArenaError, TooLongError, UnknownNameError
from arena.core.settings import public_url
from arena.runner import service
from arena.runner.badge import badge, entry_badge
from arena.runner.boards import pick_runs
from arena.runner.feed import N_ITEMS, rss
from arena.runner.liveness import liveness
from arena.runner.public_board import AXES, BusyError, By, TooMuchError, board_rows
from arena.store import reader, rounds
from arena.store.store import Store

log = logging.getLogger("arena.api")

JSON, SVG, RSS = "application/json", "image/svg+xml", "application/rss+xml; charset=utf-8"
MAX_QUERY_CHARS = 2_000
QUERY_S = 10.0
"""Programs ask again and again: one that asks for too much must not keep the others waiting."""
GROUPINGS: dict[str, By] = {"entry": "entry", "account": "account"}
FRESH, BADGE_FRESH, NEVER = "public, max-age=30", "public, max-age=300", "no-store"
"""Boards change once a round; image proxies ask for badges all the time; health is of the moment."""


class Refused(Exception):
    """An answer other than 200, with a sentence for whoever asked."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


Endpoint = Callable[[Request], Response]


def _answering(endpoint: Endpoint) -> Endpoint:
    """Every failure as JSON, and none with a path or a key in it."""

    @wraps(endpoint)
    def answer(request: Request) -> Response:
        try:
            return endpoint(request)
        except Refused as refused:
            return _json({"error": str(refused)}, refused.status)
        except (UnknownNameError, TooMuchError) as error:
            return _json({"error": str(error)}, 400)
        except (BusyError, TooLongError) as error:
            return _json({"error": str(error)}, 503)
        except ArenaError as error:
            # Its text may name files of this machine.
            log.warning("%s could not be answered: %s", request.url.path, error)
            return _json({"error": "The arena cannot answer this now."}, 503)
        except Exception:
            log.exception("%s failed", request.url.path)
            return _json({"error": "The arena failed to answer."}, 500)

    return answer


def _json(document: Any, status: int = 200, fresh: str = NEVER, etag: str = "") -> Response:
    text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False, indent=1)
    return _respond(text, JSON, status, fresh, etag)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _respond(text: str, media: str, status: int = 200, fresh: str = NEVER, etag: str = "") -> Response:
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": fresh}
    return Response(text, status, headers | ({"ETag": etag} if etag else {}), media_type=media)


def _store() -> Store:
    store = service.ensure_started().store
    if store is None:
        raise Refused(503, "The arena is starting, or its store cannot be opened.")
    return store.limited(QUERY_S)


def _asked(request: Request, *known: str) -> dict[str, str]:
    """Query parameters, each known and given once."""
    given = request.query_params.multi_items()
    if len(request.url.query) > MAX_QUERY_CHARS:
        raise Refused(414, f"The query is longer than {MAX_QUERY_CHARS} characters.")
    for name, _ in given:
        if name not in known:
            raise UnknownNameError("parameter", name, known)
    if len(dict(given)) != len(given):
        raise Refused(400, "Give each parameter once; several values stand in one, with commas.")
    return dict(given)


def _etag(store: Store) -> str:
    return f'"{store.store_id[:12]}-{reader.data_version(store)}"'


def _unchanged(request: Request, etag: str, fresh: str) -> Response | None:
    known = request.headers.get("if-none-match", "")
    if etag in [tag.strip().removeprefix("W/") for tag in known.split(",")]:
        return Response(status_code=304, headers={"ETag": etag, "Cache-Control": fresh})
    return None


def _run(store: Store, wanted: str | None) -> str:
    """One run: that of a board nobody chose a run for, or the first of those named."""
    runs = reader.runs(store)
    if runs.empty:
        raise Refused(404, "The store holds no run yet.")
    return pick_runs(runs, wanted, reader.settled_runs(store))[0]


@_answering
def health(request: Request) -> Response:
    """How the arena is; 503 where nothing goes on until somebody acts."""
    _asked(request)
    answer = liveness(service.ensure_started(), utc_now())
    return _json(answer, 503 if answer["status"] == "paused" else 200)


@_answering
def leaderboard(request: Request) -> Response:
    """The rows that `python -m arena leaderboard --format json` prints, for the same options."""
    asked = _asked(request, "run", "by", *AXES)
    if (by := GROUPINGS.get(asked.pop("by", "entry"))) is None:
        raise UnknownNameError("grouping", request.query_params["by"], GROUPINGS)
    store = _store()
    etag = _etag(store)
    if (same := _unchanged(request, etag, FRESH)) is not None:
        return same
    _run(store, None if asked.get("run") == "all" else asked.get("run"))
    rows = board_rows(store, by, asked.pop("run", None), asked)
    return _json(rows, fresh=FRESH, etag=etag)


@_answering
def entry_svg(request: Request) -> Response:
    """A badge with the rank and return of `agent@model`; what is unknown has one too, with 404."""
    asked = _asked(request, "run", "strategy")
    entry, store = request.path_params["entry"], _store()
    etag = _etag(store)
    if (same := _unchanged(request, etag, BADGE_FRESH)) is not None:
        return same
    strategy = asked.get("strategy", "baseline")
    try:
        rows = board_rows(store, "entry", _run(store, asked.get("run")), {"strategies": strategy})
        svg = entry_badge(rows, entry, strategy)
    except (UnknownNameError, Refused):
        svg = None
    if svg is None:
        return _respond(badge(entry, "not found"), SVG, 404)
    return _respond(svg, SVG, fresh=BADGE_FRESH, etag=etag)


@_answering
def feed(request: Request) -> Response:
    """The newest decisions of a run as RSS."""
    asked, store = _asked(request, "run"), _store()
    etag = _etag(store)
    if (same := _unchanged(request, etag, FRESH)) is not None:
        return same
    run = _run(store, asked.get("run"))
    text = rss(f"Agent Market Arena: {run}", rounds.newest_decisions(store, run, N_ITEMS), public_url())
    return _respond(text, RSS, fresh=FRESH, etag=etag)


@_answering
def nothing(_: Request) -> Response:
    raise Refused(404, "There are /api/health, /api/leaderboard.json, /api/badge/ENTRY.svg and /feed.xml.")


ROUTES = [
    Route("/api/health", health),
    Route("/api/leaderboard.json", leaderboard),
    Route("/api/badge/{entry:path}.svg", entry_svg),
    Route("/feed.xml", feed),
    # Without it a slip in an address would be answered with the page of the app.
    Route("/api/{rest:path}", nothing),
]
