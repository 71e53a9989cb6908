"""Searches over batches of a scan find what the definition finds, in every window and partition."""

from __future__ import annotations

import random
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from acel.formulas import MANY, SCHEMA, likely, moments, numbers
from against_oracle import count_found, examples
from trendloom.acel import Formula, denote, parse, reading_columns, stream, to_text
from trendloom.acel.check import check
from trendloom.acel.events import MOMENT, TYPE, Event
from trendloom.acel.marking import Marking
from trendloom.acel.matching import Matching
from trendloom.acel.moments import as_held
from trendloom.acel.plan import MatchPlan, match_plan
from trendloom.acel.windows import Span
from trendloom.errors import InputError, NumberError, QueryMeaningError, TrendloomError

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = MANY
TYPES = {"x": pa.float64(), "w": pa.string(), "d": pa.timestamp("us")}
Row = dict[str, Any]

rows = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from("AAABBC"),
            "x": numbers,
            "w": st.sampled_from([None, "a", "b"]),
            "d": moments,
            "key": st.sampled_from((0, 0, 0, 1)),
            "wait": st.sampled_from((0, 1, 1, 1, 2)),
        }
    ),
    min_size=7,
    max_size=9,
)
spans = st.sampled_from(
    [Span(), Span(4), Span(6, 6), Span(5, 2), Span(5, 5, counted=True), Span(4, 1, counted=True)]
)


def timed(drawn: list[Row]) -> list[Row]:
    """The rows with times that never go back, and moments of one type."""
    times = np.cumsum([row["wait"] for row in drawn]).tolist()
    return [
        {**row, "d": as_held(row["d"]), "time": time}
        for row, time in zip(drawn, times, strict=True)
    ]


def planned(formula: Formula, *, counted: bool = False) -> MatchPlan:
    return match_plan(
        formula, dict.fromkeys(SCHEMA, KINDS), text="", partition=["key"], type_column="type",
        types=TYPES, counted=counted,
    )  # fmt: skip


def batches(plan: MatchPlan, drawn: list[Row], size: int) -> Iterator[pa.RecordBatch]:
    """What a host would deliver."""
    order = sorted(range(len(drawn)), key=lambda row: (drawn[row]["key"], drawn[row]["time"], row))
    delivered = []
    for row in order:
        event = Event.of(0, {name: drawn[row][name] for name in (TYPE, *KINDS)})
        mask = sum(1 << bit for bit, one in enumerate(plan.letters) if one.holds_of(event))
        if mask or plan.scan.keep_unmatched:
            operands = {f"x{k}": drawn[row][name] for k, name in enumerate(plan.attributes)}
            known = {"p0": drawn[row]["key"], "time": drawn[row]["time"], "mask": mask}
            delivered.append({**known, "row": row, **operands})
    types = [("p0", pa.int64()), ("time", pa.int64()), ("mask", pa.uint32()), ("row", pa.int64())]
    types += [(f"x{k}", TYPES.get(name, pa.string())) for k, name in enumerate(plan.attributes)]
    for low in range(0, len(delivered), size):
        yield pa.RecordBatch.from_pylist(delivered[low : low + size], pa.schema(types))


def windows_of(span: Span, start: int, end: int) -> Iterator[tuple[int | None, int | None]]:
    """Every window that has both keys, tried one after another."""
    if span.within is None:
        yield None, None
    elif span.slide is None:
        if end - start < span.within:
            yield start, start + span.within
    else:
        first = 0 if span.counted else -20
        for k in range(first, 40):
            low = k * span.slide
            if low <= start and end < low + span.within:
                yield low, low + span.within


def values(event: Event) -> list[tuple[str, object]]:
    """As columns of doubles and texts hold them."""
    pairs = event.attributes
    return [(name, float(v) if isinstance(v, int | float) else v) for name, v in pairs]


def expected(formula: Formula, drawn: list[Row], span: Span) -> list[str]:
    """The definition, partition by partition, window by window."""
    found = []
    bound = list(check(formula, dict.fromkeys(SCHEMA, KINDS)))
    for key in (0, 1):
        order = [row for row in range(len(drawn)) if drawn[row]["key"] == key]
        events = [{name: drawn[row][name] for name in (TYPE, *KINDS)} for row in order]
        for one in denote(formula, stream(events, dict.fromkeys(SCHEMA, KINDS))):
            keys = [
                place if span.counted else drawn[order[place]]["time"]
                for place in (one.start, one.end)
            ]
            bags = [
                (name, sorted(repr((order[e.time], values(e))) for e in one[name]))
                for name in bound
            ]
            found += [
                repr((window, key, order[one.start], order[one.end], bags))
                for window in windows_of(span, *keys)
            ]
    return sorted(found)


def shown(plan: MatchPlan, made: list[Row], drawn: list[Row]) -> list[str]:
    """Rows of results in the same form."""
    found = []
    for row in made:
        bags = []
        for column in plan.columns:
            events = []
            for one in row[column.variable]:
                if isinstance(one, int):
                    known, at = {name: drawn[one][name] for name in (TYPE, *KINDS)}, one
                else:
                    at = one["row"]
                    # Tables have two columns more.
                    more = ("row", "key", "time")
                    known = {name: value for name, value in one.items() if name not in more}
                events.append(repr((at, values(Event.of(0, known)))))
            bags.append((column.variable, sorted(events)))
        window = (row["window_start"], row["window_end"])
        found.append(repr((window, row["key"], row["start"], row["end"], bags)))
    return sorted(found)


def as_doubles(drawn: list[Row]) -> list[Row]:
    """Columns have one type: whole numbers among doubles are doubles."""
    return [{**row, "x": None if row["x"] is None else float(row["x"])} for row in drawn]


def telling(formula: Formula, drawn: list[Row], span: Span) -> tuple[list[Row], list[str]]:
    """The drawn rows, or others at the same times if these have more results; and the results."""
    dice = random.Random(repr(drawn))
    best, most = drawn, expected(formula, drawn, span)
    for _ in range(5):
        if len(most) >= 5:
            break
        mixed = [
            {**row, "type": dice.choice("AABBC"), "x": dice.choice((1.0, 2.0, 3.0)), "key": 0}
            for row in drawn
        ]
        found = expected(formula, mixed, span)
        if len(found) > len(most):
            best, most = mixed, found
    return best, most


@examples(200)
@given(likely(4), rows, spans, st.integers(1, 9))
def test_every_search_is_the_definition(
    formula: Formula, drawn: list[Row], span: Span, size: int
) -> None:
    drawn = as_doubles(timed(drawn))
    try:
        plan = planned(formula, counted=span.counted)
    except QueryMeaningError as error:
        assert "which one column cannot hold" in error.cause  # noqa: PT017
        return
    made = Matching(plan, span, [pa.int64()])
    got = [row for batch in made.over(batches(plan, drawn, size)) for row in batch.to_pylist()]
    defined = expected(formula, drawn, span)
    count_found(len(defined))
    assert shown(plan, got, drawn) == defined


COLUMNS = pa.schema(
    [
        ("type", pa.string()),
        ("x", pa.float64()),
        ("w", pa.string()),
        ("d", pa.timestamp("us")),
        ("key", pa.int64()),
        ("time", pa.int64()),
    ]
)


@examples(30)
@given(likely(4), rows, st.sampled_from([None, "4 s"]))
def test_the_local_host_evaluates_conditions_on_columns(
    formula: Formula, drawn: list[Row], within: str | None
) -> None:
    drawn = as_doubles(timed(drawn))
    if not drawn:
        return
    table = pa.Table.from_pylist(drawn, COLUMNS)
    try:
        plan = planned(formula)
        made = tl.matches(
            to_text(formula), table, time="time", partition_by=["key"], within=within
        ).rows()
    except QueryMeaningError as error:
        assert "which one column cannot hold" in error.cause  # noqa: PT017
        return
    span = Span() if within is None else Span(4)
    defined = expected(formula, drawn, span)
    count_found(len(defined))
    assert shown(plan, made, drawn) == defined


def test_results_over_nothing() -> None:
    made = tl.matches("AGG[Y(n = COUNT(A.x))](A+)", [], time="time")
    assert made.rows() == []
    assert made.schema.names == ["window_start", "window_end", "start", "end", "A", "Y"]


def test_whole_numbers_stay_whole_and_never_wrap() -> None:
    rows = [{"type": "A", "time": k, "x": 2**62, "ok": True} for k in range(2)]
    (made,) = tl.matches(
        "PROJECT[Y](AGG[Y(s = SUM(A.x))](A FILTER A[ok = TRUE]))", rows[:1], time="time"
    ).rows()
    assert made["Y"] == [{"row": 0, "s": 2**62}]
    with pytest.raises(NumberError, match="does not fit its column"):
        tl.matches("PROJECT[Y](AGG[Y(s = SUM(A.x))](A ; A))", rows, time="time").rows()


def test_infinite_values_are_refused() -> None:
    rows = [{"type": "A", "time": 0, "x": float("inf")}]
    with pytest.raises(InputError, match="'x' is infinite in some event"):
        tl.matches("AGG[Y(s = SUM(A.x))](A)", rows, time="time").rows()


def test_one_type_for_all_rows() -> None:
    rows = [{"time": k, "x": k} for k in range(3)]
    found = tl.matches("A+ FILTER A[increasing(x)]", rows, time="time", event_type="A").rows()
    assert len(found) == 7


def test_many_results_leave_in_several_batches() -> None:
    """Every pair of 400 events; and the longest of their sets has 400."""
    rows = [{"type": "A", "time": k} for k in range(400)]
    batches = list(tl.matches("A ; A", rows, time="time"))
    assert len(batches) > 1
    assert sum(batch.num_rows for batch in batches) == 400 * 399 // 2
    (longest,) = tl.matches(
        "PROJECT[S](START : (A:+ AS S) : STOP)",
        [{"type": "START", "time": -1}, *rows, {"type": "STOP", "time": 400}],
        time="time",
    ).rows()
    assert longest["S"] == list(range(1, 401))


def test_what_is_outside_of_all_windows_is_dropped() -> None:
    """Runs that never end do not pile up."""
    rows = [{"type": "A", "time": k} for k in range(20_000)]
    plan = match_plan(
        parse("A+ ; B"), {"A": {}, "B": {}}, text="", type_column="type", types={}
    )  # fmt: skip
    search = Marking(plan.automaton, plan.letters)
    key = np.arange(len(rows))
    mask = np.full(len(rows), 1 << [one.type for one in plan.letters].index("A"), np.uint8)
    begins = key == 0
    assert list(search.push(mask, key, key - 9, begins, 0)) == []
    assert len(search._store.nodes) < 50_000


def test_names_are_a_list() -> None:
    with pytest.raises(TrendloomError, match="partition_by is a list of names"):
        tl.matches("A", [], time="time", partition_by="key")


@st.composite
def folded(draw: st.DrawFn) -> Formula:
    """Aggregates around a formula that only marks."""
    core = draw(
        st.sampled_from(
            [
                "A AS X ; B AS Z",
                "A:+ AS X : B AS Z",
                "(A AS X)+ ; B AS Z",
                "(A OR B) AS X ; C AS Z",
                "A AS X : (A OR B):+ AS Z",
                "(A AS X : NEXT(C) AS Z) FILTER X[x > 1]",
            ]
        )
    )
    names = draw(st.lists(st.sampled_from(["SUM", "COUNT", "MAX", "AVG"]), min_size=1, max_size=2))
    assigns = ", ".join(
        f"v{k} = {name}({draw(st.sampled_from('XZ'))}.x)" for k, name in enumerate(names)
    )
    text = f"AGG[Y({assigns})]({core})"
    if draw(st.booleans()):
        text = f"AGG[Q(w = COUNT(X.type))]({text} FILTER Y[v0 > 1])"
    left = draw(st.sampled_from([None, "Y", "X, Y", "X, Y, Z"]))
    return parse(text if left is None else f"PROJECT[{left}]({text})")


@examples(100)
@given(folded(), rows, spans, st.integers(1, 9))
def test_aggregates_of_results(formula: Formula, drawn: list[Row], span: Span, size: int) -> None:
    drawn, defined = telling(formula, as_doubles(timed(drawn)), span)
    plan = planned(formula, counted=span.counted)
    made = Matching(plan, span, [pa.int64()])
    got = [row for batch in made.over(batches(plan, drawn, size)) for row in batch.to_pylist()]
    count_found(len(defined))
    assert shown(plan, got, drawn) == defined


@pytest.mark.parametrize(
    ("formula", "compiled"),
    [
        ("AGG[Y(s = SUM(A.x))](A+)", True),
        ("PROJECT[A, Y](AGG[Y(s = SUM(A.x))](A+) FILTER Y[s > 1])", True),
        ("PROJECT[Y](AGG[Y(s = SUM(A.x))](A:+))", True),
        # Equal sums of exponentially many choices are better one run.
        ("PROJECT[Y](AGG[Y(s = SUM(A.x))](A+))", False),
        ("PROJECT[Y](AGG[Y(s = SUM(A.x))]((A ; B):+))", False),
        ("AGG[Y(s = SUM(A.x))](A+) FILTER A[x > 1]", False),
        ("AGG[Z(t = MAX(Y.s))](AGG[Y(s = SUM(A.x))](A))", False),
        ("AGG[A(s = SUM(A.x))](A)", False),
        ("AGG[Y(s = SUM(A.x))](A FILTER A[same(x)])", True),
        ("AGG[Y(s = SUM(A.x))](A FILTER A[same(w)])", False),
        ("AGG[Y(s = MIN(A.d))](A FILTER A[same(d)])", True),
    ],
)
def test_which_aggregates_are_taken_of_results(formula: str, compiled: bool) -> None:
    assert (planned(parse(formula)).folding is not None) == compiled


def test_a_column_of_nulls_is_of_any_kind() -> None:
    rows = [{"type": "A", "time": 0, "x": None}]
    for formula in ("A FILTER A[x = 'u']", "A FILTER A[x > 1]", "A FILTER A[x IS NOT NULL]"):
        assert tl.matches(formula, rows, time="time").rows() == []
    assert (
        len(tl.matches("AGG[Y(m = MAX(A.x))](A FILTER A[x IS NULL])", rows, time="time").rows())
        == 1
    )


def test_an_event_with_fewer_attributes_is_another_event() -> None:
    rows = [{"type": "A", "time": 0, "w": "a"}]
    found = tl.matches("PROJECT[A(type)](A) OR A", rows, time="time").rows()
    assert sorted(str(row["A"]) for row in found) == [
        "[{'row': 0, 'time': 0, 'type': 'A', 'w': 'a'}]",
        "[{'row': 0, 'time': None, 'type': 'A', 'w': None}]",
    ]


ORDERED = [
    "A:+ FILTER A[increasing(x)]",
    "A+ FILTER A[decreasing(x)] ; B",
    "(A+ FILTER A[increasing(x)])+",
    "(A:+ FILTER A[same(x)] : B)+",
    "(A AS X ; (A OR B)+ AS Y) FILTER X[x > 0] FILTER Y[increasing(x)]",
    "(A+ ; B+) FILTER A[increasing(x)] FILTER B[decreasing(x)]",
    "(A ; NEXT(B))+ AS Z FILTER Z[increasing(x)]",
    "A+ FILTER A[increasing(x)] OR (A ; A) FILTER A[same(x)]",
    "A+ FILTER A[increasing(x)] AND A:+",
    "PROJECT[B](A+ FILTER A[increasing(x)] : B)",
    "((A OR C)+ AS X FILTER X[increasing(x)] ; B) FILTER X[x < 3]",
    "A:+ FILTER A[decreasing(d)] ; (A OR C)+ AS Y FILTER Y[same(d)]",
]


@examples(150)
@given(st.sampled_from(ORDERED), st.booleans(), rows, spans, st.integers(1, 9))
def test_runs_that_compare_neighbours(
    text: str, totals: bool, drawn: list[Row], span: Span, size: int
) -> None:
    drawn = as_doubles(timed(drawn))
    formula = parse(text)
    variable = next(iter(check(formula, dict.fromkeys(SCHEMA, KINDS))))
    if totals:
        formula = parse(
            f"AGG[T(n = COUNT({variable}.x), s = SUM({variable}.x), m = MAX({variable}.x), "
            f"l = MIN({variable}.x))]({text}) FILTER T[n > 0]"
        )
    plan = planned(formula, counted=span.counted)
    made = Matching(plan, span, [pa.int64()])
    got = [row for batch in made.over(batches(plan, drawn, size)) for row in batch.to_pylist()]
    defined = expected(formula, drawn, span)
    count_found(len(defined))
    assert shown(plan, got, drawn) == defined


@pytest.mark.parametrize(
    ("formula", "compiled"),
    [
        *((text, True) for text in ORDERED[:7]),
        ("PROJECT[B](A+ FILTER A[increasing(x)] ; B)", False),  # any earlier A may be the last
        ("A+ FILTER A[increasing(w)]", False),
        ("A+ FILTER A[increasing(d)]", True),
        # Too many classes of events.
        (" ; ".join(f"A FILTER A[x > {k}]+ FILTER A[increasing(x)]" for k in range(13)), False),
        ("AGG[Y(s = SUM(A.x))](A)+ FILTER Y[increasing(s)]", False),
    ],
)
def test_which_registers_a_kernel_holds(formula: str, compiled: bool) -> None:
    plan = planned(parse(formula))
    assert (plan.ordered is not None) == compiled


MOMENTS = [
    datetime(2024, 1, 30, 23), datetime(2024, 1, 31), None, datetime(2024, 1, 31, 12),
    datetime(2024, 2, 1), datetime(2024, 1, 31),
]  # fmt: skip
OF_MOMENTS = [
    # Marks, an order, and aggregates of results are compiled.
    "A FILTER A[d > DATE '2024-01-31']",
    "A FILTER A[d <= TIMESTAMP '2024-01-31 11:59:59.999999' OR d IS NULL]",
    "A FILTER A[COALESCE(d, DATE '2024-02-01') = TIMESTAMP '2024-02-01 00:00:00']",
    "A:+ FILTER A[increasing(d)]",
    "A+ FILTER A[same(d)]",
    "AGG[Y(l = MIN(A.d), m = MAX(A.d), n = COUNT(A.d))](A ; A) FILTER Y[l < DATE '2024-02-01']",
    # Registers.
    "PROJECT[Y](AGG[Y(l = MIN(A.d), m = MAX(A.d))](A+))",
    "PROJECT[A](AGG[Y(l = MIN(A.d))](A+) FILTER Y[COALESCE(l, DATE '2024-02-01') > "
    "DATE '2024-01-31'])",
    "PROJECT[A(d)](A+) FILTER A[d < DATE '2024-02-01']",
    "PROJECT[A]((AGG[X(h = MAX(A.d))](A : A))+ FILTER X[decreasing(h)])",
]
UNITS = ("s", "ms", "us", "ns")


def told(bag: list[Any]) -> list[tuple[object, ...]]:
    """Events of a result's variable: rows, or rows and what is known."""
    events = [(one,) if isinstance(one, int) else _known(dict(one)) for one in bag]
    return sorted(events, key=repr)


def _known(one: Row) -> tuple[object, ...]:
    return (one.pop("row"), *Event.of(0, one).attributes)


@pytest.mark.parametrize("formula", OF_MOMENTS)
@pytest.mark.parametrize(
    "kind",
    [pa.date32(), pa.date64(), *(pa.timestamp(u, z) for u in UNITS for z in (None, "Asia/Tokyo"))],
    ids=str,
)
def test_columns_of_moments(kind: pa.DataType, formula: str) -> None:
    values = pa.array(MOMENTS, pa.timestamp("us")).cast(kind, safe=False)
    table = pa.table({"type": ["A"] * 6, "time": range(6), "d": values})
    made = tl.matches(formula, table, time="time").to_arrow()
    over = stream([{"type": "A", "d": value} for value in values.to_pylist()], {"A": {"d": MOMENT}})
    expected = []
    for one in denote(formula, over):
        bags = []
        for field in list(made.schema)[4:]:
            rows = field.type == pa.list_(pa.int64())
            bags.append(
                told(
                    [
                        e.time if rows else {"row": e.time, **dict(e.attributes)}
                        for e in one[field.name]
                    ]
                )
            )
        expected.append((one.start, one.end, bags))
    got = [
        (row["start"], row["end"], [told(bag) for bag in list(row.values())[4:]])
        for row in made.to_pylist()
    ]
    assert sorted(got, key=repr) == sorted(expected, key=repr)
    assert got


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (pa.date32(), pa.date32()),
        (pa.date64(), pa.date32()),
        *((pa.timestamp(unit), pa.timestamp(unit)) for unit in UNITS),
        *((pa.timestamp(unit, "Asia/Tokyo"), pa.timestamp("us", "UTC")) for unit in UNITS[:3]),
        (pa.timestamp("ns", "Asia/Tokyo"), pa.timestamp("ns", "UTC")),
    ],
    ids=str,
)
def test_results_show_moments_in_the_type_of_their_column(
    kind: pa.DataType, shown: pa.DataType
) -> None:
    table = pa.table({"type": ["A"], "time": [0], "d": pa.array([MOMENTS[1]], kind)})
    for formula in ("PROJECT[A(d)](A)", "PROJECT[A](AGG[A(d = MAX(X.d))](A AS X))"):
        schema = tl.matches(formula, table, time="time").to_arrow().schema
        assert schema.field("A").type.value_type.field("d").type == shown


def nanoseconds() -> pa.Table:
    values = pa.array([1_706_702_400_000_000_001, 1_706_702_400_000_000_000], pa.timestamp("ns"))
    return pa.table({"type": ["A", "A"], "time": [0, 1], "d": values})


def test_nanoseconds_are_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    table, later = nanoseconds(), "> TIMESTAMP '2024-01-31 12:00:00'"
    shown = f"PROJECT[Y](AGG[Y(m = MAX(A.d))](A+) FILTER Y[m {later}])"
    for formula, rows in ((f"A FILTER A[d {later}]", 1), ("(A ; A) FILTER A[decreasing(d)]", 1)):
        assert len(tl.matches(formula, table, time="time").rows()) == rows
    found = tl.matches(shown, table, time="time").to_arrow()["Y"]
    ticks = pc.struct_field(pc.list_flatten(found), "m").cast(pa.int64())
    assert ticks.unique().to_pylist() == [1_706_702_400_000_000_001]
    monkeypatch.setattr(reading_columns, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="'d' has nanoseconds, which need pandas"):
        tl.matches(shown, table, time="time").rows()
    assert tl.matches(shown, table.slice(1), time="time").rows() == []


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "UTC")])
def test_moments_that_python_does_not_hold(kind: pa.DataType) -> None:
    far = 3_000_000 if kind == pa.date32() else 2**60 if kind.unit == "us" else 2**42
    values = pa.array([far, 0], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    table = pa.table({"type": ["A", "A"], "time": [0, 1], "d": values})
    assert len(tl.matches("(A ; A) FILTER A[decreasing(d)]", table, time="time").rows()) == 1
    for formula in ("AGG[Y(m = MAX(A.d))](A)", "PROJECT[Y](AGG[Y(m = MAX(A.d))](A+))"):
        with pytest.raises(InputError, match="'d' is outside of the years 1 to 9999"):
            tl.matches(formula, table, time="time").rows()


DATED = [
    ("A FILTER A[d - DATE '2024-01-31' = 1]", 1),
    ("A FILTER A[d + 1 > DATE '2024-02-01' AND 1 + d < DATE '2024-02-03']", 1),
    ("(A AS X ; A AS Y) FILTER X, Y[Y.d - X.d = 1]", 2),
    ("(A AS X ; A AS Y) FILTER X, Y[Y.d - 2 = X.d]", 1),
    ("A:+ FILTER LAST(A), A[LAST(A).d + 1 = A.d]", 6),
]


@pytest.mark.parametrize(("formula", "count"), DATED)
def test_days_between_dates(formula: str, count: int) -> None:
    """On columns, by the host, and on what runs hold, in Python."""
    days = [datetime(2024, 1, 31), datetime(2024, 2, 1), datetime(2024, 2, 2)]
    rows = [{"type": "A", "d": day.date()} for day in days]
    assert len(denote(formula, stream(rows))) == count
    table = pa.table({"type": ["A"] * 3, "time": [0, 1, 2], "d": pa.array(days, pa.date32())})
    assert len(tl.matches(formula, table, time="time").rows()) == count


@pytest.mark.parametrize("formula", [formula for formula, _ in DATED])
def test_days_are_not_counted_between_timestamps(formula: str) -> None:
    """DuckDB has no such operator, and Python's answer would be another one."""
    rows = [{"type": "A", "d": datetime(2024, 1, day, 12)} for day in (30, 31)]
    with pytest.raises(TrendloomError):
        denote(formula, stream(rows))
    table = pa.table({"type": ["A", "A"], "time": [0, 1], "d": [row["d"] for row in rows]})
    with pytest.raises(TrendloomError):
        tl.matches(formula, table, time="time").rows()


def test_days_that_are_no_dates() -> None:
    over = stream([{"type": "A", "d": datetime(9999, 12, 31), "x": 1.5}])
    with pytest.raises(NumberError, match="outside of the years 1 to 9999"):
        denote("A FILTER A[d + 1 IS NULL]", over)
    with pytest.raises(InputError, match=r"1.5 days are no date"):
        denote("A FILTER A[d - x IS NULL]", over)
