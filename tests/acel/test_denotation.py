"""The definition, on cases worked out by hand; the design arguments of the paper's §5."""

from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pytest

from trendloom.acel import (
    Aggregate,
    ComplexEvent,
    Event,
    Stream,
    aggregates,
    compile_formula,
    denote,
    evaluate,
    register,
    stream,
)
from trendloom.acel.events import MOMENT, NUMBER, Value
from trendloom.acel.functions import called, like, remainder
from trendloom.errors import InputError, NumberError, TrendloomError

WEST, EAST = (timezone(timedelta(hours=hours)) for hours in (-1, 1))


def letters(text: str) -> Stream:
    """`A1 B C2.5`: types, with a value of x where one is given."""
    rows: list[dict[str, Value]] = []
    for word in text.split():
        x = float(word[1:]) if "." in word else int(word[1:] or 0) if word[1:] else None
        rows.append({"type": word[0], "x": x})
    types = {str(row["type"]) for row in rows} | set("ABC")
    return stream(rows, {word: {"x": NUMBER} for word in types})


def short(found: ComplexEvent) -> str:
    """`0-2 A=0,2`: the interval, and the times in each bag."""
    bags = (f"{name}={','.join(str(e.time) for e in bag)}" for name, bag in found.bags)
    return " ".join([f"{found.start}-{found.end}", *bags])


def meaning(formula: str, text: str) -> set[str]:
    return {short(found) for found in denote(formula, letters(text))}


def made(formula: str, text: str, variable: str = "Y") -> list[dict[str, Value]]:
    """What AGG put into the variable, over all complex events, in order of time and values."""
    events = [e for found in denote(formula, letters(text)) for e in found[variable]]
    return [dict(event.attributes) for event in sorted(events, key=Event.key)]


@pytest.mark.parametrize(
    ("formula", "text", "expected"),
    [
        ("A", "A B A", {"0-0 A=0", "2-2 A=2"}),
        ("A", "B", set()),
        ("A AS X", "A", {"0-0 A=0 X=0"}),
        ("A AS X AS Y", "A", {"0-0 A=0 X=0 Y=0"}),
        ("A ; B", "A A B", {"0-2 A=0 B=2", "1-2 A=1 B=2"}),
        ("A : B", "A A B", {"1-2 A=1 B=2"}),
        ("A+", "A B A", {"0-0 A=0", "2-2 A=2", "0-2 A=0,2"}),
        ("A:+", "A A B A", {"0-0 A=0", "1-1 A=1", "3-3 A=3", "0-1 A=0,1"}),
        ("(A ; B)+", "A B A B", {"0-1 A=0 B=1", "0-3 A=0 B=3", "2-3 A=2 B=3", "0-3 A=0,2 B=1,3"}),
        ("A OR B", "A B", {"0-0 A=0", "1-1 B=1"}),
        ("A AND B", "A B", set()),
        ("(A ; B) AND (A : B)", "A A B", {"1-2 A=1 B=2"}),
        ("A+ AND (A ; A)", "A A A", {"0-1 A=0,1", "0-2 A=0,2", "1-2 A=1,2"}),
        ("PROJECT[B](A ; B)", "A B", {"0-1 B=1"}),
        ("PROJECT[](A ; B)", "A B", {"0-1"}),
        ("NEXT(B)", "A A B B", {"0-2 B=2", "1-2 B=2", "2-2 B=2", "3-3 B=3"}),
        ("A : NEXT(B)", "A C B B", {"0-2 A=0 B=2"}),
        ("A FILTER A[x > 1]", "A1 A2 A", {"1-1 A=1"}),
        ("(A OR B) FILTER A[x > 1]", "A1 B1", {"1-1 B=1"}),
        ("A+ FILTER A[same(x)]", "A1 A2 A1 A", {"0-0 A=0", "1-1 A=1", "2-2 A=2", "0-2 A=0,2"}),
        ("A:+ FILTER A[increasing(x)]", "A1 A2 A2", {"0-0 A=0", "1-1 A=1", "2-2 A=2", "0-1 A=0,1"}),
        ("A:+ FILTER A[decreasing(x)]", "A2 A1 A", {"0-0 A=0", "1-1 A=1", "2-2 A=2", "0-1 A=0,1"}),
    ],
)
def test_by_hand(formula: str, text: str, expected: set[str]) -> None:
    assert meaning(formula, text) == expected


def test_attributes_are_projected() -> None:
    over = stream([{"type": "A", "x": 1, "w": "a"}])
    (found,) = denote("PROJECT[X(x)](A AS X)", over)
    assert found["X"] == (Event(0, (("x", 1),)),)
    assert found["A"] == over.events


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        ("SUM", "A1 A A2", 3),
        ("SUM", "A0.1 A0.2 A0.3", 0.6),
        ("SUM", "A", 0),
        ("COUNT", "A1 A A2", 2),
        ("COUNT", "A", 0),
        ("PROD", "A2 A A3", 6),
        ("PROD", "A", 1),
        ("MIN", "A2 A A1", 1),
        ("MAX", "A2 A A1.5", 2),
        ("MAX", "A", None),
        ("AVG", "A1 A A2", 1.5),
        ("AVG", "A", None),
        ("RANGE", "A1 A A5", 4),
        ("RANGE", "A", None),
    ],
)
def test_aggregates(function: str, text: str, expected: Value) -> None:
    formula = f"AGG[Y(b = {function}(A.x))](A:+)"
    over = letters(text)
    (whole,) = (c for c in denote(formula, over) if c.end - c.start == len(over.events) - 1)
    (event,) = whole["Y"]
    assert event.get("b") == expected
    assert event.time == whole.end


def test_an_aggregate_over_an_empty_bag_is_the_identity() -> None:
    assert made("AGG[Y(s = SUM(B.x), p = PROD(B.x), m = MIN(B.x))](A OR B)", "A5") == [
        {"s": 0, "p": 1}
    ]


def test_an_aggregate_is_filtered_and_aggregated_again() -> None:
    inner = "AGG[Y(s = SUM(A.x))](A:+ ; B) FILTER Y[s > 2]"
    assert made(inner, "A1 A2 B") == [{"s": 3}]
    outer = "AGG[Z(n = COUNT(Y.s), t = SUM(Y.s))]((AGG[Y(s = SUM(A.x))](A ; B))+)"
    assert {"n": 2, "t": 6} in made(outer, "A2 B A4 B", "Z")


def test_two_events_are_correlated_through_an_aggregate() -> None:
    formula = "PROJECT[X, Z](AGG[Y(p = MAX(X.x), q = MAX(Z.x))](A AS X ; B AS Z) FILTER Y[p = q])"
    assert meaning(formula, "A1 A2 B2 B1") == {"0-3 X=0 Z=3", "1-2 X=1 Z=2"}


# ── §5: why sets outside, bags inside, and times ─────────────────────────────────────────────


def test_sets_outside() -> None:
    """Seven choices of B events, one result: what does not show is not counted."""
    assert len(denote("A ; B+ ; C", letters("A B B B C"))) == 7
    assert meaning("PROJECT[A, C](A ; B+ ; C)", "A B B B C") == {"0-4 A=0 C=4"}
    assert meaning("A OR A", "A") == {"0-0 A=0"}


def test_bags_inside() -> None:
    """Equal sums of different events are two, and so are equal events of one time."""
    pairs = "AGG[Y(s = SUM(A.x))](A ; B)"
    assert {"t": 6, "n": 2} in made(
        f"AGG[Z(t = SUM(Y.s), n = COUNT(Y.s))](({pairs})+)", "A3 B A3 B", "Z"
    )
    twice = "AGG[Y(s = SUM(A.x))](AGG[Y(s = SUM(A.x))](A))"
    (found,) = denote(twice, letters("A3"))
    assert found["Y"] == (Event(0, (("s", 3),)),) * 2
    assert made(f"AGG[Z(t = SUM(Y.s))]({twice})", "A3", "Z") == [{"t": 6}]


def test_times_tell_events_apart() -> None:
    """Equal sums made at different times give two results, equal ones of one time give one."""
    formula = "PROJECT[Y]((AGG[Y(s = SUM(A.x))](A ; B) OR AGG[Y(s = SUM(A.x))](A ; C)) ; {end})"
    schema = {word: {"x": NUMBER} for word in "ABCD"}
    over = stream([{"type": word, "x": 3} for word in "ABCD"], schema)
    found = denote(formula.replace("{end}", "D"), over)
    assert {short(one) for one in found} == {"0-3 Y=1", "0-3 Y=2"}
    assert {one["Y"][0].get("s") for one in found} == {3}
    one_time = "PROJECT[Y](AGG[Y(s = SUM(A.x))](A ; B) OR AGG[Y(s = MAX(A.x))](A ; B))"
    assert len(denote(one_time, over)) == 1


def test_an_event_that_two_variables_hold_is_gathered_once() -> None:
    assert made("AGG[Y(s = SUM(Z.x))]((A AS X ; B) AS Z)", "A3 B4") == [{"s": 7}]
    # Two that AGG made stay two, though they are equal.
    both = "AGG[Q(s = SUM(A.x))](AGG[P(s = SUM(A.x))](A))"
    assert made(f"AGG[Y(t = SUM(Z.s))]({both} AS Z)", "A3") == [{"t": 6}]


# ── aggregates of one's own, bad input ───────────────────────────────────────────────────────


def test_an_aggregate_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregates, "_known", dict(aggregates._known))
    squares = Aggregate("SQUARES", 0, lambda one, other: one + other, lambda x: x * x)  # type: ignore[operator]
    register(squares)
    assert made("AGG[Y(b = SQUARES(A.x))](A : A)", "A2 A3") == [{"b": 13}]
    with pytest.raises(TrendloomError, match="There is an aggregate SQUARES already"):
        register(squares)
    with pytest.raises(TrendloomError, match="cannot name an aggregate"):
        register(Aggregate("two words", 0, max))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"x": 1}], "The event at position 0 has no type"),
        ([{"type": "A", "x": float("nan")}], "'x' at position 0 is nan"),
        ([{"type": "A", "x": [1]}], "'x' at position 0 is a list"),
        ([{"type": "A", "x": pd.NaT}], "'x' at position 0 is NaT"),
        ([{"type": "A", "x": datetime.max.replace(tzinfo=WEST)}], "outside of the years 1 to 9999"),
        ([{"type": "A", "x": date.min}, {"type": "A", "x": 1}], "'x' of 'A' is a moment, but 1"),
        ([{"type": "A", "x": 1}, {"type": "A", "x": "q"}], "'x' of 'A' is a number, but 'q'"),
    ],
)
def test_bad_streams(rows: list[dict[str, Value]], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        stream(rows)
    assert caught.value.remedy


def test_streams_against_a_schema() -> None:
    with pytest.raises(InputError, match="does not know the type 'B'"):
        stream([{"type": "B"}], {"A": {}})
    with pytest.raises(InputError, match="The schema of 'A' does not know 'y'"):
        stream([{"type": "A", "y": 1}], {"A": {"x": NUMBER}})


def test_numbers_beyond_a_double_are_refused() -> None:
    over = stream([{"type": "A", "x": 1e308}] * 2)
    with pytest.raises(NumberError, match="beyond the largest double"):
        denote("AGG[Y(s = SUM(A.x))](A ; A)", over)
    with pytest.raises(NumberError, match="beyond the largest double"):
        denote("A FILTER A[x * 10 > 1]", over)


def test_moments_are_compared_in_utc() -> None:
    midnight = [date(2024, 1, 31), datetime(2024, 1, 31), datetime(2024, 1, 31, 1, tzinfo=EAST)]
    over = stream([{"type": "A", "d": d} for d in (*midnight, datetime(2024, 1, 31, tzinfo=WEST))])
    assert len(denote("(A ; A) FILTER A[same(d)]", over)) == 3
    assert len(denote("(A : A) FILTER A[increasing(d)]", over)) == 1
    assert len(denote("A FILTER A[d > DATE '2024-01-31']", over)) == 1
    assert len(denote("A FILTER A[d > TIMESTAMP '2024-01-31 00:59:59.999999']", over)) == 1
    (made,) = denote("PROJECT[Y](AGG[Y(m = MIN(A.d), n = MAX(A.d))](A : A : A : A))", over)
    assert made["Y"][0].get("m") == datetime(2024, 1, 31)
    assert made["Y"][0].get("n") == datetime(2024, 1, 31, 1)


def test_moments_that_are_equal_make_one_event() -> None:
    ways = [date(2024, 1, 31), datetime(2024, 1, 31), datetime(2024, 1, 31, tzinfo=UTC)]
    bags = [ComplexEvent.of(0, 0, [("X", Event.of(0, {"d": way}))]) for way in ways]
    assert len(set(bags)) == 1
    # What is mixed in a bag has an order, too.
    mixed = [Event.of(0, {"d": value}) for value in (*ways, 1, "a", True, date(2024, 1, 30))]
    assert min(mixed[:3] + mixed[-1:], key=Event.key) == mixed[-1]
    assert len(set(map(Event.key, mixed))) == 5
    assert len(sorted(mixed, key=Event.key)) == 7


def test_an_aggregate_of_ones_own_may_give_any_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregates, "_known", dict(aggregates._known))
    day = Aggregate(
        "DAY", date.min, max, lambda d: d.date(), takes=(MOMENT,), gives=MOMENT,  # type: ignore[union-attr]
    )  # fmt: skip
    register(day)
    over = stream([{"type": "A", "d": datetime(2024, 1, 31, hour)} for hour in (11, 12)])
    formula = "AGG[Y(day = DAY(A.d))](A) FILTER Y[day = DATE '2024-01-31']"
    assert len(denote(formula, over)) == 2
    assert evaluate(compile_formula(formula, over.schema), over) == denote(formula, over)


def test_truth_and_one_are_different() -> None:
    one, truth = Event(0, (("x", 1),)), Event(0, (("x", True),))
    assert ComplexEvent.of(0, 0, [("X", one)]) != ComplexEvent.of(0, 0, [("X", truth)])


@pytest.mark.parametrize(
    ("call", "values", "expected"),
    [
        ("ABS", [-2], 2),
        ("ABS", ["a"], None),
        ("ABS", [True], None),
        ("ROUND", [2.5], 3.0),
        ("ROUND", [-2.5], -3.0),
        ("ROUND", [0.49999999999999994], 0.0),
        ("ROUND", [1.25, 1], 1.3),
        ("ROUND", [15, -1], 20),
        ("ROUND", [-15, -1], -20),
        ("ROUND", [15, 2], 15),
        ("ROUND", [1e300, 20], 1e300),
        ("ROUND", [1.5, 400], 1.5),
        ("ROUND", [1.5, -400], 0.0),
        ("ROUND", [1.5, None], None),
        ("UPPER", ["aB"], "AB"),
        ("LOWER", ["aB"], "ab"),
        ("LOWER", [None], None),
        ("COALESCE", [None, "x", "y"], "x"),
        ("COALESCE", [None, None], None),
    ],
)
def test_functions(call: str, values: list[Value], expected: Value) -> None:
    found = called(call, values)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (7, 0, None), (7.5, 2, 1.5), (-7.5, 2, -1.5), (0, 3, 0)],
)
def test_remainders(left: float, right: float, expected: float | None) -> None:
    assert remainder(left, right) == expected


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("abc", "a%", True),
        ("abc", "a_", False),
        ("a.c", "a.c", True),
        ("abc", "a.c", False),
        ("a\nc", "%", True),
        ("", "%", True),
        ("", "_", False),
        (None, "%", None),
        ("a", None, None),
    ],
)
def test_likeness(value: Value, pattern: Value, expected: bool | None) -> None:
    assert like(value, pattern) is expected
