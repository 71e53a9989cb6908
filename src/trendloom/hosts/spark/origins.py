"""Streams to read: generated rows, files that appear in a directory, lines of a socket, Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trendloom.errors import InputError
from trendloom.hosts.spark.logs import refuse_stream
from trendloom.hosts.spark.places import Place
from trendloom.hosts.spark.session import CORRUPT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ORIGINS = ("rate", "parquet", "json", "csv", "socket", "kafka")


def read_stream(spark: SparkSession, source: str, schema: str | None) -> DataFrame:
    """The events of a source as a streaming DataFrame. `schema` as SQL: "ts TIMESTAMP, x INT"."""
    place = Place.read(source, ORIGINS)
    if place.kind == "rate":
        per_second = place.where or "1"
        if not per_second.isdigit():
            raise InputError(f"'{per_second}' is no number of rows.", remedy="Write rate:1000.")
        return spark.readStream.format("rate").option("rowsPerSecond", per_second).load()
    if place.kind == "parquet":
        refuse_stream(spark, place.where)
        known = spark.read.parquet(place.where).schema if schema is None else schema
        return spark.readStream.schema(known).parquet(place.where)
    if schema is None:
        raise InputError(
            f"The columns of {place.kind} events are not written anywhere.",
            remedy="Name them: --schema 'ts TIMESTAMP, type STRING, price DOUBLE'.",
        )
    known = _with_unread(spark, schema)
    if place.kind == "json":
        return spark.readStream.schema(known).json(place.where)
    if place.kind == "csv":
        # Else columns would be taken by their places, whatever the header says, and rows that end
        # too early would only be noticed by who asks for their last columns.
        reader = spark.readStream.schema(known).option("columnPruning", False)
        return reader.csv(place.where, header=True, enforceSchema=False)
    return _unpacked(_lines(spark, place), known)


def _with_unread(spark: SparkSession, schema: str) -> StructType:
    """The columns, and one for the text of rows whose fields are not of their types."""
    from pyspark.sql.types import StructType

    known: Any = StructType.fromDDL(schema)
    name = spark.conf.get(CORRUPT, "_corrupt_record") or "_corrupt_record"
    found: StructType = known if name in known.names else known.add(name, "string")
    return found


def _lines(spark: SparkSession, place: Place) -> DataFrame:
    """A column `value` with a JSON document per row."""
    if place.kind == "socket":
        host, port = place.address
        reader = spark.readStream.format("socket").option("host", host).option("port", port)
        return reader.load()
    brokers, topic = place.topic
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    # The first run takes what the topic has; later ones go on from the checkpoint.
    rows = reader.option("subscribe", topic).option("startingOffsets", "earliest").load()
    return rows.selectExpr("CAST(value AS STRING) AS value")


def _unpacked(lines: DataFrame, schema: StructType) -> DataFrame:
    """The fields of each document; what is no JSON has only its text."""
    from pyspark.sql import functions as f

    return lines.select(f.from_json("value", schema).alias("event")).select("event.*")
