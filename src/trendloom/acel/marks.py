"""What kernels search: automata that mark events, and may compare neighbours in bags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.acel.events import refuse_infinite
from trendloom.acel.marking import Marking
from trendloom.acel.ordered import Ordering, compared
from trendloom.acel.sheet import row_lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.acel.marking import Label
    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.sheet import Held
    from trendloom.acel.store import Found
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]


class Marks:
    """Events in, histories of marks out."""

    def __init__(self, plan: MatchPlan) -> None:
        self._plan = plan
        self._search: Marking | Ordering
        if plan.ordered is None:
            self._search = Marking(plan.automaton, plan.letters)
        else:
            self._search = Ordering(plan.automaton, plan.letters, plan.ordered)

    @property
    def labels(self) -> list[Label]:
        return self._search.labels

    def push(
        self, chunk: Chunk, key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found]:
        if isinstance(self._search, Marking):
            yield from self._search.push(chunk.mask, key, bound, begins, base)
            return
        value = np.empty((len(self._plan.ordered or ()), len(chunk)), np.int64)
        known = np.empty(value.shape, np.bool_)
        for k, name in enumerate(self._plan.ordered or ()):
            column = chunk.operand(self._plan.attributes.index(name))
            if pa.types.is_floating(column.type):
                refuse_infinite(name, pc.filter(column, pc.is_inf(column)).to_pylist()[:1])
            value[k], known[k] = compared(column)
        yield from self._search.push(chunk.mask, value, known, key, bound, begins, base)

    def lists(self, found: Found, held: Held) -> tuple[Found, list[pa.Array]]:
        return found, row_lists(found, self.labels, self._plan.columns, held)
