"""The same query over a DataFrame, as a step of a pipeline, over Parquet files, and in SQL.

python examples/spark/batch.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

import trendloom as tl

STREAMS = Path(__file__).parents[1] / "streams"
QUERY = """
RETURN district, COUNT(*) AS trips, AVG(T.speed) AS speed
PATTERN SEQ(Pickup P, Trip T+, Dropoff D)
SEMANTICS skip-till-next-match
WHERE [driver, rider, district]
GROUP-BY district
WITHIN 30 minutes SLIDE 15 minutes
"""


def main() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    rides = spark.read.csv(str(STREAMS / "rides.csv"), header=True, inferSchema=True)

    tl.spark.run(QUERY, rides, time="ts").orderBy("window_start", "district").show(5)

    fast = rides.transform(tl.aggregate, query=QUERY, time="ts").filter("speed > 40")
    fast.orderBy("window_start", "district").show(5)

    with TemporaryDirectory() as folder:
        path = f"{folder}/rides.parquet"
        rides.write.parquet(path)
        found = tl.spark.run(QUERY, path, spark, time="ts")
        found.groupBy("district").sum("trips").orderBy("district").show()

    tl.spark.register(spark)
    rides.createOrReplaceTempView("rides")
    spark.sql(
        "SELECT count(*) AS rows FROM trends(TABLE(rides), :query, 'ts')", {"query": QUERY}
    ).show()


if __name__ == "__main__":
    main()
