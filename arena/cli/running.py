"""Verbs that write: replay, import, rescore, void."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.agents.registry import get_agent
from arena.cli.options import AsJson, Data, Store, day, names, resolve_store
from arena.cli.output import ReplayBar, note, print_json, print_pairs
from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.core.season import RunSpec, Season
from arena.core.settings import check_data_choice, source_label
from arena.llm.registry import model_info
from arena.market.news.brief import NO_BRIEF
from arena.market.sources import PriceSource, open_source
from arena.market.sources.news.base import NewsSource
from arena.portfolio.strategies import PAPER_STRATEGIES
from arena.runner.actions_file import read_actions
from arena.runner.brief_writer import refuse_rule
from arena.runner.derived import run_import, run_rescore
from arena.runner.intelligence import brief_maker, gather
from arena.runner.journal import Spending, check_models, open_models
from arena.runner.presets import Preset, get_preset
from arena.runner.replay import RunResult, asked_models, fresh_spec, prepare, run_replay
from arena.runner.voiding import void_run
from arena.runner.web_search import check_search, web_search_source
from arena.store import reader
from arena.store.store import Store as OpenStore
from arena.store.store import open_store

Fee = Annotated[float | None, typer.Option("--fee-bps", help="Fee of every asset class, in bp.")]
Strategies = Annotated[str, typer.Option("--strategies", help="Comma list of strategies.")]
Capital = Annotated[float | None, typer.Option("--capital", help="Capital of each account.")]


def replay(
    store: Store = None,
    data: Data = "sample",
    protocol: Annotated[str, typer.Option("--protocol", help="Preset of data/seasons.toml.")] = "default",
    assets: Annotated[str, typer.Option("--assets")] = "",
    agents: Annotated[str, typer.Option("--agents")] = "vanilla",
    models: Annotated[str, typer.Option("--models")] = "offline/trend,offline/contrarian",
    strategies: Strategies = "",
    start: Annotated[str, typer.Option("--start", help="First session.")] = "",
    end: Annotated[str, typer.Option("--end", help="Last session.")] = "",
    warmup: Annotated[int | None, typer.Option("--warmup", help="Sessions, for agents that learn.")] = None,
    warmup_from: Annotated[str, typer.Option("--warmup-from", help="Or from this date.")] = "",
    warmup_mode: Annotated[str, typer.Option("--warmup-mode", help="teacher or paper.")] = "",
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, max=100)] = None,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    fill: Annotated[str, typer.Option("--fill", help="next or close.")] = "",
    hold: Annotated[str, typer.Option("--hold", help="flat or keep.")] = "",
    capital: Capital = None,
    fee_bps: Fee = None,
    slippage_bps: Annotated[float | None, typer.Option("--slippage-bps")] = None,
    borrow_bps_year: Annotated[float | None, typer.Option("--borrow-bps-year")] = None,
    no_short: Annotated[bool, typer.Option("--no-short", help="Long only, agents are told.")] = False,
    budget_usd: Annotated[float | None, typer.Option("--budget-usd", min=0, help="Most that may be spent.")] = None,
    allow_unpriced: Annotated[bool, typer.Option("--allow-unpriced", help="Models of unknown price, within --token-cap.")] = False,
    token_cap: Annotated[int | None, typer.Option("--token-cap", min=1, help="Most tokens, prompts and answers.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=256)] = 8,
    brief: Annotated[str, typer.Option("--brief", help="Who writes the day's brief: auto, digest, none, or a model.")] = "auto",
    judge: Annotated[str, typer.Option("--judge", help="A model that scores each new brief too.")] = "",
    search: Annotated[str, typer.Option("--search", help="A model that searches the web for news, with --data live.")] = "",
    new: Annotated[bool, typer.Option("--new", help="Another run, even if this one exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let agents decide over a past window; stored decisions are not asked again."""
    preset = get_preset(protocol)
    source = _source(data)
    season = preset.make_season(
        protocol, _overrides(fill, hold, capital, fee_bps, slippage_bps, borrow_bps_year, no_short)
    )
    spec = RunSpec(
        kind="replay",
        season=season,
        source=source_label(data),
        assets=tuple(sorted(names(assets) or preset.assets or source.assets())),
        agents=tuple(sorted({get_agent(a).id for a in names(agents) or preset.agents})),
        models=tuple(sorted(names(models) or preset.models)),
        **_window(preset, start, end),
        **_warmup(preset, warmup, warmup_from, warmup_mode),
        seed=seed,
        brief=brief_maker(brief, data, names(models) or preset.models),
    )
    chosen = _strategies(names(strategies) or preset.strategies or PAPER_STRATEGIES, season)
    spending = Spending(budget_usd, token_cap, allow_unpriced)
    asked = asked_models(spec, judge or None)
    check_models((*asked, search) if search else asked, spending)
    _check_news_options(spec, data, judge, search, spending)
    path = resolve_store(store, data)
    histories = prepare(spec, chosen, source)
    with open_store(path) as opened, ReplayBar() as bar:
        if new:
            spec = fresh_spec(opened, spec)
        read = gather(
            spec, data, source.assets(), opened, utc_now(),
            searcher=_searcher(search, opened, spec, spending),
        )  # fmt: skip
        result = run_replay(
            spec, chosen, source, opened,
            epochs=epochs or preset.epochs, workers=workers, progress=bar,
            histories=histories, spending=spending, intelligence=read, judge=judge or None,
        )  # fmt: skip
    _report(result, path, as_json)


def import_(
    actions: Annotated[Path, typer.Option("--actions", help="Testbed JSON, or CSV date,action.")],
    agent: Annotated[str, typer.Option("--agent", help="Any name.")],
    model: Annotated[str, typer.Option("--model", help="Any name.")],
    asset: Annotated[str, typer.Option("--asset")],
    store: Store = None,
    data: Data = "sample",
    strategies: Strategies = ",".join(PAPER_STRATEGIES),
    fill: Annotated[str, typer.Option("--fill", help="next or close.")] = "",
    capital: Capital = None,
    fee_bps: Fee = None,
    as_json: AsJson = False,
) -> None:
    """Score someone else's decisions like any track."""
    source = _source(data)
    season = Season(**_overrides(fill, "", capital, fee_bps, None, None, no_short=False))
    path = resolve_store(store, data)
    read = read_actions(actions)
    with open_store(path) as opened:
        result = run_import(
            read, agent, model, asset, season, names(strategies), source, source_label(data), opened
        )
    _report(result, path, as_json)


def rescore(
    run: Annotated[str, typer.Option("--run")],
    fill: Annotated[str, typer.Option("--fill", help="close or next.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """The same decisions under another fill, without calls."""
    path = resolve_store(store)
    _one_of("--fill", fill, ("next", "close"))
    with open_store(path) as opened:
        result = run_rescore(opened, run, "close" if fill == "close" else "next")
    _report(result, path, as_json)


def void(
    run: Annotated[str, typer.Option("--run")],
    reason: Annotated[str, typer.Option("--reason")],
    store: Store = None,
) -> None:
    """Strike a run through: it stays visible with the reason, unranked."""
    with open_store(resolve_store(store)) as opened:
        stored = void_run(opened, run, reason)
    note(f"{run} is voided: {stored}")


def _source(data: str) -> PriceSource:
    check_data_choice(data)
    if data == "auto":
        raise ConfigError("--data auto is for the app; name live, sample or files:DIR here.")
    return open_source(data)


def _check_news_options(
    spec: RunSpec, data: str, judge: str, search: str, spending: Spending
) -> None:
    """A model that is named to judge or to search has something to do, and can do it."""
    if judge:
        refuse_rule(judge, "judge a brief")
        if spec.brief == NO_BRIEF:
            raise ConfigError(f"--judge {judge}: the run has no brief to judge (--brief none).")
    if search:
        if data != "live":
            raise ConfigError(
                f"--search {search}: `{data}` has its own news; the web is searched with --data live."
            )
        if spec.brief == NO_BRIEF:
            raise ConfigError(f"--search {search}: the run reads no news (--brief none).")
        in_tokens = spending.allow_unpriced and spending.tokens is not None
        check_search(model_info(search), in_tokens=in_tokens)


def _searcher(
    model: str, store: OpenStore, spec: RunSpec, spending: Spending
) -> NewsSource | None:
    """The model that searches for a new run, paid from the run's own budget."""
    run = spec.run_id()
    if not model:
        return None
    if run in set(reader.runs(store)["run"]):
        note(f"{run} goes on with the news that it began with; --search {model} asks nothing.")
        return None
    return web_search_source(open_models(store, [model], [run], spending)[run], model_info(model))


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{option} is `{value}`; it must be {' or '.join(allowed)}.")


def _overrides(
    fill: str, hold: str, capital: float | None, fee_bps: float | None,
    slippage_bps: float | None, borrow_bps_year: float | None, no_short: bool,
) -> dict[str, Any]:  # fmt: skip
    given: dict[str, Any] = {
        "capital": capital, "slippage_bps": slippage_bps, "borrow_bps_year": borrow_bps_year
    }  # fmt: skip
    if fill:
        _one_of("--fill", fill, ("next", "close"))
        given["fill"] = fill
    if hold:
        _one_of("--hold", hold, ("flat", "keep"))
        given["hold"] = hold
    if fee_bps is not None:
        given["fee_bps"] = dict.fromkeys(("stock", "etf", "crypto"), fee_bps)
    if no_short:
        given["shorting"] = False
    return {k: v for k, v in given.items() if v is not None}


def _window(preset: Preset, start: str, end: str) -> dict[str, Any]:
    first = day(start, "--start") if start else preset.start
    last = day(end, "--end") if end else preset.end
    if first is None or last is None:
        raise ConfigError("A window is missing: give --start and --end, or a --protocol that has one.")
    if first > last:
        raise ConfigError(f"--start {first} is after --end {last}.")
    return {"start": first, "end": last}


def _warmup(preset: Preset, warmup: int | None, since: str, mode: str) -> dict[str, Any]:
    if mode:
        _one_of("--warmup-mode", mode, ("teacher", "paper"))
    return {
        "warmup": preset.warmup if warmup is None else warmup,
        "warmup_from": day(since, "--warmup-from") if since else preset.warmup_from,
        "warmup_mode": mode or preset.warmup_mode,
    }


def _strategies(chosen: tuple[str, ...], season: Season) -> tuple[str, ...]:
    if season.shorting:
        return chosen
    return tuple(s if s.endswith("_lo") else f"{s}_lo" for s in chosen)


def _report(result: RunResult, path: Path, as_json: bool) -> None:
    hidden = ("stopped", "budget_stop")
    document = {k: v for k, v in asdict(result).items() if k not in hidden} | {"store": str(path)}
    if result.budget_stop:
        note(f"Stopped by the budget. {result.budget_stop}")
        document["budget_stop"] = result.budget_stop
    if as_json:
        print_json(document)
    else:
        print_pairs("done", document)
