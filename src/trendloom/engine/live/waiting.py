"""Events that wait, and the few things that are done with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.scanned import event_schema
from trendloom.errors import StateError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]

FIRST = -(1 << 63)
"""Before every event: the watermark of a stream that has none yet."""
LAST = (1 << 63) - 1
"""After every event: the watermark of a stream that is over."""


def fitted(setting: Setting, events: pa.Table) -> pa.Table:
    """A host's events with these columns."""
    tie = events.schema.field("tie").type if "tie" in events.schema.names else None
    schema = event_schema(setting, tie)
    events = events.select(schema.names)
    return events if events.schema.equals(schema) else events.cast(schema)


def times(table: pa.Table) -> Ints:
    return to_numpy(table.column("time").combine_chunks())


def pair_numbers(numbers: Ints, window: Ints) -> Ints:
    """One number per (number, window)."""
    distinct, place = np.unique(window, return_inverse=True)
    return numbers * max(1, len(distinct)) + place


@dataclass
class Waiting:
    """Events in the order in which they came."""

    table: pa.Table | None = None

    def __len__(self) -> int:
        return 0 if self.table is None else int(self.table.num_rows)

    def add(self, events: pa.Table) -> None:
        if self.table is None or not len(self):
            self.table = events
            return
        if self.table.schema != events.schema:
            raise StateError(
                "The events' columns have changed: "
                f"{_words(self.table.schema)} wait, {_words(events.schema)} came.",
                remedy="Go on with the same tiebreak column, or start with a new checkpoint.",
            )
        self.table = pa.concat_tables([self.table, events])

    def time(self) -> Ints:
        return np.zeros(0, np.int64) if self.table is None else times(self.table)

    def before(self, end: int) -> pa.Table | None:
        """The events before a time, if there are any."""
        return self._filtered(self.time() < end)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Forgets all others."""
        if len(self) and not rows.all():
            self.table = self._filtered(rows)

    def _filtered(self, rows: NDArray[np.bool_]) -> pa.Table | None:
        if self.table is None or not rows.any():
            return None
        return self.table if rows.all() else self.table.filter(from_numpy(rows))


def _words(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
