"""Conditions on one event, or on two: comparisons and arithmetic over their attributes; and on
whole bags.

Logic has three values, as in SQL: what compares with null is null, and a condition that is null
does not hold.
"""

# ruff: noqa: RUF009 (`somewhere` makes a field, not a value)

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from trendloom.acel.events import Value, kind_of
from trendloom.acel.functions import called, like, remainder
from trendloom.acel.moments import as_held, days_between, days_later
from trendloom.acel.words import quote
from trendloom.errors import NumberError, Place, TrendloomError
from trendloom.language.nodes import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trendloom.acel.events import Event

Comparator = Literal["=", "!=", "<", "<=", ">", ">="]
Operator = Literal["+", "-", "*", "/", "%"]
Function = Literal["ABS", "ROUND", "UPPER", "LOWER", "COALESCE"]
Shape = Literal["same", "increasing", "decreasing"]


def somewhere() -> Place:
    """A field for the place in the text, which takes no part in comparison."""
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attribute:
    """`price`: an attribute of the event; `X.price`, `LAST(X).price`: of one of two events."""

    name: str
    place: Place = somewhere()
    variable: str | None = None
    last: bool = False
    key: str = field(init=False, compare=False, repr=False)
    """What tells it from the others in a condition."""

    def __post_init__(self) -> None:
        key = self.name
        if self.variable is not None:
            owner = quote(self.variable)
            key = f"{f'LAST({owner})' if self.last else owner}.{quote(self.name)}"
        object.__setattr__(self, "key", key)


@dataclass(frozen=True, slots=True)
class Literally:
    """`100`, `'GOOG'`, `DATE '2024-01-31'`, `TRUE`, `NULL`."""

    value: bool | int | float | str | date | None
    place: Place = somewhere()

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_held(self.value))
        number = isinstance(self.value, int | float)
        if number and (repr(self.value).startswith("-") or not math.isfinite(self.value)):  # type: ignore[arg-type]
            raise TrendloomError(
                f"{self.value} is not a literal.",
                remedy="Write Negative(Literally(…)) for a number below zero; numbers are finite.",
            )

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and TRUE are equal to Python and different texts.
        return isinstance(other, Literally) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left + right` and its like; division by zero, and the remainder of one, give null.

    A date less a date is a number of days; a date and a number of days is a date.
    """

    operator: Operator
    left: Term
    right: Term
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Negative:
    """`-term`."""

    term: Term
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Call:
    """`ABS(term)`, `ROUND(term, decimals)`, `COALESCE(term, …)` and their like."""

    function: Function
    terms: tuple[Term, ...]
    place: Place = somewhere()


Term = Attribute | Literally | Arithmetic | Negative | Call


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left < right` and its like."""

    comparator: Comparator
    left: Term
    right: Term
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class IsNull:
    """`term IS NULL`."""

    term: Term
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Like:
    """`left LIKE right`: `%` is any text, `_` any letter."""

    left: Term
    right: Term
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT condition`."""

    condition: Condition
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class All:
    """`left AND right`."""

    left: Condition
    right: Condition
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Any:
    """`left OR right`."""

    left: Condition
    right: Condition
    place: Place = somewhere()


Condition = Comparison | IsNull | Like | Not | All | Any


@dataclass(frozen=True, slots=True)
class BagCondition:
    """`same(a)`, `increasing(a)`, `decreasing(a)`: about all events of a bag together (App. D.1).

    `same`: one value, which no event lacks. `increasing`: whenever one event is the next after
    another by time, its value is greater. Events of one time are not compared with each other.
    """

    shape: Shape
    attribute: str
    place: Place = somewhere()


def holds(condition: Condition, read: Callable[[str], Value]) -> bool:
    """Whether the condition is true, not false or null; `read` gives the value of a key."""
    return _truth(condition, read) is True


def bag_holds(condition: BagCondition, events: Sequence[Event]) -> bool:
    """Whether the condition is true of the whole bag; of an empty bag it is."""
    name = condition.attribute
    if condition.shape == "same":
        return all_same([event.get(name) for event in events])
    times = sorted({event.time for event in events})
    groups = [[event.get(name) for event in events if event.time == time] for time in times]
    return all(
        in_order(condition.shape, one, other)
        for before, after in pairwise(groups)
        for one in before
        for other in after
    )


def all_same(values: Sequence[Value]) -> bool:
    """Whether there are no two different values and no null."""
    return all(compared("=", values[0], value) is True for value in values)


def in_order(shape: Shape, before: Value, after: Value) -> bool:
    """Whether two consecutive values go the way that the shape says."""
    return compared("<" if shape == "increasing" else ">", before, after) is True


def compared(comparator: Comparator, left: Value, right: Value) -> bool | None:
    """The comparison; null if either side is, or if they are of different kinds."""
    if left is None or right is None or kind_of(left) != kind_of(right):
        return None
    match comparator:
        case "=":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right  # type: ignore[operator]
        case "<=":
            return left <= right  # type: ignore[operator]
        case ">":
            return left > right  # type: ignore[operator]
        case ">=":
            return left >= right  # type: ignore[operator]


def _truth(condition: Condition, read: Callable[[str], Value]) -> bool | None:
    match condition:
        case Comparison(comparator, left, right):
            return compared(comparator, _value(left, read), _value(right, read))
        case IsNull(term):
            return _value(term, read) is None
        case Like(left, right):
            return like(_value(left, read), _value(right, read))
        case Not(inner):
            truth = _truth(inner, read)
            return None if truth is None else not truth
        case All(left_part, right_part):
            sides = {_truth(left_part, read), _truth(right_part, read)}
            return False if False in sides else None if None in sides else True
        case Any(left_part, right_part):
            sides = {_truth(left_part, read), _truth(right_part, read)}
            return True if True in sides else None if None in sides else False


def _value(term: Term, read: Callable[[str], Value]) -> Value:
    match term:
        case Attribute(key=key):
            return read(key)
        case Literally(value):
            return value
        case Negative(inner):
            return _computed("-", 0, _value(inner, read))
        case Arithmetic(operator, left, right):
            return _computed(operator, _value(left, read), _value(right, read))
        case Call(function, terms):
            return called(function, [_value(term, read) for term in terms])


def _computed(operator: Operator, left: Value, right: Value) -> Value:
    if isinstance(left, date) or isinstance(right, date):
        return _dated(operator, left, right)
    if kind_of(left) != "number" or kind_of(right) != "number":
        return None
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    value: float | None
    try:
        match operator:
            case "+":
                value = left + right
            case "-":
                value = left - right
            case "*":
                value = left * right
            case "/":
                value = left / right if right else None
            case "%":
                value = remainder(left, right)
    except OverflowError:
        value = float("inf")
    if isinstance(value, float) and value - value != 0:
        raise NumberError(
            f"{left} {operator} {right} is beyond the largest double.",
            remedy="Scale the attributes down.",
        )
    return value


def _dated(operator: Operator, left: Value, right: Value) -> Value:
    """The days between two dates, and dates some days away; null of anything else."""
    if operator == "-" and isinstance(left, datetime) and isinstance(right, datetime):
        return days_between(right, left)
    moment, days = (right, left) if isinstance(right, datetime) else (left, right)
    if not isinstance(moment, datetime) or not isinstance(days, int | float):
        return None
    if operator not in ("+", "-") or (operator == "-" and moment is right):
        return None
    return days_later(moment, -days if operator == "-" else days)
