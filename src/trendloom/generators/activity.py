"""Physical activity after COGRA §8.1 and CET §7.1: heart rates of patients, active or at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.generators import draw, knobs
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.generators.draw import Ints
    from trendloom.generators.knobs import Number

SLOWEST, FASTEST = 40, 180  # beats per minute
BOUT = 20  # mean number of measurements before a patient may change the activity


def attributes(rng: np.random.Generator, ts: Ints, knob: Mapping[str, Number]) -> dict[str, Any]:
    """Patients come in runs; each patient's activities come in bouts and the rate walks."""
    events = len(ts)
    starts = draw.run_starts(rng, events, knob["burst"])
    runs = int(starts.sum())
    patient = draw.in_runs(starts, draw.zipf(rng, runs, int(knob["keys"]), knob["skew"]))

    order = draw.by_group(patient)
    bouts = draw.run_starts(rng, events, BOUT) | draw.group_starts(patient[order])
    active = (rng.random(int(bouts.sum())) >= knob["passive"]).astype(np.int64)
    activity = np.empty(events, dtype=np.int64)
    activity[order] = draw.in_runs(bouts, active)

    levels = (FASTEST - SLOWEST) * 10
    rate = draw.walk(rng, order, levels, step=40, rising=knob["selectivity"])
    return {
        "type": draw.labels(np.zeros(events, dtype=np.int64), ("Measurement",)),
        "patient": patient,
        "activity": draw.labels(activity, ("passive", "active")),
        "rate": draw.scaled(rate, 10, SLOWEST),
        "temperature": draw.scaled(rng.integers(355, 385, events), 10),
    }


STREAM = Stream(
    name="activity",
    description="Heart rates of patients during passive and active spells.",
    types=("Measurement",),
    knobs=(
        knobs.rate(100.0),
        knobs.keys(14, "patients"),
        knobs.skew("patients"),
        knobs.burst("patient"),
        knobs.selectivity("M.rate < NEXT(M).rate", "patient"),
        knobs.Knob("passive", 0.6, 0.0, 1.0, "share of passive spells"),
        knobs.TIES,
    ),
    draw=attributes,
)
