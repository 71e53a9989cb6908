"""Queries inside SQL: the table function gives the rows that `tl.run` gives."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException

import trendloom as tl
from trendloom.hosts.spark import sql
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

START = dt.datetime(2024, 3, 31, 0, 30, tzinfo=dt.UTC)
ROWS = 120
COMPANIES = ("acme", "o'neill", None, "zenith", "äöü")

BY_COMPANY = """
RETURN company, COUNT(*) AS trends, SUM(S.price) AS total, MAX(S.day) AS last
PATTERN Stock S+ WHERE S.price < NEXT(S).price GROUP-BY company
WITHIN 20 minutes SLIDE 10 minutes
"""
EQUIVALENT = """
RETURN COUNT(*), AVG(S.price), MAX(S.ts), MIN(S.local) PATTERN SEQ(News N, Stock S+)
WHERE [company] WITHIN 40 minutes SLIDE 20 minutes
"""
HAVING = """
RETURN company, "odd name`", COUNT(*) AS trends PATTERN Stock S+
GROUP-BY company, "odd name`" HAVING trends > 10 WITHIN 1 hour SLIDE 1 hour
"""
SIGNS = "RETURN sign, COUNT(*) AS trends PATTERN Stock S+ GROUP-BY sign"
TREND = "RETURN COUNT(*) PATTERN Stock S+"


def stock() -> pa.Table:
    """Prices of a few companies around a change of the clocks, not in order of time."""
    minutes = [(7 * i) % ROWS for i in range(ROWS)]
    times = [START + dt.timedelta(minutes=m, microseconds=m) for m in minutes]
    return pa.table(
        {
            "minute": pa.array(minutes, pa.int64()),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "local": pa.array([t.replace(tzinfo=None) for t in times], pa.timestamp("us")),
            "day": pa.array([t.date() for t in times], pa.date32()),
            "kind": ["News" if m % 9 == 0 else "Stock" for m in minutes],
            "company": pa.array([COMPANIES[m % 5] for m in minutes], pa.string()),
            "sign": [(-0.0, 0.0, float("nan"))[m % 3] for m in minutes],
            "price": [float(m * m % 17) for m in minutes],
            "odd name`": pa.array([m % 2 for m in minutes], pa.int32()),
            "list": [[m] for m in minutes],
        }
    )


@pytest.fixture
def events(spark: SparkSession) -> Iterator[SparkSession]:
    """A session that knows the function and has the events as a view."""
    yield from registered(spark)


def registered(session: SparkSession) -> Iterator[SparkSession]:
    tl.spark.register(session)
    frame = session.createDataFrame(stock()).repartition(2)
    # Spark takes every timestamp of an Arrow table for one with a zone.
    frame = frame.selectExpr("* EXCEPT (local)", "CAST(local AS TIMESTAMP_NTZ) AS local")
    frame.createOrReplaceTempView("events")
    yield session
    session.catalog.dropTempView("events")


def rows_of(session: SparkSession, call: str, **arguments: str) -> list[dict[str, Any]]:
    table: pa.Table = session.sql(f"SELECT * FROM {call}", arguments).toArrow()
    return table.to_pylist()


def refusal(session: SparkSession, call: str) -> str:
    with pytest.raises(AnalysisException) as caught:
        session.sql(f"SELECT * FROM {call}")
    return str(caught.value)


@pytest.mark.parametrize(
    ("query", "time", "keys"),
    [
        pytest.param(BY_COMPANY, "ts", ["company"], id="groups"),
        pytest.param(EQUIVALENT, "local", [], id="equivalence"),
        pytest.param(HAVING, "ts", ["company", '"odd name`"'], id="having"),
    ],
)
def test_rows_are_those_of_run(
    events: SparkSession, query: str, time: str, keys: list[str]
) -> None:
    expected = tl.run(query, stock(), time=time, type="kind").to_arrow().to_pylist()
    actual = rows_of(events, "trends(TABLE(events), :query, :time, 'kind')", query=query, time=time)
    assert len(expected) > 3
    assert same_rows(expected, actual, keys=keys) is None


def test_both_zeros_are_one_group_in_one_place(events: SparkSession) -> None:
    expected = tl.run(SIGNS, stock(), time="ts", type="kind").to_arrow().to_pylist()
    actual = rows_of(events, "trends(TABLE(events), :query, 'ts', 'kind')", query=SIGNS)
    assert [row["sign"] for row in expected] == [0.0]
    assert same_rows(expected, actual, keys=["sign"]) is None


def test_arguments_have_names(events: SparkSession) -> None:
    query = "RETURN COUNT(*) AS trends PATTERN Any S+ WITHIN 10 seconds SLIDE 10 seconds"
    options = {"time": "minute", "event_type": "Any", "tick": "ms", "tiebreak": "price"}
    rows = rows_of(
        events,
        "trends(query => :query, numbers => 'exact', time => 'minute', event_type => 'Any', "
        "tick => 'ms', tiebreak => 'price', events => TABLE(SELECT * FROM events))",
        query=query,
    )
    expected = tl.run(query, stock(), numbers="exact", **options).rows()
    assert [int(row["trends"]) for row in rows] == [row["trends"] for row in expected]
    assert rows[0]["trends"] == 2**ROWS - 1


def test_result_is_a_table_like_any_other(events: SparkSession) -> None:
    (row,) = events.sql(
        f"""SELECT MAX(t.`COUNT(*)`) AS most, COUNT(*) AS companies
            FROM trends(TABLE(SELECT * FROM events WHERE minute < 20),
                        "{TREND} GROUP-BY company", 'minute', 'kind') AS t"""
    ).collect()
    assert (row.most, row.companies) == (2**4 - 1, 4)


def test_no_events_give_no_rows(events: SparkSession) -> None:
    assert (
        rows_of(events, f"trends(TABLE(SELECT * FROM events LIMIT 0), '{TREND}', 'ts', 'kind')")
        == []
    )


def test_rows_become_columns_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker does, without Spark around it: a few rows at a time."""
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.udtf import AnalyzeArgument

    def said(text: str) -> AnalyzeArgument:
        return AnalyzeArgument(from_arrow_schema(pa.schema([])), text, False, True)

    table = AnalyzeArgument(from_arrow_schema(stock().schema), None, True, False)
    prepared = sql.Trends.analyze(table, said(TREND), said("minute"), said("kind"))
    monkeypatch.setattr(sql, "CHUNK_ROWS", 7)
    function = sql.Trends(prepared)
    wanted = stock().select(["minute", "kind"])
    assert [column.name for column in prepared.select] == ["`minute`", "`kind`"]
    for row in zip(*wanted.to_pydict().values(), strict=True):
        assert function.eval(row, TREND, "minute", type="kind") is None
    (expected,) = tl.run(TREND, wanted, time="minute", type="kind").rows()
    assert list(function.terminate()) == [tuple(expected.values())]


def test_error_in_the_query_shows_its_place(events: SparkSession) -> None:
    said = refusal(events, f"trends(TABLE(events), '{TREND} WITHN 10 s', 'ts', 'kind')")
    assert "'WITHN' cannot stand here (line 1, column 34)" in said
    assert f"  {TREND} WITHN 10 s\n{' ' * 35}^^^^^\nDid you mean 'WITHIN'?" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param("TABLE(events), '{q}', 'tss', 'kind'", "Did you mean 'ts'?", id="time"),
        pytest.param("TABLE(events), '{q}', 'ts'", "no column 'type'", id="type"),
        pytest.param(
            "TABLE(events), '{q} GROUP-BY firm', 'ts', 'kind'",
            "Unknown attribute 'firm'",
            id="attribute",
        ),
        pytest.param(
            "TABLE(events), '{q} GROUP-BY list', 'ts', 'kind'",
            "The column 'list' is array<bigint>",
            id="column of lists",
        ),
        pytest.param(
            "TABLE(events), '{q}', 'ts', 'kind', numbers => 'big'", "numbers", id="option"
        ),
        pytest.param("TABLE(events), '{q}', 'ts', 3", "type => '…'", id="number for text"),
        pytest.param("TABLE(events), NULL, 'ts'", "'query' is NULL", id="null"),
        pytest.param("'events', '{q}', 'ts', 'kind'", "TABLE(name)", id="no table"),
        pytest.param(
            "TABLE(events), '{q} WITHIN 9 EVENTS SLIDE 9 EVENTS', 'ts', 'kind'",
            "tiebreak => '…'",
            id="order of rows",
        ),
        pytest.param(
            "TABLE(events), '{q}', 'ts', 'kind', zone => 'UTC'", "argument 'zone'", id="argument"
        ),
        pytest.param(
            "TABLE(events) PARTITION BY (company), '{q} GROUP-BY company', 'ts', 'kind'",
            "please remove these clauses",
            id="places of one's own",
        ),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(
    events: SparkSession, arguments: str, said: str
) -> None:
    assert said in refusal(events, f"trends({arguments.format(q=TREND)})")


def test_row_without_a_time_is_an_error_or_left_out(events: SparkSession) -> None:
    table = "TABLE(SELECT NULLIF(minute, 5) AS minute, kind FROM events WHERE minute < 9)"
    with pytest.raises(PythonException, match="1 of 9 rows have no time"):
        rows_of(events, f"trends({table}, '{TREND}', 'minute', 'kind')")
    (row,) = rows_of(events, f"trends({table}, '{TREND}', 'minute', 'kind', bad_rows => 'drop')")
    assert row["COUNT(*)"] == 2**7 - 1


@pytest.mark.parametrize("query", [TREND, f"{TREND} GROUP-BY value"])
def test_streams_are_refused(events: SparkSession, query: str) -> None:
    """Each of their batches would be taken for everything."""
    stream = events.readStream.format("rate").load()
    stream.createOrReplaceTempView("live")
    call = f"trends(TABLE(live), '{query}', 'timestamp', event_type => 'Stock')"
    with pytest.raises(AnalysisException, match="not supported on streaming"):
        events.sql(f"SELECT * FROM {call}").writeStream.format("noop").start()


def test_function_can_have_another_name(spark: SparkSession) -> None:
    tl.spark.register(spark, "kleene")
    (row,) = rows_of(
        spark, f"kleene(TABLE(SELECT * FROM range(3)), '{TREND}', 'id', event_type => 'Stock')"
    )
    assert row["COUNT(*)"] == 7


def test_function_works_over_connect(connect: SparkSession) -> None:
    for session in registered(connect):
        expected = tl.run(BY_COMPANY, stock(), time="ts", type="kind").to_arrow().to_pylist()
        actual = rows_of(
            session, "trends(TABLE(events), :query, 'ts', type => 'kind')", query=BY_COMPANY
        )
        assert same_rows(expected, actual, keys=["company"]) is None
        with pytest.raises(AnalysisException, match=r"Unknown time column 'tss'"):
            rows_of(session, f"trends(TABLE(events), '{TREND}', 'tss', 'kind')")
