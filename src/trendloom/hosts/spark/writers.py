"""Rows of a stream that are checked when somebody starts to write them.

Spark lets the caller choose the sink, and asks nobody: rows that change would be appended to files,
and a checkpoint of another query would be taken until events come. So the DataFrame of a stream's
rows, and whatever is derived from it by its methods, has a writer that asks first.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from trendloom.errors import OutputError
from trendloom.hosts.spark.checkpoint import Identity, check_record
from trendloom.hosts.spark.failed import going_on_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

ROOT = "spark.sql.streaming.checkpointLocation"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a writer of the rows must keep to."""

    mode: str
    identity: Identity

    def check(self, session: SparkSession, chosen: Chosen) -> None:
        """Before the stream starts."""
        if self.mode == "update" and chosen.mode.lower() != "update":
            raise OutputError(
                'The query gives a row whenever it changes (mode="update"), and the writer would '
                f"keep every one of them as a row of its own ({chosen.mode} mode).",
                remedy='Write with .outputMode("update"), to a sink that replaces rows by window '
                'and group (foreachBatch); or run the query with mode="append", which gives each '
                "row once.",
            )
        checkpoint = chosen.checkpoint
        if checkpoint is None:
            root = session.conf.get(ROOT, None)
            if root is None or chosen.name is None:
                return  # a directory that nobody has used before
            checkpoint = f"{root}/{chosen.name}"
        with going_on_from(checkpoint):
            check_record(session, checkpoint, self.identity)


@dataclass(slots=True)
class Chosen:
    """What has been said to a writer so far."""

    mode: str = "append"
    checkpoint: str | None = None
    name: str | None = None

    def add(self, mode: str | None, name: str | None, options: dict[str, Any]) -> None:
        self.mode = mode or self.mode
        self.name = name or self.name
        for key, value in options.items():
            if key.lower() == "checkpointlocation":
                self.checkpoint = str(value)


def checked(rows: DataFrame, terms: Terms) -> DataFrame:
    """The DataFrame with writers that are checked when they start."""
    found: Any = rows
    kind: Any = type(rows)
    found.__class__ = _frame_class(kind)
    found._trendloom_terms = terms
    return rows


@cache
def _frame_class(kind: Any) -> type:
    """Spark's class, or Connect's, whose methods pass the terms on."""

    def passing_on(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(self: Any, *args: Any, **named: Any) -> Any:
            found = method(self, *args, **named)
            return checked(found, self._trendloom_terms) if type(found) is kind else found

        return call

    def write_stream(self: Any) -> Any:
        writer = kind.writeStream.fget(self)
        plain: Any = type(writer)
        writer.__class__ = _writer_class(plain)
        writer._trendloom = (self._trendloom_terms, self.sparkSession, Chosen())
        return writer

    methods = inspect.getmembers(kind, inspect.isfunction)
    own = {name: passing_on(method) for name, method in methods if not name.startswith("_")}
    return type(kind.__name__, (kind,), {**own, "writeStream": property(write_stream)})


@cache
def _writer_class(kind: Any) -> type:
    def outputMode(self: Any, outputMode: str) -> Any:  # noqa: N802, N803
        self._trendloom[2].add(outputMode, None, {})
        return kind.outputMode(self, outputMode)

    def queryName(self: Any, queryName: str) -> Any:  # noqa: N802, N803
        self._trendloom[2].add(None, queryName, {})
        return kind.queryName(self, queryName)

    def option(self: Any, key: str, value: Any) -> Any:
        self._trendloom[2].add(None, None, {key: value})
        return kind.option(self, key, value)

    def options(self: Any, **options: Any) -> Any:
        self._trendloom[2].add(None, None, options)
        return kind.options(self, **options)

    def starting(method: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(method)

        @wraps(method)
        def start(self: Any, *args: Any, **named: Any) -> Any:
            given = signature.bind(self, *args, **named).arguments
            terms, session, chosen = self._trendloom
            chosen.add(given.get("outputMode"), given.get("queryName"), given.get("options", {}))
            terms.check(session, chosen)
            return method(self, *args, **named)

        return start

    own = {"outputMode": outputMode, "queryName": queryName, "option": option, "options": options}
    own |= {name: starting(getattr(kind, name)) for name in ("start", "toTable")}
    return type(kind.__name__, (kind,), own)
