"""Python workers that have one task after another.

Between any two of them Spark collects the worker's garbage. Modules, kernels and plans are some
180,000 objects, and to look through all of them took 100 to 130 ms each time, more than many a task
itself: five tasks of every micro-batch paid for it. They are there to stay, so the collector is
told to pass them over.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from trendloom.hosts.spark.stages import Batches, Stage

MANY = 10_000
"""Objects that outlived a task: a few milliseconds to look through."""


def in_workers(frame: DataFrame, stage: Stage, schema: str | StructType) -> DataFrame:
    """The stage over the frame's partitions, as Arrow batches."""

    def settled(batches: Batches) -> Batches:
        settle()
        yield from stage(batches)

    return frame.mapInArrow(settled, schema)


def settle() -> None:
    """For the beginning of a task, when the garbage of the last one is gone."""
    if len(gc.get_objects(generation=2)) > MANY:
        gc.freeze()
