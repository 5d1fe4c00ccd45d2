"""Launch a run: what it will do and cost before the button, and nothing spent before it is pressed."""

from __future__ import annotations

from typing import Any

import streamlit as st

from arena.core.clock import utc_now
from arena.core.errors import ArenaError, ConfigError
from arena.core.hashing import canonical_json
from arena.core.settings import visitor_limits
from arena.runner.asker import Admin, Asker
from arena.runner.estimate import SEASON_DAYS, Estimate
from arena.runner.job_request import MOST_EPOCHS, JobRequest, command, find_problems, to_spec
from arena.store.store import Store
from arena.ui import auth, launch_form, launch_queries, own_key
from arena.ui.launch_form import PAID_EPOCHS, Draft, Offer
from arena.ui.prose import for_markdown
from arena.ui.session import state

FROM, CHANGE, JOB, SAID, FILLED = "from_run", "change", "job", "launch_said", "launch_filled_from"


def form(store: Store, jobs: Any, key: tuple[str, int]) -> None:
    """The card with the form, its preview and the button. `jobs` is None where the runner is elsewhere."""
    choice = state().data_choice
    now = utc_now()
    offer = Offer(
        launch_queries.agents(), launch_queries.models(now.date()), launch_queries.assets(choice),
        launch_queries.first_window(key, store, now.date()), now.date(),
        MOST_EPOCHS if auth.unlocked() else visitor_limits().epochs,
    )  # fmt: skip
    _prefill(store, key, offer)
    who = auth.asker(store)
    with st.container(border=True):
        with st.container(horizontal=True):
            st.header("New run", width="content")
        draft = launch_form.draw(offer)
        if draft.request is not None:
            draft.problems |= find_problems(draft.request, launch_queries.source(choice), now.date())
        needed = _keys_needed(draft, offer)
        if not isinstance(who, Admin) or needed:
            own_key.fields(needed)
        size = _preview(draft, store, key, choice, offer)
        draft.show_problems()
        _button(draft, jobs, who, needed, size, choice)


def _prefill(store: Store, key: tuple[str, int], offer: Offer) -> None:
    """Fields of the run that the address names, once; else what was chosen before."""
    wanted = st.query_params.get(FROM)
    request: JobRequest | None = None
    if wanted and st.session_state.get(FILLED) != wanted:
        st.session_state[FILLED] = wanted
        try:
            request = launch_queries.request_of_run(key, store, wanted)
        except ConfigError as error:
            st.session_state[SAID] = ("error", str(error))
    launch_form.fill_in(offer, request)
    if request is not None and st.query_params.get(CHANGE) == "model":
        st.session_state[launch_form.key_of("models")] = []


def _keys_needed(draft: Draft, offer: Offer) -> list[str]:
    """Variables of models that are asked, for which this host has no key, or which only its admin may spend."""
    asked = (*draft.values["models"], draft.values["brief"])
    chosen = [m for m in offer.models if m.id in asked and m.key_env and not m.free]
    if auth.unlocked():
        chosen = [m for m in chosen if m.missing_key]
    return sorted({str(m.key_env) for m in chosen})


def _preview(
    draft: Draft, store: Store, key: tuple[str, int], choice: str, offer: Offer
) -> Estimate | None:
    """What it will do, recounted whenever a field changes; None while the fields make no run."""
    request = draft.request
    if request is None or draft.problems:
        return None
    try:
        spec = to_spec(request, choice, offer.today)
    except ArenaError as error:
        draft.problems["window"] = str(error)
        return None
    text = canonical_json(spec.model_dump(mode="json"))
    live = request.kind == "season"
    if not live and (why := launch_queries.window_problem(choice, text, request.stored_strategies)):
        draft.problems["window"] = why
        return None
    known = launch_queries.measured(key, store)
    size = launch_queries.size(
        choice, text, request.epochs, SEASON_DAYS if live else None, known, sum(int(m["n"]) for m in known.values())
    )  # fmt: skip
    _figures(size, live=live)
    return size


def _figures(size: Estimate, *, live: bool) -> None:
    per = SEASON_DAYS if live else 1
    words = "a day, on average" if live else "updates as you choose"
    st.markdown(f"**What it will do** :small[:gray[{words}]]")
    warm = f" after {size.n_warmup:,} of warm-up" if size.n_warmup else ""
    basis = "what earlier decisions took" if size.measured else "1,800 tokens in and 240 out a call"
    with st.grid(5, min_column_width=88):
        st.metric("Decisions", short(size.n_decisions / per), help=f"One per entry, asset and session{warm}.")
        st.metric("Model calls", short(size.n_calls / per), help="Questions to models or rules; repairs come on top.")
        st.metric("Tokens in / out", tokens_words(size.tokens_in / per, size.tokens_out / per),
                  help=f"By {basis}; rules count none.")  # fmt: skip
        st.metric("Cost, about", _usd(size, per), help=_price_words(size))
        st.metric("Time, about", duration(size.seconds / per), help="Models answer side by side, rules in a moment.")


def _usd(size: Estimate, per: int) -> str:
    """Cents are the last digit; less than one is said in words, for it adds up over a season."""
    if size.usd is None:
        return "unknown"
    usd = size.usd / per
    return "< $0.01" if 0 < usd < 0.01 else f"${usd:,.2f}"


def _price_words(size: Estimate) -> str:
    if size.usd is None:
        known = f" The others: about ${size.known_usd:,.2f}." if size.known_usd else ""
        return for_markdown(f"The price of {', '.join(size.unpriced)} is not known.{known}")
    return "Tokens at the prices of data/models.toml."


def _button(
    draft: Draft, jobs: Any, who: Asker, needed: list[str], size: Estimate | None, choice: str
) -> None:
    """Whether it fits the budget, the button, and the same as a command."""
    request = draft.request
    if size is not None and request is not None:
        _budget_words(request, size)
    ready = jobs is not None and size is not None
    with st.container(horizontal=True, vertical_alignment="center"):
        season = request is not None and request.kind == "season"
        if st.button(
            "Enrol season" if season else "Launch run", icon=":material/rocket_launch:", type="primary",
            disabled=not ready, key="launch_button",
        ) and request is not None:  # fmt: skip
            _submit(request, jobs, who, needed, new=draft.new)
        st.markdown(f":small[:gray[{_limits(who)}]]", width="stretch")
    if said := st.session_state.pop(SAID, None):
        (st.error if said[0] == "error" else st.success)(for_markdown(said[1]))
    if jobs is None:
        st.info("The runner does not run here: this page shows, and launches nothing.")
    if not isinstance(who, Admin):
        auth.gate("spend this host's keys or enrol a season")
    if request is not None and size is not None and (line := command(request, choice)):
        st.code(line, language=None, wrap_lines=True)


def _limits(who: Asker) -> str:
    if isinstance(who, Admin):
        return "Nothing is spent before you press."
    most = visitor_limits()
    if most.queue == 0:
        return "Launching is closed to visitors here."
    return (
        f"Nothing is spent before you press. Everybody may replay the rules: {most.days} days, {most.agents} "
        f"agents, {most.epochs} epochs, one run at a time; it is deleted after {most.keep_days} days."
    )


def _budget_words(request: JobRequest, size: Estimate) -> None:
    cap = request.budget_day_usd if request.kind == "season" else request.budget_usd
    per = SEASON_DAYS if request.kind == "season" else 1
    if size.usd is None:
        st.warning("The price of a model is not known: a budget in dollars cannot hold it. Set a token cap.",
                   icon=":material/help:")  # fmt: skip
        return
    cost, unit = size.usd / per, " a day" if per > 1 else ""
    if cost == 0:
        st.success("Free: only rules and models of this machine are asked.", icon=":material/check_circle:")
    elif not cap:
        st.warning(f"About \\${cost:,.2f}{unit}, and no budget yet. Give one: it is the most that can be spent.",
                   icon=":material/payments:")  # fmt: skip
    elif cost <= cap:
        st.success(
            f"Fits the budget: \\${cost:,.2f} of \\${cap:,.2f}{unit}. At \\${cap:,.2f} it stops and keeps what it did.",
            icon=":material/check_circle:",
        )
    else:
        st.warning(
            f"About \\${cost:,.2f}{unit}, more than the budget of \\${cap:,.2f}: it will stop on the way, keep what "
            "it did, and can be resumed with more.",
            icon=":material/payments:",
        )
    if cost > 0 and per == 1 and request.epochs < PAID_EPOCHS:
        st.markdown(
            f":small[:gray[{PAID_EPOCHS} epochs show how far runs differ by chance; they would cost about "
            f"\\${cost / request.epochs * PAID_EPOCHS:,.2f}.]]"
        )


def _submit(request: JobRequest, jobs: Any, who: Asker, needed: list[str], *, new: bool) -> None:
    """Hand it to the runner, which checks everything again, and show its job."""
    try:
        job = jobs.submit(request, who, own_key.covered(needed), new=new)
    except ArenaError as error:
        st.session_state[SAID] = ("error", str(error))
    else:
        st.query_params[JOB] = job
    st.rerun()


def short(value: float) -> str:
    """2,448 and 21.4k and 38M: what a tile holds."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scale = 1e3 if unit == "k" else size
            return f"{value / scale:,.1f}{unit}"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def tokens_words(tokens_in: float, tokens_out: float) -> str:
    """38.0 / 5.1M: both in the unit of the first, or a tile would cut them."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if tokens_in >= size:
            return f"{tokens_in / size:.1f} / {tokens_out / size:.1f}{unit}"
    return f"{tokens_in:.0f} / {tokens_out:.0f}"


def duration(seconds: float) -> str:
    """2 h 58 min, 12 min, 40 s."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


