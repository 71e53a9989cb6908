"""Where the rows of a stream go, and the id that tells a row from its repetition.

Spark writes files exactly once. It may write to Kafka again what it wrote before a failure, so
every message has a key: the digest of the query's name, the window and the group, and of all values
where a window's row may come several times. Who reads keeps one message per key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trendloom.errors import OutputError
from trendloom.hosts.spark.failed import no_delta
from trendloom.hosts.spark.session import quote
from trendloom.language import GroupKey, Item, parse, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from trendloom.hosts.spark.places import Place

    Show = Callable[[pa.Table], None]

SINKS = ("console", "parquet", "json", "kafka", "delta")
WINDOW = ("window_start", "window_end")
HIDDEN = "trendloom_group_"


@dataclass(frozen=True, slots=True)
class Keyed:
    """A query whose rows say which group they are of."""

    text: str
    groups: tuple[str, ...]
    """Columns of the group; those named `HIDDEN…` are not the user's."""

    @classmethod
    def of(cls, text: str) -> Keyed:
        query = parse(text)
        returned = {
            item.value: item.name for item in query.returns if isinstance(item.value, GroupKey)
        }
        missing = [key for key in query.group_by if key not in returned]
        if not missing:
            return cls(text, tuple(returned.values()))
        more = tuple(Item(key, alias=f"{HIDDEN}{k}") for k, key in enumerate(missing))
        widened = replace(query, returns=(*query.returns, *more))
        names = (*returned.values(), *(item.name for item in more))
        return cls(to_text(widened), names)


@dataclass(frozen=True, slots=True)
class Sink:
    """A place, and how rows get there."""

    place: Place
    name: str
    mode: str = "append"
    checkpoint: str | None = None
    trigger: str | None = None
    once: bool = False

    def __post_init__(self) -> None:
        kind = self.place.kind
        if self.mode == "update" and kind not in ("console", "kafka"):
            raise OutputError(
                f"In update mode a row may change, and {kind} keeps every row as it came.",
                remedy="Use --mode append, or --sink kafka:… or console.",
            )
        if kind == "kafka":
            _ = self.place.topic
        if self.checkpoint is None and kind != "console":
            raise OutputError(
                "A stream needs a place to remember how far it got.",
                remedy="Name a directory: --checkpoint DIR.",
            )
        if kind == "delta" and find_spec("delta") is None:
            raise no_delta()

    def start(self, rows: DataFrame, groups: tuple[str, ...], show: Show) -> StreamingQuery:
        """Start writing; `show` gets each micro-batch that goes to the console."""
        kind, where = self.place.kind, self.place.where
        if kind == "kafka":
            rows = as_messages(rows, self.name, groups, all_values=self.mode == "update")
        writer: Any = rows.writeStream.queryName(self.name).outputMode(self.mode)
        if self.checkpoint is not None:
            writer = writer.option("checkpointLocation", self.checkpoint)
        if self.once:
            writer = writer.trigger(availableNow=True)
        elif self.trigger is not None:
            writer = writer.trigger(processingTime=self.trigger)
        if kind == "console":
            started = writer.foreachBatch(lambda batch, _: _show(batch, show)).start()
        elif kind == "kafka":
            brokers, topic = self.place.topic
            writer = writer.format("kafka").option("kafka.bootstrap.servers", brokers)
            started = writer.option("topic", topic).start()
        else:
            started = writer.format(kind).start(where)
        query: StreamingQuery = started
        return query


def as_messages(
    rows: DataFrame, name: str, groups: tuple[str, ...], *, all_values: bool
) -> DataFrame:
    """Rows as Kafka takes them: the row's id as key, the row as JSON."""
    from pyspark.sql import functions as f

    visible = [column for column in rows.columns if not column.startswith(HIDDEN)]
    names = [*WINDOW, *groups]
    if all_values:
        names += [column for column in visible if column not in names]
    identity = f.struct(f.lit(name), *[f.col(quote(column)) for column in names])
    # Nulls are written out: without them, the same text could mean different columns.
    whole = {"ignoreNullFields": "false"}
    return rows.select(
        f.sha2(f.to_json(identity, whole), 256).alias("key"),
        f.to_json(f.struct(*[f.col(quote(column)) for column in visible]), whole).alias("value"),
    )


def _show(batch: DataFrame, show: Show) -> None:
    table = batch.toArrow()
    if table.num_rows:
        show(table)
