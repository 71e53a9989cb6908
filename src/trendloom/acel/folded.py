"""The search of a formula whose aggregates are taken of results (`folding`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.acel.columns import ROW
from trendloom.acel.events import TYPE, refuse_infinite
from trendloom.acel.marking import Marking
from trendloom.acel.sheet import as_arrow
from trendloom.acel.store import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.acel.folding import Folding
    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.sheet import Held
    from trendloom.acel.store import Found
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]


class Folded:
    """Marks in the kernel, aggregates in Python, once for each result of the inner formula."""

    def __init__(self, plan: MatchPlan, folding: Folding, event_type: str | None) -> None:
        self._plan, self._folding, self._type = plan, folding, event_type
        self._marking = Marking(plan.automaton, plan.letters)
        self._seen: set[object] = set()
        self._end = -1

    def push(
        self, chunk: Chunk, key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found]:
        return self._marking.push(chunk.mask, key, bound, begins, base)

    def lists(self, found: Found, held: Held) -> tuple[Found, list[pa.Array]]:
        rows = held.rows(found.event).tolist()
        ends = held.rows(found.end).tolist()
        labels = [self._marking.labels[label] for label in found.label.tolist()]
        columns = {source: self._column(source[1], found, held) for source in self._folding.sources}
        kept: list[int] = []
        every: dict[str, list[list[Any]]] = {one.variable: [] for one in self._plan.columns}
        for k in range(len(found)):
            marks = range(int(found.offset[k]), int(found.offset[k + 1]))
            values = {
                (variable, name): [column[at] for at in marks if variable in labels[at]]
                for (variable, name), column in columns.items()
            }
            made = self._folding.made(values)
            if made is None:
                continue
            bags: dict[str, list[Any]] = {
                name: [{ROW: ends[k], **made[name]}]
                if name in made
                else [rows[at] for at in marks if name in labels[at]]
                for name in every
            }
            if self._folding.loses and not self._is_new(
                int(found.start[k]), int(found.end[k]), bags
            ):
                continue
            kept.append(k)
            for name, bag in bags.items():
                every[name].append(bag)
        lists = as_arrow(every, self._plan.columns)
        return chosen(found, np.array(kept, np.int64)), lists

    def _is_new(self, start: int, end: int, bags: dict[str, list[Any]]) -> bool:
        """Results of one end come together, so only those have to be remembered."""
        if end != self._end:
            self._seen.clear()
            self._end = end
        key = (start, tuple(tuple(map(_hashable, bag)) for bag in bags.values()))
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _column(self, name: str, found: Found, held: Held) -> list[Any]:
        """The values of an attribute at the marks."""
        if name == TYPE and self._type is not None:
            return [self._type] * len(found.event)
        if len(found.event) == 0:
            return []
        number = self._plan.attributes.index(name)
        values: list[Any] = held.take(found.event, [f"x{number}"])[0].to_pylist()
        refuse_infinite(name, values)
        return values


def _hashable(event: Any) -> object:
    return tuple(event.items()) if isinstance(event, dict) else event
