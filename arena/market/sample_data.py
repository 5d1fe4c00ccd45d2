"""Make the sample: fictional assets with seeded prices, news and filed figures.

    python -m arena.market.sample_data --out data/sample

Prices are a regime-switching random walk: calm, trending, crash and recovery stretches, with gaps
between a stock's close and its next open. Nothing here is or imitates a real asset.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.types import AssetClass
from arena.market.calendars import sessions
from arena.market.sample_figures import make_figures
from arena.market.sample_news import make_news

START, END = date(2023, 7, 3), date(2025, 12, 31)
SEED = 20250801


@dataclass(frozen=True)
class Regime:
    """Mean and deviation of a day's log return, while it lasts."""

    drift: float
    vol: float


CALM, UP, DOWN = Regime(0.0002, 0.010), Regime(0.0028, 0.013), Regime(-0.0026, 0.016)
CRASH, CHOP = Regime(-0.022, 0.035), Regime(0.0, 0.022)

Path_ = tuple[tuple[float, Regime], ...]


@dataclass(frozen=True)
class Fiction:
    """A made-up asset: regimes by share of the whole span, and how much its opens jump."""

    id: str
    name: str
    asset_class: AssetClass
    price: float
    scale: float
    gap_vol: float
    volume: float
    path: Path_


FICTIONS = (
    Fiction(
        "ZORVANE", "Zorvane Motors (fictional)", "stock", 184.0, 1.3, 0.009, 41e6,
        ((0.22, CALM), (0.20, UP), (0.06, CHOP), (0.02, CRASH), (0.16, CALM), (0.14, DOWN),
         (0.10, UP), (0.10, CHOP)),
    ),
    Fiction(
        "HELIQUA", "Heliqua Therapeutics (fictional)", "stock", 62.0, 0.9, 0.012, 2.4e6,
        ((0.30, DOWN), (0.15, CALM), (0.20, UP), (0.05, CHOP), (0.12, DOWN), (0.18, CALM)),
    ),
    Fiction(
        "QUBIXCOIN", "Qubix (fictional coin)", "crypto", 21_400.0, 1.8, 0.0, 18e3,
        ((0.18, UP), (0.15, CHOP), (0.20, UP), (0.025, CRASH), (0.145, CALM), (0.15, UP),
         (0.07, DOWN), (0.08, CHOP)),
    ),
    Fiction(
        "LUMRACOIN", "Lumra (fictional coin)", "crypto", 1_310.0, 2.4, 0.0, 260e3,
        ((0.12, CALM), (0.18, DOWN), (0.16, UP), (0.015, CRASH), (0.185, CHOP), (0.14, UP),
         (0.10, DOWN), (0.10, CALM)),
    ),
)  # fmt: skip


def make_bars(fiction: Fiction, rng: np.random.Generator) -> pd.DataFrame:
    """Daily bars of one fictional asset on its calendar, rounded to two decimals."""
    days = sessions(fiction.asset_class, START, END)
    n = len(days)
    ends = np.cumsum([share for share, _ in fiction.path])
    which = np.minimum(np.searchsorted(ends, np.arange(n) / n, side="right"), len(ends) - 1)
    drift = np.array([r.drift for _, r in fiction.path])[which]
    vol = np.array([r.vol for _, r in fiction.path])[which] * fiction.scale
    gap = rng.normal(0.0, fiction.gap_vol, n) if fiction.gap_vol else np.zeros(n)
    intraday = drift + vol * rng.standard_t(5, n) / np.sqrt(5 / 3)
    opens, closes = np.empty(n), np.empty(n)
    last = fiction.price
    for i in range(n):
        opens[i] = last * np.exp(gap[i])
        closes[i] = last = opens[i] * np.exp(intraday[i])
    reach = vol * np.abs(rng.normal(0.0, 0.6, (2, n)))
    highs = np.maximum(opens, closes) * np.exp(reach[0])
    lows = np.minimum(opens, closes) * np.exp(-reach[1])
    volume = fiction.volume * np.exp(rng.normal(0.0, 0.3, n) + 12 * np.abs(intraday))
    prices = {"open": opens, "high": highs, "low": lows, "close": closes}
    rounded = {k: np.round(v, 2) for k, v in prices.items()}
    return pd.DataFrame(
        {
            "symbol": fiction.id,
            "asset_class": fiction.asset_class,
            "date": [d.isoformat() for d in days],
            **rounded,
            "adj_close": rounded["close"],
            "volume": np.round(volume),
            "source": "synthetic",
        }
    )


def make_sample(out: Path) -> None:
    """Write prices, news, filed figures and `assets.toml`; the same bytes on every run of the same
    versions."""
    out.mkdir(parents=True, exist_ok=True)
    seeds = np.random.SeedSequence(SEED).spawn(len(FICTIONS))
    frames = [
        make_bars(f, np.random.default_rng(s)) for f, s in zip(FICTIONS, seeds, strict=True)
    ]
    bars, figures = pd.concat(frames, ignore_index=True), make_figures()
    tables = {"daily": bars, "news": make_news(bars, figures), "fundamentals": figures}
    for name, table in tables.items():
        table.to_parquet(out / f"{name}.parquet", index=False, compression="zstd")
    lines = ["# Made by `python -m arena.market.sample_data`. Fictional: no such assets exist.", ""]
    for f in FICTIONS:
        lines += [
            f"[{f.id}]", f'name = "{f.name}"', f'asset_class = "{f.asset_class}"',
            "synthetic = true", "",
        ]  # fmt: skip
    (out / "assets.toml").write_text("\n".join(lines), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    make_sample(parser.parse_args().out)


if __name__ == "__main__":
    main()
