"""Failures that a server on loopback cannot act out: read from a made-up chain of causes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from arena.core.clock import utc_now
from arena.llm.failure import AttemptTimedOut
from arena.llm.provider_errors import explain
from arena.llm.roster import ModelInfo

INFO = ModelInfo(id="x/m", label="m", kind="model", key_env="X_API_KEY")
REQUEST = httpx.Request("POST", "https://x.example")


class InternalServerError(Exception):
    """litellm's name for nearly everything."""

    def __init__(self, message: str = "litellm.InternalServerError: XException - boom", **more: Any) -> None:
        super().__init__(message)
        self.status_code = 500
        self.__dict__.update(more)


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def http_error(status: int, **headers: str) -> Exception:
    response = httpx.Response(status, request=REQUEST)
    cause = httpx.HTTPStatusError("x", request=REQUEST, response=response)
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return caused(InternalServerError(litellm_response_headers=named), cause)


@pytest.mark.parametrize("cause", [httpx.ReadTimeout("late"), TimeoutError()], ids=["read", "total"])
def test_a_timeout_is_final_and_may_be_paid_for(cause: Exception) -> None:
    failure = explain(caused(InternalServerError(), cause), INFO, 9.0)
    assert isinstance(failure, AttemptTimedOut)
    assert (failure.retry, failure.maybe_charged) == (False, True)
    assert str(failure) == "`x/m` did not answer within 9 s"


def test_what_never_left_costs_nothing() -> None:
    for cause in (httpx.ConnectError("refused"), httpx.ConnectTimeout("nobody there")):
        failure = explain(caused(InternalServerError(), cause), INFO, 9.0)
        assert (failure.retry, failure.maybe_charged, failure.fatal) == (True, False, False)


@pytest.mark.parametrize(
    ("status", "retry", "maybe_charged", "fatal"),
    [
        (400, False, False, False), (401, False, False, True), (403, False, False, True),
        (404, False, False, True), (408, True, True, False), (429, True, False, False),
        (500, True, False, False), (503, True, False, False), (504, True, True, False),
        (524, True, True, False),
    ],
)  # fmt: skip
def test_the_status_that_came_back_decides(
    status: int, retry: bool, maybe_charged: bool, fatal: bool
) -> None:
    failure = explain(http_error(status), INFO, 9.0)
    assert (failure.retry, failure.maybe_charged, failure.fatal) == (retry, maybe_charged, fatal)
    assert f"{status}" in str(failure)
    assert "litellm" not in str(failure)
    assert "boom" in str(failure)


def test_litellms_own_500_is_no_answer_of_the_provider() -> None:
    failure = explain(InternalServerError(), INFO, 9.0)
    assert (failure.retry, failure.maybe_charged) == (False, True)
    assert "no answer" in str(failure)


def test_retry_after_in_all_its_forms() -> None:
    def asked(**headers: str) -> float | None:
        return explain(http_error(429, **headers), INFO, 9.0).retry_after_s

    in_a_minute = utc_now().replace(microsecond=0) + timedelta(seconds=60)
    assert asked(retry_after="7") == 7.0
    assert asked(retry_after_ms="250", retry_after="7") == 0.25
    as_date = asked(retry_after=in_a_minute.strftime("%a, %d %b %Y %H:%M:%S GMT"))
    assert as_date == pytest.approx(60, abs=5)
    assert asked(retry_after=datetime(2020, 1, 1, tzinfo=UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")) == 0
    for nothing in ({}, {"retry_after": "soon"}, {"retry_after": "-5"}, {"retry_after": "nan"}):
        assert asked(**nothing) is None


def test_a_long_complaint_is_cut_and_a_trace_is_no_part_of_it() -> None:
    said = str(explain(InternalServerError("litellm.APIError: x" + " word" * 200), INFO, 9.0))
    assert len(said) < 450
    trace = InternalServerError("bad\nTraceback (most recent call last):\n  File secret.py")
    assert "secret.py" not in str(explain(trace, INFO, 9.0))
