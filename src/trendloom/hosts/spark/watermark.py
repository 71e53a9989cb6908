"""A stream's watermark: on the time column, or on an instant that is made of it.

Spark takes a stream without a watermark, or with one on any column. Without, no window is ever
over and no row ever comes; on another column, events are late that are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.errors import InputError
from trendloom.hosts.spark.session import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from trendloom.hosts.scan.times import TimeAxis

EVENT_TIME = "trendloom_event_time"
MARK = "spark.watermarkDelayMs"
"""Spark writes the delay into the metadata of the column, which follows it wherever it goes."""


def with_watermark(frame: DataFrame, axis: TimeAxis, time: str, delay: str | None) -> DataFrame:
    """The stream with its watermark, its own or one of this delay."""
    from pyspark.errors import PySparkException

    _check(frame, time, delay)
    if delay is None:
        return frame
    instant = _instant(axis, time)
    made = frame if instant is None else frame.withColumn(EVENT_TIME, instant)
    try:
        return made.withWatermark(EVENT_TIME if instant is not None else quote(time), delay)
    except PySparkException as error:
        raise InputError(
            f"'{delay}' is no delay of a watermark.",
            remedy="Write a number and a unit: watermark='10 minutes' (--watermark).",
        ) from error


def _check(frame: DataFrame, time: str, delay: str | None) -> None:
    marked = [field.name for field in frame.schema.fields if MARK in (field.metadata or {})]
    if not marked and delay is None:
        raise InputError(
            "The stream has no watermark: no window would ever be over, and no row would come.",
            remedy="Say how late events may come: watermark='10 minutes', or "
            f"df.withWatermark('{time}', '10 minutes') before the query.",
        )
    if marked and time not in marked:
        raise InputError(
            f"The watermark of the stream is on the column '{marked[0]}', and the time of its "
            f"events is '{time}': events would be late by another clock.",
            remedy=f"Take the watermark of '{marked[0]}' away and ask for one here, "
            f"watermark='10 minutes'; or say time='{marked[0]}', if that is the events' time.",
        )
    if marked and delay is not None:
        raise InputError(
            f"The stream has a watermark on '{time}' already, so watermark='{delay}' would not be "
            "the delay.",
            remedy="Leave one of the two out: watermark=… or df.withWatermark(…).",
        )


def _instant(axis: TimeAxis, time: str) -> Column | None:
    """Spark's watermark is of instants; other times are made into some for it alone."""
    from pyspark.sql import functions as f

    kind = axis.arrow_type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return None
    quoted = quote(time)
    if pa.types.is_timestamp(kind):
        # Put together from its parts: a cast would depend on the session's time zone.
        of_day = f"hour({quoted}) * 3600L + minute({quoted}) * 60L + extract(SECOND FROM {quoted})"
        if axis.duck_type == "DATE":
            of_day = "0L"
        whole = f"unix_date(CAST({quoted} AS DATE)) * 86400000000L"
        instant = f"{whole} + CAST(({of_day}) * 1000000L AS BIGINT)"
    else:
        if axis.nanoseconds % 1000:
            raise InputError(
                "A watermark counts milliseconds, and one tick of this time column is less than a "
                "microsecond.",
                remedy="Convert the column to a timestamp.",
            )
        instant = f"{quoted} * {axis.nanoseconds // 1000}L"
    return f.expr(f"timestamp_micros({instant})")
