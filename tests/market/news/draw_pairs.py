"""Draw pairs of real news items to be labelled by a person: `python draw_pairs.py FOLDER SEED [SKIP.csv]`.

Writes rows of `labelled_pairs.csv` without label and reason to standard output, and the texts to
read to standard error. Pairs are of one asset and published within 3 days of each other. Half have a
similarity (token set ratio of title and first 300 characters) of 60 to 95, evenly over steps of 5;
the others are spread over what is below and above, with a share of serial headlines (price
predictions, "shares sold by", stocks to watch ...). No headline is in two pairs.

Drawn so far: `first` with 20250801; `second` with 20250930, skipping the first; `third` with 20251231,
skipping both.
"""

from __future__ import annotations

import csv
import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pandas as pd
from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

WITHIN_DAYS = 3
COLUMNS = ["set", "pair", "asset", "id_a", "id_b", "similarity", "band", "label", "reason"]
# (name, from, to, how many); "reworded" has two titles, "serial" any similarity from 50.
BANDS = (
    ("60-95", 60, 65, 7), ("60-95", 65, 70, 7), ("60-95", 70, 75, 7), ("60-95", 75, 80, 7),
    ("60-95", 80, 85, 7), ("60-95", 85, 90, 7), ("60-95", 90, 95, 8),
    (">95", 95, 101, 10), ("reworded", 95, 101, 12), ("<60", 0, 40, 3), ("<60", 40, 50, 5), ("<60", 50, 60, 8),
)  # fmt: skip
N_SERIAL = 12
SERIES = re.compile(
    r"price prediction|price analysis|stocks? to (?:watch|buy)|price target|\bdow\b|(?:stock|shares) today"
    r"|shares (?:sold|bought|acquired) by|\bshares of\b.*\$|(?:stake|position|holdings?|stock) in\b.*\$"
    r"|q[1-4] 20\d\d (?:commentary|update)|(?:mid-day|midday|afternoon|pre-?market|wall street).*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Pair:
    asset: str
    a: int
    b: int
    similarity: float


def row_id(row: pd.Series) -> str:
    """How the file of labels names a row of news.parquet."""
    key = f"{row.asset}|{row.url}|{row.title}|{row.published_at_utc.isoformat()}"
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def all_pairs(news: pd.DataFrame) -> list[Pair]:
    found = []
    for asset, rows in news.groupby("asset"):
        rows = rows.sort_values(["published_at_utc", "id"])
        at = [t.timestamp() for t in rows.published_at_utc]
        body = [
            default_process(f"{t} {x[:300]}") for t, x in zip(rows.title, rows.text, strict=True)
        ]
        first = 0
        for j in range(len(rows)):
            while at[j] - at[first] > WITHIN_DAYS * 86_400:
                first += 1
            found += [
                Pair(str(asset), rows.index[i], rows.index[j], token_set_ratio(body[i], body[j]))
                for i in range(first, j)
            ]
    return found


def draw(news: pd.DataFrame, seed: int, used: set[str]) -> list[tuple[str, Pair]]:
    rng, pairs = Random(seed), all_pairs(news)
    rng.shuffle(pairs)
    title = news.title.str.lower()
    taken = {title[i] for i in news.index if news.id[i] in used}
    chosen: list[tuple[str, Pair]] = []

    def take(name: str, n: int, fits) -> None:
        for pair in pairs:
            if n and fits(pair) and not taken & {title[pair.a], title[pair.b]}:
                chosen.append((name, pair))
                taken.update({title[pair.a], title[pair.b]})
                n -= 1

    def serial(pair: Pair) -> bool:
        a, b = news.title[pair.a], news.title[pair.b]
        found = SERIES.search(a), SERIES.search(b)
        kinds = {f[0][:9].lower() if f else "" for f in found}
        return pair.similarity >= 50 and a != b and len(kinds) == 1 and "" not in kinds

    def within(low: float, high: float, reworded: bool):
        return lambda p: low <= p.similarity < high and not (reworded and title[p.a] == title[p.b])

    for name, low, high, n in BANDS:
        take(name, n, within(low, high, name == "reworded"))
    take("serial", N_SERIAL, serial)
    return chosen


def main() -> None:
    folder, seed, *skip = sys.argv[1:]
    news = pd.read_parquet(Path(folder) / "news.parquet")
    news["id"] = news.apply(row_id, axis=1)
    used = set()
    for path in skip:
        with Path(path).open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                used |= {row["id_a"], row["id_b"]}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for n, (band, p) in enumerate(draw(news, int(seed), used), 1):
        a, b = news.loc[p.a], news.loc[p.b]
        out.writerow([f"seed-{seed}", n, p.asset, a.id, b.id, f"{p.similarity:.1f}", band, "", ""])
        print(f"\n{n} {p.asset} {p.similarity:.1f} {band}", file=sys.stderr)
        for row in (a, b):
            print(
                f"  {row.published_at_utc:%m-%d %H:%M} {row.source} | {row.title} || {row.text[:200]}",
                file=sys.stderr,
            )


if __name__ == "__main__":
    main()
