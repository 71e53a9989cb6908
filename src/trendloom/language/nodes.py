"""The syntax tree of a query: frozen, comparable, printable.

Positions (`place`) never take part in comparison, so a printed query parses back to an equal tree.
Expressions of WHERE and HAVING are sqlglot trees. In them a reference `S.price` is
`Column(this=price, table=S)`, and `NEXT(S).price` is the same with `db=NEXT`.
"""

# ruff: noqa: RUF009 (`_place` makes a field, not a value)

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from trendloom.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from sqlglot import exp

NOWHERE = Place(0, 0)


def _place() -> Place:
    return field(default=NOWHERE, compare=False, repr=False)


# ── patterns ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Event:
    """One occurrence of an event type. `variable` is None where the text names none."""

    type: str
    variable: str | None = None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Repeat:
    """`P+` is (1, None), `P*` (0, None), `P?` (0, 1), `P{m,n}` (m, n)."""

    body: Pattern
    low: int
    high: int | None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Sequence:
    """`SEQ(P, …)`: the parts one after another."""

    parts: tuple[Pattern, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Either:
    """`P OR Q`."""

    parts: tuple[Pattern, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Both:
    """`P AND Q`: pairs of trends, one of each part."""

    parts: tuple[Pattern, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT P`: a guard on the step around it, not a letter of the word."""

    body: Pattern
    place: Place = _place()


Pattern = Event | Repeat | Sequence | Either | Both | Not


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside this one."""
    match pattern:
        case Event():
            return ()
        case Repeat(body=body) | Not(body=body):
            return (body,)
        case Sequence(parts=parts) | Either(parts=parts) | Both(parts=parts):
            return parts


def events_of(pattern: Pattern) -> Iterator[Event]:
    """The event occurrences from left to right, negated ones included."""
    if isinstance(pattern, Event):
        yield pattern
    for child in children(pattern):
        yield from events_of(child)


# ── RETURN ───────────────────────────────────────────────────────────────────────────────────


class Function(Enum):
    """The aggregate functions, by the names they have in a query."""

    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"
    VARIANCE = "VARIANCE"
    STDDEV = "STDDEV"


@dataclass(frozen=True, slots=True)
class Trends:
    """The `*` of `COUNT(*)`."""


@dataclass(frozen=True, slots=True)
class Length:
    """The `LENGTH(*)` of `MIN(LENGTH(*))`."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The `V` of `COUNT(V)`."""

    variable: str
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Values:
    """The `V.attr` of `SUM(V.attr)`."""

    variable: str
    attribute: str
    place: Place = _place()


Argument = Trends | Length | Occurrences | Values


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`FUNCTION([DISTINCT] argument)`, or `LOG2` of one (`log2=True`)."""

    function: Function
    argument: Argument
    distinct: bool = False
    log2: bool = False
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class GroupKey:
    """`district`, or `T.district` (then `variable` is T). Stands in GROUP-BY and in RETURN."""

    attribute: str
    variable: str | None = None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Item:
    """One RETURN item. `text` is what the query wrote; without an alias it names the column."""

    value: Aggregate | GroupKey
    alias: str | None = None
    text: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        return self.alias if self.alias is not None else self.text


# ── WHERE, windows, the query ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`[a, b]`: all events of a trend agree on these attributes."""

    attributes: tuple[str, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Condition:
    """One conjunct of WHERE (or all of HAVING) that is an SQL expression."""

    tree: exp.Expression
    place: Place = _place()


class Unit(Enum):
    """Units of time, valued in nanoseconds."""

    NANOSECOND = 1
    MICROSECOND = 1_000
    MILLISECOND = 1_000_000
    SECOND = 1_000_000_000
    MINUTE = 60 * 1_000_000_000
    HOUR = 3_600 * 1_000_000_000
    DAY = 86_400 * 1_000_000_000
    WEEK = 7 * 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Duration:
    """An exact amount of a unit, as written: `1.5 hours` is (3/2, HOUR)."""

    amount: Fraction
    unit: Unit
    place: Place = _place()

    @property
    def nanoseconds(self) -> Fraction:
        return self.amount * self.unit.value


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`WITHIN w SLIDE s`. Without SLIDE the window moves with every change (EMIT ON CHANGE)."""

    within: Duration
    slide: Duration | None = None
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class CountWindow:
    """`WITHIN n EVENTS SLIDE m EVENTS`, per partition."""

    within: int
    slide: int
    place: Place = _place()


class Semantics(Enum):
    """Which events a trend may skip, by the names the papers use."""

    ANY = "skip-till-any-match"
    NEXT = "skip-till-next-match"
    CONTIGUOUS = "contiguous"


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query. Without `returns` it asks for complete trends."""

    pattern: Pattern
    returns: tuple[Item, ...] = ()
    semantics: Semantics = Semantics.ANY
    where: tuple[Equivalence | Condition, ...] = ()
    group_by: tuple[GroupKey, ...] = ()
    having: Condition | None = None
    window: TimeWindow | CountWindow | None = None
    text: str = field(default="", compare=False, repr=False)
