"""A chunk of events as maps: one for each partition and pane, instead of the events.

What events do to the vector of the fast path is linear, and `kernels.maps` says how maps are
applied, `kernels.lattice_maps` how those of extremes are. A task can thus reduce its own events,
and only maps travel; `Product` multiplies them in the order of time. A pane is a stretch of time
that every window holds either all or nothing of: [k·g, (k+1)·g) with g = gcd(WITHIN, SLIDE).
Without windows there is one pane, number 0.

A table of maps has one row per partition and pane with events:

`p0`, `p1`, …               the partition attributes
`pane`                      the pane's number
`first`, `last`, `events`   times of the first and the last event, in ticks, and how many there are
`middle<k>`, `scale<k>`     the `Centre` that sums of operand k are relative to, if any are centred
`d<i>`, `i<i>`, `x<i>`      the map of part i in doubles with exponents, in integers and in keys
                            of extremes, as `Packing` has them

Each row says all that is needed to read it, so tables may be cut, mixed and joined at will.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy
from trendloom.engine.chunk import Chunk, make_chunk
from trendloom.engine.columns import as_doubles
from trendloom.engine.inputs import (
    Centre,
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.engine.packed import Packing
from trendloom.engine.windows import Runs
from trendloom.kernels.bases import double_maps, integer_maps
from trendloom.kernels.lattice_maps import extreme_maps
from trendloom.language.nodes import Semantics
from trendloom.plan.distribution import MAX_PANES
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.setting import Setting
    from trendloom.engine.windows import Windows
    from trendloom.kernels.table import Table

    Ints = NDArray[np.int64]

AT_ONCE = 1 << 22
"""So many numbers of maps are made or multiplied at a time, whatever the number of partitions."""
FINEST = 2.0**900
LARGEST_EXPONENT = (1 << 31) - 1


@dataclass(frozen=True)
class Shape:
    """The size of one part's maps in one number domain."""

    states: int
    cells: int
    """The states and, where finished trends are added up as they end, FINISHED."""
    lanes: int
    paired: bool = False
    """Whether a vector is two numbers at most, which `kernels/pair.py` keeps in registers."""

    @classmethod
    def of(cls, evaluator: Evaluator, lanes: int, *, doubles: bool = False) -> Shape:
        """Besides lane 0."""
        states = evaluator.cells
        finishing = evaluator.semantics is not Semantics.ANY
        paired = doubles and lanes == 0 and not finishing and states <= 2
        paired = paired and not any(evaluator.fast.clears)
        return cls(states, max(1, states + finishing), 1 + lanes, paired)

    @property
    def bases(self) -> int:
        return 1 + self.states

    @property
    def width(self) -> int:
        """Numbers per basis."""
        return self.cells * self.lanes

    @property
    def size(self) -> int:
        return self.bases * self.width

    @cached_property
    def doubles(self) -> Packing:
        """Mantissas, and exponents if any is not 0."""
        return Packing(np.dtype("<f8"), self.size, np.dtype("<i4"), self.size)

    @cached_property
    def integers(self) -> Packing:
        """Integers, and per basis whether they overflowed."""
        return Packing(np.dtype("<i8"), self.size, np.dtype("?"), self.bases)

    @cached_property
    def keys(self) -> Packing:
        return Packing(np.dtype("<i8"), self.size, np.dtype("?"), 0)


def mappable(setting: Setting) -> bool:
    """Whether the plan's events can travel as maps."""
    windows = setting.windows
    match windows.strategy:
        case WindowStrategy.WHOLE:
            few = True
        case WindowStrategy.SLIDING:
            few = windows.within // pane_length(windows) <= MAX_PANES
        case _:
            return False
    return few and all(evaluator.folds for evaluator in setting.evaluators())


def pane_length(windows: Windows) -> int:
    """In ticks; 0 if there is one pane only."""
    return gcd(windows.within, windows.slide)


def shapes_of(evaluator: Evaluator) -> tuple[Shape | None, Shape | None, Shape | None]:
    """Of its doubles, its integers and its extremes; None where no lane needs the domain."""
    layout = evaluator.layout
    scaled, checked, extremes = layout.scaled, layout.checked, layout.extremes
    return (
        None if scaled is None else Shape.of(evaluator, len(scaled), doubles=True),
        None if checked is None else Shape.of(evaluator, len(checked)),
        Shape.of(evaluator, len(extremes)) if extremes else None,
    )


def map_size(setting: Setting) -> int:
    """How many numbers the maps of one partition and pane are."""
    shapes = [shape for evaluator in setting.evaluators() for shape in shapes_of(evaluator)]
    return sum(shape.size for shape in shapes if shape is not None)


def centred_operands(evaluators: Sequence[Evaluator]) -> list[int]:
    """The operands of variances."""
    lanes = [lane for e in evaluators for lane in e.layout.scaled or ()]
    return sorted({lane.operand for lane in lanes if lane.centred and lane.operand is not None})


def map_schema(setting: Setting) -> pa.Schema:
    """The columns of a table of maps."""
    evaluators = setting.evaluators()
    fields = [(f"p{k}", _plain_type(kind)) for k, kind in enumerate(setting.partition_types)]
    fields += [(name, pa.int64()) for name in ("pane", "first", "last", "events")]
    for operand in centred_operands(evaluators):
        fields += [(f"middle{operand}", pa.float64()), (f"scale{operand}", pa.float64())]
    for number, evaluator in enumerate(evaluators):
        for letter, shape in zip("dix", shapes_of(evaluator), strict=True):
            if shape is not None:
                fields.append((f"{letter}{number}", pa.binary()))
    return pa.schema(fields)


def make_maps(setting: Setting, batch: pa.RecordBatch) -> pa.Table:
    """The maps of one task's events, sorted by partition, time and tie.

    All events of a time point of one partition must be here, or `Product` finds it tangled.
    """
    schema = map_schema(setting)
    if batch.num_rows == 0:
        return schema.empty_table()
    chunk = make_chunk(batch, len(setting.plan.scan.partition))
    panes = _panes(setting.windows, chunk)
    evaluators = setting.evaluators()
    keys = chunk.key_rows(panes.lo, chunk.keys)
    columns: list[pa.Array | pa.ChunkedArray] = [as_plain(column) for column in keys.columns]
    columns += [
        from_numpy(panes.window),
        from_numpy(chunk.time[panes.lo]),
        from_numpy(chunk.time[panes.hi - 1]),
        from_numpy(panes.hi - panes.lo),
    ]
    centres: dict[int, Centre] = {}
    for operand in centred_operands(evaluators):
        centre = _centre(as_doubles(chunk.operand(operand), np.nan))
        # Without finite values nothing is near anything: the table says so by a NaN.
        told = Centre(np.nan) if centre is None else centre
        columns += [from_numpy(np.full(len(panes), value)) for value in (told.middle, told.scale)]
        centres[operand] = centre or Centre()
    for evaluator in evaluators:
        evaluator.centres.update(centres)
        columns += _part_columns(evaluator, chunk, panes)
    return pa.Table.from_arrays(columns, schema=schema)


def _panes(windows: Windows, chunk: Chunk) -> Runs:
    """The chunk's partitions and panes, as runs."""
    starts = np.zeros(len(chunk), np.bool_)
    starts[chunk.bounds[:-1]] = True
    pane = np.zeros(len(chunk), np.int64)
    if windows.strategy is WindowStrategy.SLIDING:
        windows.check_range(chunk.time)
        pane = chunk.time // pane_length(windows)
        starts[1:] |= pane[1:] != pane[:-1]
    lo = np.flatnonzero(starts).astype(np.int64)
    partition = np.searchsorted(chunk.bounds, lo, side="right") - 1
    return Runs(lo, np.append(lo[1:], len(chunk)), partition, pane[lo])


def _centre(values: NDArray[np.float64]) -> Centre | None:
    """What the chunk's own values are near to."""
    centre = Centre.near(values)
    if centre is not None and not np.any(centre.of(values[np.isfinite(values)])):
        # Nothing deviates, so every scale is right: leave the choice to other chunks.
        return replace(centre, scale=FINEST)
    return centre


def _part_columns(evaluator: Evaluator, chunk: Chunk, panes: Runs) -> list[pa.ChunkedArray]:
    events = _Events.of(evaluator, chunk)
    in_doubles, in_integers, in_keys = shapes_of(evaluator)
    columns: list[pa.ChunkedArray] = []
    if in_doubles is not None:
        x = double_rows(chunk, evaluator.layout.scaled or (), evaluator.centres)
        var = feeding_variables(evaluator.part.automaton.variables, evaluator.layout.scaled or ())
        columns.append(
            pa.chunked_array(
                [
                    _double_maps(events, in_doubles, lo, hi, var, x)
                    for lo, hi in _blocks(panes, in_doubles)
                ]
            )
        )
    if in_integers is not None:
        whole = integer_rows(chunk, evaluator.layout.checked or ())
        var = feeding_variables(evaluator.part.automaton.variables, evaluator.layout.checked or ())
        columns.append(
            pa.chunked_array(
                [
                    _integer_maps(events, in_integers, lo, hi, var, whole)
                    for lo, hi in _blocks(panes, in_integers)
                ]
            )
        )
    if in_keys is not None:
        extremes = evaluator.layout.extremes
        keys = key_rows(chunk, extremes)
        var = feeding_variables(evaluator.part.automaton.variables, extremes)
        columns.append(
            pa.chunked_array(
                [
                    _extreme_maps(events, in_keys, lo, hi, var, length_steps(extremes), keys)
                    for lo, hi in _blocks(panes, in_keys)
                ]
            )
        )
    return columns


def _blocks(panes: Runs, shape: Shape) -> Iterator[tuple[Ints, Ints]]:
    rows = max(1, AT_ONCE // shape.size)
    for at in range(0, len(panes), rows):
        yield panes.lo[at : at + rows], panes.hi[at : at + rows]


@dataclass(frozen=True)
class _Events:
    """What the kernels read of the chunk, for one part."""

    order: Ints
    codes: NDArray[Any]
    table: Table
    silent: Table
    """The same, but no trends begin."""

    @classmethod
    def of(cls, evaluator: Evaluator, chunk: Chunk) -> _Events:
        table, codes = evaluator.table(chunk)
        silent = table._replace(begins=np.zeros_like(table.begins))
        return cls(chunk.order, codes, table, silent)


def _double_maps(
    events: _Events, shape: Shape, lo: Ints, hi: Ints, var: Ints, x: NDArray[np.float64]
) -> pa.Array:
    m = np.zeros((len(lo), shape.bases, shape.width))
    e = np.zeros(m.shape, np.int64)
    double_maps(events.table, events.silent, events.order, events.codes, lo, hi, var, x, m, e)
    exponents = np.minimum(e, LARGEST_EXPONENT).reshape(len(lo), shape.size)
    return shape.doubles.pack(m.reshape(len(lo), shape.size), exponents)


def _integer_maps(
    events: _Events, shape: Shape, lo: Ints, hi: Ints, var: Ints, x: Ints
) -> pa.Array:
    v = np.zeros((len(lo), shape.bases, shape.width), np.int64)
    lost = np.zeros((len(lo), shape.bases), np.bool_)
    integer_maps(events.table, events.order, events.codes, lo, hi, var, x, v, lost)
    return shape.integers.pack(v.reshape(len(lo), shape.size), lost)


def _extreme_maps(
    events: _Events, shape: Shape, lo: Ints, hi: Ints, var: Ints, step: Ints, keys: Ints
) -> pa.Array:
    k = np.empty((len(lo), shape.bases, shape.width), np.int64)
    extreme_maps(events.table, events.order, events.codes, lo, hi, var, step, keys, k)
    return shape.keys.pack(k.reshape(len(lo), shape.size), np.zeros((len(lo), 0), np.bool_))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def as_plain(column: pa.Array) -> pa.Array:
    """Not by a dictionary, which would be another task's other one."""
    is_encoded = isinstance(column, pa.DictionaryArray)
    return column.dictionary_decode() if is_encoded else column
