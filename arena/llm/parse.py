"""From an answer's text to a checked object, or to words that say what is wrong with it.

The answer is the **last** JSON object of the text: models think, draft and quote before it. Fences
and prose around it, trailing commas, zero-width and full-width punctuation are forgiven, because
they leave no doubt about what was meant. Everything else is refused: no word is ever searched for
in prose, an object inside a broken or cut-off one is no answer, and a key given twice is no choice.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

MAX_ANSWER_BYTES = 64 * 1024
_CUT = re.compile(r"\n\[cut here: \d+ characters in all\]$")
_CUT_CHARS = 80
MAX_DEPTH = 16

T = TypeVar("T", bound=BaseModel)

_FOLD = {
    "｛": "{", "｝": "}", "［": "[", "］": "]", "【": "[", "】": "]", "：": ":", "，": ",", "、": ",",
    "\u3000": " ", "\u00a0": " ",
    "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "",
}  # fmt: skip
_CLOSING_QUOTE = {'"': '"', "＂": "＂", "“": "”", "”": "”", "„": "“"}
_OBJECT_START = re.compile(
    '[{｛](?=[\\s\u3000\u200b-\u200d\u2060\ufeff]*["＂“”„}｝])'
)  # a brace of prose or code is not followed by a quote


class AnswerError(ValueError):
    """The text holds no usable answer; the message is what the model is told."""


def read_answer(text: str, schema: type[T]) -> T:
    """The answer in `text` as a `schema`.

    Raises:
        AnswerError: no single object can be read, or it breaks the schema; in the validator's words.
    """
    found = extract_object(text)
    try:
        return schema.model_validate(found)
    except ValidationError as error:
        raise AnswerError("; ".join(_complaints(error))) from None


def bounded(text: str) -> str:
    """`text`, cut at the size beyond which no answer is read, with a word about what was cut off."""
    cut_already = len(text) <= MAX_ANSWER_BYTES + _CUT_CHARS and _CUT.search(text)
    if len(text) <= MAX_ANSWER_BYTES or cut_already:
        return text
    return f"{text[:MAX_ANSWER_BYTES]}\n[cut here: {len(text)} characters in all]"


def extract_object(text: str) -> dict[str, Any]:
    """The last JSON object of `text`.

    Raises:
        AnswerError: empty, larger than 64 KiB, without an object, cut off, or not valid JSON.
    """
    if len(text) > MAX_ANSWER_BYTES or len(text.encode("utf-8", "replace")) > MAX_ANSWER_BYTES:
        raise AnswerError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
    if not text.strip():
        raise AnswerError("the answer is empty")
    spans = list(_spans(text))
    if not spans:
        raise AnswerError("the answer holds no JSON object")
    return _decode(spans[-1])


def _spans(text: str) -> Iterator[str]:
    """Outermost objects in order, in plain JSON punctuation."""
    at = 0
    while start := _OBJECT_START.search(text, at):
        span, at = _read_span(text, start.start())
        yield span


def _read_span(text: str, start: int) -> tuple[str, int]:
    """The object that opens at `start`, with punctuation made plain, and where it ends.

    Only what stands outside strings is touched, so that prose in an answer stays as written.
    """
    out: list[str] = []
    depth, at, n = 0, start, len(text)
    while at < n:
        char = text[at]
        if char in _CLOSING_QUOTE:
            string, at = _read_string(text, at)
            out.append(string)
            continue
        char = _FOLD.get(char, char)
        at += 1
        if char in ("{", "["):
            depth += 1
            if depth > MAX_DEPTH:
                raise AnswerError(f"the object is nested deeper than {MAX_DEPTH} levels")
        elif char in ("}", "]"):
            depth -= 1
            _drop_trailing_comma(out)
        if char:
            out.append(char)
        if depth == 0:
            return "".join(out), at
    raise AnswerError("the answer stops in the middle of its JSON object")


def _read_string(text: str, start: int) -> tuple[str, int]:
    """A string literal in plain double quotes, and where it ends."""
    opening = text[start]
    closing, at = _CLOSING_QUOTE[opening], start + 1
    while at < len(text) and text[at] != closing:
        at += 2 if text[at] == "\\" else 1
    if at >= len(text):
        raise AnswerError("the answer stops in the middle of a text")
    body = text[start + 1 : at]
    if opening != '"':
        body = re.sub(r'\\.|"', lambda m: r"\"" if m[0] == '"' else m[0], body, flags=re.DOTALL)
    return f'"{body}"', at + 1


def _drop_trailing_comma(out: list[str]) -> None:
    last = len(out) - 1
    while last >= 0 and out[last].isspace():
        last -= 1
    if last >= 0 and out[last] == ",":
        del out[last]


def _decode(span: str) -> dict[str, Any]:
    try:
        found = json.loads(
            span,
            strict=False,
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
        span.encode("utf-8")
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except AnswerError:
        raise
    except UnicodeError:
        raise AnswerError("a text of the answer is not valid Unicode") from None
    except ValueError as error:
        raise AnswerError(f"the JSON object is not valid: {error}") from None
    assert isinstance(found, dict)  # a span opens with a brace
    return found


def _no_constant(word: str) -> float:
    raise AnswerError(f"{word} is not a number in JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise AnswerError(f"{digits[:40]} is too large for a number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, n in times.items() if n > 1)
        shown = twice[:40].encode("utf-8", "replace").decode()
        raise AnswerError(f"the key `{shown}` is given twice")
    return found


def _complaints(error: ValidationError) -> Iterator[str]:
    """What pydantic objects to, one sentence a field, with the value it got."""
    for item in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, item["loc"])) or "object"
        got = "" if item["type"] == "missing" else f" (got {json.dumps(item['input'])[:80]})"
        yield f"`{where}`: {item['msg']}{got}"
