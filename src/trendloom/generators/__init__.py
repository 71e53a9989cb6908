"""Streams to try queries on: as the papers describe theirs, drawn from a seed.

`generate("stock", 1_000_000, seed=7, keys=50)` is a table sorted by `ts`, with `type` and the
attributes. The same arguments always give the same table. `STREAMS` lists what there is.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.errors import InputError, did_you_mean
from trendloom.generators import activity, cluster, draw, ridesharing, stock, transfers
from trendloom.generators.knobs import Knob, settle
from trendloom.generators.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["STREAMS", "Knob", "Stream", "generate", "stream"]

STREAMS: Mapping[str, Stream] = MappingProxyType(
    {
        module.STREAM.name: module.STREAM
        for module in (ridesharing, stock, cluster, activity, transfers)
    }
)

_EVENTS = Knob("events", 0, 0, 1_000_000_000, "number of events")
_SEED = Knob("seed", 0, 0, 2**63 - 1, "the same seed gives the same stream")


def stream(name: str) -> Stream:
    """The stream of that name."""
    if name not in STREAMS:
        raise InputError(f"There is no stream '{name}'.", remedy=did_you_mean(name, STREAMS))
    return STREAMS[name]


def generate(name: str, events: int, *, seed: int = 0, **knobs: object) -> pa.Table:
    """`events` events of the stream `name`: `ts` (sorted), `type`, then the attributes."""
    chosen = stream(name)
    values = settle(name, chosen.knobs, knobs)
    rng = np.random.default_rng(int(_SEED.check(seed)))
    ts = draw.times(rng, int(_EVENTS.check(events)), values["rate"], values["ties"])
    columns = {"ts": pa.array(ts).cast(pa.timestamp("us", "UTC"))}
    return pa.table(columns | chosen.draw(rng, ts, values))
