"""What a checkpoint says of its stream, written beside Spark's own files when the stream starts.

The state says it too, but nobody reads the state before events come: a changed query would seem to
run until then. Spark reads and writes the record, so that it may be wherever a checkpoint may be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from trendloom.engine.live import state
from trendloom.errors import StateError
from trendloom.hosts.spark.session import files_of, literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from trendloom.engine.live.mode import Mode
    from trendloom.hosts.spark.stream import Feed

FILE = "trendloom"
OF_EVENTS = ("types", "numbers", "nanoseconds", "mode")
"""Of a query's identity, what every version of Trendloom says alike."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be the same for a stream to go on."""

    shards: int
    queries: tuple[str, ...]
    """As texts."""
    events: tuple[dict[str, Any], ...] = ()
    """Of each query: types of its columns and the like; empty where only the state knows."""

    @classmethod
    def of(cls, feeds: tuple[Feed, ...], shards: int, mode: Mode) -> Identity:
        facts = [state.identity(feed.task.setting, mode, "", []) for feed in feeds]
        queries = tuple(fact["query"] for fact in facts)
        return cls(shards, queries, tuple({n: fact[n] for n in OF_EVENTS} for fact in facts))

    def check(self, before: Identity, where: str) -> None:
        """Refuses to go on with what another stream left."""
        if before.shards != self.shards:
            raise StateError(
                f"{where}: the checkpoint was written with {before.shards} shards, this stream "
                f"has {self.shards}.",
                remedy=f"Go on with shards={before.shards}, or start with a new checkpoint.",
            )
        for old, new in zip_longest(before.queries, self.queries, fillvalue="none"):
            if old != new:
                raise state.other_query(old, new, where)
        for facts, mine in zip(before.events, self.events, strict=False):
            state.check(facts, mine)


def check_record(session: SparkSession, checkpoint: str, mine: Identity) -> None:
    """Refuses the checkpoint of another stream; a new one becomes this stream's."""
    # Before the first commit there is no state, and whoever comes may begin.
    if not files_of(session, f"{checkpoint}/commits"):
        _write(session, f"{checkpoint}/{FILE}", mine)
    elif files_of(session, f"{checkpoint}/{FILE}"):
        mine.check(_read(session, f"{checkpoint}/{FILE}"), "Stream")


def _read(session: SparkSession, place: str) -> Identity:
    lines = [row.value for row in session.read.text(literal(place)).collect()]
    try:
        facts = json.loads("".join(lines))
        return Identity(facts["shards"], tuple(facts["queries"]), tuple(facts["events"]))
    except (ValueError, KeyError, TypeError):
        raise StateError(
            f"The checkpoint's record of its query ('{FILE}') is damaged.",
            remedy=f"Restore the checkpoint's files, or remove '{FILE}' to go on without it: the "
            "state then says whose it is when events come.",
        ) from None


def _write(session: SparkSession, place: str, mine: Identity) -> None:
    from pyspark.sql import functions as f

    facts = {"shards": mine.shards, "queries": mine.queries, "events": mine.events}
    record = session.range(0, 1, 1, numPartitions=1).select(f.lit(json.dumps(facts)).alias("value"))
    record.write.mode("overwrite").text(place)
