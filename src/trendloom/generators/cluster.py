"""Cluster monitoring after COGRA §1: mappers run job after job and report their load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.generators import draw, knobs
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.generators.draw import Flags, Ints
    from trendloom.generators.knobs import Number

TYPES = ("Start", "Load", "End")
START, LOAD, END = range(3)


def jobs(rng: np.random.Generator, mapper_starts: Flags, length: int) -> tuple[Ints, Ints]:
    """The job number and the type of each event, for events laid out mapper by mapper.

    1. Jobs of `length` events on average are laid over the events, at least Start, Load, End.
    2. Each mapper begins with a new job, so a job is cut where a mapper's events are over:
       it is still running at the end of the stream. What is left of it for the next mapper
       joins that one's first job if it is too short to be a job.
    3. The n-th job of every mapper is job n: a job runs on several mappers.
    """
    events = len(mapper_starts)
    sizes = 2 + rng.geometric(1 / (length - 2), events // 3 + 1)
    firsts = np.concatenate(([0], np.cumsum(sizes)))
    job_starts = np.zeros(events + 1, dtype=np.bool_)
    job_starts[firsts[firsts <= events]] = True
    for early in (1, 2):
        too_soon = np.flatnonzero(mapper_starts) + early
        job_starts[too_soon[too_soon <= events]] = False
    job_ends = job_starts[1:]
    starts = job_starts[:-1] | mapper_starts

    kind = np.where(starts, START, np.where(job_ends, END, LOAD))
    running: Ints = np.cumsum(starts, dtype=np.int64)
    # The number of the mapper's first job, carried along its events.
    base: Ints = np.maximum.accumulate(np.where(mapper_starts, running, 0))
    return running - base + 1, kind


def attributes(rng: np.random.Generator, ts: Ints, knob: Mapping[str, Number]) -> dict[str, Any]:
    """Mappers come in runs; only Load events carry measurements."""
    events = len(ts)
    starts = draw.run_starts(rng, events, knob["burst"])
    runs = int(starts.sum())
    mapper = draw.in_runs(starts, draw.zipf(rng, runs, int(knob["keys"]), knob["skew"]))

    order = draw.by_group(mapper)
    job, kind = np.empty(events, dtype=np.int64), np.empty(events, dtype=np.int64)
    job[order], kind[order] = jobs(rng, draw.group_starts(mapper[order]), int(knob["length"]))

    loads = order[kind[order] == LOAD]
    columns = {}
    for name in ("cpu", "memory", "load"):
        values = np.zeros(events, dtype=np.int64)
        steps = draw.walk(rng, np.arange(len(loads)), 10_000, 150, knob["selectivity"])
        values[loads] = steps
        columns[name] = pa.array(draw.scaled(values, 100), mask=kind != LOAD)
    return {"type": draw.labels(kind, TYPES), "job": job, "mapper": mapper, **columns}


STREAM = Stream(
    name="cluster",
    description="Jobs on a cluster: mappers start a job, report their load, end it.",
    types=TYPES,
    knobs=(
        knobs.rate(100.0),
        knobs.keys(20, "mappers"),
        knobs.skew("mappers"),
        knobs.burst("mapper"),
        knobs.Knob("length", 20, 3, 1_000_000, "mean number of events of a job on a mapper"),
        knobs.selectivity("L.cpu < NEXT(L).cpu (memory and load alike)", "mapper"),
        knobs.TIES,
    ),
    draw=attributes,
)
