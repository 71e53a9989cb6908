"""Stock transactions after COGRA §8.1 and HAMLET §5.1: prices walk, companies have a sector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.generators import draw, knobs
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.generators.draw import Ints
    from trendloom.generators.knobs import Number

LOWEST, HIGHEST = 10, 1000  # dollars


def attributes(rng: np.random.Generator, ts: Ints, knob: Mapping[str, Number]) -> dict[str, Any]:
    """Companies come in runs; the price of a company walks from transaction to transaction."""
    events = len(ts)
    companies, sectors = int(knob["keys"]), int(knob["sectors"])
    starts = draw.run_starts(rng, events, knob["burst"])
    company = draw.in_runs(starts, draw.zipf(rng, int(starts.sum()), companies, knob["skew"]))
    levels = (HIGHEST - LOWEST) * 100
    # The knob is the share of falls: q3 of COGRA asks for down-trends.
    rising = 1.0 - knob["selectivity"]
    price = draw.walk(rng, draw.by_group(company), levels, step=25, rising=rising)
    return {
        "type": draw.labels(np.zeros(events, dtype=np.int64), ("Stock",)),
        "company": draw.labels(company, draw.numbered("C", companies)),
        "sector": draw.labels(company % sectors, draw.numbered("S", sectors)),
        "price": draw.scaled(price, 100, LOWEST),
        "volume": rng.geometric(1 / 200, events) * 10,
        "side": draw.labels(rng.integers(0, 2, events), ("buy", "sell")),
    }


STREAM = Stream(
    name="stock",
    description="Stock transactions: companies in sectors, prices that walk at random.",
    types=("Stock",),
    knobs=(
        knobs.rate(4_500 / 60),
        knobs.keys(220, "companies"),
        knobs.skew("companies"),
        knobs.burst("company"),
        knobs.selectivity("S.price > NEXT(S).price", "company"),
        knobs.Knob("sectors", 11, 1, 100_000, "number of sectors"),
        knobs.TIES,
    ),
    draw=attributes,
)
