"""The search of an automaton whose runs remember the last values of bags (`slots`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.acel.classes import Classes
from trendloom.acel.marking import labels_of
from trendloom.acel.slots import Slots
from trendloom.acel.store import Store
from trendloom.engine.arrow import read_only, to_numpy
from trendloom.engine.sort import integers
from trendloom.kernels import histories, ordering

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.acel.acea import Acea
    from trendloom.acel.demands import Letter
    from trendloom.acel.store import Found

    Ints = NDArray[np.int64]

FEW = 64
"""Runs for which there is room at first."""


def compared(column: pa.Array) -> tuple[Ints, NDArray[np.bool_]]:
    """Numbers that order as the values do, and which of them are there."""
    known = ~to_numpy(column.is_null(nan_is_null=True))
    return integers(column), known


class Ordering:
    """One evaluation: push the events of a scan, take what ends among them."""

    def __init__(self, automaton: Acea, letters: tuple[Letter, ...], attributes: tuple[str, ...]):
        self.labels = labels_of(automaton)
        self._slots = Slots(automaton, letters, attributes)
        self._slots.explore()
        self._classes = Classes()
        self._tests = np.full((2, 1, 3), -1, np.int64)
        self._test: list[tuple[int, int, int]] = []
        self._outcomes: list[tuple[int, int]] = []
        self._moves: list[tuple[int, int, int, int, int]] = []
        self._copies: list[int] = []
        self._store = Store(where=np.zeros(ordering.RUNS + 1, np.int64))
        self._store.where[ordering.RUNS] = 1
        self._runs = np.zeros((FEW, 2 + 2 * self._slots.width), np.int64)
        self._runs[0, 1] = histories.NONE

    def push(
        self,
        mask: NDArray[Any],
        value: Ints,
        known: NDArray[np.bool_],
        key: Ints,
        bound: Ints,
        begins: NDArray[np.bool_],
        base: int,
    ) -> Iterator[Found]:
        """As `Marking.push`; `value[attribute, event]`, if it is known."""
        store = self._store
        key, bound, begins = read_only(key), read_only(bound), read_only(begins)
        value, known = read_only(value), read_only(known)
        classes = read_only(self._classes.of(mask))
        self._widen()
        store.where[histories.NEXT] = 0
        tables = self._flat()
        while True:
            room = len(self._runs)
            reason = ordering.advance(
                self._tests, *tables, classes, value, known, key, bound, begins, base,
                store.nodes, store.where, self._runs, np.empty(room, np.int64),
                np.empty(2 * room, np.int64), store.stack, store.path, store.found, store.offset,
                store.marks,
            )  # fmt: skip
            match reason:
                case histories.UNKNOWN:
                    self._learn(*store.where[ordering.WANTED : ordering.WANTED + 3].tolist())
                    tables = self._flat()
                case histories.GROW:
                    self._make_room(int(bound[int(store.where[histories.NEXT])]))
                case ordering.FULL_TABLE:
                    more = np.zeros((4 * room, self._runs.shape[1]), np.int64)
                    more[:room] = self._runs
                    self._runs = more
                case histories.STACK:
                    store.deepen()
                case _:
                    found = store.take()
                    if found is not None:
                        yield found
                    if reason == histories.DONE:
                        return

    def _make_room(self, bound: int) -> None:
        store = self._store
        count = int(store.where[ordering.RUNS])
        roots = self._runs[:count, 1].copy()
        most = max((high - low for low, high in self._outcomes), default=1)
        store.make_room(roots, bound, (count + 1) * most * (histories.SPINE + 1))
        kept = np.flatnonzero((roots != histories.NONE) | (np.arange(count) == 0))
        self._runs[: len(kept)] = self._runs[kept]
        self._runs[: len(kept), 1] = roots[kept]
        store.where[ordering.RUNS] = len(kept)

    def _widen(self) -> None:
        old, shape = self._tests, (len(self._slots.states), len(self._classes), 3)
        if old.shape[0] < shape[0] or old.shape[1] < shape[1]:
            self._tests = np.full(shape, -1, np.int64)
            self._tests[: old.shape[0], : old.shape[1]] = old

    def _flat(self) -> tuple[Ints, Ints, Ints, Ints]:
        return (
            np.array(self._test, np.int64).reshape(-1, 3),
            np.array(self._outcomes, np.int64).reshape(-1, 2),
            np.array(self._moves, np.int64).reshape(-1, 5),
            np.array(self._copies, np.int64),
        )

    def _learn(self, state: int, kind: int, outcome: int) -> None:
        """A state at a class, or the moves for one outcome of its tests."""
        mask = self._classes.masks[kind]
        tests = self._slots.tests(state, mask)
        if self._tests[state, kind, 2] < 0:
            low, first = len(self._test), len(self._outcomes)
            self._test += tests
            self._outcomes += [(-1, -1)] * (1 << len(tests))
            self._tests[state, kind] = low, len(self._test), first
            return
        holding = frozenset(test for bit, test in enumerate(tests) if outcome >> bit & 1)
        low = len(self._moves)
        for move in self._slots.moves(state, mask, holding):
            label = self.labels.index(move.label)
            sources = tuple(one if one >= 0 else one + 1 for one in move.sources)
            same = move.target == state and label == 0 and sources == tuple(range(len(sources)))
            self._moves.append((label, move.target, len(self._copies), int(same), len(sources)))
            self._copies += sources
        first = int(self._tests[state, kind, 2])
        self._outcomes[first + outcome] = low, len(self._moves)
