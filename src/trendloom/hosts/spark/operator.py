"""Spark's state operator, as light as can be: what works on shards is loaded with the first one.

When a stream starts, Spark runs a process beside the driver that only asks which state there is. It
would import for seconds what it never uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

from trendloom.hosts.spark.workers import settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues
    from pyspark.sql.types import Row

    from trendloom.hosts.spark.processor import Shards

COUNTS = ("events", "late", "dropped", "rows", "state_bytes")
OUTPUT = ", ".join(["feed INT, blob BINARY", *(f"{name} BIGINT" for name in COUNTS)])
STATE = StructType([StructField("shards", IntegerType()), StructField("data", BinaryType())])
"""Not as text: the JVM would be asked to read it, twice per task."""


class TrendProcessor(StatefulProcessor):
    """Passes everything on to `Shards`."""

    def __init__(self, shards: Shards) -> None:
        self._packed: bytes = cloudpickle.dumps(shards)  # type: ignore[no-untyped-call]
        self._loaded: Shards | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        settle()
        self._handle = handle
        self._state = handle.getValueState("shard", STATE)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        watermark = timerValues.getCurrentWatermarkInMs()
        yield from self._shards().take(int(key[0]), rows, watermark)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        yield self._shards().step(int(key[0]), None, timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Nothing is held between batches."""

    def _shards(self) -> Shards:
        if self._loaded is None:
            loaded: Shards = cloudpickle.loads(self._packed)
            loaded.open(self._handle, self._state)
            self._loaded = loaded
        return self._loaded
