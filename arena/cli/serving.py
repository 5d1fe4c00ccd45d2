"""serve-agent: an agent of ours behind the paper's HTTP protocol and `arena/2`."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.agents.external import load_file
from arena.agents.registry import get_agent
from arena.agents.remote import wire
from arena.agents.remote.answering import Served, answer
from arena.agents.remote.received import RequestError
from arena.cli.options import names
from arena.cli.output import note
from arena.core.errors import ConfigError
from arena.llm.budgeted import Budget
from arena.llm.journal import MemoryJournal
from arena.llm.registry import model_info
from arena.llm.stack import RunModels
from arena.market.assets import load_assets

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PATHS = ("/trading_action/", "/trading_action", "/competition_action/", "/competition_action")
"""Where known senders post, with and without the last slash; the first is the one to register."""

DEFAULT_PORT = 62237

BudgetUsd = Annotated[
    float | None, typer.Option("--budget-usd", min=0, help="What models may cost in all.")
]
TokenCap = Annotated[
    int | None, typer.Option("--token-cap", min=0, help="Tokens that models may use in all.")
]
AllowUnpriced = Annotated[
    bool, typer.Option("--allow-unpriced", help="Models of unknown price, within --token-cap.")
]


def serve_agent(
    agent: Annotated[str, typer.Option("--agent", help="Id or label of a known agent.")] = "",
    file: Annotated[Path | None, typer.Option("--file", help="Or a Python file with one agent.")] = None,
    model: Annotated[str, typer.Option("--model", help="Comma list; the first is the default.")] = "offline/trend",
    host: Annotated[str, typer.Option("--host", help="0.0.0.0 lets everyone in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = DEFAULT_PORT,
    budget_usd: BudgetUsd = None,
    token_cap: TokenCap = None,
    allow_unpriced: AllowUnpriced = False,
) -> int:
    """Let other arenas ask an agent of this one, until stopped."""
    import uvicorn

    budget = Budget(budget_usd, token_cap, allow_unpriced)
    app = agent_app(make_served(agent, file, names(model), budget))
    try:
        listening = socket.create_server((host, port), family=_family(host))
    except OSError as error:
        raise ConfigError(
            f"Cannot listen on {host} port {port}: {error.strerror}. Choose another --port."
        ) from error
    at = f"[{host}]" if ":" in host else host
    note(f"Serving {agent or file} with {model} on http://{at}:{listening.getsockname()[1]}{PATHS[0]}")
    config = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        note("Stopped.")
    return 0


def make_served(agent: str, file: Path | None, models: tuple[str, ...], budget: Budget) -> Served:
    """What `serve-agent` offers.

    Raises:
        ConfigError: not exactly one of agent and file, an unusable one, an unknown model, or one whose
            bill nothing would bound.
    """
    if bool(agent) == (file is not None):
        raise ConfigError("Give either --agent NAME or --file PATH.")
    if not models:
        raise ConfigError("--model is empty; name at least one model.")
    chosen = load_file(file) if file else get_agent(agent)
    run = RunModels([model_info(m) for m in models], budget, MemoryJournal())
    return Served(chosen, models, run.of, load_assets().get)


def agent_app(served: Served) -> Starlette:
    """The web application; `POST /trading_action/` decides, `GET /` says who is here."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    who = {
        "agent": served.agent.id,
        "label": served.agent.label,
        "learns": served.agent.learns,
        "models": list(served.models),
        "protocols": ["ama/1", wire.ARENA_2],
        "path": PATHS[0],
    }

    async def about(_: Request) -> Response:
        return JSONResponse(who)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def act(request: Request) -> Response:
        try:
            return JSONResponse(await answer(served, await _body(request)))
        except RequestError as error:
            return JSONResponse({"detail": error.problem}, error.status)

    routes: list[Any] = [Route("/", about), Route("/health", health)]
    routes += [Route(path, act, methods=["POST"]) for path in PATHS]
    return Starlette(routes=routes)


async def _body(request: Request) -> bytes:
    # Other content types are what a web page could send here behind the back of its visitor.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "the content type must be application/json")
    held = bytearray()
    async for chunk in request.stream():
        held += chunk
        if len(held) > wire.MAX_REQUEST_BYTES:
            raise RequestError(413, f"the request is longer than {wire.MAX_REQUEST_BYTES} bytes")
    return bytes(held)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
