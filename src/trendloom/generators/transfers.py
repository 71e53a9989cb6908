"""Check deposits after CET §7.1: how many earlier checks a check can follow is set exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.generators import draw, knobs
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.generators.draw import Ints
    from trendloom.generators.knobs import Number


def attributes(rng: np.random.Generator, ts: Ints, knob: Mapping[str, Number]) -> dict[str, Any]:
    """Uncovered checks form rings that pass money on, layer by layer.

    1. A check is uncovered with probability `selectivity`, and then belongs to one of `keys` rings.
    2. `compatibility` checks of a ring in a row are a layer: all from one account to another.
    3. The next layer begins where this one ended, and no account is used again. A check can thus
       follow exactly the checks of the layer before, which is the worst case of CET's Theorem 1:
       layers of three give the most trends.
    4. Covered checks go between accounts at random, also those of the rings.
    """
    events, rings = len(ts), int(knob["keys"])
    starts = draw.run_starts(rng, events, knob["burst"])
    ring = draw.in_runs(starts, draw.zipf(rng, int(starts.sum()), rings, knob["skew"]))
    uncovered = rng.random(events) < knob["selectivity"]

    chosen = np.flatnonzero(uncovered)
    order = chosen[draw.by_group(ring[chosen])]
    layer = draw.ordinal(draw.group_starts(ring[order])) // int(knob["compatibility"])
    accounts = rings * (int(layer.max(initial=0)) + 2)
    source = rng.integers(0, accounts, events)
    target = rng.integers(0, accounts, events)
    source[order] = layer * rings + ring[order]
    target[order] = source[order] + rings
    return {
        "type": draw.labels(np.zeros(events, dtype=np.int64), ("Check",)),
        "src": source,
        "dst": target,
        "status": draw.labels(uncovered.astype(np.int64), ("covered", "notcovered")),
        "amount": draw.scaled(rng.geometric(1 / 100_000, events), 100),
        "ring": pa.array(ring, mask=~uncovered),
    }


STREAM = Stream(
    name="transfers",
    description="Checks between accounts: rings of uncovered ones among the covered.",
    types=("Check",),
    knobs=(
        knobs.rate(3500.0),
        knobs.keys(100, "rings"),
        knobs.skew("rings"),
        knobs.burst("ring"),
        knobs.Knob(
            "compatibility", 3, 1, 1_000_000, "earlier checks that an uncovered one follows"
        ),
        knobs.Knob("selectivity", 0.5, 0.0, 1.0, "share of checks with c.status = 'notcovered'"),
        knobs.TIES,
    ),
    draw=attributes,
)
