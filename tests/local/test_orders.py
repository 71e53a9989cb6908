"""How rows are brought into order, and that the result does not tell."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from trendloom import matches, run
from trendloom.engine import interleaved
from trendloom.errors import InputError
from trendloom.hosts.local import running
from trendloom.hosts.local.order import Order
from trendloom.hosts.local.scanned import Batches
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")

QUERY = """
RETURN key, COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-any-match
WHERE [key, other] GROUP-BY key WITHIN 8 s SLIDE 2 s"""


def _table(events: int, seed: int) -> pa.Table:
    draw = random.Random(seed)
    times = sorted(draw.choices(range(events // 2), k=events))
    return pa.table(
        {
            "time": times,
            "type": draw.choices(("A", "B", "C"), k=events),
            "key": pa.array(draw.choices(("x", "y", "ä", None), k=events), pa.string()),
            "other": pa.array(draw.choices((1.5, -0.0, 0.0, None), k=events), pa.float64()),
            "x": list(range(events)),
        }
    )


@pytest.mark.parametrize("late", [False, True])
def test_several_files(late: bool, cut: list[int], tmp_path: Path) -> None:
    """In order within each; and, unless one comes late, from one to the next."""
    whole = _table(60, seed=3)
    cut[:] = [100]
    expected = run(QUERY, whole, time="time", type="type")
    starts = (20, 40, 0) if late else (0, 20, 40)
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for path, start in zip(paths, starts, strict=True):
        pq.write_table(whole.slice(start, 20), path)
    cut[:] = [7]
    found = run(QUERY, paths, time="time", type="type")
    assert found.rows() == expected.rows()
    assert found.order == (Order.BY_DUCKDB if late else Order.BY_TIME).value


def test_null_keys_ties_and_many_rows(cut: list[int]) -> None:
    """More rows than one of DuckDB's vectors, in every order."""
    table = _table(6_000, seed=5)
    cut[:] = [1_000]
    expected = run(QUERY, table, time="time", type="type")
    assert expected.order == Order.BY_TIME.value
    by_key = table.sort_by([("key", "ascending"), ("other", "ascending"), ("time", "ascending")])
    mixed = table.take(pa.array(random.Random(1).sample(range(6_000), 6_000)))
    orders = set()
    for events in (by_key, mixed, pa.concat_tables([table.slice(99), table.slice(0, 99)])):
        found = run(QUERY, events, time="time", type="type")
        assert same_rows(found.rows(), expected.rows(), keys=("key",)) is None
        orders.add(found.order)
    assert orders == {Order.AS_READ.value, Order.BY_DUCKDB.value}


def test_many_partitions_are_sorted_after_all(
    cut: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(60, seed=3)
    cut[:] = [7]
    expected = run(QUERY, table, time="time", type="type")
    assert expected.order == Order.BY_TIME.value
    monkeypatch.setattr(interleaved, "MOST_VECTORS", 3)
    found = run(QUERY, table, time="time", type="type")
    assert (found.order, found.rows()) == (Order.BY_DUCKDB.value, expected.rows())


@pytest.mark.parametrize("by_key", [False, True])
def test_what_a_listing_can_hold_is_read_once(
    by_key: bool, cut: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many batches it has."""
    table = _table(300, seed=7).filter(pc.is_valid(pc.field("key")))
    if by_key:
        table = table.sort_by([("key", "ascending"), ("time", "ascending")])

    def listed() -> list[dict[str, object]]:
        found = matches("PROJECT[A, B](A : B)", table, time="time", partition_by=["key"])
        return sorted(found.rows(), key=repr)

    cut[:] = [10]
    expected = listed()
    assert expected
    monkeypatch.setattr(running, "HELD", 1_000)
    monkeypatch.setattr(running, "BATCH_ROWS", 16)
    monkeypatch.setattr(Batches, "again", None)
    assert listed() == expected


@pytest.mark.parametrize(
    ("times", "order"), [([1, 2, 2], Order.AS_READ), ([2, 1, 2], Order.IN_MEMORY)]
)
def test_the_result_says_how(times: list[int], order: Order) -> None:
    events = {"time": times, "type": ["A", "A", "A"]}
    assert run("RETURN COUNT(*) PATTERN A", events, time="time").order == order.value


def test_a_tiebreak_out_of_order_is_disorder() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B)"
    events = {"time": [1, 1], "type": ["B", "A"], "rank": ["b", "a"]}
    assert run(query, events, time="time").rows() == []
    found = run(query, events, time="time", tiebreak="rank")
    assert (found.rows()[0]["COUNT(*)"], found.order) == (1, Order.IN_MEMORY.value)


def test_keys_of_values_without_an_order() -> None:
    keys = pa.array([[1], [2], [1], [2]])
    events = pa.table({"time": [2, 1, 1, 2], "type": ["B", "A", "A", "B"], "key": keys})
    with pytest.raises(InputError, match=r"grouped or ordered by values of type list.*\n.*fields"):
        run("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [key]", events, time="time")
