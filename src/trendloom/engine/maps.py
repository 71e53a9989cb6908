"""A chunk of events as maps: one for each partition and pane, instead of the events.

What events do to the vector of the fast path is linear, and `kernels.maps` says how maps are
applied, `kernels.lattice_maps` how those of extremes are. A task can thus reduce its own events,
and only maps travel; `Product` multiplies them in the order of time. A pane is a stretch of time
that every window holds either all or nothing of: [k·g, (k+1)·g) with g = gcd(WITHIN, SLIDE).
Without windows there is one pane, number 0.

A table of maps has one row per partition and pane with events, or several that follow one another
where exact integers ask for it (`exact_maps`):

`p0`, `p1`, …               the partition attributes
`pane`                      the pane's number
`first`, `last`, `events`   times of the first and the last event, in ticks, and how many there are
`middle<k>`, `scale<k>`     the `Centre` that sums of operand k are relative to, if any are centred
`d<i>`, `i<i>`, `x<i>`      the map of part i in doubles with exponents, in integers and in keys
                            of extremes, as `Packing` has them
`n<i>`                      the same in exact integers

Where conditions between neighbours are told from the rows, `joints` adds the columns of the first
and the last event, and the map is that of the events behind the first.

Each row says all that is needed to read it, so tables may be cut, mixed and joined at will.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy
from trendloom.engine.chunk import Chunk, make_chunk
from trendloom.engine.columns import as_doubles
from trendloom.engine.exact_maps import cut_to_fit
from trendloom.engine.inputs import Centre
from trendloom.engine.joints import end_columns, end_fields
from trendloom.engine.map_shapes import exact_shape, shapes_of
from trendloom.engine.mapping import Mapper
from trendloom.engine.scanned import event_schema, plain
from trendloom.engine.windows import Runs
from trendloom.plan.distribution import MAX_PANES, has_joints
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.map_shapes import Shape
    from trendloom.engine.mapping import Maps
    from trendloom.engine.setting import Setting
    from trendloom.engine.windows import Windows

    Ints = NDArray[np.int64]

AT_ONCE = 1 << 22
"""So many numbers of maps are made or multiplied at a time, whatever the number of partitions."""
FINEST = 2.0**900
LARGEST_EXPONENT = (1 << 31) - 1


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
    return few and all(evaluator.has_maps for evaluator in setting.evaluators())


def pane_length(windows: Windows) -> int:
    """In ticks; 0 if there is one pane only."""
    return gcd(windows.within, windows.slide)


def map_size(setting: Setting) -> int:
    """How many numbers the maps of one partition and pane are."""
    shapes = [
        shape for one in setting.evaluators() for shape in (*shapes_of(one), exact_shape(one))
    ]
    return sum(shape.size for shape in shapes if shape is not None)


def end_schema(setting: Setting) -> pa.Schema:
    """What `joints` keeps of an event."""
    fields = [one for one in event_schema(setting, None) if one.name[0] in "mx"]
    return pa.schema(fields)


def centred_operands(evaluators: Sequence[Evaluator]) -> list[int]:
    """The operands of variances."""
    lanes = [lane for e in evaluators for lane in e.layout.scaled or ()]
    return sorted({lane.operand for lane in lanes if lane.centred and lane.operand is not None})


def map_schema(setting: Setting) -> pa.Schema:
    """The columns of a table of maps."""
    evaluators = setting.evaluators()
    fields = [(f"p{k}", plain(kind)) for k, kind in enumerate(setting.partition_types)]
    fields += [(name, pa.int64()) for name in ("pane", "first", "last", "events")]
    for operand in centred_operands(evaluators):
        fields += [(f"middle{operand}", pa.float64()), (f"scale{operand}", pa.float64())]
    if has_joints(setting.plan):
        fields += [(one.name, one.type) for one in end_fields(end_schema(setting))]
    for number, evaluator in enumerate(evaluators):
        for letter, shape in zip("dix", shapes_of(evaluator), strict=True):
            if shape is not None:
                fields.append((f"{letter}{number}", pa.binary()))
        if evaluator.layout.exact is not None:
            fields.append((f"n{number}", pa.binary()))
    return pa.schema(fields)


def make_maps(setting: Setting, batch: pa.RecordBatch) -> pa.Table:
    """The maps of one task's events, sorted by partition, time and tie.

    All events of a time point of one partition must be here, or `Product` finds it tangled.
    """
    schema = map_schema(setting)
    if batch.num_rows == 0:
        return schema.empty_table()
    chunk = make_chunk(batch, len(setting.plan.scan.partition))
    evaluators = setting.evaluators()
    mappers = [Mapper.of(evaluator, chunk) for evaluator in evaluators]
    panes = _fitting(setting, mappers, _panes(setting.windows, chunk))
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
        centre = _centre(chunk.operand(operand))
        # Without finite values nothing is near anything: the table says so by a NaN.
        told = Centre(np.nan) if centre is None else centre
        columns += [from_numpy(np.full(len(panes), value)) for value in (told.middle, told.scale)]
        centres[operand] = centre or Centre()
    if has_joints(setting.plan):
        columns += end_columns(end_schema(setting), chunk, panes)
        panes = replace(panes, lo=panes.lo + 1)
    for mapper in mappers:
        mapper.evaluator.centres.update(centres)
        columns += _part_columns(mapper, panes)
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


def _fitting(setting: Setting, mappers: Sequence[Mapper], panes: Runs) -> Runs:
    """The same, or pieces of them where exact integers would not fit their words."""
    exact = [mapper for mapper in mappers if mapper.evaluator.layout.exact is not None]
    if not exact:
        return panes
    makes = [(mapper.make_exact, mapper.exact_rows) for mapper in exact]
    apart = int(has_joints(setting.plan))
    most = max(1, AT_ONCE // map_size(setting))
    return cut_to_fit(panes, exact[0].chunk, makes, most, apart)


def _centre(column: pa.Array) -> Centre | None:
    """What the chunk's own values are near to."""
    values = as_doubles(column, np.nan)
    centre = Centre.near(values)
    if centre is not None and not np.any(centre.of(column)[np.isfinite(values)]):
        # Nothing deviates, so every scale is right: leave the choice to other chunks.
        return replace(centre, scale=FINEST)
    return centre


def _part_columns(mapper: Mapper, panes: Runs) -> list[pa.ChunkedArray]:
    shapes = (*shapes_of(mapper.evaluator), exact_shape(mapper.evaluator))
    size = sum(shape.size for shape in shapes if shape is not None)
    rows = max(1, AT_ONCE // size)
    blocks = [
        _packed(shapes, mapper.maps(panes.lo[at : at + rows], panes.hi[at : at + rows]))
        for at in range(0, len(panes), rows)
    ]
    return [pa.chunked_array(parts) for parts in zip(*blocks, strict=True)]


def _packed(shapes: Sequence[Shape | None], maps: Maps) -> list[pa.Array]:
    """As columns, in the order of the schema."""
    in_doubles, in_integers, in_keys, exact = shapes
    columns: list[pa.Array] = []
    if in_doubles is not None and maps.doubles is not None:
        m, e = (_flat(numbers) for numbers in maps.doubles)
        columns.append(in_doubles.doubles.pack(m, np.minimum(e, LARGEST_EXPONENT)))
    if in_integers is not None and maps.integers is not None:
        v, lost = maps.integers
        columns.append(in_integers.integers.pack(_flat(v), lost))
    if in_keys is not None and maps.keys is not None:
        none = np.zeros((len(maps.keys), 0), np.bool_)
        columns.append(in_keys.keys.pack(_flat(maps.keys), none))
    if exact is not None and maps.exact is not None:
        columns.append(exact.exact.pack(*(_flat(numbers) for numbers in maps.exact)))
    return columns


def _flat(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.reshape(len(numbers), -1)


def as_plain(column: pa.Array) -> pa.Array:
    """Not by a dictionary, which would be another task's other one."""
    is_encoded = isinstance(column, pa.DictionaryArray)
    return column.dictionary_decode() if is_encoded else column
