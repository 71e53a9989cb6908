"""Every batch plan against the naive oracle, on the same generated cases as the local host."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from against_oracle import is_stepped
from spark.cases import arrow_events, check_all, drawn, frame_of
from trendloom.engine.maps import mappable
from trendloom.hosts.spark import batch, sources, stages
from trendloom.language import CountWindow, Semantics
from trendloom.testing import naive, same_rows
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

CASES = 48
FOLD: dict[str, Any] = {
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
    "window_kinds": ("none", "time"),
}


def options(case: Case) -> dict[str, Any]:
    return {"time": "time", "type": "type", "tiebreak": case.tiebreak}


def is_spark_case(case: Case) -> bool:
    """Rows of a DataFrame have no order, so windows of events need a tiebreak that leaves none."""
    return bool(case.events) and not isinstance(case.query.window, CountWindow)


def of_frame(spark: SparkSession, plan: str, **more: Any) -> Any:
    def rows(case: Case) -> DataFrame:
        events = list(case.events)
        random.Random(len(repr(events))).shuffle(events)
        frame = frame_of(spark, events, tasks=3)
        return tl.spark.run(tl.query(case.query), frame, plan=plan, **options(case), **more)

    return rows


def test_the_exchange_plan(spark: SparkSession) -> None:
    chosen = [
        case
        for case in drawn(cases(timestamps=None, composed=False), 2 * CASES)
        if is_spark_case(case)
    ]
    check_all(chosen, of_frame(spark, "exchange"))


def test_exact_integers(spark: SparkSession) -> None:
    chosen = [case for case in drawn(cases(composed=False), CASES) if is_spark_case(case)]
    check_all(chosen, of_frame(spark, "auto", numbers="exact"))


def test_the_combine_plan_with_chunks_that_interleave(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most groups are tangled, and cut into parts of a few events."""
    monkeypatch.setattr(batch, "PART_EVENTS", 3)
    chosen = [case for case in drawn(cases(**FOLD), 2 * CASES) if can_combine(case)]
    assert len(chosen) >= 20
    check_all(chosen, of_frame(spark, "combine"))


def test_the_combine_plan_with_chunks_in_the_order_of_time(spark: SparkSession) -> None:
    """A time point that two tasks share is a tie that neither sees whole."""

    def rows(case: Case) -> DataFrame:
        frame = frame_of(spark, case.events, tasks=3)
        return tl.spark.run(tl.query(case.query), frame, plan="combine", **options(case))

    chosen = [case for case in drawn(cases(**FOLD), 2 * CASES) if can_combine(case)]
    check_all(chosen, rows)


def test_the_combine_plan_with_conditions_between_neighbours(spark: SparkSession) -> None:
    """Half of them in order, some with simultaneous events, whose groups are exchanged."""
    knobs = {**FOLD, "allow_adjacent": True, "semantics": (Semantics.CONTIGUOUS,)}
    asked = cases(query=queries(need_adjacent=True, **knobs).filter(is_stepped))
    chosen = [case for case in drawn(asked, CASES // 4) if can_combine(case)]
    assert len(chosen) >= 8
    shuffled = of_frame(spark, "combine")

    def rows(case: Case) -> DataFrame:
        if chosen.index(case) % 2:
            return shuffled(case)
        frame = frame_of(spark, case.events, tasks=3)
        return tl.spark.run(tl.query(case.query), frame, plan="combine", **options(case))

    check_all(chosen, rows)


@pytest.mark.parametrize("ordered", [True, False], ids=["in order", "shuffled"])
def test_the_direct_plan(
    spark: SparkSession, tmp_path: Path, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "TASK_ROWS", 4)

    def rows(case: Case) -> DataFrame:
        events = list(case.events)
        if not ordered:
            random.Random(len(repr(events))).shuffle(events)
        path = tmp_path / f"{id(case)}.parquet"
        pq.write_table(arrow_events(events), path, row_group_size=2)
        return tl.spark.run(tl.query(case.query), str(path), spark, **options(case))

    folds = drawn(cases(timestamps=None, **FOLD), CASES)
    others = drawn(cases(timestamps=None, composed=False), CASES // 2)
    check_all([case for case in folds + others if is_spark_case(case)], rows)


def test_windows_of_events(spark: SparkSession, tmp_path: Path) -> None:
    """In the order of a tiebreak that no two events share, whatever order they come in."""

    def in_files(case: Case) -> DataFrame:
        path = tmp_path / f"{id(case)}.parquet"
        events = random.Random(7).sample(case.events, len(case.events))
        pq.write_table(arrow_events(events), path, row_group_size=2)
        return tl.spark.run(tl.query(case.query), str(path), spark, **options(case))

    drawn_cases = drawn(
        cases(allow_tiebreak=False, window_kinds=("count",), composed=False), CASES // 2
    )
    chosen = [ranked(case) for case in drawn_cases if case.events]
    assert len(chosen) > CASES // 4
    check_all(chosen, of_frame(spark, "auto"))
    check_all(chosen[: CASES // 4], in_files)


def ranked(case: Case) -> Case:
    """In the order of the input, said by a tiebreak: simultaneous events follow one another."""
    events = [{**event, "rank": rank} for rank, event in enumerate(case.events)]
    expected = naive(case.query, events, time="time", type="type", tiebreak="rank", limit=10_000)
    return Case(case.query, events, "rank", expected)


IN_TURN = [
    "RETURN k, COUNT(*) AS n, SUM(A.y) AS s PATTERN (SEQ(A+, B))+ GROUP-BY k",
    "RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP-BY k WITHIN 20 s SLIDE 10 s",
]


@pytest.mark.parametrize("asked", IN_TURN)
def test_the_direct_plan_through_row_groups_that_share_time_points(
    spark: SparkSession, tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of several row groups, which they go through one by one."""
    monkeypatch.setattr(batch, "TASK_ROWS", 24)
    monkeypatch.setattr(sources, "PIECE_ROWS", 4)
    chance = random.Random(3)
    # A task of 24 rows ends with the last of 3 simultaneous events; row groups do not.
    events = [
        {"time": n // 3, "type": chance.choice("AB"), "k": chance.choice("uv"), "y": n / 4}
        for n in range(72)
    ]
    path = tmp_path / "events.parquet"
    pq.write_table(pa.Table.from_pylist(events), path, row_group_size=4)
    taken = []
    in_order = stages.reduce_in_order
    monkeypatch.setattr(stages, "reduce_in_order", lambda *g: taken.append(1) or in_order(*g))
    found = tl.spark.run(asked, str(path), spark, time="time", type="type").toArrow().to_pylist()
    assert taken
    expected = tl.run(asked, events, time="time", type="type").rows()
    keys = ("k",)
    assert same_rows(expected, found, keys=keys) is None


def can_combine(case: Case) -> bool:
    from trendloom.engine.setting import Setting
    from trendloom.hosts.scan.project import Projector
    from trendloom.hosts.scan.reading import Reading

    if not is_spark_case(case):
        return False
    plan = tl.query(case.query).plan
    projector = Projector(plan.scan, arrow_events(case.events).schema, Reading(**options(case)))
    types = projector.operand_types, projector.partition_types
    return mappable(Setting(plan, *types, projector.axis.nanoseconds))
