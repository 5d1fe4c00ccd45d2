"""What each asker may have done: the rules of the launch form, checked where the work begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.agents.registry import BUILT_IN, agent_origin, get_agent
from arena.core.errors import ConfigError
from arena.core.season import RunSpec
from arena.core.settings import VisitorLimits, visitor_limits
from arena.llm.registry import model_info
from arena.runner.asker import Admin, Asker, Host, RefusedError, Visitor
from arena.runner.job_request import JobRequest, keyless, paid_models
from arena.runner.job_run import run_ids, spending_of
from arena.runner.journal import Spending, check_models
from arena.runner.replay import asked_models
from arena.store import reader
from arena.store.jobs_reader import Job, open_jobs
from arena.store.store import Store

MIN_KEY_CHARS = 8


def usable(own_keys: Mapping[str, str]) -> dict[str, str]:
    """Keys that can be one. In the place of a blank one the host's would be spent."""
    plain = {name: key.strip() for name, key in own_keys.items()}
    return {name: key for name, key in plain.items() if len(key) >= MIN_KEY_CHARS}


def admit(
    request: JobRequest, spec: RunSpec, by: Asker, own_keys: Mapping[str, str], store: Store
) -> None:
    """Let a request in, or say why not.

    Raises:
        RefusedError: not for this asker.
        ConfigError: nobody could carry it out: a key that is missing, a bill without a bound.
    """
    by.check()
    if isinstance(by, Visitor):
        admit_visitor(request, spec, own_keys, store, visitor_limits())
    if request.kind == "season":
        _bounded(request, spec)
    else:
        check_models(asked_models(spec), spending_of(request, own_keys))


def _bounded(request: JobRequest, spec: RunSpec) -> None:
    # As the season itself will spend: neither own keys nor caps on tokens, and each cap is one.
    caps = [c for c in (request.budget_usd, request.budget_day_usd) if c is not None]
    paid = paid_models(spec)
    if paid and not request.budget_day_usd:
        raise ConfigError(
            f"`{paid[0]}` costs money every day. Give the season a budget per day, in dollars."
        )
    check_models(asked_models(spec), Spending(min(caps, default=None)))


def admit_visitor(
    request: JobRequest, spec: RunSpec, own_keys: Mapping[str, str], store: Store,
    limits: VisitorLimits,
) -> None:  # fmt: skip
    """The small print for everybody.

    Raises:
        RefusedError: beyond what a visitor may ask for.
    """
    if request.kind == "season":
        raise RefusedError("Enrolling a live season needs the admin.")
    if limits.queue == 0:
        raise RefusedError("Launching is closed to visitors here.")
    if not keyless(request):
        _own_money(request, spec, own_keys)
    days = (spec.end - spec.start).days + 1
    asked = (
        (days, limits.days, "days of window"), (request.epochs, limits.epochs, "epochs"),
        (len(spec.agents), limits.agents, "agents"), (len(spec.assets), limits.assets, "assets"),
        (_warmup_days(request, spec), limits.days, "days of warm-up"),
    )  # fmt: skip
    for n, most, what in asked:
        if n > most:
            raise RefusedError(f"A visitor's run has at most {most} {what}; this has {n}.")
    if guests := [a for a in spec.agents if agent_origin(a.rsplit("+", 1)[-1]) != BUILT_IN]:
        raise RefusedError(f"`{guests[0]}` is an agent from outside; it runs for the admin only.")
    mine = set(run_ids(spec, request.epochs))
    runs = reader.runs(store)
    taken = runs[runs["run"].isin(mine) & runs["expires_at_utc"].isna()]
    if len(taken):
        raise RefusedError(f"{taken['run'].iloc[0]} is there already: open it instead.")


def _warmup_days(request: JobRequest, spec: RunSpec) -> int:
    if spec.warmup_from is None:
        return request.warmup
    return (spec.start - spec.warmup_from).days


def _own_money(request: JobRequest, spec: RunSpec, own_keys: Mapping[str, str]) -> None:
    """A visitor may pay with a key of their own, within a budget of their own."""
    for model in asked_models(spec):
        info = model_info(model)
        if info.kind == "stand_in":
            continue
        if info.key_env is None or info.key_env not in own_keys:
            how = f" or a key of your own for {info.key_env}" if info.key_env else ""
            raise RefusedError(f"`{model}` needs the admin{how}. Rules (offline/...) are for everybody.")
    if any(get_agent(a).own_models for a in spec.agents):
        raise RefusedError("An agent that brings its own models runs for the admin only.")
    if not request.budget_usd:
        raise RefusedError("Give a budget: what your own key may spend in this run, in dollars.")


def queue_allows(waiting: Sequence[Job], by: Asker, limits: VisitorLimits) -> None:
    """Whether another job of this asker fits among the running and waiting ones.

    Raises:
        RefusedError: not now.
    """
    if not isinstance(by, Visitor):
        return
    of_visitors = [j for j in waiting if j["requested_by"] == Visitor.who]
    if any(j["origin"] == by.origin for j in of_visitors):
        raise RefusedError("You have a run under way. It must end, or be stopped, before the next.")
    if len(of_visitors) >= limits.queue:
        raise RefusedError(f"{len(of_visitors)} runs of visitors are waiting. Try again later.")


def room_for(n_decisions: int, by: Asker, store: Store) -> None:
    """Whether the runs of all visitors leave room for so many more decisions: strangers must not fill
    the disk that the live seasons are written to.

    Raises:
        RefusedError: not before some of them are deleted.
    """
    if not isinstance(by, Visitor):
        return
    runs, most = reader.runs(store), visitor_limits().decisions
    theirs = runs[runs["expires_at_utc"].notna()]
    waiting = [j["n_planned"] for j in open_jobs(store) if j["requested_by"] == Visitor.who]
    held = int(theirs["n_planned"].sum()) + sum(waiting)
    if held + n_decisions > most:
        first = theirs["expires_at_utc"].min()
        when = f" The first of them is deleted on {first:%Y-%m-%d}." if len(theirs) else ""
        raise RefusedError(
            f"Runs of visitors hold {held:,} of {most:,} decisions; this one would add {n_decisions:,}.{when}"
        )


def may_touch(job: Job, by: Asker) -> None:
    """Whether this asker may stop or resume a job.

    Raises:
        RefusedError: it is somebody else's.
    """
    by.check()
    if isinstance(by, Admin | Host):
        return
    if job["requested_by"] != Visitor.who or job["origin"] != by.origin:
        raise RefusedError("This run is not yours; the admin can stop and resume it.")


def goes_on_by_itself(request: JobRequest, spec: RunSpec) -> bool:
    """Whether a job that was cut off may be finished unasked: nobody is paid for it."""
    return not request.own_keys and not paid_models(spec)
