"""What the fields of an answer mean, so that any schema can be described, checked and filled.

    class Verdict(BaseModel):
        action: Annotated[Literal["SELL", "HOLD", "BUY"], Lean()]
        confidence: Annotated[float, Confidence()]
        reason: Annotated[str, Text(600)]
        sources: Annotated[list[str], Cites()] = []

Each marker also tightens the check: pydantic alone takes `true` or `"NaN"` for a number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Lean:
    """A direction: a `Literal` of an odd number of words from most down to most up, or a float -1..1.

    Words are compared whole, after trimming and upper-casing; nothing is looked for inside a text.
    """

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if source is float:
            return core_schema.float_schema(ge=-1, le=1, allow_inf_nan=False, strict=True)
        words = get_args(source)
        if len(words) % 2 == 0 or not all(isinstance(w, str) for w in words):
            raise TypeError(f"Lean needs an odd number of words, or float; it stands on {source}")
        by_upper = {w.upper(): w for w in words}

        def whole_word(value: Any) -> Any:
            return by_upper.get(value.strip().upper(), value) if isinstance(value, str) else value

        return core_schema.no_info_before_validator_function(whole_word, handler(source))

    def describe(self, annotation: Any) -> str:
        if annotation is float:
            return "number from -1 (down) to 1 (up)"
        return " or ".join(f'"{w}"' for w in reversed(get_args(annotation)))

    def pick(self, annotation: Any, lean: float) -> str | float:
        """The word (or number) for `lean` in [-1, 1]: exactly 0 is the middle, anything else is not."""
        if annotation is float:
            return lean
        words = get_args(annotation)
        middle = len(words) // 2
        steps = min(middle, int(abs(lean) * middle) + 1) if lean else 0
        return str(words[middle + steps if lean > 0 else middle - steps])


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure: a number from 0 to 1. Text, booleans, NaN and infinity are refused."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.float_schema(ge=0, le=1, allow_inf_nan=False, strict=True)

    def describe(self, _annotation: Any) -> str:
        return "number from 0 (guess) to 1 (certain)"


@dataclass(frozen=True, slots=True)
class Text:
    """Prose of 1 to `max_chars` characters."""

    max_chars: int = 600

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.str_schema(
            min_length=1, max_length=self.max_chars, strip_whitespace=True, strict=True
        )

    def describe(self, _annotation: Any) -> str:
        return f"text of at most {self.max_chars} characters"


@dataclass(frozen=True, slots=True)
class Cites:
    """Ids of the evidence used, at most `max_items`, as they stand in the prompt."""

    max_items: int = 10

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.list_schema(
            core_schema.str_schema(max_length=200, strict=True), max_length=self.max_items
        )

    def describe(self, _annotation: Any) -> str:
        return f"list of at most {self.max_items} ids of the evidence used"


Marker = Lean | Confidence | Text | Cites


def marker_of(metadata: list[Any]) -> Marker | None:
    """The marker among a pydantic field's metadata."""
    return next((m for m in metadata if isinstance(m, Marker)), None)


def asked_fields(schema: type[BaseModel], offered: Collection[str]) -> dict[str, FieldInfo]:
    """Fields of an answer that are asked for: no ids where there is no evidence to cite."""
    return {
        name: info
        for name, info in schema.model_fields.items()
        if offered or info.is_required() or not isinstance(marker_of(info.metadata), Cites)
    }


def uncited(value: BaseModel, offered: Collection[str]) -> str | None:
    """The first id that `value` cites (in any `Cites` field, nested ones too) and nobody offered."""
    for name, info in type(value).model_fields.items():
        held = getattr(value, name)
        if isinstance(marker_of(info.metadata), Cites):
            for cited in held:
                if cited not in offered:
                    return str(cited)
        for part in held if isinstance(held, list) else [held]:
            if isinstance(part, BaseModel) and (wrong := uncited(part, offered)):
                return wrong
    return None
