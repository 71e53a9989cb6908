"""The functions that run in Spark's Python workers: Arrow batches in, Arrow batches out.

A batch plan is two or three of them with an exchange of blobs between:

    events ─ reduce to maps ──────────┐            ┌─ multiply maps ──────────────── rows
    (a DataFrame's batches,           ├─ exchange ─┤
     or row groups read here)         │            ├─ sort, run the engine ───────── rows
    events ─ pack by partition ───────┤            ├─ … its share ─ exchange ─ merge ─ rows
    events ─ pack by part of a group ─┘            └─ reduce ─ exchange ─ multiply ─ rows
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.chunk import make_chunk
from trendloom.engine.maps import make_maps
from trendloom.engine.partial import merge_partials, partial_schema
from trendloom.engine.product import Product
from trendloom.engine.run import Run
from trendloom.engine.sort import sort_events
from trendloom.engine.strewn import StrewnMaps, reduce_events
from trendloom.hosts.spark.blobs import SHARDS, from_blobs, to_blobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from trendloom.hosts.spark.task import Task

    Batches = Iterator[pa.RecordBatch]
    Stage = Callable[[Batches], Batches]
    Read = Callable[[Batches], Iterator[pa.Table]]
    """A task's input → chunks of scan columns, unsorted."""

CHUNK_ROWS = 1 << 22
"""Events that a task holds at once before it reduces or packs them."""
OUT_ROWS = 1 << 16
PART, WIDTH = "part", "width"
"""Columns of events whose group is cut by time."""


def reduce_to_maps(task: Task, read: Read) -> Stage:
    """Each chunk becomes one map per partition and pane; the shard is the group's."""

    def stage(batches: Batches) -> Batches:
        for chunk in read(batches):
            yield from to_blobs("maps", reduce_events(task.setting, chunk), task.group, SHARDS)

    return stage


def reduce_in_order(task: Task, read: Read) -> Stage:
    """All chunks of a task, which follow one another in time, become such maps together."""

    def stage(batches: Batches) -> Batches:
        maps = StrewnMaps(task.setting)
        for chunk in read(batches):
            maps.push(chunk)
        yield from to_blobs("maps", maps.finish(), task.group, SHARDS)

    return stage


def pack_events(read: Read, key: list[str]) -> Stage:
    """Events as they are, by the shard of their key."""

    def stage(batches: Batches) -> Batches:
        for chunk in read(batches):
            yield from to_blobs("events", chunk, key, SHARDS)

    return stage


def pack_parts(read: Read, key: list[str]) -> Stage:
    """Events by the shard of their key and part, where a group is cut every `width` ticks."""

    def stage(batches: Batches) -> Batches:
        for chunk in read(batches):
            time, width = (to_numpy(chunk.column(n).combine_chunks()) for n in ("time", WIDTH))
            # Doubles round, but never two times the wrong way round, and equal times alike.
            part = from_numpy(np.floor(time / width).astype(np.int64))
            parts = chunk.drop_columns([WIDTH]).append_column(PART, part)
            yield from to_blobs("events", parts, [*key, PART], SHARDS)

    return stage


def reduce_parts(task: Task) -> Stage:
    """Packed parts → their maps. Parts of one group that met here may have others between them."""

    def stage(batches: Batches) -> Batches:
        held = [table for table in from_blobs("events", batches) if table.num_rows]
        if not held:
            return
        keys = len(task.partition)
        events = sort_events(pa.concat_tables(held).unify_dictionaries(), keys)
        turn = _turns(events, keys)
        for number in range(int(turn.max()) + 1):
            mine = events.filter(from_numpy(turn == number)).drop_columns([PART])
            yield from to_blobs("maps", make_maps(task.setting, mine), task.group, SHARDS)

    return stage


def _turns(events: pa.RecordBatch, keys: int) -> NDArray[np.int64]:
    """Per event of a sorted batch: which of its partition's parts it is in, from 0."""
    part = to_numpy(events.column(PART))
    changes = np.cumsum(np.diff(part, prepend=part[:1]) != 0)
    bounds = make_chunk(events, keys).bounds
    before: NDArray[np.int64] = np.repeat(changes[bounds[:-1]], np.diff(bounds))
    return changes - before


def multiply(task: Task, *, tangled: Literal["left out", "impossible"] = "left out") -> Stage:
    """Maps → rows of the groups whose chunks follow one another in time."""

    def stage(batches: Batches) -> Batches:
        rows, groups = _product(task, batches).finish()
        assert tangled == "left out" or not groups.num_rows, "parts of a group overlap in time"
        yield from _out(task.dress(rows))

    return stage


def tangled_groups(task: Task, schema: pa.Schema, part_events: int) -> Stage:
    """Maps → the groups whose chunks interleave, and `WIDTH`; `schema` names the columns."""

    def stage(batches: Batches) -> Batches:
        tangled = _product(task, batches).tangled(part_events)
        yield from _out(tangled.rename_columns(schema.names).cast(schema))

    return stage


def _product(task: Task, batches: Batches) -> Product:
    product = Product(task.setting)
    for maps in from_blobs("maps", batches):
        product.add(maps)
    return product


def run_engine(task: Task) -> Stage:
    """Packed events → rows; a task has whole groups."""

    def stage(batches: Batches) -> Batches:
        run = sorted_run(task, from_blobs("events", batches))
        if run is not None:
            yield from _out(task.dress(run.finish()))

    return stage


def run_shares(task: Task) -> Stage:
    """Packed events → the task's share of its groups' results; it has whole partitions."""

    def stage(batches: Batches) -> Batches:
        run = sorted_run(task, from_blobs("events", batches))
        if run is not None:
            groups = [name for name in partial_schema(task.setting).names if name[0] == "g"]
            yield from to_blobs("share", run.partial(), groups, SHARDS)

    return stage


def merge_shares(task: Task) -> Stage:
    """Shares → rows."""

    def stage(batches: Batches) -> Batches:
        shares = list(from_blobs("share", batches))
        if shares:
            yield from _out(task.dress(merge_partials(task.setting, shares)))

    return stage


def sorted_run(task: Task, tables: Iterable[pa.Table]) -> Run | None:
    """A run over all of the events; None without any: most of Spark's tasks may be empty."""
    held = [table for table in tables if table.num_rows]
    if not held:
        return None
    run = Run(task.setting)
    run.push(sort_events(pa.concat_tables(held).unify_dictionaries(), len(task.partition)))
    return run


def _out(table: pa.Table) -> Batches:
    yield from table.combine_chunks().to_batches(max_chunksize=OUT_ROWS)
