"""What went wrong in Spark, said without its stacks.

A refusal of ours comes back from a worker as text, wrapped in Python's traceback, Spark's message
and Java's stack, some of them twice. It is dug out and raised again. Other failures keep Spark's
words and a worker's traceback, and lose the Java stack.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trendloom import errors
from trendloom.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    QueryError,
    StateError,
    TrendloomError,
    WorkloadError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = re.compile(
    r"^(?:.*[: ])?trendloom\.errors\.(\w+): (.*?)"
    r"(?=\n\s*\n|\n\s+at |\n\t|\nDriver stacktrace|\nJVM stacktrace|\n=== |\Z)",
    re.DOTALL | re.MULTILINE,
)
STACK = re.compile(r"\n\s+at [\w.$/<>]+\(|\n(?:Driver|JVM) stacktrace|\n=== Streaming Query")
STATE = re.compile(r"(?:\s*SQLSTATE: \w{5})+\s*\Z")
LOST = re.compile(
    r"\[(?:CANNOT_LOAD_STATE_STORE|STATE_STORE_|STREAMING_STATEFUL_OPERATOR_"
    r"|STREAMING_CHECKPOINT_MISSING|CHECKPOINT_FILE_CHECKSUM)[\w.]*\] "
)
"""Spark's own words for a checkpoint that it cannot go on from."""
HEADER = re.compile(
    r"CSV header does not conform to the schema.*?Expected: (.*?) but found: (.*?)\n"
    r"CSV file: (?:file:/*(?=/))?(.*?)\n",
    re.DOTALL,
)
MALFORMED = re.compile(r"\[MALFORMED_(?:RECORD_IN_PARSING|CSV_RECORD)[\w.]*\]")
READ_FILE = re.compile(r"while reading file (?:file:/*(?=/))?(\S+?)\.\s")
CSV_RECORD = re.compile(r"Malformed CSV record: (.*)")
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
TESTED = {"4.3": "4.2.0"}
"""Of Sparks whose own connector Maven Central did not have: the one that our tests run with."""
UNRESOLVED = re.compile(r"unresolved dependency: ([^#\s]+)#([^;\s]+);([^:\s]+): not found")


@contextmanager
def plain_failures() -> Iterator[None]:
    """Raises what Spark raises as an error of ours."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise plain(error) from error


@contextmanager
def going_on_from(checkpoint: str | None) -> Iterator[None]:
    """Names the directory whose state is refused: workers know the stream's id only."""
    try:
        with plain_failures():
            yield
    except StateError as error:
        if checkpoint is None or checkpoint in error.cause:
            raise
        raise StateError(
            f"Cannot go on from the checkpoint '{checkpoint}'.",
            said=(error.cause, *error.said),
            remedy=error.remedy,
        ) from error


def plain(error: Exception) -> TrendloomError:
    """An error of Spark as one of ours."""
    text = str(error)
    if "data source: kafka" in text:
        return _no_connector()
    if "data source: delta" in text:
        return no_delta()
    ours = [*OURS.finditer(text)]
    if ours:
        return _again(ours[-1].group(1), ours[-1].group(2))
    header = HEADER.search(text)
    if header is not None:
        return InputError(
            f"The file '{header[3]}' has other columns than the schema: '{header[2]}' where the "
            f"schema has '{header[1]}'.",
            remedy="Name the columns as the files' first lines do, in their order (--schema).",
        )
    if MALFORMED.search(text):
        return _malformed(text)
    head = STATE.sub("", STACK.split(text, maxsplit=1)[0]).strip()
    lost = LOST.search(head)
    if lost is not None:
        return _in_lines(
            StateError,
            f"Spark cannot read the state: {head[lost.end() :]}",
            "Restore the checkpoint's files, or start the stream with a new checkpoint.",
        )
    if "PATH_ALREADY_EXISTS" in text:
        remedy = "Write elsewhere, or replace it with --overwrite."
        return _in_lines(OutputError, head, remedy)
    text = f"Spark failed: {head or type(error).__name__}"
    return _in_lines(TrendloomError, text, "Its own log says more: --log warn.")


def _malformed(text: str) -> InputError:
    file, record = READ_FILE.search(text), CSV_RECORD.search(text)
    where = "One of the files" if file is None else f"The file '{file[1]}'"
    which = "" if record is None else f": '{STATE.sub('', record[1])}'"
    return InputError(
        f"{where} has a record that is malformed or does not fit the columns{which}.",
        remedy="Repair it, or convert the files to Parquet.",
    )


def _again(name: str, message: str) -> TrendloomError:
    kind = getattr(errors, name, TrendloomError)
    # An error in a query has its picture in the message already.
    if not issubclass(kind, TrendloomError) or issubclass(kind, QueryError | WorkloadError):
        kind = TrendloomError
    return _in_lines(kind, STATE.sub("", message).strip())


def _in_lines(kind: type[TrendloomError], text: str, remedy: str | None = None) -> TrendloomError:
    cause, *said = text.split("\n")
    return kind(cause, said=said, remedy=remedy)


def no_delta() -> MissingExtraError:
    return MissingExtraError(
        "Delta tables need the package delta-spark, which is not installed.",
        remedy="Install it: pip install delta-spark, and add --packages "
        "io.delta:delta-spark_2.13:<its version>.",
    )


def _no_connector() -> MissingExtraError:
    import pyspark

    spark = ".".join(pyspark.__version__.split(".")[:2])
    version = TESTED.get(spark, pyspark.__version__)
    tested = f" ({version}, tested with Spark {spark})" if spark in TESTED else ""
    return MissingExtraError(
        "Spark's Kafka connector is not there.",
        remedy=f"Add --jars with its files, which `make jars` in a checkout fetches{tested}, or "
        f"--packages {CONNECTOR}:{version} where Maven Central has all that it needs; to "
        "spark-submit, where that starts the job.",
    )


def not_started(said: list[str], remedy: str) -> TrendloomError:
    """Spark's process ended before it answered; `said` are its last lines."""
    missing = UNRESOLVED.findall("\n".join(said))
    if not missing:
        return TrendloomError("Spark's Java process did not start.", remedy=remedy, said=said)
    names = ", ".join(dict.fromkeys(":".join(parts) for parts in missing))
    return MissingExtraError(
        f"Spark did not find {names}, which --packages names or needs.",
        remedy="Check the versions on Maven Central, or fetch the files and name them with --jars "
        "(for Kafka: `make jars` in a checkout).",
    )
