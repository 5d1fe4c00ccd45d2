"""From an answer's text to a checked value: one parser for every model.

An action is never looked for inside prose: "I would not buy" holds no decision. Only a JSON object
that satisfies the schema counts.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

MAX_CHARS = 65_536
TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class AnswerError(ValueError):
    """Why an answer does not count, in words that the model can act on."""


def parse_answer(text: str, schema: type[BaseModel]) -> BaseModel:
    """The last JSON object of `text` that satisfies `schema`.

    Fences and prose around it, full-width punctuation and trailing commas are forgiven. NaN and
    infinity are not numbers.

    Raises:
        AnswerError: nothing usable; the message says why, from the validator where it spoke.
    """
    if not text.strip():
        raise AnswerError("The answer is empty. Reply with one JSON object.")
    if len(text) > MAX_CHARS:
        raise AnswerError(f"The answer has {len(text)} characters; at most {MAX_CHARS} are read.")
    objects = list(json_objects(text))
    if not objects:
        raise AnswerError("There is no complete JSON object in the answer. Reply with one.")
    first_error: ValidationError | None = None
    for candidate in reversed(objects):
        try:
            return schema.model_validate(candidate)
        except ValidationError as error:
            first_error = first_error or error
    assert first_error is not None
    raise AnswerError(explain(first_error))


def explain(error: ValidationError) -> str:
    """The validator's words, one clause a field."""
    clauses = []
    for item in error.errors(include_url=False):
        where = ".".join(str(part) for part in item["loc"]) or "the object"
        clauses.append(f"`{where}`: {item['msg']}")
    return "; ".join(clauses)[:1000]


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Top-level JSON objects in `text`, in order; nested ones belong to their parent."""
    plain = text if text.isascii() else normalise(text)
    at = plain.find("{")
    while at != -1:
        found, end = _decode(plain, at)
        if found is not None:
            yield found
        at = plain.find("{", end)


def normalise(text: str) -> str:
    """Full-width braces, quotes and colons as ASCII; invisible format characters removed."""
    folded = unicodedata.normalize("NFKC", text).translate(str.maketrans("“”„", '"""'))
    return "".join(c for c in folded if unicodedata.category(c) != "Cf")


def _decode(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    for candidate in (text[at:], TRAILING_COMMA.sub(r"\1", text[at:])):
        try:
            value, length = _DECODER.raw_decode(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            # With commas removed the length is short; the next search only starts a little early.
            return value, at + length
    return None, at + 1


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
