"""The search of a formula whose aggregates are taken of results (`folding`).

A kernel finds the results of the inner formula; then, for a batch of them: aggregates (`totals`),
filters on what they made, and only then the rows of those that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.acel.columns import ROW
from trendloom.acel.events import TYPE, refuse_infinite
from trendloom.acel.marks import Marks
from trendloom.acel.reading_columns import readable
from trendloom.acel.sheet import as_arrow, row_lists
from trendloom.acel.store import chosen
from trendloom.acel.totals import totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.acel.folding import Folding
    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.sheet import Held
    from trendloom.acel.store import Found
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]

Values = tuple[Any, ...]
"""The aggregates of one result, in the order of `Folding.assigns`."""


class Folded:
    """Marks in the kernel, aggregates once for each result of the inner formula."""

    def __init__(self, plan: MatchPlan, folding: Folding, event_type: str | None) -> None:
        self._plan, self._folding, self._type = plan, folding, event_type
        self._marks = Marks(plan)
        self._made: dict[Values, dict[str, dict[str, Any]] | None] = {}
        self._seen: set[object] = set()
        self._end = -1

    def push(
        self, chunk: Chunk, key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found]:
        return self._marks.push(chunk, key, bound, begins, base)

    def lists(self, found: Found, held: Held) -> tuple[Found, list[pa.Array]]:
        events = self._events(self._values(found, held))
        kept = [k for k, made in enumerate(events) if made is not None]
        found, events = self._chosen(found, kept, events)
        if self._folding.loses:
            rows = self._rows(found, held)
            kept = [
                k
                for k, made in enumerate(events)
                if self._is_new(int(found.start[k]), int(found.end[k]), [made, *rows[k]])
            ]
            found, events = self._chosen(found, kept, events)
        return found, self._columns(found, held, events)

    @staticmethod
    def _chosen(found: Found, kept: list[int], events: list[Any]) -> tuple[Found, list[Any]]:
        if len(kept) == len(found):
            return found, events
        return chosen(found, np.array(kept, np.int64)), [events[k] for k in kept]

    def _values(self, found: Found, held: Held) -> list[Values]:
        """All aggregates of every result."""
        labels = self._marks.labels
        columns = {}
        made = []
        for one in self._folding.assigns:
            if one.source not in columns:
                columns[one.source] = self._column(one.source, found, held)
            holding = np.array([one.variable in label for label in labels])[found.label]
            made.append(totals(one.aggregate, columns[one.source], holding, found.offset))
        return list(zip(*made, strict=True))

    def _events(self, every: list[Values]) -> list[dict[str, dict[str, Any]] | None]:
        """What AGG makes of the values; None if a filter does not hold. Values often come again."""
        if len(self._made) > REMEMBERED:
            self._made.clear()
        made = self._made
        for values in set(every) - made.keys():
            made[values] = self._folding.made(values)
        return [made[values] for values in every]

    def _columns(self, found: Found, held: Held, events: list[Any]) -> list[pa.Array]:
        ends = held.rows(found.end).tolist()
        plain = [one for one in self._plan.columns if one.variable not in self._folding.makes]
        lists = dict(
            zip(
                (one.variable for one in plain),
                row_lists(found, self._marks.labels, plain, held),
                strict=True,
            )
        )
        for one in self._plan.columns:
            if one.variable in self._folding.makes:
                bags = [
                    [{ROW: end, **made[one.variable]}]
                    for end, made in zip(ends, events, strict=True)
                ]
                (lists[one.variable],) = as_arrow({one.variable: bags}, [one])
        return [lists[one.variable] for one in self._plan.columns]

    def _rows(self, found: Found, held: Held) -> list[list[Any]]:
        """Of every result: the rows of the variables that are left."""
        plain = [one for one in self._plan.columns if one.variable not in self._folding.makes]
        lists = row_lists(found, self._marks.labels, plain, held)
        return [list(bags) for bags in zip(*(one.to_pylist() for one in lists), strict=True)] or [
            [] for _ in range(len(found))
        ]

    def _is_new(self, start: int, end: int, bags: list[Any]) -> bool:
        """Results of one end come together, so only those have to be remembered."""
        if end != self._end:
            self._seen.clear()
            self._end = end
        made, *rows = bags
        shown = (made[name] for name in self._folding.makes if name in self._folding.kept)
        key = (start, tuple(_hashable(one) for one in shown), tuple(map(tuple, rows)))
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _column(self, name: str, found: Found, held: Held) -> pa.Array:
        """The values of an attribute at the marks."""
        if len(found.event) == 0:
            return pa.nulls(0, pa.int64())
        if name == TYPE and self._type is not None:
            return pa.repeat(pa.scalar(self._type), len(found.event))
        number = self._plan.attributes.index(name)
        (column,) = held.take(found.event, [f"x{number}"])
        if pa.types.is_floating(column.type):
            refuse_infinite(name, np.unique(column.to_numpy(zero_copy_only=False)).tolist())
        return readable(name, column)


REMEMBERED = 1 << 14
"""Different values of aggregates; then all are forgotten."""


def _hashable(event: dict[str, Any]) -> object:
    return tuple(event.items())
