"""Arrow tables to scan columns, as a worker does it."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from trendloom.api import query, run
from trendloom.engine.setting import Setting
from trendloom.errors import InputError, LimitError
from trendloom.hosts.scan.dress import result_schema
from trendloom.hosts.scan.project import Projector, project
from trendloom.hosts.scan.reading import Reading
from trendloom.plan.scan import Kind

from .scans import EVENTS, rows, scan

QUERY = scan("A", "B: price > 1", by="k", operands=(("price * 2", Kind.NUMBER), ("k", Kind.ANY)))


def test_the_rows_are_those_of_the_scan_in_the_order_of_the_table() -> None:
    table = pa.table(EVENTS)
    projector = Projector(QUERY, table.schema, Reading("t"))
    found = project(table, projector)
    assert found.schema == projector.contract
    assert found["time"].to_pylist() == [3, 1, 2]
    sorted_rows = sorted(found.to_pylist(), key=lambda row: (row["p0"], row["time"]))
    assert [tuple(row.values()) for row in sorted_rows] == rows(EVENTS, QUERY)


def test_types_are_known_before_there_are_rows() -> None:
    projector = Projector(QUERY, pa.table(EVENTS).schema, Reading("t"))
    assert projector.contract.names == ["p0", "time", "mask", "x0", "x1"]
    assert projector.contract.field("mask").type == pa.uint8()
    assert projector.operand_types == [pa.float64(), pa.string()]
    assert projector.partition_types == [pa.string()]
    assert projector.needed == ["t", "type", "k", "price"]
    assert projector.axis.arrow_type == pa.int64()


def test_one_projector_takes_many_tables_and_travels() -> None:
    table = pa.table(EVENTS)
    projector = Projector(QUERY, table.schema, Reading("t"))
    first = project(table, projector)
    travelled = pickle.loads(pickle.dumps(projector))
    assert travelled == projector
    for part in (table, table.slice(2), table.slice(0, 0), pa.concat_tables([table, table])):
        one, two = project(part, projector), project(part, travelled)
        assert one.equals(two)
        assert one.schema == first.schema
    assert project(pa.concat_tables([table, table]), projector).num_rows == 2 * first.num_rows


def test_the_same_values_in_other_clothes() -> None:
    table = pa.table(EVENTS)
    projector = Projector(QUERY, table.schema, Reading("t"))
    other = (
        table.set_column(1, "type", table["type"].dictionary_encode())
        .set_column(2, "k", table["k"].cast(pa.large_string()))
        .append_column("more", pa.array([[1]] * 5))
    )
    assert project(other, projector).equals(project(table, projector))


def test_rows_without_a_time() -> None:
    table = pa.table({"t": [1, None, 3], "type": ["A", "Z", "A"], "n": [1.0, 2.0, float("nan")]})
    with pytest.raises(InputError, match=r"1 of 3 rows have no time \('t' is null or infinite\)"):
        project(table, Projector(scan("A"), table.schema, Reading("t")))
    with pytest.raises(InputError, match=r"2 of 3 rows have no time .* or no tiebreak"):
        project(table, Projector(scan("A"), table.schema, Reading("t", tiebreak="n")))
    found = Projector(scan("A"), table.schema, Reading("t", tiebreak="n", bad_rows="drop"))(table)
    assert (found.rows, found.dropped) == (3, 2)
    assert found.table.to_pylist() == [{"time": 1, "tie": 1.0, "mask": 1}]


@pytest.mark.parametrize(
    ("query_", "options", "message"),
    [
        (scan("A: x > 1"), {}, "Unknown attribute 'x'"),
        (scan("A"), {"time": "k"}, "'k' is VARCHAR; it must be an integer"),
        (scan("A"), {"type": "price"}, "'price' is DOUBLE; it must be text or an integer"),
        (scan("A"), {"tiebreak": "n"}, "Unknown tiebreak column"),
    ],
)
def test_refusals_come_before_rows(query_: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = Projector(query_, pa.table(EVENTS).schema, Reading(**{"time": "t", **options})).contract


def test_names_that_differ_in_case_only() -> None:
    table = pa.table({"t": [1], "T": [1], "type": ["A"]})
    with pytest.raises(InputError, match="'T' occurs twice"):
        project(table, Projector(scan("A"), table.schema, Reading("t")))
    with pytest.raises(LimitError, match="65 variables"):
        project(table, Projector(scan(*["A"] * 65), table.schema, Reading("t")))


def test_overflow_is_an_error_of_the_input() -> None:
    table = pa.table({"t": [1], "type": ["A"], "n": [2**63 - 1]})
    with pytest.raises(InputError, match=r"Overflow in addition.*\n.*convert the column"):
        project(table, Projector(scan("A: n + n > 0"), table.schema, Reading("t")))
    with pytest.raises(InputError, match="compares text with a number"):
        project(table, Projector(scan("A: n = 'zz'"), table.schema, Reading("t")))


@pytest.mark.parametrize(
    "text",
    [
        "RETURN COUNT(*) PATTERN A+",
        "RETURN k, COUNT(*), MAX(A.price) PATTERN SEQ(A+, B) GROUP-BY k WITHIN 2 s SLIDE 1 s",
        "RETURN A.k, AVG(B.t) PATTERN SEQ(A+, B) GROUP-BY A.k HAVING COUNT(*) > 0",
        "RETURN MIN(A.t) PATTERN A+ WITHIN 2 EVENTS SLIDE 1 EVENTS",
        "RETURN SUM(A.t) PATTERN SEQ(A, B) WITHIN 2 s",
    ],
)
@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
def test_the_schema_of_a_result_is_known_before_there_are_rows(text: str) -> None:
    plan = query(text).plan
    projector = Projector(plan.scan, pa.table(EVENTS).schema, Reading("t"))
    types = projector.operand_types, projector.partition_types
    promised = result_schema(Setting(plan, *types, projector.axis.nanoseconds), projector.axis)
    assert promised == run(text, pa.table(EVENTS), time="t").to_arrow().schema
