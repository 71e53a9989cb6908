"""Events that share their time with another one of their partition: counted, exactly, and told."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from trendloom.errors import InputError, TieWarning
from trendloom.hosts.local import running
from trendloom.hosts.local.sinks import write_table

if TYPE_CHECKING:
    from pathlib import Path

READ = {"time": "time", "type": "type"}
COUNT = "RETURN COUNT(*) PATTERN "
QUERIES = {
    "A+": ("A", ()),
    "SEQ(A+, B)": (
        "AB",
        (),
    ),
    "SEQ(A, B) WHERE [k]": (
        "AB",
        ("k",),
    ),
    "SEQ(A, B) WHERE [k] WITHIN 4 s SLIDE 1 s": (
        "AB",
        ("k",),
    ),
    "SEQ(A, B) WHERE [k] AND A.x < NEXT(B).x WITHIN 4 s SLIDE 2 s": (
        "AB",
        ("k",),
    ),
    "SEQ(A, B) WHERE A.x < NEXT(B).x": (
        "AB",
        (),
    ),
    "SEQ(A, B) WHERE [k] WITHIN 3 s": (
        "AB",
        ("k",),
    ),
    "A+ SEMANTICS contiguous WHERE [k, l]": (
        "ABC",
        ("k", "l"),
    ),
    "SEQ(A, B) SEMANTICS next WHERE [k] WITHIN 3 EVENTS SLIDE 2 EVENTS": (
        "ABC",
        ("k",),
    ),
}


def stream(seed: int, events: int = 40) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "time": draw.randrange(events // 2),
            "type": draw.choice("ABC"),
            "k": draw.choice(["x", "y", None]),
            "l": draw.randrange(2),
            "x": draw.randrange(9),
        }
        for _ in range(events)
    ]


def ties(events: list[dict[str, Any]], types: str, keys: tuple[str, ...]) -> int:
    """By the definition; an event without a key is in no partition."""
    used = [one for one in events if one["type"] in types and None not in map(one.get, keys)]
    places = Counter((one["time"], *map(one.get, keys)) for one in used)
    return sum(count for count in places.values() if count > 1)


def told(result: Any) -> int:
    """The number in the one warning of a result; 0 if there is none."""
    assert all(isinstance(one, TieWarning) for one in result.warnings)
    return sum(int(str(one).split(" ")[0].replace(",", "")) for one in result.warnings)


@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
@pytest.mark.parametrize("query", QUERIES)
def test_the_count_is_exact_in_every_order_of_the_rows(query: str) -> None:
    types, keys = QUERIES[query]
    counts = []
    for seed in range(6):
        events = stream(seed)
        by_key = sorted(events, key=lambda one: (str(one["k"]), one["l"], one["time"]))
        for rows in (events, sorted(events, key=lambda one: one["time"]), by_key):
            counts.append(ties(rows, types, keys))
            assert told(tl.run(COUNT + query, rows, **READ)) == counts[-1]
    assert sum(count > 0 for count in counts) > len(counts) // 2


@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
@pytest.mark.parametrize("query", QUERIES)
def test_the_count_is_exact_across_batches(query: str, cut: list[int]) -> None:
    types, keys = QUERIES[query]
    for seed in range(4):
        events = stream(seed)
        cut[:] = [1 + seed, 2, 5]
        for rows in (events, sorted(events, key=lambda one: one["time"])):
            assert told(tl.run(COUNT + query, rows, **READ)) == ties(rows, types, keys)


@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
def test_listings_count_them_too(cut: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for held in (0, running.BATCH_ROWS):
        monkeypatch.setattr(running, "HELD", held)
        for seed in range(6):
            cut[:] = [1 + seed, 3]
            events = stream(seed)
            with tl.trends("PATTERN SEQ(A, B) WHERE [k]", events, **READ) as found:
                found.rows()
                assert told(found) == ties(events, "AB", ("k",))


@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
def test_a_workload_tells_them_by_query() -> None:
    events = stream(3)
    asked = {
        "alone": COUNT + "SEQ(C, A) WHERE [k]",
        "one": COUNT + "SEQ(A+, B) WITHIN 4 s SLIDE 4 s",
        "two": COUNT + "SEQ(C, A+) WITHIN 4 s SLIDE 4 s",
    }
    right = {"alone": ties(events, "AC", ("k",)), "one": ties(events, "AB", ())}
    for mode in ("dynamic", "never"):
        results = tl.workload(asked).run(events, **READ, mode=mode)
        for name, count in right.items():
            (warning,) = results[name].warnings
            assert f": {count} events" in str(warning)
            assert name in warning.queries


@pytest.mark.filterwarnings("ignore::trendloom.errors.TieWarning")
@pytest.mark.parametrize(
    "query",
    [
        "SEQ(A, B) WHERE [k] WITHIN 4 s SLIDE 2 s",
        "SEQ(A, B) WHERE [k] AND A.x + NEXT(B).x < 9 WITHIN 4 s SLIDE 2 s",
        "SEQ(A, B) WHERE [k] WITHIN 3 s",
    ],
)
def test_live_pushes_tell_them_once_the_watermark_has_passed(query: str) -> None:
    for seed in range(4):
        events = sorted(stream(seed), key=lambda one: one["time"])
        live = tl.workload([COUNT + query]).live(**READ, watermark="2 s")
        found = [live.push(events[at : at + 7]) for at in range(0, len(events), 7)]
        found.append(live.finish())
        numbers = [str(one).split(" ")[1] for each in found for one in each.warnings]
        assert sum(map(int, numbers)) == ties(events, "AB", ("k",))


def test_no_ties_and_named_tiebreaks_are_not_told() -> None:
    events = stream(1)
    for number, one in enumerate(events):
        one["n"] = number
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tiebreak in ("n", "row", "@row"):
            tl.run(COUNT + "A+", events, **READ, tiebreak=tiebreak)
        distinct = [{**one, "time": number} for number, one in enumerate(events)]
        tl.run(COUNT + "A+", distinct, **READ)


def test_what_is_told() -> None:
    events = [{"time": 1, "type": "A"}, {"time": 1, "type": "A"}, {"time": 2, "type": "A"}]
    with pytest.warns(TieWarning) as caught:
        tl.run(COUNT + "A+", events, **READ)
    assert str(caught[0].message) == (
        "2 events that the pattern can use share their time with another one, so that none of "
        "them comes before the other.\n"
        "If they have an order, name the column that tells it with tiebreak= (--tiebreak), or "
        "take that of the rows: tiebreak='row' (--tiebreak @row)."
    )


def test_the_order_of_rows_orders_them() -> None:
    events = [{"time": 1, "type": kind} for kind in "ABAB"]
    count = COUNT + "SEQ(A, B)"
    assert tl.run(count, events, **READ, tiebreak="row").rows()[0]["COUNT(*)"] == 3
    reversed_rows = tl.run(count, events[::-1], **READ, tiebreak="@row").rows()
    assert reversed_rows[0]["COUNT(*)"] == 1


def test_a_column_called_row_is_that_column() -> None:
    events = [{"time": 1, "type": kind, "row": row} for row, kind in enumerate("BABA")]
    count = COUNT + "SEQ(A, B)"
    events.reverse()
    assert tl.run(count, events, **READ, tiebreak="row").rows()[0]["COUNT(*)"] == 1
    assert tl.run(count, events, **READ, tiebreak="@row").rows()[0]["COUNT(*)"] == 3


def test_events_that_come_bit_by_bit_have_no_order_of_rows() -> None:
    live = tl.workload([COUNT + "A+ WITHIN 2 s SLIDE 2 s"]).live(**READ, tiebreak="row")
    with pytest.raises(InputError, match=r"these have none.*\nName a column"):
        live.push([{"time": 1, "type": "A"}])


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_rows_are_in_the_order_of_the_files_and_in_that_of_each(kind: str, tmp_path: Path) -> None:
    """In several row groups and threads, and more rows than DuckDB hands out at once."""
    rows = 400_000 if kind == "parquet" else 30_000
    types = np.random.default_rng(5).choice(["A", "B", "C"], rows)
    table = pa.table({"time": pa.array(np.zeros(rows, np.int64)), "type": types})
    cuts = [0, rows // 3, rows // 2, rows]
    paths = [str(tmp_path / f"{name}.{kind}") for name in ("c", "a", "b")]
    for path, low, high in zip(paths, cuts[:-1], cuts[1:], strict=True):
        write_file(table.slice(low, high - low), path)
    query = COUNT + "SEQ(A, B) SEMANTICS contiguous"
    right = int(np.count_nonzero((types[:-1] == "A") & (types[1:] == "B")))
    given = tl.run(query, paths, **READ, tiebreak="row", threads=4)
    assert given.rows()[0]["COUNT(*)"] == right
    by_name = np.concatenate([types[cuts[k] : cuts[k + 1]] for k in (1, 2, 0)])
    sorted_right = int(np.count_nonzero((by_name[:-1] == "A") & (by_name[1:] == "B")))
    folder = tl.run(query, str(tmp_path), **READ, tiebreak="row", threads=4)
    assert folder.rows()[0]["COUNT(*)"] == sorted_right


def write_file(table: pa.Table, path: str) -> None:
    if path.endswith("parquet"):
        pq.write_table(table, path, row_group_size=20_000)
    else:
        write_table(table, path, "csv" if path.endswith("csv") else "jsonl")
