"""`WITHIN n EVENTS SLIDE m EVENTS`: events get their numbers as the watermark passes them.

Before that their order is not final; afterwards nothing can come between them. What is kept of a
partition is how many events the watermark has passed, for as long as the stream runs, and the
events of its open windows. A window is over when its last event has its number. One that never
fills has no row in append mode, unless the stream ends (`LAST`): then all are over.

Windows are of partitions, rows are of groups. So partitions must be groups: of several, none could
tell whether another will still come to its k-th window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.chunk import Chunk, make_chunk, tied_events
from trendloom.engine.groups import Groups
from trendloom.engine.live.mode import Mode
from trendloom.engine.live.sheet import Sheet
from trendloom.engine.live.tables import check_names, columns_of, events_of, key_types, within
from trendloom.engine.live.waiting import LAST, Waiting
from trendloom.engine.scanned import plain
from trendloom.engine.sort import key_codes, sort_events
from trendloom.engine.windows import Runs
from trendloom.engine.wire import damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]


MOST_EVENTS = 1 << 48
"""Of a partition, so that no number of a window overflows."""


@dataclass(frozen=True)
class Spans:
    """Per partition of a chunk: its first row's number, and how many numbers were and are given."""

    first: Ints
    before: Ints
    now: Ints


class Numbered:
    """The shard's counts, and the events that a window may still need."""

    NAME = "numbered events"

    def __init__(self, setting: Setting, evaluators: list[Evaluator], mode: Mode) -> None:
        self.setting = setting
        self.evaluators = evaluators
        self.mode = mode
        self.waiting = Waiting()
        self.keys = tuple(pa.nulls(0, plain(kind)) for kind in setting.partition_types)
        self.passed = np.zeros(0, np.int64)
        """Per partition, whose attributes are in `keys`."""
        self.ties = 0
        """Events that share their time with another one of their partition."""

    @property
    def is_empty(self) -> bool:
        return not len(self.waiting) and not len(self.passed)

    def deadline(self, watermark: int) -> int | None:
        """`watermark`: the one in force."""
        time = self.waiting.time()
        ahead = time[time >= watermark]
        return int(ahead.min()) + 1 if len(ahead) else None

    def move(self, before: int, now: int) -> pa.Table | None:
        """The watermark moves: the rows that come of it, None if nothing does."""
        due = self.deadline(before)
        ready = self.waiting.before(now)
        ends = now == LAST
        if ready is None or not (ends or (due is not None and due <= now)):
            return None
        setting, keys = self.setting, len(self.setting.partition_types)
        chunk = make_chunk(sort_events(ready, keys), keys)
        self.ties += tied_events(chunk, since=before)
        groups = Groups(setting.plan.plain_groups, list(setting.partition_types))
        partitions = groups.number(chunk)
        spans = self._number(chunk, before)
        runs = self._runs(chunk, spans, ends=ends)
        sheet = Sheet(setting, self.evaluators)
        if self.mode is Mode.APPEND:
            sheet.add_runs(chunk, runs, partitions)
            rows, shown = sheet.rows(), None
        else:
            rows_before = chunk.bounds[:-1] + spans.before - spans.first
            old = np.clip(rows_before[runs.partition], runs.lo, runs.hi)
            rows, shown = sheet.changed(chunk, runs, old, partitions)
        self._forget(chunk, spans, now)
        return sheet.table(rows, groups, shown)

    def _number(self, chunk: Chunk, before: int) -> Spans:
        """Counts the events that the watermark passes now."""
        kept = np.add.reduceat(chunk.time < before, chunk.bounds[:-1], dtype=np.int64)
        here = chunk.key_rows(chunk.bounds[:-1], chunk.keys)
        heads = [here.column(k) for k in range(chunk.keys)]
        old, count = len(self.passed), len(chunk.bounds) - 1
        joint = tuple(map(_joined, self.keys, heads))
        numbers, _ = key_codes(joint, old + count)
        passed = np.zeros(int(numbers.max()) + 1, np.int64)
        passed[numbers[:old]] = self.passed
        mine = numbers[old:]
        first = passed[mine] - kept
        spans = Spans(first, passed[mine], first + np.diff(chunk.bounds))
        passed[mine] = spans.now
        known = np.zeros(len(passed), np.bool_)
        known[numbers[:old]] = True
        new = np.concatenate([np.ones(old, np.bool_), ~known[mine]])
        self.keys = tuple(column.filter(from_numpy(new)) for column in joint)
        self.passed = passed[numbers[new]]
        return spans

    def _runs(self, chunk: Chunk, spans: Spans, *, ends: bool) -> Runs:
        """In append mode the windows that are over now, otherwise all with new events."""
        within, slide = self.setting.windows.within, self.setting.windows.slide
        once = self.mode is Mode.APPEND
        begin = self._open(spans.before)
        end = self._open(spans.now) if once and not ends else -(-spans.now // slide)
        told = (spans.now > spans.before) | (once and ends)
        count = np.where(told, np.maximum(end - begin, 0), 0)
        partition = np.repeat(np.arange(len(count)), count)
        skipped = np.repeat(np.cumsum(count) - count, count)
        window = begin[partition] + np.arange(len(partition)) - skipped
        start = (chunk.bounds[:-1] - spans.first)[partition]
        lo = start + window * slide
        hi = start + np.minimum(window * slide + within, spans.now[partition])
        return Runs(lo, hi, partition, window)

    def _open(self, passed: Ints) -> Ints:
        """The first window that is not full after so many events."""
        windows = self.setting.windows
        return np.maximum((passed - windows.within) // windows.slide + 1, 0)

    def _forget(self, chunk: Chunk, spans: Spans, now: int) -> None:
        """Events that no window will need, numbered ones put in order."""
        rows = np.diff(chunk.bounds)
        number = np.arange(len(chunk)) + np.repeat(spans.first - chunk.bounds[:-1], rows)
        needed = number >= np.repeat(self._open(spans.now) * self.setting.windows.slide, rows)
        assert self.waiting.table is not None
        ahead = self.waiting.table.filter(from_numpy(self.waiting.time() >= now))
        open_ = pa.Table.from_batches([chunk.batch.filter(from_numpy(needed))])
        table = pa.concat_tables([open_.cast(ahead.schema), ahead])
        self.waiting = Waiting(table if table.num_rows else None)

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    @property
    def shape(self) -> list[object]:
        """Events and numbers mean the same in every version."""
        return []

    def tables(self) -> dict[str, pa.Table]:
        table = self.waiting.table
        tables = {} if table is None else {"events": table.combine_chunks()}
        if len(self.passed):
            columns = {f"p{k}": key for k, key in enumerate(self.keys)}
            tables["counts"] = pa.table({**columns, "passed": from_numpy(self.passed)})
        return tables

    def load(self, tables: dict[str, pa.Table], watermark: int) -> None:
        check_names(tables, ["events", "counts"])
        self.waiting = Waiting(events_of(self.setting, tables.get("events")))
        if "counts" in tables:
            types = key_types(self.setting)
            columns = columns_of(tables["counts"], {**types, "passed": pa.int64()})
            self.keys = tuple(columns[name] for name in types)
            self.passed = within("counts", to_numpy(columns["passed"]), 1, MOST_EVENTS)
        self._check_numbers(watermark)

    def _check_numbers(self, watermark: int) -> None:
        """Of each partition, the events of open windows are kept: no fewer, and no others.

        Runs are cut by the numbers of events, and kernels go where those say.
        """
        table, old = self.waiting.before(watermark), len(self.passed)
        joint, kept = self.keys, 0
        if table is not None:
            kept = table.num_rows
            columns = (table.column(f"p{k}").combine_chunks() for k in range(len(joint)))
            joint = tuple(map(_joined, joint, columns))
        numbers, bound = key_codes(joint, old + kept)
        if len(np.unique(numbers[:old])) < old:
            raise damaged("a partition is counted twice")
        passed = np.zeros(bound, np.int64)
        passed[numbers[:old]] = self.passed
        needed = np.maximum(passed - self._open(passed) * self.setting.windows.slide, 0)
        if not np.array_equal(np.bincount(numbers[old:], minlength=bound), needed):
            raise damaged("events of open windows are missing, or too many")


def _joined(left: pa.Array, right: pa.Array) -> pa.Array:
    return pa.concat_arrays([left, right.cast(left.type)])
