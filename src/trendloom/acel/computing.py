"""The search of an automaton whose runs hold numbers (`computed`), and its results as columns.

Where a number would lose digits, the runs go on in Python from where they are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from trendloom.acel.classes import Classes
from trendloom.acel.columns import ROW
from trendloom.acel.events import TYPE, Event, refuse_infinite
from trendloom.acel.register_search import Registers
from trendloom.acel.sheet import row_lists
from trendloom.acel.store import MOST_FOUND, Found, Store
from trendloom.engine.arrow import from_numpy, read_only, to_numpy
from trendloom.errors import NumberError
from trendloom.kernels import computing, histories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.acel.columns import Column
    from trendloom.acel.computed import Computed
    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.programs import Sort
    from trendloom.acel.runs import Output, Run
    from trendloom.acel.sheet import Held
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

FEW = 64
"""Runs for which there is room at first."""
LARGE = 2**62
"""Whole numbers from there on are not looked at by the kernel."""


class Priced(NamedTuple):
    """Complex events, and the numbers that each puts out at its end."""

    found: Found
    prices: Floats


class Computing:
    """One evaluation: push the events of a scan, take what ends among them."""

    def __init__(self, plan: MatchPlan, computed: Computed, event_type: str | None) -> None:
        self._plan, self._computed, self._type = plan, computed, event_type
        self._classes = Classes()
        self._first = np.zeros((len(plan.automaton.states), 0, 2), np.int64)
        self._steps: list[tuple[int, ...]] = []
        self._store = Store(where=np.zeros(computing.COUNTERS, np.int64))
        self._store.where[computing.GROUPS] = 1
        self._groups = np.zeros((0, 3), np.int64)
        self._states = np.zeros(0, np.int64)
        self._slots = np.zeros((0, 2 * computed.width), np.float64)
        self._make_tables(FEW)
        self._groups[0] = histories.NONE, 0, 1
        self._prices = np.empty((MOST_FOUND, 2 * len(computed.shown)), np.float64)
        self._constants = np.array(computed.programs.constants)
        self._python: Registers | None = None

    def _make_tables(self, room: int) -> None:
        """Room for so many runs and groups, with those that there are."""
        size = len(self._groups)
        groups, states = np.zeros((room, 3), np.int64), np.zeros(room, np.int64)
        slots = np.zeros((room, self._slots.shape[1]), np.float64)
        groups[:size], states[:size], slots[:size] = self._groups, self._states, self._slots
        self._groups, self._states, self._slots = groups, states, slots
        self._table = np.empty(4 * room, np.int64)
        self._ends = np.empty((room, 2), np.int64)
        self._paid = np.empty((room, 2 * len(self._computed.shown)), np.float64)

    def push(
        self, chunk: Chunk, key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found | Priced]:
        if self._python is not None:
            yield from self._python.push(chunk, key, bound, begins, base)
            return
        store, computed = self._store, self._computed
        key, bound, begins = read_only(key), read_only(bound), read_only(begins)
        classes = read_only(self._classes.of(chunk.mask))
        values = self._values(chunk)
        self._learn()
        steps = np.array(self._steps or [(0,) * 6], np.int64)
        store.where[histories.NEXT] = 0
        while True:
            reason = computing.advance(
                self._first, steps, computed.guards, computed.assigns, len(computed.labels),
                computed.program, self._constants, classes, values, key, bound, begins, base,
                store.nodes, store.where, self._groups, self._states, self._slots, self._table,
                self._ends, self._paid, store.stack, store.path, store.found, store.offset,
                store.marks, self._prices,
            )  # fmt: skip
            match reason:
                case histories.GROW:
                    self._make_room(int(bound[int(store.where[histories.NEXT])]))
                case computing.FULL_TABLE:
                    self._make_tables(4 * len(self._groups))
                case histories.STACK:
                    store.deepen()
                case computing.INEXACT:
                    if (some := self._take()) is not None:
                        yield some
                    at = int(store.where[histories.NEXT])
                    self._python = self._exactly()
                    rest = chunk.slice(at, len(chunk))
                    yield from self._python.push(rest, key[at:], bound[at:], begins[at:], base + at)
                    return
                case _:
                    if (some := self._take()) is not None:
                        yield some
                    if reason == histories.DONE:
                        return

    def _take(self) -> Priced | None:
        count = int(self._store.where[histories.FOUND])
        found = self._store.take()
        return None if found is None else Priced(found, self._prices[:count].copy())

    def _learn(self) -> None:
        """The steps of all states at classes that are new."""
        old = self._first.shape[1]
        if old == len(self._classes):
            return
        numbers = max(self._plan.automaton.states) + 1
        first = np.zeros((numbers, len(self._classes), 2), np.int64)
        first[: len(self._first), :old] = self._first
        for kind in range(old, len(self._classes)):
            mask = self._classes.masks[kind]
            for state, leaving in self._computed.leaving.items():
                low = len(self._steps)
                self._steps += [row for step, row in leaving if step.fits(mask)]
                first[state, kind] = low, len(self._steps)
        self._first = first

    def _make_room(self, bound: int) -> None:
        store = self._store
        count = int(store.where[computing.GROUPS])
        roots = self._groups[:count, computing.HEAP].copy()
        last = self._groups[count - 1]
        runs = int(last[computing.FIRST] + last[computing.SIZE])
        most = max((len(leaving) for leaving in self._computed.leaving.values()), default=1)
        store.make_room(roots, bound, (2 * runs * most + 4) * (histories.SPINE + 1))
        kept = np.flatnonzero((roots != histories.NONE) | (np.arange(count) == 0))
        self._groups[:count, computing.HEAP] = roots
        self._groups[: len(kept)] = self._groups[kept]
        store.where[computing.GROUPS] = len(kept)

    def _values(self, chunk: Chunk) -> Floats:
        """Exact numbers: not a number for null, infinite for what is too large to be looked at."""
        names = self._computed.programs.attributes
        values = np.zeros((len(chunk), 2 * len(names)), np.float64)
        for k, name in enumerate(names):
            if name == TYPE and self._type is not None:
                continue
            column = chunk.operand(self._plan.attributes.index(name))
            missing = to_numpy(column.is_null(nan_is_null=True))
            if pa.types.is_floating(column.type):
                plain = to_numpy(column.fill_null(0.0)).astype(np.float64) + 0.0
                refuse_infinite(name, plain[np.isinf(plain)][:1].tolist())
                values[:, 2 * k] = plain
            elif pa.types.is_integer(column.type):
                whole = to_numpy(column.fill_null(0)).astype(np.int64)
                near = whole.astype(np.float64)
                small = np.abs(near) < LARGE
                values[:, 2 * k] = np.where(small, near, np.inf)
                values[small, 2 * k + 1] = whole[small] - near[small].astype(np.int64)
            values[missing, 2 * k], values[missing, 2 * k + 1] = np.nan, 0.0
        return values

    # ── in Python from here on ───────────────────────────────────────────────────────────────

    def _exactly(self) -> Registers:
        """The search in Python, with the runs as they are."""
        sets: dict[frozenset[Run], int] = {}
        store, sorts = self._store, self._computed.programs.sorts
        for heap, first, size in self._groups[1 : int(store.where[computing.GROUPS])].tolist():
            runs = []
            for at in range(first, first + size):
                state = int(self._states[at])
                numbers = self._slots[at].reshape(-1, 2).tolist()
                runs.append(
                    (
                        state,
                        tuple(
                            (name, _element(sorts[name], numbers[low : low + sorts[name].width]))
                            for name, low in self._computed.registers[state]
                        ),
                    )
                )
            known = frozenset(runs)
            if known in sets:
                if store.where[histories.NODES] + histories.SPINE > len(store.nodes):
                    store.lengthen(histories.SPINE)
                heap = int(
                    histories.unite_shared(store.nodes, store.where, sets[known], heap, store.spine)
                )
            sets[known] = heap
        search = Registers(self._plan, self._type)
        search.go_on(sets, store, list(map(_marked, self._computed.labels)))
        return search

    # ── results ──────────────────────────────────────────────────────────────────────────────

    def lists(self, some: Found | Priced, held: Held) -> tuple[Found, list[pa.Array]]:
        if isinstance(some, Found):
            assert self._python is not None
            return self._python.lists(some, held)
        found, prices = some
        labels = self._computed.labels
        plain = [one for one in self._plan.columns if one.has_rows_only]
        listed = dict(
            zip(
                (one.variable for one in plain),
                row_lists(found, labels, plain, held),
                strict=True,
            )
        )
        last = found.label[found.offset[1:] - 1] if len(found.label) else found.offset[1:] * 0
        for column in self._plan.columns:
            if column.variable not in listed:
                holds = np.array([column.variable in label for label in labels])[last]
                listed[column.variable] = self._events(column, found, prices, holds, held)
        return found, [listed[one.variable] for one in self._plan.columns]

    def _events(
        self, column: Column, found: Found, prices: Floats, holds: NDArray[np.bool_], held: Held
    ) -> pa.Array:
        """One event for every result whose last event puts one into the variable."""
        offset = np.concatenate([[0], np.cumsum(holds)]).astype(np.int32)
        ends = found.end[holds]
        fields, arrays = list(column.type.value_type), []
        for one in fields:
            shown = (column.variable, one.name)
            if one.name == ROW:
                arrays.append(from_numpy(held.rows(ends)))
            elif shown in self._computed.read:
                arrays.append(self._taken(self._computed.read[shown], ends, held).cast(one.type))
            else:
                at = 2 * self._computed.shown.index(shown)
                arrays.append(_column(one.type, prices[holds, at], prices[holds, at + 1]))
        return pa.ListArray.from_arrays(offset, pa.StructArray.from_arrays(arrays, fields=fields))

    def _taken(self, name: str, events: Ints, held: Held) -> pa.Array:
        if len(events) == 0:
            return pa.nulls(0)
        if name == TYPE and self._type is not None:
            return pa.repeat(pa.scalar(self._type), len(events))
        return held.take(events, [f"x{self._plan.attributes.index(name)}"])[0]


def _column(kind: pa.DataType, value: Floats, rest: Floats) -> pa.Array:
    missing = np.isnan(value)
    if pa.types.is_floating(kind):
        return pa.array(value, kind, mask=missing)
    known = np.where(missing, 0.0, value)
    if (np.abs(known) >= LARGE).any():
        exactly = [
            None if m else int(v) + int(r) for v, r, m in zip(value, rest, missing, strict=True)
        ]
        try:
            return pa.array(exactly, kind)
        except (OverflowError, pa.ArrowInvalid) as error:
            raise NumberError(
                f"A value of a result does not fit its column: {error}.",
                remedy="Whole numbers in results have 64 bits; scale the attribute down.",
            ) from None
    whole = known.astype(np.int64) + np.where(missing, 0.0, rest).astype(np.int64)
    return pa.array(whole, pa.int64(), mask=missing).cast(kind)


def _marked(label: frozenset[str]) -> Output:
    """Rows are shown by their marks alone, so any event will do."""
    return tuple((variable, (Event(0),)) for variable in sorted(label))


def _element(sort: Sort, numbers: list[list[float]]) -> Any:
    """What Python holds in such a register."""
    exactly = [
        None if value != value else int(value) + int(rest) if sort.whole
        else Fraction(value) + Fraction(rest)
        for value, rest in numbers
    ]  # fmt: skip
    if sort.of in ("", "MIN", "MAX"):
        return _shown(exactly[0])
    if sort.of == "AVG":
        return exactly[0], int(numbers[1][0])
    if sort.of == "RANGE":
        return tuple(exactly)
    if sort.of == "gathered":
        return (_shown(exactly[1]),) if numbers[0][0] else ()
    return exactly[0]


def _shown(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value
