"""Streams to read: generated rows, files that appear in a directory, lines of a socket, Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import InputError
from trendloom.hosts.spark.places import Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
        known = spark.read.parquet(place.where).schema if schema is None else schema
        return spark.readStream.schema(known).parquet(place.where)
    if schema is None:
        raise InputError(
            f"The columns of {place.kind} events are not written anywhere.",
            remedy="Name them: --schema 'ts TIMESTAMP, type STRING, price DOUBLE'.",
        )
    if place.kind == "json":
        return spark.readStream.schema(schema).json(place.where)
    if place.kind == "csv":
        return spark.readStream.schema(schema).csv(place.where, header=True)
    return _unpacked(_lines(spark, place), schema)


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


def _unpacked(lines: DataFrame, schema: str) -> DataFrame:
    """What is no JSON has no time either, and is refused or dropped as any such row."""
    from pyspark.sql import functions as f

    return lines.select(f.from_json("value", schema).alias("event")).select("event.*")
