"""The search of an automaton with registers that no kernel holds: event by event, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trendloom.acel.events import TYPE, Event, refuse_infinite
from trendloom.acel.reading_columns import readable
from trendloom.acel.runs import Runs
from trendloom.acel.sheet import event_lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.runs import Output, Run
    from trendloom.acel.sheet import Held
    from trendloom.acel.store import Found, Store
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]


class Registers:
    """The search of an automaton whose runs hold values."""

    def __init__(self, plan: MatchPlan, event_type: str | None) -> None:
        self._plan = plan
        self._runs = Runs(plan.automaton, plan.letters)
        self._fixed = {} if event_type is None else {TYPE: event_type}

    def push(
        self, chunk: Chunk, key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found]:
        runs, values = self._runs, self._values(chunk)
        masks, first = chunk.mask.tolist(), begins.tolist()
        keys, bounds = key.tolist(), bound.tolist()
        for k, mask in enumerate(masks):
            if first[k]:
                runs.clear()
            if runs.is_idle(mask):
                continue
            row = {name: column[k] for name, column in values.items()}
            event = Event.of(base + k, {**self._fixed, **row})
            yield from runs.push(event, mask, keys[k], bounds[k])

    def go_on(self, sets: dict[frozenset[Run], int], store: Store, labels: list[Output]) -> None:
        """From runs that another search has followed so far."""
        self._runs.go_on(sets, store, labels)

    def _values(self, chunk: Chunk) -> dict[str, list[Any]]:
        values = {}
        for number, name in enumerate(self._plan.attributes):
            values[name] = column = readable(name, chunk.operand(number)).to_pylist()
            refuse_infinite(name, column)
        return values

    def lists(self, found: Found, held: Held) -> tuple[Found, list[pa.Array]]:
        return found, event_lists(found, self._runs.labels, self._plan.columns, held)
