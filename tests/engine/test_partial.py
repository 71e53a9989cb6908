"""Partitions spread over several runs: their shares, merged, are what one run gives."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, examples
from trendloom.api import query
from trendloom.engine.chunk import make_chunk
from trendloom.engine.evaluate import Evaluator
from trendloom.engine.layout import Numbers
from trendloom.engine.partial import can_split, merge_partials, partial_schema
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import NumberError, StateError
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading
from trendloom.language import Query, Semantics, to_text
from trendloom.result import Result
from trendloom.testing import same_rows
from trendloom.testing.strategies import Case, cases, conjunctions, patterns, queries

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Spread:
    """A query's events, scanned and given to runs by partition."""

    setting: Setting
    shares: list[pa.Table]
    whole: pa.Table
    """What one run gives."""
    dress: Callable[[pa.Table], pa.Table]

    @property
    def merged(self) -> pa.Table:
        return merge_partials(self.setting, self.shares)

    def rows(self) -> list[dict[str, Any]]:
        return rows_of(self.dress(self.merged))


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    return Result(table, (), (), 0, 0, 0.0).rows()


def spread(
    asked: str | Query,
    events: object,
    tasks: int,
    chance: random.Random,
    *,
    numbers: Numbers = Numbers.AUTO,
    tiebreak: str | None = None,
) -> Spread:
    plan = query(asked).plan
    with open_events(events) as source:
        roles = Reading("time", "type", tiebreak=tiebreak).roles(source)
        axis = roles.axis
        batches = scan_batches(source, plan.scan, roles)
        with batches:
            types = batches.operand_types, batches.partition_types
            setting = Setting(plan, *types, axis.nanoseconds, numbers)
            scanned = list(batches)
    runs = [Run(setting) for _ in range(tasks)]
    whole = Run(setting)
    for batch in scanned:
        whole.push(batch)
        keys = len(plan.scan.partition) if can_split(plan) else plan.plain_groups
        bounds = make_chunk(batch, keys).bounds.tolist()
        for low, high in pairwise(bounds):
            chance.choice(runs).push(batch.slice(low, high - low))
    shares = [carried(run.partial()) for run in runs]
    chance.shuffle(shares)
    return Spread(setting, shares, whole.finish(), lambda table: dressed(plan, table, axis))


def carried(table: pa.Table) -> pa.Table:
    """As it arrives at the other end of a wire."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.open_stream(sink.getvalue()) as reader:
        return reader.read_all()


def compare(case: Case, tasks: int, seed: int, numbers: Numbers = Numbers.AUTO) -> None:
    if not case.events:
        return
    done = spread(
        case.query, case.events, tasks, random.Random(seed), numbers=numbers,
        tiebreak=case.tiebreak,
    )  # fmt: skip
    words = f"{to_text(case.query)}\n{case.events}\n{tasks} {seed}"
    difference = same_rows(case.expected, done.rows(), keys=case.keys)
    assert difference is None, f"{words}\n{difference}"
    merged = done.merged
    assert merged.schema.equals(done.whole.schema, check_metadata=True), words
    assert all(share.schema == partial_schema(done.setting) for share in done.shares), words
    if not done.setting.plan.group_variables:
        order = ["window_start", *case.keys]
        assert merged.select(order) == done.whole.select(order), words
    at_once = merge_partials(done.setting, [pa.concat_tables(done.shares)])
    assert str(at_once.to_pydict()) == str(merged.to_pydict()), words


def partitioned(asked: Query) -> bool:
    return bool(query(asked).plan.scan.partition)


def check(source: Any, count: int, numbers: Numbers = Numbers.AUTO) -> None:
    @examples(count)
    @given(source, st.integers(1, 4), st.integers(0, 1 << 20))
    def checked(case: Case, tasks: int, seed: int) -> None:
        compare(case, tasks, seed, numbers)

    checked()


# ── against the oracle ───────────────────────────────────────────────────────────────────────


@EACH
def test_everything(semantics: Semantics) -> None:
    check(cases(query=queries(semantics=(semantics,)).filter(partitioned)), 100)


@EACH
def test_vectors(semantics: Semantics) -> None:
    asked = queries(
        semantics=(semantics,), allow_negation=False, allow_adjacent=False, allow_anchored=False,
        allow_distinct=False, allow_conjunction=False,
    )  # fmt: skip
    check(cases(query=asked.filter(partitioned)), 60)


@EACH
def test_guards(semantics: Semantics) -> None:
    negated = patterns(need_negation=True)
    check(cases(query=queries(semantics=(semantics,), pattern=negated).filter(partitioned)), 40)


@EACH
def test_grouping_variables(semantics: Semantics) -> None:
    asked = queries(semantics=(semantics,), allow_adjacent=False).filter(
        lambda asked: partitioned(asked) and any(key.variable for key in asked.group_by)
    )
    check(cases(query=asked), 50)


@EACH
def test_exact_integers(semantics: Semantics) -> None:
    asked = queries(semantics=(semantics,)).filter(partitioned)
    check(cases(query=asked), 50, Numbers.EXACT)


@EACH
def test_conjunctions(semantics: Semantics) -> None:
    asked = queries(semantics=(semantics,), pattern=conjunctions(), allow_anchored=False)
    check(cases(query=asked.filter(partitioned)), 50)


@pytest.mark.parametrize("kind", ["none", "time", "change", "count"])
def test_windows(kind: str) -> None:
    check(cases(query=queries(window_kinds=(kind,)).filter(partitioned)), 50)


def test_a_stream_without_partitions_is_in_one_run() -> None:
    check(cases(query=queries().filter(lambda asked: not partitioned(asked))), 40)


def test_the_router_does_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Evaluator, "folds", property(lambda _: False))
    check(cases(query=queries(allow_adjacent=False).filter(partitioned)), 50)


def test_two_sides_that_share_trends() -> None:
    asked = "RETURN k, COUNT(*) AS n PATTERN SEQ(A a, B b) AND SEQ(A c, B+ d) WHERE [g] GROUP-BY k"
    chance = random.Random(3)
    events = [
        {
            "time": t,
            "type": chance.choice("AB"),
            "k": chance.choice("uv"),
            "g": chance.randint(0, 4),
        }
        for t in range(80)
    ]
    assert query(asked).plan.overlap is not None
    done = spread(asked, events, 4, chance)
    assert done.merged == done.whole
    assert min(done.whole.column("n").to_pylist()) > 0


def test_grouping_variables_of_both_sides_are_numbered_anew() -> None:
    asked = """
    RETURN k, a.x, b.y, COUNT(*) AS n, SUM(a.x) AS s PATTERN A+ a AND B+ b
    WHERE [g] GROUP-BY k, b.y, a.x
    """
    chance = random.Random(5)
    events = [
        {
            "time": t,
            "type": chance.choice("AB"),
            "k": chance.choice("uv"),
            "g": chance.randint(0, 5),
            "x": chance.choice([3, 1, 2, None]),
            "y": chance.choice(["s", "t", "r"]),
        }
        for t in range(120)
    ]
    done = spread(asked, events, 4, chance)
    assert done.rows() == rows_of(done.dress(done.whole))
    assert len(done.rows()) > 6


# ── which plans ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("clauses", "splits"),
    [
        ("", True),
        ("GROUP-BY k", True),
        ("WHERE [g] GROUP-BY k", True),
        ("WHERE [k, g] GROUP-BY k WITHIN 5 s SLIDE 1 s", True),
        ("WHERE [g] GROUP-BY k WITHIN 5 EVENTS SLIDE 5 EVENTS", True),
        ("WITHIN 5 s", True),
        ("GROUP-BY k WITHIN 5 s", True),
        ("WHERE [k] GROUP-BY k WITHIN 5 s", True),
        ("WHERE [k] WITHIN 5 s", False),
        ("WHERE [g] GROUP-BY k WITHIN 5 s", False),
    ],
)
def test_changes_of_a_group_need_all_its_partitions(clauses: str, splits: bool) -> None:
    returned = "k, COUNT(*)" if "GROUP" in clauses else "COUNT(*)"
    assert can_split(query(f"RETURN {returned} PATTERN A+ {clauses}").plan) is splits


# ── groups ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "values",
    [
        ["b", "", "a", "ä", "z"],
        [3, -1, 2**40, 0, 7],
        [0.5, -2.0, 1e300, 0.0, -0.0],
        [True, False, True, False, True],
        [date(2024, 5, day) for day in (3, 1, 2, 9, 7)],
        [datetime(2024, 5, day, 1, 2, 3, 4) for day in (3, 1, 2, 9, 7)],
        [Decimal("1.25"), Decimal("-3.10"), Decimal("7.00"), Decimal("0.10"), Decimal("9.99")],
    ],
    ids=lambda values: type(values[0]).__name__,
)
def test_groups_of_any_type_come_out_in_order(values: list[Any]) -> None:
    chance = random.Random(1)
    events = pa.Table.from_pylist(
        [
            {"time": t, "type": "A", "k": chance.choice(values), "g": chance.randint(0, 9)}
            for t in range(200)
        ]
    )
    done = spread("RETURN k, COUNT(*) AS n PATTERN A WHERE [g] GROUP-BY k", events, 3, chance)
    assert done.merged == done.whole
    assert done.merged.column("k").to_pylist() == sorted(set(values))


def test_texts_of_a_dictionary_are_texts_in_a_share() -> None:
    plan = query("RETURN k, COUNT(*) AS n PATTERN A GROUP-BY k").plan
    kind = pa.dictionary(pa.int32(), pa.string())
    setting = Setting(plan, [], [kind], 1)

    def share(*keys: str) -> pa.Table:
        run = Run(setting)
        run.push(
            pa.RecordBatch.from_pydict(
                {
                    "p0": pa.array(keys).cast(kind),
                    "time": pa.array(range(len(keys)), pa.int64()),
                    "mask": pa.array([1] * len(keys), pa.uint8()),
                }
            )
        )
        return run.partial()

    merged = merge_partials(setting, [share("b", "c"), share("a", "b")])
    assert merged.select(["k", "n"]).to_pydict() == {"k": ["a", "b", "c"], "n": [1, 2, 1]}


# ── nothing ──────────────────────────────────────────────────────────────────────────────────

FULL = """
RETURN k, b.x, COUNT(*) AS n, SUM(a.y) AS s, VARIANCE(a.y) AS v, MIN(a.x) AS low,
  SUM(DISTINCT a.y) AS d, COUNT(DISTINCT a) AS c, STDDEV(DISTINCT a.y) AS e
PATTERN SEQ(A+ a, B b) WHERE [g] GROUP-BY k, b.x WITHIN 10 s SLIDE 5 s
"""


def some(count: int, seed: int = 2) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "time": t,
            "type": chance.choice("AAB"),
            "k": chance.choice("uvw"),
            "g": chance.randint(0, 3),
            "x": chance.randint(0, 2),
            "y": chance.choice([0.5, 1.5, -1.0, None]),
        }
        for t in range(count)
    ]


@pytest.mark.parametrize("numbers", list(Numbers))
def test_runs_that_saw_nothing_add_nothing(numbers: Numbers) -> None:
    done = spread(FULL, some(200), 3, random.Random(4), numbers=numbers)
    nothing = Run(done.setting).partial()
    assert nothing.num_rows == 0
    assert nothing.schema == done.shares[0].schema == partial_schema(done.setting)
    shares = [nothing, *done.shares, carried(nothing)]
    assert merge_partials(done.setting, shares) == done.merged
    assert done.merged.num_rows > 20


@pytest.mark.parametrize("numbers", list(Numbers))
def test_no_rows_at_all_have_the_types_of_rows(numbers: Numbers) -> None:
    done = spread(FULL, some(200), 1, random.Random(4), numbers=numbers)
    nothing = Run(done.setting).partial()
    for shares in ([], [nothing], [nothing, nothing]):
        merged = merge_partials(done.setting, shares)
        assert merged.num_rows == 0
        assert merged.schema.equals(done.whole.schema, check_metadata=True)
    assert Run(done.setting).finish().schema.equals(done.whole.schema, check_metadata=True)


def test_a_run_whose_events_make_no_trends_has_no_rows() -> None:
    events = [{**event, "type": "B"} for event in some(20)]
    done = spread(FULL, events, 2, random.Random(4))
    assert [share.num_rows for share in done.shares] == [0, 0]
    assert done.merged.num_rows == 0


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


def test_one_share_is_exactly_the_result() -> None:
    done = spread(FULL, some(300), 1, random.Random(4))
    assert done.rows() == rows_of(done.dress(done.whole))


def test_exact_integers_of_thousands_of_digits_travel() -> None:
    events = [{"time": t, "type": "A", "g": t % 2} for t in range(4000)]
    asked = "RETURN COUNT(*) AS n PATTERN A+ WHERE [g]"
    done = spread(asked, events, 2, random.Random(1), numbers=Numbers.EXACT)
    assert done.rows()[0]["n"] == 2 * (2**2000 - 1)


def test_counts_beyond_doubles_add_up() -> None:
    events = [{"time": t, "type": "A", "g": t % 4} for t in range(8000)]
    asked = "RETURN LOG2(COUNT(*)) AS bits PATTERN A+ WHERE [g]"
    done = spread(asked, events, 4, random.Random(1))
    assert done.rows()[0]["bits"] == pytest.approx(2002.0)


def test_integers_that_overflow_together_are_refused() -> None:
    events = [{"time": t, "type": "A", "g": t, "x": 2**62} for t in range(2)]
    asked = "RETURN SUM(a.x) AS s PATTERN A a WHERE [g]"
    plan_shares = spread_by(asked, events, lambda g: g)
    with pytest.raises(NumberError, match="does not fit a 64-bit integer"):
        merge_partials(*plan_shares)


def spread_by(
    asked: str, events: list[dict[str, Any]], task: Callable[[Any], int]
) -> tuple[Setting, list[pa.Table]]:
    """Which run an event goes to is told by its `g`."""
    found: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        found.setdefault(task(event["g"]), []).append(event)
    shares = [spread(asked, part, 1, random.Random(0)) for part in found.values()]
    return shares[0].setting, [share.shares[0] for share in shares]


def in_one_run(values: list[float]) -> list[dict[str, Any]]:
    return [{"time": t, "type": "A", "k": "u", "g": 1, "x": x} for t, x in enumerate(values)]


SPREADS = """
RETURN k, COUNT(*) AS n, VARIANCE(a.x) AS v, STDDEV(DISTINCT a.x) AS d PATTERN A a
WHERE [g] GROUP-BY k
"""


def spread_of(values: list[tuple[str, int, float]]) -> dict[str, float]:
    """`(k, g, x)`: the variances by k, computed with one run per g."""
    events = [
        {"time": t, "type": "A", "k": k, "g": g, "x": x} for t, (k, g, x) in enumerate(values)
    ]
    merged = merge_partials(*spread_by(SPREADS, events, lambda g: g)).to_pylist()
    for row in merged:
        if row["v"] is not None:
            assert row["d"] == pytest.approx(row["v"] ** 0.5, rel=1e-9, abs=1e-300)
    return {row["k"]: row["v"] for row in merged}


def test_runs_far_apart_keep_the_spread_of_groups_that_only_one_has_seen() -> None:
    near = [("u", 0, x) for x in (0.0, 1.0, 2.0)]
    far = [("v", 1, 1e12 + x) for x in (0.0, 1.0, 2.0)]
    assert spread_of(near + far) == {"u": 1.0, "v": 1.0}


def test_a_group_over_runs_far_apart_has_the_spread_of_both() -> None:
    values = [("u", 0, x) for x in (0.0, 2.0)] + [("u", 1, 1e6 + x) for x in (0.0, 2.0)]
    # Mean 500001; deviations ±500001, ±499999.
    wanted = 2 * (500001.0**2 + 499999.0**2) / 3
    assert spread_of(values)["u"] == pytest.approx(wanted, rel=1e-12)


def test_a_group_far_from_the_middle_of_one_of_its_runs() -> None:
    close = [("u", 0, 1e6 + x) for x in (0.0, 1.0, 2.0)]
    # The second run's middle is near 0: most of its values are of another group.
    other = [("v", 1, float(x % 3)) for x in range(300)] + [
        ("u", 1, 1e6 + x) for x in (0.0, 1.0, 2.0)
    ]
    assert spread_of(close + other)["u"] == pytest.approx(0.8, rel=1e-3)


def test_equal_values_have_no_variance_whatever_the_middles_are() -> None:
    values = [("u", g, 0.1) for g in (0, 1, 2) for _ in range(5)]
    # What else the runs see moves their middles.
    values += [("v", 0, 1e7), ("w", 1, -3e5), ("x", 2, 12345.678)]
    assert spread_of(values)["u"] == 0.0


def test_spreads_of_very_different_size_do_not_overflow() -> None:
    values = [("u", 0, 1e200), ("u", 0, 3e200), ("v", 1, 1.0), ("v", 1, 3.0)]
    events = [
        {"time": t, "type": "A", "k": k, "g": g, "x": x} for t, (k, g, x) in enumerate(values)
    ]
    asked = "RETURN k, STDDEV(a.x) AS d PATTERN A a WHERE [g] GROUP-BY k"
    merged = merge_partials(*spread_by(asked, events, lambda g: g)).to_pylist()
    assert merged[0]["d"] == pytest.approx(2**0.5 * 1e200)


def test_infinite_values_have_no_finite_variance() -> None:
    inf = float("inf")
    values = [("u", 0, inf), ("u", 0, 1.0), ("u", 1, 2.0), ("v", 1, 2.0), ("v", 1, 4.0)]
    events = [
        {"time": t, "type": "A", "k": k, "g": g, "x": x} for t, (k, g, x) in enumerate(values)
    ]
    asked = "RETURN k, VARIANCE(a.x) AS v PATTERN A a WHERE [g] GROUP-BY k"
    merged = merge_partials(*spread_by(asked, events, lambda g: g)).to_pylist()
    whole = spread(asked, events, 1, random.Random(0)).whole.to_pylist()
    assert str(merged[0]["v"]) == str(whole[0]["v"]) == "nan"
    assert merged[1]["v"] == 2.0


def test_a_run_without_values_does_not_move_the_others() -> None:
    values = [1e12, 1e12 + 1, 1e12 + 2]
    one = spread(SPREADS, in_one_run(values), 1, random.Random(0))
    run = Run(one.setting)
    run.push(
        pa.RecordBatch.from_pydict(
            {
                "p0": ["u"],
                "p1": pa.array([0], one.setting.partition_types[1]),
                "time": [0],
                "mask": pa.array([1], pa.uint8()),
                "x0": pa.array([None], one.setting.operand_types[0]),
            }
        )
    )
    nothing = run.partial()
    middles = [name for name in nothing.schema.names if name.endswith("_middle")]
    assert middles
    assert all(not any(nothing.column(name).to_pylist()) for name in middles)
    for shares in ([nothing, *one.shares], [*one.shares, nothing]):
        (row,) = merge_partials(one.setting, shares).to_pylist()
        assert (row["n"], row["v"]) == (4, 1.0)


@pytest.mark.parametrize("numbers", list(Numbers))
def test_shares_that_nobody_could_have_written_are_refused(numbers: Numbers) -> None:
    """Of scaled doubles, and of integers of 64 bits or any size."""
    asked = "RETURN k, COUNT(*), {}(A.x), MAX(A.x), MIN(LENGTH(*)) PATTERN A+ GROUP-BY k"
    for function, values in (("VARIANCE", [1.0, 2.0, 4.0]), ("SUM", [1, 2, 4])):
        events = in_one_run(values)
        one = spread(asked.format(function), events, 1, random.Random(0), numbers=numbers)
        refuse_forged(one)


def refuse_forged(one: Spread) -> None:
    (share,) = one.shares
    forged = [share.rename_columns([f"{name}_" for name in share.schema.names])]
    for at, field in enumerate(share.schema):
        forged.append(share.remove_column(at))
        nulls = share.set_column(at, field, pa.nulls(share.num_rows, field.type))
        if field.name.endswith("_wide"):
            forged.append(share.set_column(at, field, pa.array(["7"], field.type)))
        elif field.name == "least0":
            # That is how values that are all null are written.
            (row,) = merge_partials(one.setting, [nulls]).to_pylist()
            assert row["MAX(A.x)"] is None
        elif field.name[0] in "pwfl":
            forged.append(nulls)
        if field.name == "part":
            forged += [share.set_column(at, field, pa.array([n], field.type)) for n in (-1, 9)]
    for wrong in forged:
        with pytest.raises(StateError, match="damaged"):
            merge_partials(one.setting, [wrong])
