"""The verb `news`: what was known of an asset, session by session, and the brief that it makes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, Data, day, names
from arena.cli.output import note, print_json, visible
from arena.core.clock import utc_now
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.rows import SourceHealthRow
from arena.core.season import Season
from arena.core.settings import check_data_choice
from arena.core.types import Asset
from arena.llm.registry import get_model, model_info
from arena.market.calendars import slots
from arena.market.news.brief import DIGEST, NO_BRIEF, Brief, Summarise
from arena.market.news.items import DayNews
from arena.market.news.quality import RuleScore, rate
from arena.market.sources import open_source
from arena.market.sources.news.files import open_news
from arena.runner.brief_writer import BriefWriter
from arena.runner.collect import LOOK_BACK
from arena.runner.intelligence import Intelligence, brief_maker, from_files, live_now
from arena.runner.sealing import write_digest


@dataclass(frozen=True)
class Session:
    """One slot's news."""

    asset: str
    session: str
    day: DayNews
    brief: Brief | None
    scores: Sequence[RuleScore]


def news(
    data: Data = "sample",
    asset: Annotated[str, typer.Option("--asset", help="Comma list; default: all of the data.")] = "",
    start: Annotated[str, typer.Option("--start", help="First session.")] = "",
    end: Annotated[str, typer.Option("--end", help="Last session.")] = "",
    brief: Annotated[str, typer.Option("--brief", help="digest, none, or a model on this machine.")] = DIGEST,
    as_json: AsJson = False,
) -> int:
    """Stories and briefs by session, as agents would have seen them; nothing is stored. Exit 1 if no
    source answered."""
    check_data_choice(data)
    if not (start and end):
        raise ConfigError("Give --start and --end, the first and the last session.")
    first, last = day(start, "--start"), day(end, "--end")
    if first > last:
        raise ConfigError(f"--start {first} is after --end {last}.")
    chosen, now = _assets(data, asset), utc_now()
    if data != "live" and open_news(data) is None:
        raise ConfigError(f"`{data}` has no news. Add news.parquet or news.csv to the folder.")
    maker = brief_maker(brief, data, ())
    slots_of = {a.id: [s for s in slots(a, first, last) if s.as_of_utc <= now] for a in chosen}
    due = [s.as_of_utc for of_asset in slots_of.values() for s in of_asset]
    if not due:
        raise ConfigError(f"From {first} to {last} there is no session whose slot is over.")
    if data == "live" and min(due) < now - LOOK_BACK:
        note(f"Live sources are asked for the last {LOOK_BACK.days} days; earlier sessions stay empty.")
    found, health = (
        live_now(chosen, now) if data == "live" else from_files(data, chosen, max(due), now)
    )
    sessions = asyncio.run(_sessions(chosen, slots_of, found, maker))
    if as_json:
        print_json(_document(chosen, found, health, maker, sessions))
    else:
        _print(sessions, health)
    answered = any(h.status == "ok" for h in health)
    if not answered:
        note("No source answered: no stories here does not mean no news.")
    return 0 if answered else 1


def _assets(data: str, wanted: str) -> list[Asset]:
    known = open_source(data).assets()
    for name in names(wanted):
        if name not in known:
            raise UnknownNameError("asset", name, known)
    return [known[a] for a in (names(wanted) or known)]


def _summarise(maker: str) -> Summarise:
    if maker == DIGEST:
        return write_digest
    if not model_info(maker).runs_here:
        raise ConfigError(
            f"--brief {maker}: a model that costs money writes briefs in `replay --budget-usd`, where "
            "they are stored. Here: digest, or a model on this machine."
        )
    return BriefWriter(maker, lambda model, _: get_model(model), Season(), 0)


async def _sessions(
    assets: Sequence[Asset], slots_of: dict[str, Any], found: Intelligence, maker: str
) -> list[Session]:
    result = []
    for asset in assets:
        for slot in slots_of[asset.id]:
            news_of_day = found.day(asset, slot, "default")
            if news_of_day is None:
                continue
            made: Brief | None = None
            scores: Sequence[RuleScore] = ()
            if maker != NO_BRIEF and news_of_day.stories:
                made = await _summarise(maker)(asset, news_of_day)
                scores = rate(asset, news_of_day, made) if made.usable else ()
            result.append(Session(asset.id, slot.key, news_of_day, made, scores))
    return result


def _document(
    assets: Sequence[Asset], found: Intelligence, health: Sequence[SourceHealthRow], maker: str,
    sessions: Sequence[Session],
) -> dict[str, Any]:  # fmt: skip
    return {
        "assets": [a.id for a in assets],
        "brief": maker,
        "refused": {a: dict(found.archives[a].refused) for a in found.archives},
        "sources": [
            {
                "source": h.source, "status": h.status, "n_items": h.n_items, "n_kept": h.n_kept,
                "error": h.error,
            }
            for h in health
        ],
        "sessions": [_session(s) for s in sessions],
    }  # fmt: skip


def _session(s: Session) -> dict[str, Any]:
    return {
        "asset": s.asset,
        "session": s.session,
        "since_utc": s.day.since_utc,
        "as_of_utc": s.day.as_of_utc,
        "n_items": s.day.n_items,
        "n_stories": len(s.day.stories),
        "n_left_out": s.day.n_left_out,
        "stories": [
            {
                **told.facts(),
                "outlets": list(told.outlets),
                "urls": [i.url for i in told.items if i.url],
                "published_at_utc": told.first.published_at_utc,
                "drivers": list(told.drivers),
                "flags": list(told.first.flags),
            }
            for told in s.day.stories
        ],
        "brief": None if s.brief is None else _brief(s),
    }


def _brief(s: Session) -> dict[str, Any]:
    assert s.brief is not None
    quality = {r.rule: {"score": r.score, "evidence": r.evidence} for r in s.scores}
    return {
        "status": s.brief.status.value,
        "problem": s.brief.problem or None,
        **(s.brief.facts(s.day) or {}),
        "quality": quality,
    }


def _print(sessions: Sequence[Session], health: Sequence[SourceHealthRow]) -> None:
    for h in health:
        note(f"{h.source}: {h.status}, {h.n_kept} of {h.n_items} items; left out {h.refused_json}")
    for s in sessions:
        print(f"\n{s.asset} {s.session}, known by {_moment(s.day.as_of_utc)}: {len(s.day.stories)} stories")
        for told in s.day.stories:
            more = f" (+{len(told.outlets) - 1})" if len(told.outlets) > 1 else ""
            print(f"  {told.id}  {visible(told.first.outlet)}{more}: {visible(told.first.title)}")
        if s.brief is not None and s.brief.usable:
            scores = ", ".join(f"{r.rule} {r.score}" for r in s.scores)
            print(f"  brief by {s.brief.maker}, {s.brief.sentiment} {s.brief.score:+.2f}: {scores}")
            print(f"    {visible(s.brief.summary)}")
        elif s.brief is not None:
            print(f"  no brief by {s.brief.maker}: {s.brief.status.value}, {visible(s.brief.problem)}")


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
