"""DataFrames of several queries in one: a column `query`, and everybody's columns."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from trendloom.workloads.union import NAME, joint_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame


def union(frames: Mapping[str, DataFrame]) -> DataFrame:
    """As `trendloom.workloads.union` does it for tables."""
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import to_arrow_schema

    joint_schema({name: to_arrow_schema(frame.schema) for name, frame in frames.items()})
    named = [frame.select(f.lit(name).alias(NAME), "*") for name, frame in frames.items()]
    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
