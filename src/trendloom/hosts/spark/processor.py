"""What is done with a shard in Spark's state operator: bytes in, the engine's `Live`, bytes out."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import Row
from sqlglot import exp

from trendloom.engine import signing, wire
from trendloom.engine.live.live import Live, Step
from trendloom.errors import LimitError, StateError
from trendloom.hosts.spark.blobs import from_blob
from trendloom.hosts.spark.checkpoint import Identity
from trendloom.hosts.spark.operator import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, ValueState

    from trendloom.engine.live.mode import Mode
    from trendloom.hosts.spark.stream import Feed
    from trendloom.hosts.spark.task import Task

QUERY_ID = "sql.streaming.queryId"
MAX_STATE = 1 << 30
"""Half of what one value in Spark can be."""
GUARD = -1
"""A shard without events, told of in every micro-batch: its state says whose checkpoint it is, and
it counts the rows that no shard gets.

Another number of shards, or queries in another order, would send events to shards that have no
state yet, and no shard alone could tell.
"""


class Shards:
    """One shard after another, each with the bytes that it left."""

    def __init__(self, feeds: tuple[Feed, ...], shards: int, mode: Mode, late: str | None) -> None:
        self.feeds = feeds
        self.shards = shards
        self.mode = mode
        self.late = late

    def open(self, handle: StatefulProcessorHandle, state: ValueState) -> None:
        """Where timers and bytes are, always those of the shard at hand."""
        self._handle = handle
        self._state = state
        self._key = signing.key_of_environment()

    def take(self, shard: int, rows: Iterator[Row], watermark: int) -> Iterator[Row]:
        """A shard's new events."""
        if shard == GUARD:
            self._guard()
            dropped = sum(int.from_bytes(row.blob, "little") for row in rows)
            if dropped:
                yield _counts(dropped=dropped)
            return
        tables = [from_blob("events", row.blob) for row in rows]
        yield self.step(shard, pa.concat_tables(tables).unify_dictionaries(), watermark)

    def step(self, shard: int, events: pa.Table | None, watermark: int) -> Row:
        """Every call to Spark is a message to the JVM and one back: no more than are needed."""
        number = shard // self.shards
        feed = self.feeds[number]
        task = feed.task
        live = self._restored(task, shard)
        due = live.deadline
        step = live.advance(events, watermark_ticks(task, watermark))
        size = self._rest(live)
        self._wake(task, due, live.deadline)
        if self.late is not None and step.late_events:
            write_late(self.late, feed, shard, step.late)
        return _row(number, task, step, size)

    def _guard(self) -> None:
        """Refuses the checkpoint of another stream."""
        mine = Identity.of(self.feeds, self.shards, self.mode)
        data = self._kept(None)
        if data is None:
            self._update(wire.pack("guard", {"queries": list(mine.queries)}, {}))
            return
        before = wire.unpack("guard", data)[0]["queries"]
        mine.check(Identity(self.shards, tuple(before)), _where(None))

    def _kept(self, shard: int | None) -> bytes | None:
        """The bytes that the shard left."""
        kept = self._state.get()
        if kept is None:
            return None
        shards, data = kept
        Identity(self.shards, ()).check(Identity(shards, ()), _where(shard))
        try:
            return signing.opened(bytes(data), self._key)
        except StateError as error:
            raise StateError(
                f"{_where(shard)}: {error.cause}", said=error.said, remedy=error.remedy
            ) from None

    def _update(self, data: bytes) -> None:
        self._state.update((self.shards, bytearray(signing.sealed(data, self._key))))

    def _restored(self, task: Task, shard: int) -> Live:
        data = self._kept(shard)
        if data is None:
            return Live(task.setting, self.mode)
        try:
            return Live.restore(task.setting, self.mode, data)
        except StateError as error:
            cause = f"{_where(shard)}: {error.cause}"
            raise StateError(cause, said=error.said, remedy=error.remedy) from None

    def _rest(self, live: Live) -> int:
        if live.is_empty:
            self._state.clear()
            return 0
        data = live.save()
        if len(data) > MAX_STATE:
            raise LimitError(
                f"The state of one shard is {len(data):,} bytes; {MAX_STATE:,} are the limit.",
                remedy="Start with more shards (shards=…) and a new checkpoint, a shorter WITHIN "
                "or a shorter watermark delay.",
            )
        self._update(data)
        return len(data)

    def _wake(self, task: Task, due: int | None, deadline: int | None) -> None:
        """One timer per shard: when the watermark gets there, there is something to do.

        The deadline of a shard at rest is the timer that it has.
        """
        before, now = (
            None if ticks is None else watermark_milliseconds(task, ticks)
            for ticks in (due, deadline)
        )
        if before == now:
            return
        if before is not None:
            self._handle.deleteTimer(before)
        if now is not None:
            self._handle.registerTimer(now)


def _where(shard: int | None) -> str:
    """The stream by the id in its checkpoint's file `metadata`: workers know no paths."""
    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(QUERY_ID)
    stream = "Stream" if query is None else f"Stream {query}"
    return stream if shard is None else f"{stream}, shard {shard}"


def watermark_ticks(task: Task, milliseconds: int) -> int | None:
    """Spark's watermark in ticks, rounded so that no event before it can still come.

    0 is Spark's word for "none yet".
    """
    if milliseconds <= 0:
        return None
    return -(-milliseconds * 1_000_000 // task.axis.nanoseconds)


def watermark_milliseconds(task: Task, ticks: int) -> int:
    """The first watermark that is at these ticks or later."""
    return max(1, -(-ticks * task.axis.nanoseconds // 1_000_000))


def write_late(directory: str, feed: Feed, shard: int, late: pa.Table) -> None:
    """Late events as a Parquet file, named by its content: a task that is repeated writes it again.

    Columns have the names that the query gives them.
    """
    # Bring in pandas, which no other part of a stream needs.
    import pyarrow.parquet as pq

    from trendloom.hosts.spark.rowgroups import open_path

    scan, axis = feed.task.setting.plan.scan, feed.task.axis
    names = {f"p{k}": name for k, name in enumerate(scan.partition)}
    names |= {f"x{k}": _shown(operand.tree) for k, operand in enumerate(scan.operands)}
    names["time"] = axis.column
    columns: dict[str, Any] = {}
    for name in late.column_names:
        column = late.column(name).combine_chunks()
        shown = names.get(name, name)
        columns.setdefault(shown, axis.to_arrow(column) if name == "time" else column)
    table = pa.table(columns)
    digest = zlib.crc32(wire.pack("late", {}, {"rows": late}))
    filesystem, path = open_path(directory)
    filesystem.create_dir(path, recursive=True)
    pq.write_table(table, f"{path}/late-{shard}-{digest:08x}.parquet", filesystem=filesystem)


def _shown(operand: exp.Expr) -> str:
    """A column as it is called, without quotes; else the expression."""
    return operand.name if isinstance(operand, exp.Column) else operand.sql()


def _row(number: int, task: Task, step: Step, size: int) -> Row:
    rows = task.dress(step.rows)
    blob = wire.pack("rows", {}, {"rows": rows}) if rows.num_rows else None
    return _counts(
        number,
        None if blob is None else bytearray(blob),
        events=step.events,
        late=step.late_events,
        rows=rows.num_rows,
        state_bytes=size,
    )


def _counts(feed: int = 0, blob: bytearray | None = None, **counts: int) -> Row:
    return Row(feed=feed, blob=blob, **{name: counts.get(name, 0) for name in COUNTS})
