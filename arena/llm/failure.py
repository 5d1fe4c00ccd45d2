"""Why an attempt to reach a model failed, in the terms in which it is retried and paid for."""

from __future__ import annotations

from arena.llm.types import ProviderError, ProviderTimeout


class AttemptFailed(ProviderError):
    """One request that brought no answer.

    Args:
        message: for people: what happened and what to do; without secrets.
        retry: another try may succeed.
        fatal: none will in this run (key refused, model gone).
        maybe_charged: the provider may have done the work, so it may be on the bill.
        retry_after_s: how long the provider asks us to wait.
    """

    def __init__(
        self, message: str, *, retry: bool = False, fatal: bool = False,
        maybe_charged: bool = False, retry_after_s: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.retry, self.fatal = retry, fatal
        self.maybe_charged, self.retry_after_s = maybe_charged, retry_after_s

    def after(self, attempts: int) -> AttemptFailed:
        """The same failure, saying that it was the last of several."""
        if attempts > 1:
            self.args = (f"{self} ({attempts} attempts)",)
        return self


class AttemptTimedOut(AttemptFailed, ProviderTimeout):
    """No answer in time. Not tried again: the work may have been done, and be paid for, twice."""
