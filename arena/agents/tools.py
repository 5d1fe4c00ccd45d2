"""What a role may use in `react`: tools, and the form of a step that uses one or answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    PlainSerializer,
    ValidationError,
    create_model,
    model_validator,
)

from arena.agents.prompt import output_contract
from arena.core.errors import ArenaError


class ToolError(ArenaError):
    """A tool cannot give what it was asked for; the text tells the model why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a role may use. `description` and the fields of `args` are told to the model.

    `run` takes checked `args` and gives a JSON-able dict, or an awaitable of one (a tool may ask
    another role). It raises `ToolError` where it has nothing to give.
    """

    name: str
    description: str
    args: type[BaseModel]
    run: Callable[[Any], dict[str, Any] | Awaitable[dict[str, Any]]]


def step_schema(answer: type[BaseModel], tools: Mapping[str, Tool]) -> type[BaseModel]:
    """The form of one step: `tool` with `args`, or `answer`; the other stays None.

    `answer` is not declared optional, so that a stand-in fills it and is done.
    """

    def one_of_both(data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = {name: value for name, value in data.items() if value is not None}
        if ("tool" in data) == ("answer" in data):
            raise ValueError("give either `tool` with its `args`, or `answer`")
        if (name := str(data.get("tool"))) in tools:
            _check_args(tools[name], data.get("args", {}))
        return data

    fields: dict[str, Any] = {
        "tool": (
            Literal[tuple(tools)] | None,
            Field(None, description="name of a tool; leave it out when you answer"),
        ),
        "args": (dict[str, Any], Field({}, description="object with the arguments of that tool")),
        "answer": (
            Annotated[answer, PlainSerializer(lambda v: v and v.model_dump(mode="json"))],
            Field(None, description=f"in place of both, once you know enough: {_form(answer)}"),
        ),
    }
    validators: Any = {"one_of_both": model_validator(mode="before")(one_of_both)}
    return create_model("Step", __validators__=validators, **fields)


def _check_args(tool: Tool, args: Any) -> None:
    try:
        tool.args.model_validate(args)
    except ValidationError as error:
        wrong = (".".join(map(str, e["loc"])) + ": " + e["msg"] for e in error.errors())
        raise ValueError(f"the args do not fit `{tool.name}`: {'; '.join(wrong)}") from None


def how_to(tools: Sequence[Tool], max_steps: int) -> str:
    """What a role is told of its tools."""
    told = [f"- {t.name}: {t.description} Its args: {_form(t.args)}" for t in tools]
    return "\n".join(
        (
            f"You have {max_steps} steps. In each you either use one tool or give your answer.",
            "What the tools gave stands among the facts, each with an id. Tools:",
            *told,
        )
    )


def _form(schema: type[BaseModel]) -> str:
    _, _, form = output_contract(schema, ()).partition("\n")
    return " ".join(form.split())
