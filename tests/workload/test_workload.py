"""Workloads as a user meets them: names, results, changes, and everything that is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.errors import InputError, NumberError, WorkloadError
from trendloom.testing import stream

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = stream("a1:x=1,k=u b2:x=2,k=v a3:x=3,k=u b4:x=4,k=u c5:x=5,k=v d6:x=6,k=u c7:x=7,k=u")
READ = {"time": "time", "type": "type"}
QUERIES = {
    "rises": "RETURN COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A, B, C)",
    "falls": "RETURN COUNT(*) AS n PATTERN SEQ(A, B, D)",
    "loops": "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) GROUP-BY k",
}


def alone(queries: dict[str, str], events: Any = EVENTS, **options: Any) -> dict[str, Any]:
    return {n: tl.run(q, events, **READ, **options).rows() for n, q in queries.items()}


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_every_query_has_its_own_rows(mode: str) -> None:
    results = tl.workload(QUERIES).run(EVENTS, **READ, mode=mode)
    assert {name: result.rows() for name, result in results.items()} == alone(QUERIES)
    assert results.events == len(EVENTS)
    assert results["rises"].value_columns == ("n", "s")
    assert list(results) == ["rises", "falls", "loops"]


def test_the_union_has_a_column_of_names() -> None:
    results = tl.workload(QUERIES).run(EVENTS, **READ)
    assert results.table.column_names == ["query", "window_start", "window_end", "n", "s", "k"]
    rows = [(r["query"], r["n"], r["s"], r["k"]) for r in results.table.to_pylist()]
    assert rows == [
        ("rises", 6, 10, None),
        ("falls", 3, None, None),
        ("loops", 3.0, None, "u"),
    ]
    assert "query" in str(results)
    assert repr(results) == "<Results of 3 queries; rows: rises: 1, falls: 1, loops: 1>"
    assert results.rows()[1]["query"] == "falls"
    assert results.union.group_columns == ("query", "k")
    with pytest.raises(KeyError, match="Did you mean 'rises'"):
        results["rise"]


def test_integers_that_a_double_cannot_hold_are_not_rounded() -> None:
    """COUNT(*) of the one is an integer, of the other a double."""
    queries = {
        "large": f"RETURN SUM(A.x) AS n PATTERN A WHERE A.x > {2**53}",
        "loops": "RETURN COUNT(*) AS n PATTERN A+",
    }
    results = tl.workload(queries).run(
        [{"time": 1, "type": "A", "x": 2**53 + 1}, {"time": 2, "type": "A", "x": 1}], **READ
    )
    assert results["large"].rows()[0]["n"] == 2**53 + 1
    with pytest.raises(InputError, match=r"'n' of query 'large' has integers above 2\^53"):
        _ = results.table


def test_there_is_no_union_of_times_and_numbers_of_events() -> None:
    queries = [
        "RETURN COUNT(*) PATTERN A WITHIN 2 EVENTS SLIDE 2 EVENTS",
        "RETURN COUNT(*) PATTERN A WITHIN 2 s SLIDE 2 s",
    ]
    events = pa.table({"time": pa.array([1, 2], pa.timestamp("s")), "type": ["A", "A"]})
    results = tl.workload(queries).run(events, **READ)
    assert len(results["q1"]) == 1
    with pytest.raises(InputError, match="Take each query's own table"):
        _ = results.union


def test_names() -> None:
    assert tl.workload(list(QUERIES.values())).names == ("q1", "q2", "q3")
    assert tl.workload([tl.query(QUERIES["falls"])])["q1"].text == QUERIES["falls"]
    assert repr(tl.workload(QUERIES)) == "Workload(rises, falls, loops)"
    assert len(tl.workload(tl.workload(QUERIES))) == 3


def test_a_folder(tmp_path: Path) -> None:
    for name, text in QUERIES.items():
        (tmp_path / f"{name}.tq").write_text(text)
    (tmp_path / "README.md").write_text("no query")
    workload = tl.workload(tmp_path)
    assert workload.names == ("falls", "loops", "rises")
    assert workload.run(EVENTS, **READ)["rises"].rows() == alone(QUERIES)["rises"]


def test_changes_make_another_workload_and_keep_the_other_queries() -> None:
    first = tl.workload(QUERIES)
    second = first.replace("falls", "RETURN COUNT(*) AS n PATTERN SEQ(A, C)")
    assert second.names == first.names
    assert second["rises"] is first["rises"]
    third = second.add("more", QUERIES["falls"]).remove("loops")
    assert third.names == ("rises", "falls", "more")
    assert first["falls"].text == QUERIES["falls"]
    rows = third.run(EVENTS, **READ)
    assert [rows[name].rows()[0]["n"] for name in rows] == [6, 4, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w.add("rises", "RETURN COUNT(*) PATTERN A"), "There is a query 'rises' already"),
        (lambda w: w.add("", "RETURN COUNT(*) PATTERN A"), "A query's name is text, not ''"),
        (lambda w: w.replace("rise", "RETURN COUNT(*) PATTERN A"), "Did you mean 'rises'"),
        (lambda w: w.remove("x"), "There is no query 'x'"),
        (lambda w: w.remove("falls").remove("loops").remove("rises"), "last query"),
        (lambda w: w.replace("rises", "RETURN"), "rises: The query ends too early"),
        (lambda w: w.run(EVENTS, **READ, mode="often"), "Unknown mode 'often'"),
        (lambda w: w.run(EVENTS, **READ, threads=0), "cannot run on 0 threads"),
        (lambda w: w.explain("svg"), "Unknown format 'svg'"),
        (lambda _: tl.workload([]), "The workload has no queries"),
        (lambda _: tl.workload({}), "The workload has no queries"),
        (lambda _: tl.workload(3), "A workload is a list, a mapping or a folder, not int"),
        (lambda _: tl.workload({1: "RETURN COUNT(*) PATTERN A"}), "A query's name is text, not 1"),
        (lambda _: tl.workload([7]), "q1: A query is text, not int"),
        (lambda _: tl.workload("/no/such/folder"), "There is no folder '/no/such/folder'"),
        (lambda _: tl.workload(__file__), "is no folder"),
    ],
)
def test_refusals(change: Any, words: str) -> None:
    with pytest.raises(tl.TrendloomError) as caught:
        change(tl.workload(QUERIES))
    assert words in str(caught.value)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There are no queries in"):
        tl.workload(tmp_path)


def test_all_wrong_queries_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.tq").write_text("RETURN COUNT(*) PATTERN SEQ(A, B")
    (tmp_path / "b.tq").write_text(QUERIES["falls"])
    (tmp_path / "c.tq").write_text("RETURN COUNT(*) PATTERN A\nWHERE Z.x > 1")
    (tmp_path / "d.tq").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(WorkloadError) as caught:
        tl.workload(tmp_path)
    assert list(caught.value.errors) == [str(tmp_path / f"{name}.tq") for name in "acd"]
    words = str(caught.value)
    assert words.startswith("3 of 4 queries are wrong; nothing was run.\n")
    assert f"{tmp_path}/c.tq: Unknown variable 'Z'. (line 2, column 7)" in words
    assert "\n    WHERE Z.x > 1\n          ^^^\n" in words
    assert "d.tq' is not UTF-8 text" in words


def test_all_columns_that_are_missing_are_told_at_once() -> None:
    queries = [
        "RETURN SUM(A.z) PATTERN A",
        "RETURN COUNT(*) PATTERN A",
        "RETURN MAX(A.w) PATTERN A",
    ]
    with pytest.raises(WorkloadError) as caught:
        tl.workload(queries).run(EVENTS, **READ)
    assert list(caught.value.errors) == ["q1", "q3"]
    assert "'z'" in str(caught.value)


def test_a_type_that_does_not_fit_names_the_query() -> None:
    queries = {"fine": "RETURN COUNT(*) PATTERN A", "bad": "RETURN SUM(A.k) PATTERN A"}
    with pytest.raises(InputError, match="of query 'bad' needs a number"):
        tl.workload(queries).run(EVENTS, **READ)


def test_windows_that_are_no_whole_ticks_are_told_at_once() -> None:
    queries = [f"RETURN COUNT(*) PATTERN A WITHIN {n} ms SLIDE {n} ms" for n in (1500, 2000, 2500)]
    with pytest.raises(WorkloadError) as caught:
        tl.workload(queries).run(EVENTS, **READ)
    assert list(caught.value.errors) == ["q1", "q3"]


def test_no_events() -> None:
    results = tl.workload(QUERIES).run([], **READ)
    assert [len(one) for one in results.values()] == [0, 0, 0]
    assert results.table.num_rows == 0


def test_text_is_parsed_once_for_groups_of_other_partitions(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    lines = [",".join(str(event[name]) for name in EVENTS[0]) for event in EVENTS]
    path.write_text("\n".join([",".join(EVENTS[0]), *lines]))
    results = tl.workload(QUERIES).run(str(path), **READ)
    assert {name: result.rows() for name, result in results.items()} == alone(QUERIES)


def test_rows_without_a_time() -> None:
    events = [*EVENTS, {**EVENTS[0], "time": None}]
    with pytest.raises(InputError, match="1 of 8 rows"):
        tl.workload(QUERIES).run(events, **READ)
    results = tl.workload(QUERIES).run(events, **READ, bad_rows="drop")
    assert results.dropped_rows == 1
    assert results["falls"].rows() == alone(QUERIES)["falls"]


def test_more_letters_than_a_mask_has() -> None:
    queries = {f"q{n}": f"RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x >= {n % 7} AND B.x > {n}"
               for n in range(70)}  # fmt: skip
    found = tl.workload(queries).run(EVENTS, **READ)
    some = {f"q{n}": queries[f"q{n}"] for n in (0, 1, 2, 3, 4, 40, 69)}
    assert {name: found[name].rows() for name in some} == alone(some)
    assert not any(found[name].rows() for name in queries if int(name[1:]) > 3)


def test_windows_of_one_length_are_one_window() -> None:
    workload = tl.workload(
        [
            "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 60 s SLIDE 60 s",
            "RETURN COUNT(*) PATTERN SEQ(A, C) WITHIN 1 minute SLIDE 1 minute",
        ]
    )
    assert "A shared by q1, q2" in workload.explain()


def test_a_sum_that_nobody_asks_for_may_overflow() -> None:
    """SUM(A.x) is kept in all cells of a family; where it is not asked for it must not matter."""
    events = [{"time": n, "type": "A", "x": 2**61} for n in range(3)]
    events += [{"time": 3 + n, "type": "BC"[n > 0], "x": 1} for n in range(4)]
    queries = {
        "few": "RETURN SUM(A.x) AS s PATTERN SEQ(A, B)",
        "many": "RETURN COUNT(*) AS n PATTERN SEQ(A, B, C)",
    }
    shared = tl.workload(queries).run(events, **READ, mode="always")
    assert {name: result.rows() for name, result in shared.items()} == alone(queries, events)
    both = queries | {
        "over": "RETURN SUM(A.x) AS s PATTERN SEQ(A, B, C)",
        "other": "RETURN COUNT(*) PATTERN B",
    }
    with pytest.raises(WorkloadError, match="1 of 4 queries failed") as caught:
        tl.workload(both).run(events, **READ, mode="always")
    assert isinstance(caught.value.errors["over"], NumberError)


def test_progress_comes_to_its_end() -> None:
    seen: list[tuple[int, int | None]] = []
    tl.workload(QUERIES).run(EVENTS, **READ, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (14, 14)
    assert sorted(seen) == seen


def test_the_package_s_name_stays_the_function_s() -> None:
    import trendloom.workloads.sharing  # noqa: F401

    assert callable(tl.workload)
