"""The papers' examples on Spark, by every plan that each of them can have: the oracle's rows."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from examples.catalogue import EXAMPLES, LISTINGS, ROOT, options_of, table_of, text_of
from spark.cases import rows_of_all
from spark.test_stream_against_oracle import run_to_end
from trendloom.engine.live.mode import check_streamable
from trendloom.engine.maps import mappable
from trendloom.engine.setting import Setting
from trendloom.errors import InputError, QueryMeaningError
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark import batch
from trendloom.language import parse, to_text
from trendloom.testing import naive, same_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

Example = dict[str, str]
RUNNABLE = [example for example in EXAMPLES if example["query"] not in LISTINGS]
COMBINED = 25
"""At least so many of them fold or step, and so can be put together from maps."""
STREAMED = 20
"""So many of them have a WITHIN."""
FAR = datetime(2030, 1, 1, tzinfo=UTC)
"""A time after every window: its event moves the watermark past them."""
LONG = 10_000_000
"""The same where times are integers."""


@cache
def expected(query: str) -> list[dict[str, Any]]:
    example = next(one for one in EXAMPLES if one["query"] == query)
    return naive(text_of(example), table_of(example).to_pylist(), **options_of(example))


def difference(query: str, rows: list[dict[str, Any]]) -> str | None:
    """Row by row, in an order of their own: a query need not return all that it groups by."""
    wanted = expected(query)
    if len(wanted) != len(rows):
        return f"{len(rows)} rows, expected {len(wanted)}"
    pairs = zip(sorted(wanted, key=order), sorted(rows, key=order), strict=True)
    found = (same_rows([one], [other]) for one, other in pairs)
    return next((reason for reason in found if reason is not None), None)


def order(row: dict[str, Any]) -> list[str]:
    """Sums may differ in their last digits, and be of another type of number."""
    return [
        f"{float(value):.6g}" if hasattr(value, "__float__") else str(value)
        for _, value in sorted(row.items())
    ]


def differences(found: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """What is wrong, by example."""
    said = {query: difference(query, rows) for query, rows in found.items()}
    return {query: reason for query, reason in said.items() if reason is not None}


def check_all(runs: dict[str, DataFrame], least: int = len(RUNNABLE)) -> None:
    """Of so many examples, the oracle's rows."""
    assert len(runs) >= least
    assert differences(dict(zip(runs, rows_of_all(runs.values()), strict=True))) == {}


def frames(spark: SparkSession) -> dict[str, DataFrame]:
    """Events by file, each in as many tasks as there are cores."""
    tables = {example["input"]: table_of(example) for example in RUNNABLE}
    return {name: spark.createDataFrame(table) for name, table in tables.items()}


def can_combine(example: Example) -> bool:
    plan = tl.query(text_of(example)).plan
    projector = Projector(plan.scan, table_of(example).schema, Reading(**options_of(example)))
    types = projector.operand_types, projector.partition_types
    return mappable(Setting(plan, *types, projector.axis.nanoseconds))


def can_stream(example: Example) -> bool:
    try:
        check_streamable(tl.query(text_of(example)).plan)
    except QueryMeaningError as error:
        if "needs a WITHIN" not in str(error):
            raise
        return False
    return True


def test_the_exchange_plan(spark: SparkSession) -> None:
    assert len(RUNNABLE) == len(EXAMPLES) - len(LISTINGS) == 46
    check_all(of_frames(spark, plan="exchange"))


def of_frames(spark: SparkSession, **words: str) -> dict[str, DataFrame]:
    events = frames(spark)
    return {
        one["query"]: tl.spark.run(text_of(one), events[one["input"]], **words, **options_of(one))
        for one in RUNNABLE
    }


def test_connect(connect: SparkSession) -> None:
    """By the plan that each of them gets."""
    check_all(of_frames(connect))


def test_the_direct_plan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From files in order of time, in several tasks: combined, or exchanged."""
    monkeypatch.setattr(batch, "TASK_ROWS", 16)
    files: dict[str, str] = {}
    for one in {example["input"]: example for example in RUNNABLE}.values():
        path = files[one["input"]] = str(tmp_path / f"{len(files)}.parquet")
        table = table_of(one).sort_by(one["time"])
        pq.write_table(table, path, row_group_size=8, coerce_timestamps="us")
    check_all(
        {
            one["query"]: tl.spark.run(
                text_of(one), files[one["input"]], spark, plan="direct", **options_of(one)
            )
            for one in RUNNABLE
        }
    )


def test_the_combine_plan(spark: SparkSession) -> None:
    events = frames(spark)
    combined: dict[str, DataFrame] = {}
    refused = 0
    for one in RUNNABLE:
        words = {"plan": "combine", **options_of(one)}
        if can_combine(one):
            combined[one["query"]] = tl.spark.run(text_of(one), events[one["input"]], **words)
            continue
        with pytest.raises(InputError, match=r"cannot be combined from maps, for .+\."):
            tl.spark.run(text_of(one), events[one["input"]], **words)
        refused += 1
    assert len(combined) + refused == len(RUNNABLE)
    check_all(combined, COMBINED)


def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    """A stream costs seconds, so files that are read alike are one stream, of all their queries."""
    alike: dict[Any, list[Example]] = {}
    for one in filter(can_stream, RUNNABLE):
        alike.setdefault((one["time"], one.get("tick")), []).append(one)
    found: dict[str, list[dict[str, Any]]] = {}
    for number, asked in enumerate(alike.values()):
        home = tmp_path / str(number)
        home.mkdir()
        (options,) = {tuple(typed(options_of(one)).items()) for one in asked}
        frame = tl.spark.run(
            {one["query"]: named_apart(one["query"]) for one in asked},
            streamed(spark, one_table(asked), home / "events", asked[0]["time"]),
            watermark="0 seconds", shards=1, **dict(options),
        )  # fmt: skip
        rows = run_to_end(frame, home, "append")
        for query in (one["query"] for one in asked):
            found[query] = [of_query(row, query) for row in rows if row["query"] == query]
    assert len(found) == STREAMED
    assert len(alike) == 3
    assert differences(found) == {}


def typed(options: dict[str, Any]) -> dict[str, Any]:
    """Where all events of a file have one type, a column says so."""
    own = {name: value for name, value in options.items() if name != "event_type"}
    return {**own, "type": own.get("type", "type")}


def one_table(examples: list[Example]) -> pa.Table:
    """The events of several files in the order of time. None has a type of another file's."""
    tables = {}
    for one in examples:
        table = table_of(one)
        if "event_type" in one:
            kinds = pa.array([one["event_type"]] * table.num_rows)
            table = table.append_column("type", kinds)
        tables[one["input"]] = table
    column = typed(options_of(examples[0]))["type"]
    types = [set(table[column].to_pylist()) for table in tables.values()]
    assert len(set.union(*types)) == sum(map(len, types))
    joined = pa.concat_tables(tables.values(), promote_options="permissive")
    return joined.sort_by(examples[0]["time"])


def streamed(spark: SparkSession, table: pa.Table, folder: Path, time: str) -> DataFrame:
    """The events in two micro-batches, and at last one that ends all windows."""
    folder.mkdir()
    far = LONG if pa.types.is_integer(table.schema.field(time).type) else FAR
    last = pa.Table.from_pylist([{**dict.fromkeys(table.column_names), time: far}], table.schema)
    half = table.num_rows // 2
    parts = [table.slice(0, half), pa.concat_tables([table.slice(half), last])]
    for number, part in enumerate(parts):
        path = folder / f"{number}.parquet"
        pq.write_table(part, path, coerce_timestamps="us")
        os.utime(path, (1_000 + number, 1_000 + number))
    schema = spark.createDataFrame(table.slice(0, 1)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def named_apart(query: str) -> str:
    """With names that no other query of a stream has: COUNT(*) is not of one type in all."""
    parsed = parse((ROOT / query).read_text())
    items = [
        replace(item, alias=own) for item, own in zip(parsed.returns, names(query), strict=True)
    ]
    return to_text(replace(parsed, returns=tuple(items)))


def names(query: str) -> list[str]:
    """Of the columns in a stream. HAVING may use those that the query itself gives."""
    items = parse((ROOT / query).read_text()).returns
    own = query.translate(str.maketrans("/.-", "___"))
    return [item.alias or f"{own}_{number}" for number, item in enumerate(items)]


def of_query(row: dict[str, Any], query: str) -> dict[str, Any]:
    """A row without the columns of the other queries of its stream."""
    items = parse((ROOT / query).read_text()).returns
    own = {item.name: row[name] for item, name in zip(items, names(query), strict=True)}
    return {"window_start": row["window_start"], "window_end": row["window_end"], **own}


@pytest.mark.parametrize("query", LISTINGS)
def test_listings_are_refused(spark: SparkSession, query: str) -> None:
    example = next(one for one in EXAMPLES if one["query"] == query)
    events = spark.createDataFrame(table_of(example))
    with pytest.raises(QueryMeaningError, match="no RETURN clause"):
        tl.spark.run(text_of(example), events, **options_of(example))
