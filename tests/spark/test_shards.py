"""What Spark's state operator is asked to do, with its state and timers played by dictionaries."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import Row

import trendloom as tl
from trendloom.engine import signing
from trendloom.engine.layout import Numbers
from trendloom.engine.live import Live, Mode
from trendloom.errors import StateError
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.arrive import Arrival
from trendloom.hosts.spark.blobs import to_blobs
from trendloom.hosts.spark.operator import TrendProcessor
from trendloom.hosts.spark.processor import GUARD, Shards, watermark_milliseconds
from trendloom.hosts.spark.stream import Feed
from trendloom.hosts.spark.task import Task
from trendloom.hosts.spark.unpack import read_rows
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARDS = 3
QUERIES = {
    "vectors": "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) GROUP-BY k WITHIN 8 s SLIDE 4 s",
    "changes": "RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP-BY k WITHIN 5 s",
}


class Store:
    """State and timers by key; counts what is asked."""

    def __init__(self) -> None:
        self.key = 0
        self.values: dict[int, Any] = {}
        self.timers: dict[int, set[int]] = {}
        self.calls: Counter[str] = Counter()

    def getValueState(self, name: str, schema: Any) -> Store:
        assert (name, schema.names) == ("shard", ["shards", "data"])
        return self

    def get(self) -> Any:
        self.calls["get"] += 1
        return self.values.get(self.key)

    def update(self, value: Any) -> None:
        self.calls["update"] += 1
        self.values[self.key] = value

    def clear(self) -> None:
        self.calls["clear"] += 1
        self.values.pop(self.key, None)

    def registerTimer(self, at: int) -> None:
        self.calls["timer"] += 1
        self.timers.setdefault(self.key, set()).add(at)

    def deleteTimer(self, at: int) -> None:
        self.calls["timer"] += 1
        self.timers[self.key].remove(at)


class Clock:
    def __init__(self, watermark: int) -> None:
        self.watermark = watermark

    def getCurrentWatermarkInMs(self) -> int:
        return self.watermark


def micro_batch(shards: Shards, store: Store, blobs: pa.Table | None, watermark: int) -> list[Row]:
    """As Spark does it: new instances, keys with rows first, then timers that are due."""
    processor = cloudpickle.loads(cloudpickle.dumps(TrendProcessor(shards)))
    processor.init(store)
    found: list[Row] = []
    given = [] if blobs is None else blobs.to_pylist()
    for key in sorted({row["shard"] for row in given}):
        store.key = key
        rows = iter([Row(**row) for row in given if row["shard"] == key])
        found += processor.handleInputRows((key,), rows, Clock(watermark))
    for key, timers in list(store.timers.items()):
        for at in sorted(timers):
            if at <= watermark:
                store.key = key
                found += processor.handleExpiredTimer((key,), Clock(watermark), None)
                timers.discard(at)
    processor.close()
    return found


def events(count: int) -> pa.Table:
    chance = np.random.default_rng(3)
    return pa.table(
        {
            "ts": pa.array(np.sort(chance.integers(1, 60, count)), pa.int64()),
            "type": chance.choice(["A", "B"], count),
            "k": chance.choice(["u", "v", "w", "x"], count),
        }
    )


@pytest.mark.parametrize("name", QUERIES)
def test_a_shard_asks_little_and_has_the_timer_of_its_deadline(name: str) -> None:
    given = events(80)
    projector, feed = fed(QUERIES[name], given.schema)
    task = feed.task
    shards, store = Shards((feed,), SHARDS, Mode.APPEND, None), Store()
    found: list[Row] = []
    watermark = latest = 0
    for batch in pieces(given):
        blobs = None
        if batch is not None:
            packed = to_blobs("events", projector(batch).table, task.group, SHARDS)
            blobs = pa.Table.from_batches(list(packed))
        store.calls.clear()
        done = micro_batch(shards, store, blobs, watermark)
        found += done
        assert store.calls["get"] == store.calls["update"] + store.calls["clear"] == len(done)
        assert store.calls["timer"] <= 2 * len(done)
        check_timers(task, store)
        watermark = 200_000
        if batch is not None:
            latest = max(latest, *batch.column("ts").to_pylist())
            watermark = (latest - 3) * 1000
    assert not store.values
    expected = tl.run(QUERIES[name], given, time="ts", type="type").rows()
    assert len(expected) > 10
    assert same_rows(expected, unpacked(task, found), keys=["k"]) is None


def fed(query: str, schema: pa.Schema) -> tuple[Projector, Feed]:
    plan = tl.query(query).plan
    projector = Projector(plan.scan, schema, Reading("ts", "type"))
    types = tuple(projector.operand_types), tuple(projector.partition_types)
    task = Task.of(plan, Numbers.AUTO, projector.axis, *types)
    return projector, Feed("q", task, Arrival(b"", "ts", None), "q0_", 0)


def check_timers(task: Task, store: Store) -> None:
    for key, (_, data) in store.values.items():
        due = Live.restore(task.setting, Mode.APPEND, bytes(data)).deadline
        assert due is not None
        assert store.timers[key] == {watermark_milliseconds(task, due)}
    assert all(key in store.values for key, timers in store.timers.items() if timers)


def pieces(given: pa.Table) -> Iterator[pa.Table | None]:
    """Out of order by three seconds at most; then micro-batches for timers alone."""
    chance = np.random.default_rng(5)
    came = given.column("ts").to_numpy() + chance.integers(0, 3, given.num_rows)
    order = given.take(pa.array(np.argsort(came, kind="stable")))
    for at in range(0, given.num_rows, 9):
        yield order.slice(at, 9)
    yield from (None, None)


def unpacked(task: Task, found: list[Row]) -> list[dict[str, Any]]:
    blobs = [None if row.blob is None else bytes(row.blob) for row in found]
    columns = {"feed": pa.array([row.feed for row in found]), "blob": pa.array(blobs, pa.binary())}
    stage = read_rows(["q"], task.schema, several=False)
    return pa.Table.from_batches(stage(iter([pa.record_batch(columns)]))).to_pylist()


def test_the_guard_of_a_stream_is_written_once() -> None:
    _, feed = fed(QUERIES["vectors"], events(1).schema)
    store, shards = Store(), Shards((feed,), SHARDS, Mode.APPEND, None)
    blobs = pa.table({"shard": [GUARD], "blob": pa.array([b""], pa.binary())})
    for _ in range(3):
        assert micro_batch(shards, store, blobs, 0) == []
    assert (store.calls["get"], store.calls["update"]) == (3, 1)
    assert not store.timers


def test_late_events_are_counted_and_kept_aside_once(tmp_path: Path) -> None:
    """With the columns that the query reads, under their own names; a repeated task changes
    nothing."""
    asked = "RETURN k, SUM(A.x) AS s PATTERN SEQ(A+, B) GROUP-BY k WITHIN 8 s SLIDE 4 s"
    given = pa.table({"ts": [90, 7, 95, 8], "type": [*"AABB"], "k": [*"uuuv"], "x": [1, 2, 3, 4]})
    projector, feed = fed(asked, given.schema)
    aside = tmp_path / "late"
    shards = Shards((feed,), 1, Mode.APPEND, str(aside))
    packed = to_blobs("events", projector(given).table, feed.task.group, 1)
    blobs = pa.Table.from_batches(list(packed))
    for _ in range(2):
        (row,) = micro_batch(shards, Store(), blobs, 80_000)
        assert (row.events, row.late) == (2, 2)
    (file,) = aside.iterdir()
    late = pq.read_table(file).sort_by("ts").to_pylist()
    assert [(row["ts"], row["k"]) for row in late] == [(7, "u"), (8, "v")]
    assert set(late[0]) == {"ts", "k", "x", "mask"}
    assert late[0]["x"] == 2


def test_a_key_in_the_environment_signs_what_shards_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    given = events(40)
    projector, feed = fed(QUERIES["vectors"], given.schema)
    packed = to_blobs("events", projector(given).table, feed.task.group, 1)
    blobs = pa.Table.from_batches(list(packed))
    guard = pa.table({"shard": [GUARD], "blob": pa.array([b""], pa.binary())})
    shards, store = Shards((feed,), 1, Mode.APPEND, None), Store()
    monkeypatch.setenv("TRENDLOOM_STATE_KEY", "secret")
    for batch in (guard, blobs) * 2:
        micro_batch(shards, store, batch, 0)
    assert all(bytes(data).startswith(signing.MAGIC) for _, data in store.values.values())
    for key, said in (("other", "not of this key"), ("", "is signed, and no key was given")):
        monkeypatch.setenv("TRENDLOOM_STATE_KEY", key)
        for batch in (guard, blobs):
            with pytest.raises(StateError, match=f"Stream.*{said}"):
                micro_batch(shards, store, batch, 0)
