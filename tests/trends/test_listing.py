"""Listings: batches, limits, memory, windows, and everything that is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pytest

import trendloom as tl
from trendloom.cet import counting, detection
from trendloom.cet.memory import in_words, read_limit
from trendloom.errors import InputError, LimitError, QueryMeaningError, TrendloomError
from trendloom.testing import stream

if TYPE_CHECKING:
    from pathlib import Path


def layers(count: int, width: int = 3) -> pa.Table:
    return pa.table(
        {"time": [n // width for n in range(count * width)], "type": ["A"] * (count * width)}
    )


def listed(query: str, events: Any, **options: Any) -> list[dict[str, Any]]:
    return tl.trends(query, events, time="time", type="type", **options).rows()


def test_columns_windows_and_partitions() -> None:
    events = stream("a1:k=u b2:k=u a1:k=v a11:k=u b12:k=u")
    rows = listed("PATTERN SEQ(A, B) WHERE [k] WITHIN 10 s SLIDE 10 s", events)
    assert rows == [
        {"window_start": 0, "window_end": 10, "k": "u", "trend": 0, "length": 2,
         "events": [0, 1], "variables": ["A", "B"]},
        {"window_start": 10, "window_end": 20, "k": "u", "trend": 1, "length": 2,
         "events": [3, 4], "variables": ["A", "B"]},
    ]  # fmt: skip


def test_rows_are_numbered_as_in_the_input() -> None:
    """Whatever the order of time, and whatever rows match nothing."""
    events = [
        {"time": 3, "type": "B"},
        {"time": 9, "type": "C"},
        {"time": 1, "type": "A"},
        {"time": 2, "type": "A"},
    ]
    assert [row["events"] for row in listed("PATTERN SEQ(A+, B)", events)] == [[2, 3, 0]]


@pytest.mark.parametrize("algorithm", ["m", "t", "h"])
def test_batches_are_bounded_and_leave_while_trends_are_found(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detection, "MOST_TRENDS", 10)
    monkeypatch.setattr("trendloom.cet.rows.MOST_TRENDS", 10)
    found = tl.trends("PATTERN A+", layers(5), time="time", type="type", algorithm=algorithm)
    first = next(iter(found))
    rest = list(found)
    assert max(batch.num_rows for batch in (first, *rest)) < 25
    table = pa.Table.from_batches([first, *rest])
    assert table.num_rows == len({tuple(path) for path in table["events"].to_pylist()}) == 3**5
    assert table["trend"].to_pylist() == list(range(3**5))


@pytest.mark.parametrize("algorithm", ["m", "t", "h", "auto"])
def test_a_limit_stops_early(algorithm: str) -> None:
    rows = listed("PATTERN A+", layers(6), algorithm=algorithm, limit=7)
    assert len({tuple(row["events"]) for row in rows}) == len(rows) == 7


def test_a_limit_makes_any_number_of_trends_possible() -> None:
    rows = listed("PATTERN A+", layers(400), limit=3)
    assert [row["length"] for row in rows] == [400] * 3


def test_too_many_trends_are_refused_with_their_number() -> None:
    with pytest.raises(LimitError) as caught:
        listed("PATTERN A+", layers(400))
    assert caught.value.cause == "There are 2^634.0 trends to list, in the windows seen so far."
    assert "limit=" in str(caught.value.remedy)


def test_more_than_wanted_are_refused_before_the_first(tmp_path: Path) -> None:
    """Windows are counted together; a text file is read twice, a reader is kept."""
    query = "PATTERN A+ WITHIN 3 s SLIDE 3 s"
    events = layers(6)
    file = tmp_path / "events.csv"
    with file.open("wb") as stream_:
        pa.csv.write_csv(events, stream_)
    for given in (
        events,
        str(file),
        pa.RecordBatchReader.from_batches(events.schema, iter(events.to_batches())),
    ):
        assert len(listed(query, given, max_results=54)) == 54
    with pytest.raises(LimitError, match="There are 54 trends to list; max_results is 53"):
        listed(query, events, max_results=53)
    assert len(listed(query, events, max_results=53, limit=2)) == 2
    found = tl.trends(query, events, time="time", type="type", max_results=54)
    list(found)
    assert (found.happened.graphs, found.happened.listed) == (2, 54)
    with pytest.raises(TrendloomError, match="max_results counts all trends; sample lists some"):
        listed(query, events, max_results=3, sample=1)


def test_numbers_of_trends_add_up_without_overflow() -> None:
    huge = counting.Count(2.0**511, 512 * 40)
    assert (huge + huge).log2 == 512 * 40 + 512
    assert str(counting.Count(3.0) + counting.Count(4.0)) == "7"
    assert (huge + counting.Count(1.0)).log2 == huge.log2


def test_memory_decides_between_algorithms() -> None:
    events = layers(13)
    with pytest.raises(LimitError, match="T-CET would hold"):
        listed("PATTERN A+", events, algorithm="t", memory_limit="2 MB")
    found = tl.trends(
        "PATTERN A+", events, time="time", type="type", algorithm="h", memory_limit="2 MB"
    )
    assert sum(batch.num_rows for batch in found) == 3**13


def test_a_window_that_is_too_large_for_the_limit_is_refused() -> None:
    events = pa.table({"time": list(range(6_000)), "type": ["A"] * 6_000})
    with pytest.raises(LimitError, match=r"A window of 6,000 events needs 2\.4 MB"):
        listed("PATTERN A+", events, memory_limit="1 MB")
    with pytest.raises(LimitError, match="more steps between them than"):
        listed("PATTERN A+", events, all=True, memory_limit="1 MB", limit=1)


def test_every_trend_under_each_semantics() -> None:
    events = stream("a1 b2 a3 a4 c5 b6 a7 b8")
    counts = {"skip-till-any-match": 43, "skip-till-next-match": 8, "contiguous": 2}
    for semantics, expected in counts.items():
        query = f"PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}"
        assert len(listed(query, events, all=True)) == expected


def test_no_events_no_trends() -> None:
    assert listed("PATTERN A+", []) == []
    assert listed("PATTERN SEQ(A, B)", stream("b1 a2")) == []


def test_ways_out() -> None:
    events = stream("a1 a2")

    def found() -> tl.Trends:
        return tl.trends("PATTERN A+", events, time="time")

    assert found().to_arrow().num_rows == 1
    assert found().reader().read_all().num_rows == 1
    assert found().to_pandas()["length"].tolist() == [2]
    assert found().to_polars()["length"].to_list() == [2]
    with found() as closed:
        assert repr(closed) == (
            "<Trends: window_start, window_end, trend, length, events, variables>"
        )
    assert list(closed) == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("RETURN COUNT(*) PATTERN A+", "RETURN aggregates trends"),
        ("PATTERN A+ HAVING COUNT(*) > 1", "HAVING filters rows"),
        ("PATTERN A+ AND B+", "The results of AND are pairs"),
        ("PATTERN A+ WITHIN 10 s", "WITHIN without SLIDE"),
        ("PATTERN A+ GROUP-BY A.x", "GROUP-BY A.x groups aggregates"),
        ("PATTERN A+ WHERE [length]", "'length' is a column of every listing"),
        ("PATTERN A+ SEMANTICS contiguous", "Complete trends are defined under"),
    ],
)
def test_queries_that_list_nothing_are_refused(query: str, message: str) -> None:
    with pytest.raises(QueryMeaningError, match=message) as caught:
        listed(query, stream("a1:x=1,length=2"))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "limit=0 lists nothing"),
        ({"max_results": 0}, "max_results=0 lists nothing"),
        ({"limit": "many"}, "limit is a number of trends"),
        ({"algorithm": "x"}, "Unknown algorithm 'x'"),
        ({"memory_limit": "lots"}, "Cannot read the memory limit 'lots'"),
        ({"memory_limit": "3 XB"}, "Cannot read the memory limit '3 XB'"),
        ({"memory_limit": "10 KB"}, "A memory limit of 10.0 KB is too small"),
        ({"bad_rows": "x"}, "Unknown bad_rows 'x'"),
        ({"longest": 0}, "longest=0 lists nothing"),
        ({"longest": 1, "sample": 1}, "longest and sample are different choices"),
        ({"by": "SUM(A.x)"}, "by=… says of what"),
        ({"top": 1}, "by=… says of what"),
        ({"top": 1, "by": "x"}, "Cannot read by='x'"),
        ({"top": 1, "by": "MAX(A.x)"}, r"Cannot read by='MAX\(A.x\)'"),
        ({"top": 1, "by": "SUM(B.x)"}, "Unknown variable 'B' in by"),
        ({"longest": 1, "algorithm": "m"}, "algorithm='m' lists all trends"),
        ({"optimizer": "x"}, "Unknown optimizer 'x'"),
        ({"after": -1}, "after=-1 is not the number of a trend"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TrendloomError, match=message) as caught:
        listed("PATTERN A+", stream("a1"), **options)
    assert caught.value.remedy


def test_events_that_do_not_fit_are_refused_before_anything_is_listed() -> None:
    with pytest.raises(InputError, match="word"):
        tl.trends("PATTERN A+ WHERE A.word = 'u'", stream("a1"), time="time")
    with pytest.raises(TrendloomError, match="A query is text"):
        tl.trends(stream("a1"), "PATTERN A+", time="time")  # type: ignore[arg-type]


def test_amounts_of_memory() -> None:
    assert read_limit("512 MB") == read_limit("0.5GiB") == read_limit(1 << 29) == 1 << 29
    assert in_words(1 << 29) == "512.0 MB"
    assert read_limit(None) >= 1 << 20


def test_best_by_length_and_by_sum_per_window() -> None:
    events = stream("a1:x=5 a1:x=7 b2:x=9 a3:x=1 b4:x=2 a11:x=3 b12:x=1 b12:x=4")
    query = "PATTERN SEQ(A, B) WITHIN 10 s SLIDE 10 s"
    rows = listed(query, events, top=1, by="SUM(A.x)")
    assert [(row["window_start"], row["events"][0]) for row in rows] == [(0, 1), (10, 5)]
    sums = [
        [events[k]["x"] for k in row["events"]]
        for row in listed(query, events, top=2, by="SUM(B.x)")
    ]
    assert [pair[1] for pair in sums] == [9, 9, 4, 1]
    longest = listed(
        "PATTERN A+ WHERE A.x < NEXT(A).x", stream("a1:x=3 a2:x=1 a3:x=2 a4:x=9"), longest=1
    )
    assert [row["events"] for row in longest] == [[1, 2, 3]]


def test_the_best_of_astronomically_many() -> None:
    rows = listed("PATTERN A+", layers(300), longest=2)
    assert [row["length"] for row in rows] == [300, 300]


def test_samples_are_repeatable() -> None:
    one, same, other = (
        [row["events"] for row in listed("PATTERN A+", layers(300), sample=4, seed=seed)]
        for seed in (1, 1, 2)
    )
    assert one == same != other
    assert [len(events) for events in one] == [300] * 4


def test_best_is_refused_where_graphs_are_several_per_window() -> None:
    query = "PATTERN SEQ(A, B+) WHERE A.x < B.x"
    with pytest.raises(QueryMeaningError, match="not available for conditions between events"):
        listed(query, stream("a1:x=1 b2:x=2"), longest=1)


@pytest.mark.parametrize("algorithm", ["m", "t", "h", "auto", "baseline"])
def test_listings_go_on_behind_any_trend(algorithm: str) -> None:
    """Two partitions of 27 trends: from every place, also from one partition to the next."""
    events = pa.concat_tables(
        [layers(3).append_column("k", pa.array([name] * 9)) for name in ("u", "v")]
    )
    whole = listed("PATTERN A+ WHERE [k]", events, algorithm=algorithm)
    assert len(whole) == 54
    for after in (0, 7, 25, 26, 27, 52, 53, 80):
        rest = listed("PATTERN A+ WHERE [k]", events, algorithm=algorithm, after=after)
        assert rest == whole[after + 1 :]
    assert listed("PATTERN A+ WHERE [k]", events, after=30, limit=2) == whole[31:33]
    assert (
        listed("PATTERN A+ WHERE [k]", events, longest=2, after=1)
        == (listed("PATTERN A+ WHERE [k]", events, longest=2)[2:])
    )


def test_going_on_among_astronomically_many() -> None:
    first = listed("PATTERN A+", layers(400), limit=200)
    assert listed("PATTERN A+", layers(400), after=197, limit=2) == first[198:]


def test_progress_is_told_in_events_of_which_all_trends_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detection, "MOST_TRENDS", 10)
    monkeypatch.setattr("trendloom.cet.rows.MOST_TRENDS", 10)
    told: list[tuple[int, int | None]] = []
    listed("PATTERN A+", layers(5), progress=lambda done, total: told.append((done, total)))
    done = [events for events, _ in told]
    assert {total for _, total in told} == {15}
    assert done == sorted(done)
    assert done[-1] == 15
    assert len(set(done)) > 10


def test_what_happened_beside_what_was_expected() -> None:
    query = "PATTERN A+ WITHIN 13 s SLIDE 13 s"
    options: dict[str, Any] = {"time": "time", "type": "type", "memory_limit": "2 MB"}
    found = tl.trends(query, layers(26), algorithm="h", **options)
    told = found.happened
    assert (told.graphs, told.listed) == (0, 0)
    assert sum(batch.num_rows for batch in found) == told.listed == 2 * 3**13
    assert (told.graphs, told.nodes, told.edges) == (2, 78, 2 * 12 * 9)
    assert str(told.trends) == f"{2 * 3**13:,}"
    assert told.algorithms == {"h": 2}
    largest = told.largest
    assert largest is not None
    assert largest.choice.graphlets > 1
    assert largest.choice.estimate.paths == largest.kept_paths
    assert largest.kept_bytes - 8 == largest.choice.estimate.bytes <= 2 << 19
    assert told.most_bytes <= 2 << 20
    words = found.explain()
    assert "expected     happened" in words
    planned = tl.query(query).explain(events=layers(26), algorithm="h", **options)
    assert "Trends     3,188,646 counted, 0 listed" in planned
    assert "happened" not in planned
    cut = [line for line in words.splitlines() if line.startswith("  cut ")]
    assert cut == [line for line in planned.splitlines() if line.startswith("  cut ")]


def test_optimizers_choose_among_the_same_trends() -> None:
    for optimizer in ("bnb", "greedy"):
        rows = tl.trends(
            "PATTERN A+", layers(12), time="time", type="type", algorithm="h",
            optimizer=optimizer, memory_limit="1 MB",
        )  # fmt: skip
        assert sum(batch.num_rows for batch in rows) == 3**12


def test_a_checked_query_is_for_one_of_both() -> None:
    asked = tl.query("PATTERN A+")
    assert tl.trends(asked, stream("a1 a2"), time="time").to_arrow().num_rows == 1
    with pytest.raises(QueryMeaningError, match="no RETURN clause"):
        tl.run(asked, stream("a1"), time="time")
    with pytest.raises(QueryMeaningError, match="RETURN aggregates trends"):
        tl.trends(tl.query("RETURN COUNT(*) PATTERN A+"), stream("a1"), time="time")
