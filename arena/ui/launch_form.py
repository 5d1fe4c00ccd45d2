"""The fields of a run: what is chosen, kept in the session, and turned into a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import streamlit as st

from arena.core.types import Asset
from arena.runner.choices import AgentChoice, ModelChoice, cheapest_ready
from arena.runner.job_request import MOST_EPOCHS, JobRequest, Problems, read_request
from arena.runner.presets import load_presets
from arena.ui import format as fmt
from arena.ui.prose import for_markdown
from arena.ui.tokens import STRATEGY_LABELS, strategy_label

PILLS = 30
"""Up to so many choices are pills, all in sight; more are a list to pick from, whose chosen words Streamlit
writes in white on the primary colour, too pale in the dark."""

PAID_EPOCHS = 3
"""Of a replay on a model that costs money: one run says nothing about how far it is chance."""

KINDS = {"replay": "Replay a past window", "season": "Live, from now on"}
FILLS = {"next": "Next price after the slot", "close": "Close already known (the paper's)"}
HOLDS = {"flat": "Go flat", "keep": "Keep the position"}
STARTER_AGENTS, STARTER_ASSETS, STARTER_DAY_USD = ("investor", "vanilla"), ("BTC", "QUBIXCOIN"), 0.25
FIELDS = (
    "kind", "protocol", "agents", "models", "assets", "strategies", "window", "warmup", "epochs", "budget_usd",
    "budget_day_usd", "fill", "hold", "shorting", "capital", "fee_bps", "token_cap", "seed", "brief", "new",
)  # fmt: skip


def key_of(name: str) -> str:
    """Session key of a field."""
    return f"lx_{name}"


@dataclass(frozen=True)
class Offer:
    """What can be chosen."""

    agents: Sequence[AgentChoice]
    models: Sequence[ModelChoice]
    assets: dict[str, Asset]
    window: tuple[date, date]
    today: date
    most_epochs: int = MOST_EPOCHS


@dataclass
class Draft:
    """The form as it stands: a request where its fields make one, else what is wrong by field."""

    values: dict[str, Any]
    request: JobRequest | None = None
    problems: Problems = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)
    """Places under the fields, for what is wrong with them."""

    @property
    def new(self) -> bool:
        return bool(self.values["new"])

    def show_problems(self) -> None:
        """Print every problem beside its field."""
        for name, words in self.problems.items():
            place = self.beside.get(name) or self.beside["window"]
            place.markdown(f":red[:material/error: {for_markdown(words)}]")


def fill_in(offer: Offer, request: JobRequest | None = None) -> None:
    """Give every field a value that has none; with a `request`, those of the request."""
    first = _defaults(offer) if request is None else _values_of(request, offer)
    for name in FIELDS:
        if request is not None or key_of(name) not in st.session_state:
            st.session_state[key_of(name)] = first[name]
        else:
            # Streamlit forgets the values of a page that was left; setting them keeps them.
            st.session_state[key_of(name)] = st.session_state[key_of(name)]


def _defaults(offer: Offer) -> dict[str, Any]:
    rules = [m.id for m in offer.models if m.rule]
    return {
        "kind": "replay", "protocol": "default",
        "agents": [a.id for a in offer.agents if a.id in ("vanilla", "investor")],
        "models": rules[:2], "assets": list(offer.assets)[:4], "strategies": list(STRATEGY_LABELS),
        "window": offer.window, "warmup": 0, "epochs": 1, "budget_usd": None, "budget_day_usd": None,
        "fill": "next", "hold": "flat", "shorting": True, "capital": 100_000.0, "fee_bps": None,
        "token_cap": None, "seed": 0, "brief": "auto", "new": False,
    }  # fmt: skip


def _values_of(request: JobRequest, offer: Offer) -> dict[str, Any]:
    """Field values of a request, without what is no longer offered."""
    known = {
        "agents": [a.id for a in offer.agents], "models": [m.id for m in offer.models],
        "assets": list(offer.assets), "strategies": list(STRATEGY_LABELS),
    }  # fmt: skip
    values = {name: getattr(request, name, None) for name in FIELDS}
    values |= {n: [v for v in getattr(request, n) if v in names] for n, names in known.items()}
    window = (request.start, request.end) if request.start and request.end else offer.window
    return values | {"window": window, "new": False}


def draw(offer: Offer) -> Draft:
    """The form; `fill_in` has given every field a value before."""
    draft = Draft({})
    v = draft.values
    presets = list(load_presets())
    with st.container(horizontal=True, gap="medium"):
        v["protocol"] = _one("Protocol", "protocol", presets, on_change=_take_preset, args=(offer,),
                             help="Sets the fields that a protocol fixes; each can be changed afterwards.")  # fmt: skip
        v["kind"] = _one("Kind", "kind", list(KINDS), KINDS.__getitem__, on_change=_take_kind, args=(offer,))
    live = v["kind"] == "season"
    labels = {a.id: a.label for a in offer.agents}
    v["agents"] = _many(draft, "Agents", "agents", list(labels), labels.__getitem__)
    by_id = {m.id: m for m in offer.models}
    v["models"] = _many(
        draft, "Models", "models", list(by_id), lambda m: _model_words(by_id[m]), _take_models, offer
    )
    v["assets"] = _many(draft, "Assets", "assets", list(offer.assets), str)
    v["strategies"] = _many(
        draft, "Strategies (no extra calls)", "strategies", list(STRATEGY_LABELS), strategy_label
    )
    _numbers(draft, offer, live=live)
    _details(draft)
    _make(draft, live=live)
    return draft


def _numbers(draft: Draft, offer: Offer, *, live: bool) -> None:
    v = draft.values
    wide, *narrow = st.columns([0.4, 0.2, 0.2, 0.2])
    if live:
        v |= {"window": offer.window, "epochs": 1}
        v["budget_day_usd"] = wide.number_input(
            "Budget a day, $", 0.0, 1e5, key=key_of("budget_day_usd"), step=0.25, placeholder="none",
            help="Paid models ask nothing more on a day that has spent it.",
        )  # fmt: skip
    else:
        v["budget_day_usd"] = None
        v["window"] = wide.date_input(
            "Window", key=key_of("window"), max_value=offer.today, format="YYYY-MM-DD"
        )
        v["epochs"] = narrow[1].number_input(
            "Epochs", 1, MOST_EPOCHS, key=key_of("epochs"),
            help="Each is a run of its own; how far they differ is the noise.",
        )  # fmt: skip
    since = load_presets()[v["protocol"]].warmup_from
    v["warmup"] = narrow[0].number_input(
        "Warm-up", 0, 2000, key=key_of("warmup"), disabled=since is not None and not live,
        help="Sessions before the window, for agents that learn."
        if since is None else f"This protocol warms up from {since} on.",
    )  # fmt: skip
    v["budget_usd"] = narrow[2].number_input(
        "Budget, $", 0.0, 1e6, key=key_of("budget_usd"), step=1.0, placeholder="none",
        help="The most that the run may spend, all epochs together.",
    )  # fmt: skip
    for name in ("window", "epochs", "warmup", "budget_usd"):
        draft.beside[name] = st.empty()


def _details(draft: Draft) -> None:
    v = draft.values
    now = {n: st.session_state[key_of(n)] for n in ("fill", "hold", "fee_bps", "seed")}
    fee = "fees by class" if now["fee_bps"] is None else f"fee {now['fee_bps']:g} bp"
    words = f"Protocol details: fill {now['fill']} · HOLD {now['hold']} · {fee} · seed {now['seed']}"
    with st.expander(words, icon=":material/tune:"), st.grid(3, min_column_width=170):
        v["fill"] = st.selectbox("Fill", list(FILLS), key=key_of("fill"), format_func=FILLS.__getitem__)
        v["hold"] = st.selectbox("HOLD means", list(HOLDS), key=key_of("hold"), format_func=HOLDS.__getitem__)
        v["capital"] = st.number_input("Capital, $", 1.0, 1e12, key=key_of("capital"), step=1000.0)
        v["fee_bps"] = st.number_input("Fee, bp", 0.0, 1000.0, key=key_of("fee_bps"), step=1.0, placeholder="by class")
        v["seed"] = st.number_input("Seed", 0, 2**31, key=key_of("seed"))
        v["token_cap"] = st.number_input("Token cap", 1, None, key=key_of("token_cap"), step=100_000, placeholder="none",
                                         help="Needed for models whose price is not known.")  # fmt: skip
        v["brief"] = st.selectbox("Daily brief", _briefs(v), key=key_of("brief"),
                                  help="Who writes it: the cheapest model that has a price, a rule, or nobody.")  # fmt: skip
        v["shorting"] = st.toggle("Short positions", key=key_of("shorting"))
        v["new"] = st.toggle("Run it again from nothing", key=key_of("new"),
                             help="Else a run that exists already goes on, and nothing is asked twice.")  # fmt: skip


def _briefs(values: dict[str, Any]) -> list[str]:
    paid = [m for m in values["models"] if not m.startswith("offline/")]
    kept = st.session_state[key_of("brief")]
    return list(dict.fromkeys(["auto", "digest", "none", *paid, kept]))


def _make(draft: Draft, *, live: bool) -> None:
    """The request of the values, or what is wrong with them."""
    v = {k: w for k, w in draft.values.items() if k not in ("window", "new")}
    window = draft.values["window"]
    chosen = window if isinstance(window, tuple) and len(window) == 2 else (None, None)
    if not live:
        v |= {"start": chosen[0], "end": chosen[1]}
    preset = load_presets()[v["protocol"]]
    v["warmup_from"] = None if live else preset.warmup_from
    v["warmup_mode"] = preset.warmup_mode
    for name in ("agents", "models", "assets", "strategies"):
        if not v[name]:
            draft.problems[name] = "Choose at least one."
    if draft.problems:
        return
    draft.request, draft.problems = read_request(v)


def _one(
    label: str, name: str, options: list[str], words: Callable[[str], str] = str, *,
    on_change: Callable[..., None], args: tuple[Any, ...], help: str | None = None,
) -> str:  # fmt: skip
    return str(
        st.segmented_control(
            label, options, key=key_of(name), format_func=words, required=True, on_change=on_change,
            args=args, help=help,
        )
    )  # fmt: skip


def _many(
    draft: Draft, label: str, name: str, options: list[str], words: Callable[[str], str],
    on_change: Callable[..., None] | None = None, *args: Any,
) -> tuple[str, ...]:  # fmt: skip
    told: dict[str, Any] = {"key": key_of(name), "on_change": on_change, "args": args}
    if len(options) <= PILLS:
        chosen = st.pills(
            label, options, selection_mode="multi", format_func=lambda o: for_markdown(words(o)), **told
        )
    else:  # its options are plain text
        chosen = st.multiselect(label, options, format_func=words, **told)
    draft.beside[name] = st.empty()
    return tuple(chosen or ())


def _model_words(model: ModelChoice) -> str:
    """Id and price, in USD per million tokens: `gpt-4.1 ($2 / $8)`."""
    if model.rule or model.free:
        return f"{model.id} ({'rule' if model.rule else 'free'})"
    price = "price unknown"
    if model.usd_per_mtok is not None:
        price = "${:g} / ${:g}".format(*model.usd_per_mtok)
    return f"{model.id} ({price}{', no key' if model.missing_key else ''})"


def _take_preset(offer: Offer) -> None:
    """Fields that the chosen protocol fixes; names that these data do not have stay out."""
    preset = load_presets()[st.session_state[key_of("protocol")]]
    season = preset.make_season(st.session_state[key_of("protocol")], {})
    fees = set(season.fee_bps.values())
    given: dict[str, Any] = {
        "fill": season.fill, "hold": season.hold, "shorting": season.shorting, "capital": season.capital,
        "fee_bps": fees.pop() if len(fees) == 1 else None, "epochs": preset.epochs,
    }  # fmt: skip
    if preset.start and preset.end:
        given["window"] = (preset.start, preset.end)
    if inside := [a for a in preset.assets if a in offer.assets]:
        given["assets"] = inside
    if preset.strategies:
        given["strategies"] = list(preset.strategies)
    for name, value in given.items():
        st.session_state[key_of(name)] = value


def _take_models(offer: Offer) -> None:
    """Epochs follow the price, until somebody sets them: one of a rule says all, three of a model little."""
    free = {m.id for m in offer.models if m.free}
    paid = not set(st.session_state[key_of("models")]) <= free
    usual = {False: 1, True: min(PAID_EPOCHS, offer.most_epochs)}
    if st.session_state[key_of("epochs")] == usual[not paid]:
        st.session_state[key_of("epochs")] = usual[paid]


def _take_kind(offer: Offer) -> None:
    """A first live season is small: one cheap model where a key is set, one coin, cents a day."""
    if st.session_state[key_of("kind")] != "season":
        return
    cheap = cheapest_ready(list(offer.models))
    coins = [a for a in STARTER_ASSETS if a in offer.assets]
    st.session_state[key_of("agents")] = [a.id for a in offer.agents if a.id in STARTER_AGENTS]
    st.session_state[key_of("assets")] = coins or list(offer.assets)[:1]
    if cheap:
        st.session_state[key_of("models")] = [cheap]
        st.session_state[key_of("budget_day_usd")] = STARTER_DAY_USD


def window_words(request: JobRequest) -> str:
    """1 Aug to 30 Sep 2025, or `from now on`."""
    if request.start is None or request.end is None:
        return "from now on"
    return fmt.span(str(request.start), str(request.end))
