"""How the sample's news is told: one happening by several made-up outlets, each with its own title and date."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import numpy as np

from arena.market.sample_words import (
    NAMES,
    OUTLETS,
    PARTS,
    PLACES,
    THINGS,
    TRADE_PRESS,
    Happening,
    Outlet,
)

QUALITIES = {"exact": 0.82, "date": 0.06, "naive": 0.04, "relative": 0.05, "collected": 0.03}
"""How well sources date what they tell, and how often."""

SEEN_LATER = frozenset({"relative", "collected"})
SECOND_HAND = (
    "{outlet} was told the same.", "{outlet} has seen the statement.", "The news was first told elsewhere.",
)  # fmt: skip

Row = dict[str, Any]


def tell(
    asset: str, happening: Happening, moment_utc: datetime, rng: np.random.Generator, n_outlets: int,
    first: Outlet | None = None, category: str = "", **facts: str,
) -> list[Row]:  # fmt: skip
    """Rows of a news file: `n_outlets` tell the happening, the first one at `moment_utc`, each other a
    while after the one before.

    Args:
        asset: whose it is, "" where it concerns all.
        first: an outlet that has it first, in place of one by chance.
        facts: values of slots that are not made up.
    """
    slots = _slots(asset, moment_utc, rng) | facts
    outlets = [*OUTLETS, *([TRADE_PRESS[asset]] if asset else [])]
    chosen = [outlets[i] for i in rng.permutation(len(outlets))[:n_outlets]]
    if first is not None:
        chosen[0] = first
    start = int(rng.integers(len(happening.titles)))
    rows = []
    for i, (outlet, host) in enumerate(chosen):
        title = _filled(happening.titles[(start + i) % len(happening.titles)], slots)
        text = _filled(happening.text, slots)
        if i > 0:
            said = SECOND_HAND[int(rng.integers(len(SECOND_HAND)))]
            text += " " + said.format(outlet=outlet.removesuffix(" (fictional)"))
        quality = str(rng.choice(list(QUALITIES), p=list(QUALITIES.values())))
        rows.append(
            {
                "asset": asset, "source": outlet, "title": title, "text": text,
                "url": _url(host, title, moment_utc), "ts_quality": quality, "category": category,
                "trust": "synthetic", **_dates(quality, moment_utc, rng),
            }
        )  # fmt: skip
        moment_utc += timedelta(minutes=float(rng.uniform(4, 240)))
    return rows


def _dates(quality: str, moment: datetime, rng: np.random.Generator) -> Row:
    """When it says it was published, and when it was seen where that matters: never before `moment`
    in truth, but a day alone begins at its midnight."""
    later_h = float(rng.uniform(1, 40))
    moment = moment.replace(microsecond=0)
    if quality == "date":
        moment = datetime.combine(moment.date(), time(), UTC)
    if quality not in SEEN_LATER:
        return {"published_at_utc": moment, "collected_at_utc": None}
    seen = (moment + timedelta(hours=later_h)).replace(microsecond=0)
    said = seen if quality == "collected" else seen - timedelta(hours=int(later_h))
    return {"published_at_utc": said, "collected_at_utc": seen}


def _slots(asset: str, moment: datetime, rng: np.random.Generator) -> dict[str, str]:
    ahead = moment + timedelta(days=int(rng.integers(40, 140)))
    things = THINGS.get(asset, ("",))
    return {
        "name": NAMES.get(asset, ""),
        "place": PLACES[int(rng.integers(len(PLACES)))],
        "thing": things[int(rng.integers(len(things)))],
        "part": PARTS[int(rng.integers(len(PARTS)))],
        "month": f"{ahead:%B}",
        "few": str(int(rng.integers(3, 19))),
        "big": str(10 * int(rng.integers(12, 95))),
        "pct": f"{rng.uniform(1.2, 14.0):.1f}",
    }


def _filled(template: str, slots: dict[str, str]) -> str:
    text = template.format_map(slots)
    return text[0].upper() + text[1:]


def _url(host: str, title: str, moment: datetime) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48].rstrip("-")
    key = hashlib.sha256(f"{host}|{title}|{moment.isoformat()}".encode()).hexdigest()[:6]
    return f"https://{host}/{moment:%Y/%m/%d}/{slug}-{key}"
