"""Rides as they were recorded, and what Trendloom finds in them."""

from pathlib import Path

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

import trendloom as tl

spark: SparkSession
"""The pipeline's own; it puts it here."""

EXAMPLES = Path(__file__).parents[3]


@dp.materialized_view
def rides() -> DataFrame:
    return spark.read.csv(str(EXAMPLES / "streams/rides.csv"), header=True, inferSchema=True)


@dp.materialized_view
def trips() -> DataFrame:
    """How many trips ran in each district in half an hour, and how fast on average?"""
    query = (EXAMPLES / "cogra/q2.tq").read_text().replace("COUNT(*)", "COUNT(*) AS trips")
    query = query.replace("AVG(T.speed)", "AVG(T.speed) AS speed")
    return tl.spark.run(query, spark.read.table("rides"), time="ts")
