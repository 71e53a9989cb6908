"""Names in patterns that are probably not the event types that are meant."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from trendloom.errors import TypeNameWarning

if TYPE_CHECKING:
    from pathlib import Path

READ = {"time": "time", "type": "type"}
LOG = [
    {"time": t, "type": kind, "x": t}
    for t, kind in enumerate(["A_SUBMITTED", "A_DECLINED", "A_SUBMITTED", "O_SENT"] * 300)
]


def told(query: str, events: Any = LOG, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = tl.run("RETURN COUNT(*) " + query, events, **(options or READ))
    assert [str(one.message) for one in caught] == [str(one) for one in result.warnings]
    assert all(isinstance(one, TypeNameWarning) for one in result.warnings)
    return [str(one) for one in result.warnings]


def test_a_type_that_no_event_has() -> None:
    assert told("PATTERN SEQ(A_SUBMITED, O_SENT)") == [
        "No event is of type 'A_SUBMITED' in 1,200.\nDid you mean 'A_SUBMITTED'?"
    ]
    assert told("PATTERN SEQ(A_SUBMITTED, NOT Xyz, O_SENT)") == [
        "No event is of type 'Xyz' in 1,200.\nKnown: A_DECLINED, A_SUBMITTED, O_SENT."
    ]


def test_several_types_are_told_each_once() -> None:
    found = told("PATTERN SEQ(Oh+, Ah, Oh, O_SENT)")
    assert [line.split("'")[1] for line in found] == ["Oh", "Ah"]


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A_SUBMITTED, O_SENT)",
        "PATTERN SEQ(A_SUBMITTED, O_SENT) WHERE O_SENT.x > 1000000",
        "PATTERN A_SUBMITTED S+",
        "PATTERN SEQ(O_SENT, O_SENT)",
    ],
)
def test_types_that_are_there_are_not_told(query: str) -> None:
    assert told(query) == []


def test_a_type_that_comes_last_is_there(cut: list[int]) -> None:
    cut[:] = [7]
    late = [*LOG, {"time": 5000, "type": "Late", "x": 0}]
    assert told("PATTERN SEQ(A_SUBMITTED, Late)", late) == []


def test_files_of_every_kind(tmp_path: Path) -> None:
    import pyarrow.csv

    table = pa.Table.from_pylist(LOG)
    pq.write_table(table, tmp_path / "log.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "log.csv")
    for name in ("log.parquet", "log.csv"):
        (found,) = told("PATTERN SEQ(A_SUBMITED, O_SENT)", str(tmp_path / name))
        assert "Did you mean 'A_SUBMITTED'?" in found


def test_numbers_as_types() -> None:
    events = [{"time": t, "type": t % 3} for t in range(9)]
    assert told('PATTERN SEQ("1", "7")', events) == [
        "No event is of type '7' in 9.\nKnown: 0, 1, 2."
    ]
    assert len(told('PATTERN SEQ("1", Word)', events)) == 1


def test_one_type_for_all_rows() -> None:
    assert told("PATTERN Stok S+", LOG, time="time", event_type="Stock") == [
        "No event is of type 'Stok': event_type says 'Stock' of all.\n"
        "Write Stock in the pattern, or name the column of types with type=."
    ]
    assert told("PATTERN Stock S+", LOG, time="time", event_type="Stock") == []


def test_a_missing_comma() -> None:
    assert told("PATTERN SEQ(A_SUBMITTED+ O_SENT)") == [
        "'O_SENT' is the name of A_SUBMITTED events in the pattern, and a type of events in the "
        "input.\nIf a O_SENT is to follow, a comma is missing: SEQ(A_SUBMITTED, O_SENT). If not, "
        "give the variable another name."
    ]


def test_names_that_the_pattern_makes_are_not_told() -> None:
    events = [{"time": t, "type": kind} for t, kind in enumerate(["A", "A1", "A2"] * 4)]
    assert told("PATTERN SEQ(A, A)", events) == []


def test_no_events_are_not_told_of() -> None:
    assert told("PATTERN Nobody", []) == []
    assert told("PATTERN Nobody", pa.table({"time": [1], "type": ["A"]}).slice(0, 0)) == []


def test_listings_and_formulas() -> None:
    with pytest.warns(TypeNameWarning, match="A_SUBMITED"):
        tl.trends("PATTERN SEQ(A_SUBMITED, O_SENT)", LOG, **READ).rows()
    found = tl.matches("A_SUBMITED ; O_SENT", LOG, **READ)
    with pytest.warns(TypeNameWarning, match="A_SUBMITED"):
        found.rows()
    assert len(found.warnings) == 1


def test_workloads_tell_which_query() -> None:
    asked = {
        "good": "RETURN COUNT(*) PATTERN SEQ(A_SUBMITTED, O_SENT)",
        "bad": "RETURN COUNT(*) PATTERN SEQ(A_SUBMITED, O_SENT)",
        "also": "RETURN COUNT(*) PATTERN SEQ(A_SUBMITED+, O_SENT)",
    }
    with pytest.warns(TypeNameWarning) as caught:
        results = tl.workload(asked).run(LOG, **READ)
    assert [str(one.message).split("\n")[0] for one in caught] == [
        "bad, also: No event is of type 'A_SUBMITED' in 1,200."
    ]
    assert not results["good"].warnings
    assert results["bad"].warnings == results["also"].warnings == results.warnings


def test_live_workloads_tell_at_the_end() -> None:
    asked = {
        "bad": "RETURN COUNT(*) PATTERN SEQ(A_SUBMITED, O_SENT) WITHIN 9 s SLIDE 9 s",
        "comma": "RETURN COUNT(*) PATTERN SEQ(A_SUBMITTED+ O_SENT) WITHIN 9 s SLIDE 9 s",
    }
    live = tl.workload(asked).live(**READ)
    with pytest.warns(TypeNameWarning, match="comma: 'O_SENT' is"):
        first = live.push(LOG[:600])
    assert len(first["comma"].warnings) == len(first.warnings) == 1
    assert not live.push(LOG[600:]).warnings
    with pytest.warns(TypeNameWarning, match="bad: No event is of type 'A_SUBMITED' in 1,200"):
        last = live.finish()
    assert not last["comma"].warnings


def test_a_workload_of_several_scans_finds_the_type_column_that_nobody_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "log.csv").write_text("time,type,k\n1,A,1\n2,B,1\n3,A,2\n4,B,2\n")
    asked = ["RETURN COUNT(*) PATTERN SEQ(A, B)", "RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [k]"]
    results = tl.workload(asked).run(str(tmp_path / "log.csv"), time="time")
    assert [row["COUNT(*)"] for row in results.rows()] == [3, 2]
