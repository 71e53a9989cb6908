"""Maps of chunks, multiplied: the same rows as one run over all events gives."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, examples, folded_guards, is_folded, is_stepped
from trendloom import bigint
from trendloom.api import query, run
from trendloom.engine import maps as making
from trendloom.engine import product as multiplying
from trendloom.engine.chunk import join_batches
from trendloom.engine.lanes import Sum, lanes_of
from trendloom.engine.layout import Numbers
from trendloom.engine.maps import MAX_PANES, make_maps, map_schema, mappable
from trendloom.engine.product import Product
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import InputError, NumberError
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading
from trendloom.kernels.lattice_maps import apply_extremes
from trendloom.language import Semantics, to_text
from trendloom.language.nodes import Aggregate, Function, Query
from trendloom.testing import naive, same_rows
from trendloom.testing.strategies import Case, cases, conjunctions, queries

if TYPE_CHECKING:
    from trendloom.hosts.scan.times import TimeAxis

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Scanned:
    """What a host delivers for a query, in one batch."""

    setting: Setting
    batch: pa.RecordBatch
    axis: TimeAxis

    @property
    def time(self) -> Any:
        return self.batch.column("time").to_numpy()

    def cut_at(self, times: list[int]) -> list[pa.RecordBatch]:
        """Chunks that follow one another in time."""
        return self.dealt(np.searchsorted(np.sort(times), self.time, side="right"))

    def dealt(self, hands: Any) -> list[pa.RecordBatch]:
        """Event i goes to chunk `hands[i]`."""
        return [self.batch.filter(pa.array(hands == hand)) for hand in np.unique(hands)]

    def product(self, chunks: list[pa.RecordBatch], seed: int = 0) -> tuple[pa.Table, pa.Table]:
        tables = [make_maps(self.setting, chunk) for chunk in chunks]
        random.Random(seed).shuffle(tables)
        product = Product(self.setting)
        for table in tables:
            product.add(table)
        return product.finish()

    def rows(self, table: pa.Table) -> Rows:
        table = dressed(self.setting.plan, table, self.axis)
        found: Rows = table.to_pylist()
        for i in bigint.marked_columns(table):
            values = bigint.as_integers(table.column(i))
            for row, value in zip(found, values, strict=True):
                row[table.schema.names[i]] = value
        return found


def scanned(
    asked: str | Query,
    events: Rows,
    tiebreak: str | None = None,
    numbers: Numbers = Numbers.AUTO,
) -> Scanned:
    plan = query(asked).plan
    with open_events(events) as source:
        roles = Reading("time", "type", tiebreak=tiebreak).roles(source)
        axis = roles.axis
        batches = scan_batches(source, plan.scan, roles)
        with batches:
            types = batches.operand_types, batches.partition_types
            setting = Setting(plan, *types, axis.nanoseconds, numbers)
            found = list(batches)
            batch = join_batches(found) if found else batches.schema.empty_table().to_batches()
    return Scanned(setting, batch or pa.RecordBatch.from_pylist([], batches.schema), axis)


def is_foldable(asked: Query) -> bool:
    """Guards that clear sums, nothing bound, and no sets of events."""
    if not is_folded(asked):
        return False
    plan = query(asked).plan
    outputs = [one.value for one in plan.outputs if isinstance(one.value, Aggregate)]
    lanes = [lane for one in outputs for lane in lanes_of(plan, one)]
    return not any(isinstance(lane, Sum) and lane.distinct for lane in lanes)


def foldable(**knobs: Any) -> st.SearchStrategy[Query]:
    return queries(
        window_kinds=("none", "time", "time"),
        allow_adjacent=False,
        allow_anchored=False,
        allow_distinct=False,
        **knobs,
    ).filter(is_foldable)


def check_same(case: Case, rows: Rows, *about: object) -> None:
    difference = same_rows(case.expected, rows, keys=case.keys)
    assert difference is None, f"{to_text(case.query)}\n{case.events}\n{about}\n{difference}"


def check_cut_by_time(
    case: Case, cuts: list[int], seed: int, numbers: Numbers = Numbers.AUTO
) -> None:
    if not case.events:
        return
    scan = scanned(case.query, case.events, case.tiebreak, numbers)
    assert mappable(scan.setting)
    table, tangled = scan.product(scan.cut_at(cuts), seed)
    assert tangled.num_rows == 0
    check_same(case, scan.rows(table), cuts)


CUTS = st.lists(st.integers(-4, 20), max_size=5)


@EACH
def test_chunks_cut_by_time_give_the_rows_of_one_run(semantics: Semantics) -> None:
    @examples(150)
    @given(cases(query=foldable(semantics=(semantics,))), CUTS, st.integers(0, 5))
    def check(case: Case, cuts: list[int], seed: int) -> None:
        check_cut_by_time(case, cuts, seed)

    check()


@EACH
def test_extremes_of_chunks_cut_by_time(
    semantics: Semantics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MIN, MAX and lengths travel as keys."""
    applied = []

    def noted(*arguments: Any) -> None:
        applied.append(True)
        apply_extremes(*arguments)

    monkeypatch.setattr(multiplying, "apply_extremes", noted)
    asked = foldable(semantics=(semantics,), functions=(Function.MIN, Function.MAX))

    @examples(200)
    @given(cases(query=asked), CUTS, st.integers(0, 5))
    def check(case: Case, cuts: list[int], seed: int) -> None:
        check_cut_by_time(case, cuts, seed)

    check()
    assert len(applied) > 100


@EACH
def test_maps_of_guards(semantics: Semantics) -> None:
    with_guards = folded_guards(semantics)

    @examples(100, several=0)
    @given(cases(query=foldable(semantics=(semantics,), pattern=with_guards)), CUTS)
    def check(case: Case, cuts: list[int]) -> None:
        check_cut_by_time(case, cuts, 0)

    check()


@EACH
def test_both_sides_of_a_conjunction_are_multiplied(semantics: Semantics) -> None:
    @examples(50)
    @given(
        cases(query=foldable(semantics=(semantics,), pattern=conjunctions(), allow_group_by=True)),
        CUTS,
    )
    def check(case: Case, cuts: list[int]) -> None:
        check_cut_by_time(case, cuts, 0)

    check()


@EACH
def test_exact_integers_of_chunks_cut_by_time(semantics: Semantics) -> None:
    @examples(120)
    @given(cases(query=foldable(semantics=(semantics,))), CUTS)
    def check(case: Case, cuts: list[int]) -> None:
        check_cut_by_time(case, cuts, 0, Numbers.EXACT)

    check()


@pytest.mark.parametrize("numbers", list(Numbers), ids=lambda numbers: numbers.value)
def test_conditions_between_neighbours_hold_where_chunks_meet(numbers: Numbers) -> None:
    """Groups with simultaneous events go another way; all others are right."""
    asked = queries(
        semantics=(Semantics.CONTIGUOUS,),
        window_kinds=("none", "time", "time"),
        allow_anchored=False,
        allow_distinct=False,
        need_adjacent=True,
    ).filter(is_stepped)
    whole, partly = [], []

    @examples(200)
    @given(cases(query=asked), CUTS, st.integers(0, 5))
    def check(case: Case, cuts: list[int], seed: int) -> None:
        if not case.events:
            return
        scan = scanned(case.query, case.events, case.tiebreak, numbers)
        assert mappable(scan.setting)
        table, tangled = scan.product(scan.cut_at(cuts), seed)
        (partly if tangled.num_rows else whole).append(bool(case.expected))
        if not tangled.num_rows:
            check_same(case, scan.rows(table), cuts)
            return
        difference = kept_rows_differ(scan, table, tangled)
        assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"

    check()
    assert sum(whole) > 20
    assert sum(partly) > 20


def kept_rows_differ(scan: Scanned, table: pa.Table, tangled: pa.Table) -> str | None:
    """From those of one run, without the tangled groups."""
    whole = Run(scan.setting)
    whole.push(scan.batch)
    expected = whole.finish().to_pylist()
    names = [key.attribute for key in scan.setting.plan.group_by]
    left_out = [tuple(row.values()) for row in tangled.to_pylist()]
    kept = [row for row in expected if tuple(row[name] for name in names) not in left_out]
    if not names and left_out:
        assert left_out == [(True,)]
        kept = []
    return same_rows(kept, table.to_pylist(), keys=names)


def test_words_are_compared_where_chunks_meet() -> None:
    text = """RETURN COUNT(*) AS n, SUM(A.x) AS s, VARIANCE(A.x) AS v, MIN(A.x) AS w, COUNT(B) AS b
        PATTERN SEQ(A+, B) SEMANTICS contiguous
        WHERE A.w < NEXT(A).w AND A.x <> NEXT(B).x WITHIN 12 s SLIDE 8 s"""
    chance = random.Random(4)
    events = [
        {"time": t, "type": chance.choice("AAAB"), "x": chance.choice([None, 1, 2, 7]),
         "w": chance.choice(["ant", "bee", None, "cow", "dog"])}
        for t in range(60)
    ]  # fmt: skip
    expected = naive(text, events, time="time", type="type")
    assert len(expected) > 4
    scan = scanned(text, events)
    for cuts in ([], [20, 40], list(range(60))):
        rows = scan.rows(scan.product(scan.cut_at(cuts), len(cuts))[0])
        assert same_rows(expected, rows, keys=()) is None, cuts


@EACH
def test_chunks_cut_anyhow_are_tangled_or_right(semantics: Semantics) -> None:
    tangles = []

    @examples(150)
    @given(cases(query=foldable(semantics=(semantics,))), st.randoms(use_true_random=False))
    def check(case: Case, chance: random.Random) -> None:
        if not case.events:
            return
        scan = scanned(case.query, case.events, case.tiebreak)
        hands = np.array([chance.randrange(3) for _ in range(scan.batch.num_rows)], np.int64)
        table, tangled = scan.product(scan.dealt(hands))
        tangles.append(tangled.num_rows)
        difference = kept_rows_differ(scan, table, tangled)
        assert difference is None, f"{to_text(case.query)}\n{case.events}\n{hands}\n{difference}"

    check()
    assert 0 < sum(count > 0 for count in tangles) < len(tangles)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize("window", ["", "WITHIN 30 s SLIDE 12 s"])
def test_few_rows_at_a_time_and_one_table_of_all_give_the_same(
    semantics: str, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks end between partitions; rows of many chunks may come in one table, cut anywhere."""
    text = f"""RETURN g, COUNT(*) AS n, SUM(A.x) AS s, VARIANCE(B.x) AS v, AVG(LENGTH(*)) AS l,
        MIN(A.x) AS low, MAX(B.x) AS high, MAX(LENGTH(*)) AS longest, MIN(LENGTH(*)) AS shortest
        PATTERN (SEQ(A+, B))+ SEMANTICS {semantics} WHERE [k] GROUP-BY g {window}"""
    chance = random.Random(5)
    events = [
        {"time": t // 3, "type": chance.choice("AAB"), "x": chance.choice([None, 1.5, -2.0, 7.25]),
         "g": chance.choice("pqr"), "k": chance.randrange(4)}
        for t in range(400)
    ]  # fmt: skip
    scan = scanned(text, events)
    expected = run(text, events, time="time", type="type").rows()
    chunks = scan.cut_at([20, 21, 55, 90])
    monkeypatch.setattr(making, "AT_ONCE", 200)
    monkeypatch.setattr(multiplying, "AT_ONCE", 400)
    joined = pa.concat_tables([make_maps(scan.setting, chunk) for chunk in chunks])
    mixed = joined.take(pa.array(chance.sample(range(len(joined)), len(joined))))
    product = Product(scan.setting)
    for at in range(0, len(mixed), 7):
        product.add(mixed.slice(at, 7))
    table, tangled = product.finish()
    assert tangled.num_rows == 0
    assert len(expected) > 2
    assert same_rows(expected, scan.rows(table), keys=("g",), scale=1e3) is None


def test_rows_come_in_the_order_of_a_run() -> None:
    text = "RETURN g, COUNT(*) AS n PATTERN A+ GROUP-BY g WITHIN 10 s SLIDE 5 s"
    events = [{"time": t, "type": "A", "g": ["zebra", "ant", "cow"][t % 3]} for t in range(40)]
    scan = scanned(text, events)
    table, _ = scan.product(scan.cut_at([13, 14, 30]))
    whole = Run(scan.setting)
    whole.push(scan.batch)
    assert table.equals(whole.finish())


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("semantics", ["any", "next"])
def test_counts_beyond_doubles_keep_their_logarithm(semantics: str) -> None:
    """6,000 events: 2^6000 − 1 trends, or as many as there are stretches of them."""
    events = [{"time": t, "type": "A"} for t in range(6000)]
    text = f"RETURN COUNT(*) AS n, LOG2(COUNT(*)) AS l PATTERN A+ SEMANTICS {semantics}"
    scan = scanned(text, events)
    table, _ = scan.product(scan.cut_at([10, 1500, 1501, 4000]))
    (row,) = scan.rows(table)
    if semantics == "any":
        assert row["n"] == float("inf")
        assert isclose(row["l"], 6000, rel_tol=1e-12)
    else:
        assert row["n"] == 6000 * 6001 / 2


def test_a_small_finished_count_survives_beside_huge_partial_ones() -> None:
    """The partial trends of A+ after the last C never finish."""
    events = [{"time": 0, "type": "A"}, {"time": 1, "type": "C"}]
    events += [{"time": t, "type": "A"} for t in range(2, 4000)]
    text = "RETURN COUNT(*) AS n, COUNT(A) AS a PATTERN SEQ(A+, C) SEMANTICS any"
    scan = scanned(text, events)
    for cuts in ([2], [1, 500], [1, 2, 3, 3999], [700, 1400, 2100]):
        table, _ = scan.product(scan.cut_at(cuts))
        assert [(row["n"], row["a"]) for row in scan.rows(table)] == [(1, 1)]


def test_trends_that_may_still_begin_survive_beside_huge_partial_ones() -> None:
    """One empty trend waits in a guard's cell, beside 2^4000 partial ones of the other side."""
    text = "RETURN COUNT(*) AS n PATTERN SEQ(NOT C, B) OR SEQ(A+, D) SEMANTICS any"
    events = [{"time": t, "type": "A"} for t in range(4000)]
    events += [{"time": 4000 + t, "type": kind} for t, kind in enumerate("BBCB")]
    assert run(text, events, time="time", type="type").rows()[0]["n"] == 2
    scan = scanned(text, events)
    for cuts in ([], [700, 1400, 4001], [4003]):
        assert scan.rows(scan.product(scan.cut_at(cuts))[0])[0]["n"] == 2


def test_an_integer_overflow_is_refused_only_where_it_counts() -> None:
    """Sums of 2^62 overflow from the second B on; without an A before them there is no trend."""
    text = "RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(A, B) SEMANTICS any"
    large = [{"time": t, "type": "B", "x": 1 << 62} for t in range(1, 5)]
    harmless = [*large, {"time": 9, "type": "A", "x": 0}, {"time": 10, "type": "B", "x": 5}]
    scan = scanned(text, harmless)
    assert scan.rows(scan.product(scan.cut_at([3, 9]))[0])[0]["s"] == 5
    harmful = [{"time": 0, "type": "A", "x": 0}, *harmless]
    scan = scanned(text, harmful)
    for cuts in ([], [1], [2], [3, 9]):
        with pytest.raises(NumberError, match="64-bit"):
            scan.product(scan.cut_at(cuts))


def test_products_of_integers_notice_their_own_overflow() -> None:
    """No map overflows, only their product: 2^14 choices for each of the five variables."""
    chain = "SEQ(A, B, C, D, E)"
    events = [
        {"time": (1 << 14) * k + t, "type": kind}
        for k, kind in enumerate("ABCDE")
        for t in range(1 << 14)
    ]
    scan = scanned(f"RETURN COUNT(*) AS n PATTERN {chain} SEMANTICS any", events)
    chunks = scan.cut_at([(1 << 14) * k for k in range(1, 5)])
    with pytest.raises(NumberError, match="64-bit"):
        scan.product(chunks)
    assert scan.product(chunks[:4])[0].num_rows == 0


@pytest.mark.parametrize("window", ["", "WITHIN 3000 s SLIDE 1000 s"])
def test_exact_integers_of_any_size(window: str) -> None:
    """2^6000 trends or so: each map has a few dozen events, and 64 bits."""
    text = f"RETURN COUNT(*) AS n, SUM(A.x) AS s, MAX(A.x) AS h, AVG(A.x) AS a PATTERN A+ {window}"
    events = [{"time": t // 2, "type": "A", "x": (-1) ** t * t} for t in range(6000)]
    scan = scanned(text, events, numbers=Numbers.EXACT)
    expected = run(text, events, time="time", type="type", numbers="exact").rows()
    chunks = scan.cut_at([10, 1500, 1501])
    assert 40 < len(make_maps(scan.setting, chunks[1])) < 150
    rows = scan.rows(scan.product(chunks)[0])
    assert rows == expected
    assert max(row["n"] for row in rows) > 1 << 2000


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_exact_sums_that_do_not_fit_at_one_time_point(semantics: str) -> None:
    large = [(1 << 63) - 1, -(1 << 63), (1 << 62) + 1]
    for values in (large[:1] * 9, large[1:2] * 9, large * 3):
        events = [
            {"time": t // 3, "type": "AAB"[t % 3 if t > 2 else 0], "x": x}
            for t, x in enumerate(values)
        ]
        text = f"""RETURN COUNT(*) AS n, COUNT(A) AS a, SUM(A.x) AS s, SUM(B.x) AS t,
            STDDEV(A.x) AS d PATTERN SEQ(A+, B) SEMANTICS {semantics}"""
        scan = scanned(text, events, numbers=Numbers.EXACT)
        (expected,) = run(text, events, time="time", type="type", numbers="exact").rows()
        for cuts in ([], [1], [1, 2]):
            (row,) = scan.rows(scan.product(scan.cut_at(cuts))[0])
            assert isclose(row.pop("d"), expected["d"], rel_tol=1e-6)
            assert row == {name: value for name, value in expected.items() if name != "d"}


@pytest.mark.parametrize("semantics", ["any", "contiguous"])
@pytest.mark.parametrize(
    ("near", "step"), [(1e9, 1e-3), (-1e9, 0.0), (1e300, 1e290), (1e-250, 1e-260), (0.0, 5.0)]
)
def test_centres_far_apart_agree(semantics: str, near: float, step: float) -> None:
    """Every chunk's values are near its own middle; all together they still have a variance."""
    chance = random.Random(2)
    spread = abs(near) * 1e-12 or 0.1
    events = [
        {"time": t, "type": chance.choice("AAB"), "x": near + step * (t // 10) + spread * t}
        for t in range(40)
    ]
    text = f"""RETURN COUNT(*) AS n, VARIANCE(A.x) AS v, STDDEV(B.x) AS d
        PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}"""
    scan = scanned(text, events)
    (expected,) = run(text, events, time="time", type="type").rows()
    for cuts in ([10, 20, 30], list(range(40)), [3, 4, 33]):
        (row,) = scan.rows(scan.product(scan.cut_at(cuts), len(cuts))[0])
        assert row["n"] == expected["n"]
        for name in ("v", "d"):
            assert isclose(row[name], expected[name], rel_tol=1e-6), (name, cuts)
            assert expected[name] > 0 or abs(near) < 1e-200


def test_equal_values_have_no_variance_wherever_they_are_cut() -> None:
    events = [{"time": t, "type": "A", "x": 0.1} for t in range(30)]
    scan = scanned("RETURN VARIANCE(A.x) AS v PATTERN A+", events)
    for cuts in ([], [7], list(range(30))):
        assert scan.rows(scan.product(scan.cut_at(cuts))[0])[0]["v"] == 0.0


def test_infinite_and_absent_values_do_as_in_one_run() -> None:
    inf, nan = float("inf"), float("nan")
    values = [1.0, None, inf, nan, 2.0, -inf, 3.0]
    events = [{"time": t, "type": "AB"[t % 2], "x": x} for t, x in enumerate(values)]
    text = "RETURN g, SUM(A.x) AS s, SUM(B.x) AS t, VARIANCE(A.x) AS v PATTERN SEQ(A, B) GROUP-BY g"
    for lone in (values.index(inf), 1, 0):
        stream = [event | {"g": int(event["time"] > lone)} for event in events]
        expected = run(text, stream, time="time", type="type").rows()
        scan = scanned(text, stream)
        rows = scan.rows(scan.product(scan.cut_at(list(range(7))))[0])
        assert str(rows) == str(expected)


# ── extremes ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_values_near_the_ends_of_64_bits_and_trends_without_any(semantics: str) -> None:
    """All keys but one are values, so none of them can mean "no trend" or "no value"."""
    low, high = -(1 << 63), (1 << 63) - 1
    kinds = "AABABB"
    for values in ([low] * 6, [high - 1] * 6, [None] * 6, [None, low, high - 1, None, 0, -1]):
        events = [
            {"time": t, "type": kind, "x": x, "y": None if x is None else -1 - x}
            for t, (kind, x) in enumerate(zip(kinds, values, strict=True))
        ]
        events.append({"time": 99, "type": "Z", "x": 0, "y": 0})
        text = f"""RETURN COUNT(*) AS n, MIN(A.x) AS a, MIN(B.x) AS b, MAX(A.y) AS c, MAX(B.y) AS d,
            MAX(LENGTH(*)) AS l, MIN(LENGTH(*)) AS s PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}"""
        expected = naive(text, events, time="time", type="type")
        scan = scanned(text, events)
        for cuts in ([], [1], [2, 3], list(range(7))):
            rows = scan.rows(scan.product(scan.cut_at(cuts))[0])
            assert same_rows(expected, rows, keys=()) is None, (values, cuts)


def test_the_value_that_no_key_can_be_is_refused() -> None:
    events = [{"time": 0, "type": "A", "x": (1 << 63) - 1}]
    scan = scanned("RETURN MIN(A.x) AS low PATTERN A+", events)
    with pytest.raises(NumberError, match="MIN and MAX cannot hold the value"):
        make_maps(scan.setting, scan.batch)


# ── edges ────────────────────────────────────────────────────────────────────────────────────


def test_no_events_give_no_rows_and_nothing_tangled() -> None:
    text = "RETURN g, COUNT(*) AS n, VARIANCE(A.x) AS v PATTERN A+ GROUP-BY g"
    setting = scanned(text, [{"time": 0, "type": "A", "x": 1.0, "g": "u"}]).setting
    fields = [("p0", pa.string()), ("time", pa.int64()), ("mask", pa.uint8()), ("x0", pa.float64())]
    none = make_maps(setting, pa.RecordBatch.from_pylist([], pa.schema(fields)))
    assert none.num_rows == 0
    assert none.schema == map_schema(setting)
    product = Product(setting)
    product.add(none)
    for finished in (product.finish(), Product(setting).finish()):
        table, tangled = finished
        assert table.num_rows == tangled.num_rows == 0
        assert table.schema == Run(setting).finish().schema
        assert tangled.schema == pa.schema([("p0", pa.string())])


def test_a_tangled_partition_leaves_out_its_whole_group_and_no_other() -> None:
    text = "RETURN g, COUNT(*) AS n PATTERN A+ WHERE [k] GROUP-BY g"
    events = [
        {"time": t, "type": "A", "g": g, "k": k} for t in range(4) for g in "uv" for k in "xy"
    ]
    scan = scanned(text, events)
    hands = np.where(
        to_bool(pc.and_(pc.equal(scan.batch["p0"], "u"), pc.equal(scan.batch["p1"], "x"))),
        scan.time % 2,
        scan.time // 2,
    )
    table, tangled = scan.product(scan.dealt(hands))
    assert tangled.to_pylist() == [{"p0": "u"}]
    assert scan.rows(table) == [
        {"window_start": None, "window_end": None, "g": "v", "n": 2 * (2**4 - 1)}
    ]


def to_bool(column: pa.Array) -> Any:
    return np.array(column.to_pylist())


def test_one_time_point_in_two_chunks_is_tangled_only_within_a_pane() -> None:
    events = [{"time": t, "type": "A", "k": t} for t in (0, 4, 5, 5, 9)]
    scan = scanned("RETURN COUNT(*) AS n PATTERN A+ WITHIN 5 s SLIDE 5 s", events)
    table, tangled = scan.product(scan.dealt(np.array([0, 1, 0, 0, 1])))
    assert (table.num_rows, tangled.num_rows) == (2, 0)
    table, tangled = scan.product(scan.dealt(np.array([0, 0, 0, 1, 1])))
    assert table.num_rows == 0
    assert tangled.to_pylist() == [{"all": True}]


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("RETURN COUNT(*) AS n, AVG(A.x) AS a PATTERN SEQ(A+, B)", True),
        ("RETURN COUNT(*) AS n PATTERN A+ WITHIN 10 s SLIDE 4 s", True),
        (f"RETURN COUNT(*) AS n PATTERN A+ WITHIN {MAX_PANES} s SLIDE 1 s", True),
        (f"RETURN COUNT(*) AS n PATTERN A+ WITHIN {MAX_PANES + 1} s SLIDE 1 s", False),
        ("RETURN MAX(A.x) AS n, MIN(LENGTH(*)) AS l PATTERN A+", True),
        ("RETURN MAX(DISTINCT A.x) AS n PATTERN A+ WITHIN 10 s SLIDE 4 s", True),
        ("RETURN COUNT(DISTINCT A) AS n, MAX(A.x) AS h PATTERN A+", False),
        ("RETURN COUNT(*) AS n PATTERN A+ WITHIN 10 s", False),
        ("RETURN COUNT(*) AS n PATTERN A+ WITHIN 10 EVENTS SLIDE 5 EVENTS", False),
        ("RETURN COUNT(*) AS n PATTERN A+ WHERE A.x < NEXT(A).x", False),
        ("RETURN COUNT(*) AS n PATTERN A+ SEMANTICS contiguous WHERE A.x < NEXT(A).x", True),
        ("RETURN COUNT(*) AS n PATTERN SEQ(A, NOT C, B)", True),
        ("RETURN COUNT(*) AS n PATTERN SEQ(NOT C, A, B)", True),
        ("RETURN COUNT(*) AS n PATTERN SEQ(A, NOT SEQ(C, D), B)", False),
    ],
)
def test_what_can_travel_as_maps(text: str, yes: bool) -> None:
    plan = query(text).plan
    types = [pa.int64()] * len(plan.scan.operands)
    assert mappable(Setting(plan, types, [], 1_000_000_000)) is yes
    assert mappable(Setting(plan, types, [], 1_000_000_000, Numbers.EXACT)) is yes


def test_times_without_room_for_windows_are_refused() -> None:
    scan = scanned(
        "RETURN COUNT(*) AS n PATTERN A+ WITHIN 10 s SLIDE 4 s", [{"time": 1 << 62, "type": "A"}]
    )
    with pytest.raises(InputError, match="64-bit range"):
        make_maps(scan.setting, scan.batch)


def test_maps_of_counts_travel_without_exponents() -> None:
    """A+ is a map of two numbers; only beyond 2^256 trends do they need exponents."""
    events = [{"time": t, "type": "A"} for t in range(400)]
    scan = scanned("RETURN COUNT(*) AS n PATTERN A+", events)
    sizes = [
        len(make_maps(scan.setting, scan.batch.slice(0, count)).column("d0")[0].as_py())
        for count in (1, 200, 400)
    ]
    assert sizes == [16, 16, 24]


def test_a_tangled_group_tells_how_wide_its_parts_are() -> None:
    events = [{"time": t, "type": "A", "k": "u" if t < 40 else "v"} for t in range(44)]
    scan = scanned("RETURN k, COUNT(*) AS n PATTERN A+ GROUP-BY k", events)
    product = Product(scan.setting)
    for chunk in scan.dealt(np.arange(44) % 2):
        product.add(make_maps(scan.setting, chunk))
    told = {row["p0"]: row["width"] for row in product.tangled(10).to_pylist()}
    assert told == {"u": 39 / 4, "v": np.inf}
    assert Product(scan.setting).tangled(10).num_rows == 0
