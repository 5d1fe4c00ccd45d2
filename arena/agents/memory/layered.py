"""A memory in layers: what proves useful stays and climbs, what does not is forgotten.

After FinMem (arXiv 2311.13743). An item is found by how near it is to the question, how important
it became and how recent it is; it becomes important by being cited before decisions that paid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from arena.agents.memory import layers
from arena.agents.memory.base import Dump, opened
from arena.agents.memory.embed import Embedder, hashed_ngrams
from arena.agents.memory.layers import Layer, LayerSpec, LayerTable
from arena.core.types import Bar

VERSION = 1


@dataclass(frozen=True, slots=True)
class Note:
    """Something to remember, before it is an item. `source` is the id of what it comes from."""

    layer: Layer
    text: str
    source: str
    known_at_utc: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """Something remembered since `session`. `number` stays when the item moves; `id` tells its layer.

    `age` counts sessions since birth or the last renewal, `hits` is paid minus failed citations.
    """

    number: int
    layer: Layer
    text: str
    source: str
    session: date
    known_at_utc: datetime
    importance: float
    age: int = 0
    hits: int = 0

    @property
    def id(self) -> str:
        return f"{self.layer[0]}{self.number}"


@dataclass(frozen=True, slots=True)
class Recalled:
    """An item found, and its score: cosine + min(importance, 100) / 100 + exp(-age / Q)."""

    item: Item
    score: float


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A decision not judged yet: the side it took (-1, 0, 1), and the items to be credited for it."""

    session: date
    side: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reward:
    """What the side of a decision earned over its horizon, and the items credited (sign) for it."""

    session: date
    profit_frac: float
    sign: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Ids before and after of what moved, and ids of what was forgotten."""

    moved: tuple[tuple[str, str], ...]
    forgotten: tuple[str, ...]


class LayeredMemory:
    """The memory of one track.

    `read_until_utc` is the slot up to which the market's texts were taken in, None before the first.
    Vectors are not kept in the dump: they follow from the texts.
    """

    def __init__(
        self, table: LayerTable = layers.OURS, dump: Dump | None = None,
        *, embed: Embedder = hashed_ngrams,
    ) -> None:  # fmt: skip
        self.table, self.embed = table, embed
        self.kind = f"layered-{table.name}"
        self.specs = {spec.name: spec for spec in table.specs}
        self.items: dict[int, Item] = {}
        self.open_decisions: list[OpenDecision] = []
        self.next_number = 1
        self.read_until_utc: datetime | None = None
        if dump is not None:
            self._load(opened(dump, self.kind, VERSION))

    def draft(self, notes: Iterable[Note], session: date) -> list[Item]:
        """`notes` as new items, not yet remembered: `add` them once they are to be kept."""
        return [
            Item(
                self.next_number + i, n.layer, n.text, n.source, session, n.known_at_utc,
                self.specs[n.layer].birth,
            )
            for i, n in enumerate(notes)
        ]  # fmt: skip

    def add(self, drafts: Iterable[Item]) -> None:
        """Remember what `draft` made since the last `add`."""
        for item in drafts:
            self.items[item.number] = item
            self.next_number = max(self.next_number, item.number + 1)

    def recall(
        self, query: str, session: date, as_of_utc: datetime, drafts: Sequence[Item] = ()
    ) -> dict[Layer, list[Recalled]]:
        """The best items of each layer for `query`, best first; layers without any are left out.

        Nothing that was not known at `as_of_utc` is found, and a reflection only from the session
        after its own: the one of a warm-up tells what came next.
        """
        known = [
            i for i in (*self.items.values(), *drafts)
            if i.known_at_utc <= as_of_utc and (i.layer != "reflection" or i.session < session)
        ]  # fmt: skip
        if not known:
            return {}
        cosines = np.stack([self.embed(i.text) for i in known]) @ self.embed(query)
        scored = [
            Recalled(item, round(float(cosine) + self._weight(item), 6))
            for item, cosine in zip(known, cosines, strict=True)
        ]
        scored.sort(key=lambda r: (-r.score, -r.item.number))
        found = {name: [r for r in scored if r.item.layer == name] for name in self.specs}
        return {name: rows[: layers.TOP_K] for name, rows in found.items() if rows}

    def reflect(self, text: str, session: date, as_of_utc: datetime) -> Item | None:
        """Remember the agent's own words of `session`; None if it has said nearly the same before."""
        earlier = [self.embed(i.text) for i in self.items.values() if i.layer == "reflection"]
        if earlier and (np.stack(earlier) @ self.embed(text)).max() >= layers.SAME_COSINE:
            return None
        (item,) = self.draft([Note("reflection", text, "own", as_of_utc)], session)
        self.add([item])
        return item

    def decided(self, session: date, side: int, numbers: Sequence[int]) -> None:
        """Keep a decision until it can be judged; `numbers` are the items it rests on."""
        self.open_decisions.append(OpenDecision(session, side, tuple(numbers)))

    def reward(self, bars: Sequence[Bar]) -> list[Reward]:
        """Judge every decision whose horizon is over at the last of `bars` (oldest first).

        The sign of side * (close w sessions after the decision's / the decision's close - 1) goes to
        the importance (18 points) and hits (1) of its items, wherever they are by now. A decision
        older than the bars can no longer be judged and is dropped.
        """
        at = {bar.session: i for i, bar in enumerate(bars)}
        rewards, still_open = [], []
        for decision in self.open_decisions:
            begin = at.get(decision.session)
            if begin is None:
                continue
            end = begin + layers.HORIZON_SESSIONS
            if end >= len(bars):
                still_open.append(decision)
                continue
            profit = decision.side * (bars[end].close / bars[begin].close - 1.0)
            rewards.append(self._credit(decision, profit))
        self.open_decisions = still_open
        return rewards

    def _credit(self, decision: OpenDecision, profit_frac: float) -> Reward:
        sign = (profit_frac > 0) - (profit_frac < 0)
        alive = [self.items[n] for n in decision.numbers if n in self.items] if sign else []
        for item in alive:
            self.items[item.number] = replace(
                item, importance=item.importance + sign * layers.REWARD, hits=item.hits + sign
            )
        return Reward(decision.session, profit_frac + 0.0, sign, tuple(i.id for i in alive))

    def upkeep(self) -> Upkeep:
        """One session passes: everything ages and fades, the faded is forgotten, the rest may move."""
        before = self.items
        aged = (
            replace(i, age=i.age + 1, importance=i.importance * self.specs[i.layer].decay)
            for i in before.values()
        )
        self.items = {i.number: i for i in aged if self._lasts(i)}
        for _ in range(layers.MOVE_PASSES):
            for rung in range(len(self.table.ladder)):
                self._move_from(rung)
        return Upkeep(
            tuple(
                (before[n].id, i.id) for n, i in self.items.items() if i.layer != before[n].layer
            ),
            tuple(i.id for n, i in before.items() if n not in self.items),
        )

    def _lasts(self, item: Item) -> bool:
        return (
            item.importance >= layers.MIN_IMPORTANCE and self._recency(item) >= layers.MIN_RECENCY
        )

    def _move_from(self, rung: int) -> None:
        ladder = self.table.ladder
        spec: LayerSpec = ladder[rung]
        for item in [i for i in self.items.values() if i.layer == spec.name]:
            if spec.demote_below is not None and item.importance < spec.demote_below:
                age = 0 if self.table.demotion_renews else item.age
                self.items[item.number] = replace(item, layer=ladder[rung - 1].name, age=age)
            elif spec.promote_at is not None and item.importance >= spec.promote_at:
                self.items[item.number] = replace(item, layer=ladder[rung + 1].name, age=0)

    def _recency(self, item: Item) -> float:
        return math.exp(-item.age / self.specs[item.layer].recency_sessions)

    def _weight(self, item: Item) -> float:
        return min(item.importance, 100.0) / 100.0 + self._recency(item)

    def dump(self) -> dict[str, Any]:
        """Plain values; an item is [number, layer, text, source, session, known, importance, age, hits]."""
        read = self.read_until_utc
        return {
            "kind": self.kind,
            "version": VERSION,
            "next_number": self.next_number,
            "read_until_utc": None if read is None else read.isoformat(),
            "items": [
                [
                    i.number, i.layer, i.text, i.source, i.session.isoformat(),
                    i.known_at_utc.isoformat(), i.importance, i.age, i.hits,
                ]
                for i in self.items.values()
            ],
            "open_decisions": [
                [d.session.isoformat(), d.side, list(d.numbers)] for d in self.open_decisions
            ],
        }  # fmt: skip

    def _load(self, dump: Dump) -> None:
        self.next_number = dump["next_number"]
        read = dump["read_until_utc"]
        self.read_until_utc = None if read is None else datetime.fromisoformat(read)
        for number, layer, text, source, session, known, importance, age, hits in dump["items"]:
            self.items[number] = Item(
                number, layer, text, source, date.fromisoformat(session),
                datetime.fromisoformat(known), importance, age, hits,
            )  # fmt: skip
        self.open_decisions = [
            OpenDecision(date.fromisoformat(session), side, tuple(numbers))
            for session, side, numbers in dump["open_decisions"]
        ]
