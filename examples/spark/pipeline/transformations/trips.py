"""How many trips ran in each district in half an hour, and how fast on average?

A pipeline's functions may not look at schemas, and Trendloom must: so the rows are described here,
outside, over events that lie outside the pipeline. Nothing runs before the pipeline does.
"""

from pathlib import Path

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

import trendloom as tl

spark = SparkSession.active()
EXAMPLES = Path(__file__).parents[3]
QUERY = """
RETURN district, COUNT(*) AS trips, AVG(T.speed) AS speed
PATTERN SEQ(Pickup P, Trip T+, Dropoff D)
SEMANTICS skip-till-next-match
WHERE [driver, rider, district]
GROUP-BY district
WITHIN 30 minutes SLIDE 1 minute
"""

rides = spark.read.csv(str(EXAMPLES / "streams/rides.csv"), header=True, inferSchema=True)
rows = tl.spark.run(QUERY, rides, time="ts")


@dp.materialized_view
def trips() -> DataFrame:
    return rows
