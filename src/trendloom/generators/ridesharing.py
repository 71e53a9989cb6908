"""Ridesharing after HAMLET §5.1: twenty event types, random attributes, bursts of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.generators import draw, knobs
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.generators.draw import Ints
    from trendloom.generators.knobs import Number

TYPES = (
    *("Travel", "Request", "Pool", "Accept", "Decline", "Assign", "Call", "Message", "Arrive"),
    *("Wait", "Pickup", "Trip", "Stop", "Reroute", "Dropoff", "Cancel", "Finish", "Pay", "Tip"),
    "Review",
)
STAY = 10 * 60 * 1_000_000  # microseconds that a driver spends in one district


def attributes(rng: np.random.Generator, ts: Ints, knob: Mapping[str, Number]) -> dict[str, Any]:
    """Types come in runs, drivers at random; a driver's districts change by the clock."""
    events = len(ts)
    starts = draw.run_starts(rng, events, knob["burst"])
    others = len(TYPES) - 1
    weights = np.array([knob["travel"], *[(1.0 - knob["travel"]) / others] * others])
    kind = draw.in_runs(starts, draw.weighted(rng, int(starts.sum()), weights))

    driver = draw.zipf(rng, events, int(knob["keys"]), knob["skew"])
    districts = int(knob["districts"])
    order = draw.by_group(driver * len(TYPES) + kind)
    speed = draw.walk(rng, order, levels=600, step=15, rising=knob["selectivity"])
    return {
        "type": draw.labels(kind, TYPES),
        "driver": driver,
        # One rider per driver, so that [driver, rider] makes as many groups as there are keys.
        "rider": driver + 1_000_000,
        "kind": draw.labels(rng.integers(0, 2, events), ("Pool", "Solo")),
        "district": draw.labels((driver + ts // STAY) % districts, draw.numbered("D", districts)),
        "speed": draw.scaled(speed, 10),
        "duration": rng.integers(1, 600, events),
        "price": draw.scaled(rng.integers(300, 10_000, events), 100),
    }


STREAM = Stream(
    name="ridesharing",
    description="Rides from request to review: 20 event types of drivers and riders by district.",
    types=TYPES,
    knobs=(
        knobs.rate(10_000 / 60),
        knobs.keys(1000, "drivers, each with a rider of their own"),
        knobs.skew("drivers"),
        knobs.burst("type"),
        knobs.Knob("travel", 0.3, 0.0, 1.0, "share of Travel events; the other types share alike"),
        knobs.selectivity("T.speed < NEXT(T).speed", "type and driver"),
        knobs.Knob("districts", 10, 1, 100_000, "number of districts"),
        knobs.TIES,
    ),
    draw=attributes,
)
