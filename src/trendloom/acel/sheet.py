"""Results of a search → record batches: window, partition, start, end, and every variable's events.

`start` and `end` are rows of the input, from 0, as are the events of a variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.acel.columns import ROW
from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.errors import NumberError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.acel.columns import Column
    from trendloom.acel.runs import Output
    from trendloom.acel.store import Found
    from trendloom.acel.windows import Span

    Ints = NDArray[np.int64]


class Held:
    """The events that results may still speak of, by their numbers in the scan."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._base = 0

    def push(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)

    def forget(self, before: int) -> None:
        """Events with lower numbers are not asked for again."""
        while self._batches and self._base + self._batches[0].num_rows <= before:
            self._base += self._batches.pop(0).num_rows

    def take(self, events: Ints, names: Sequence[str]) -> list[pa.Array]:
        """Columns of the scan, at these events.

        From each batch for itself: to join what is held, batch by batch, would copy all of it again
        and again.
        """
        if not self._batches:
            return []
        sizes = [batch.num_rows for batch in self._batches]
        starts = self._base + np.cumsum([0, *sizes[:-1]])
        which = np.searchsorted(starts, events, side="right") - 1
        order = np.argsort(which, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
        if len(groups) == 1:
            number = int(which[0]) if len(which) else 0
            return self._at(number, events - starts[number], names)
        parts = []
        for group in groups:
            number = int(which[group[0]])
            parts.append(self._at(number, events[group] - starts[number], names))
        back = from_numpy(np.argsort(order))
        return [pa.concat_arrays(some).take(back) for some in zip(*parts, strict=True)]

    def _at(self, number: int, where: Ints, names: Sequence[str]) -> list[pa.Array]:
        batch, places = self._batches[number], from_numpy(where)
        columns = [batch.column(name).take(places) for name in names]
        return [c.dictionary_decode() if isinstance(c, pa.DictionaryArray) else c for c in columns]

    def rows(self, events: Ints) -> Ints:
        """The numbers of events in the input."""
        if len(events) == 0:
            return events
        numbers: Ints = to_numpy(self.take(events, ["row"])[0])
        return numbers


@dataclass(frozen=True)
class Sheet:
    """What results look like, and how they become that."""

    schema: pa.Schema
    """Window bounds as ticks; a host shows them as it shows time."""
    columns: tuple[Column, ...]
    span: Span
    keys: int

    def batch(
        self, found: Found, end_key: Ints, lists: Sequence[pa.Array], held: Held
    ) -> pa.RecordBatch:
        """`lists`: the events of each variable."""
        keys = held.take(found.end, [f"p{k}" for k in range(self.keys)])
        places = [from_numpy(held.rows(found.start)), from_numpy(held.rows(found.end))]
        columns = [*keys, *places, *lists]
        windows = self.span.windows(found.key, end_key)
        if windows is None:
            bounds = [pa.nulls(len(found), pa.int64())] * 2
        else:
            number, begin, end = windows
            if len(number) != len(found) or (number[1:] < number[:-1]).any():
                columns = [column.take(from_numpy(number)) for column in columns]
            bounds = [from_numpy(begin), from_numpy(end)]
        return pa.RecordBatch.from_arrays([*bounds, *columns], schema=self.schema)


def row_lists(
    found: Found, labels: Sequence[frozenset[str]], columns: Sequence[Column], held: Held
) -> list[pa.Array]:
    """The rows of each variable, where a label is the variables that hold an event."""
    rows = held.rows(found.event)
    lists = []
    for column in columns:
        holds = np.array([column.variable in label for label in labels])
        chosen = holds[found.label]
        before = np.concatenate([[0], np.cumsum(chosen)])
        offset = before[found.offset].astype(np.int32)
        lists.append(pa.ListArray.from_arrays(offset, from_numpy(rows[chosen])))
    return lists


def event_lists(
    found: Found, labels: Sequence[Output], columns: Sequence[Column], held: Held
) -> list[pa.Array]:
    """The events of each variable, where a label is what was put out."""
    rows = held.rows(found.event).tolist()
    marks = found.label.tolist()
    every: dict[str, list[list[Any]]] = {column.variable: [] for column in columns}
    plain = {column.variable: column.has_rows_only for column in columns}
    for low, high in zip(found.offset[:-1].tolist(), found.offset[1:].tolist(), strict=True):
        bags: dict[str, list[Any]] = {variable: [] for variable in every}
        for at in range(low, high):
            for variable, events in labels[marks[at]]:
                bags[variable] += (
                    rows[at] if plain[variable] else {ROW: rows[at], **dict(event.attributes)}
                    for event in events
                )
        for variable, bag in bags.items():
            every[variable].append(bag)
    return as_arrow(every, columns)


def as_arrow(every: dict[str, list[list[Any]]], columns: Sequence[Column]) -> list[pa.Array]:
    """The bags of each variable as a column of its type."""
    try:
        return [pa.array(every[column.variable], column.type) for column in columns]
    except (OverflowError, pa.ArrowInvalid) as error:
        raise NumberError(
            f"A value of a result does not fit its column: {error}.",
            remedy="Whole numbers in results have 64 bits; scale the attribute down.",
        ) from None
