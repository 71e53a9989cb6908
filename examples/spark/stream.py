"""Two queries over one stream of files, with metrics and a place for late events.

python examples/spark/stream.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

import trendloom as tl

STREAMS = Path(__file__).parents[1] / "streams"
QUERIES = {
    "trips": """
        RETURN district, COUNT(*) AS trips, AVG(T.speed) AS speed
        PATTERN SEQ(Pickup P, Trip T+, Dropoff D) SEMANTICS skip-till-next-match
        WHERE [driver, rider, district] GROUP-BY district WITHIN 30 minutes SLIDE 15 minutes
    """,
    "cancelled": """
        RETURN district, COUNT(*) AS cancelled
        PATTERN SEQ(Wait+, NOT Pickup, Cancel)
        WHERE [driver, rider, district] GROUP-BY district WITHIN 30 minutes SLIDE 15 minutes
    """,
}


def main() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    schema = spark.read.csv(str(STREAMS / "rides.csv"), header=True, inferSchema=True).schema
    rides = spark.readStream.schema(schema).csv(
        str(STREAMS), header=True, pathGlobFilter="rides.csv"
    )
    metrics = tl.spark.metrics(spark)
    with TemporaryDirectory() as folder:
        rows = tl.spark.run(
            QUERIES, rides, time="ts", watermark="10 minutes", late=f"{folder}/late", shards=4
        )
        writing = rows.writeStream.format("parquet").queryName("rides").trigger(availableNow=True)
        writing = writing.option("checkpointLocation", f"{folder}/checkpoint")
        writing.start(f"{folder}/rows").awaitTermination()
        found = spark.read.parquet(f"{folder}/rows")
        found.orderBy("query", "window_start", "district").show(8)
        found.groupBy("query").count().show()
    metrics.wait_for_end(10)
    metrics.stop()
    told = metrics.tallies["rides"]
    counts = [(told.events, told.late, told.rows)]
    spark.createDataFrame(counts, "events INT, late INT, rows INT").show()


if __name__ == "__main__":
    main()
