"""Formulas as frozen dataclasses, one class for each line of the grammar (paper, §3 and §5).

They can be built in Python as well as parsed; `check` refuses what has no meaning.
"""

# ruff: noqa: RUF009 (`somewhere` makes a field, not a value)

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.acel.conditions import BagCondition, Condition, somewhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.errors import Place


@dataclass(frozen=True, slots=True)
class OneEvent:
    """`R`: one event of type R, which the variable R holds."""

    type: str
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Next:
    """`NEXT(R)`: up to the first event of type R, which the variable R holds (App. D.1)."""

    type: str
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class As:
    """`φ AS X`: X holds, besides, the events of all variables."""

    inner: Formula
    variable: str
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Filter:
    """`φ FILTER X[condition]`: of every event of X, or of X's bag as a whole."""

    inner: Formula
    variable: str
    condition: Condition | BagCondition
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class PairFilter:
    """`φ FILTER X, Y[condition]`: of every event of X together with every event of Y.

    `φ FILTER LAST(X), Y[condition]`: of every event of Y together with the last of X before it.
    Multiset predicates (App. D.1) on two bags at once.
    """

    inner: Formula
    left: str
    right: str
    condition: Condition
    last: bool = False
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Or:
    """`φ OR ψ`: what either denotes."""

    left: Formula
    right: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class And:
    """`φ AND ψ`: what both denote."""

    left: Formula
    right: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Sequence:
    """`φ ; ψ`: one after the other, anything between."""

    left: Formula
    right: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Contiguous:
    """`φ : ψ`: one directly after the other."""

    left: Formula
    right: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Iteration:
    """`φ+`: once or more, by `;`."""

    inner: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class ContiguousIteration:
    """`φ:+`: once or more, by `:`."""

    inner: Formula
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Project:
    """`PROJECT[X, Y](φ)`: the bags of these variables only."""

    inner: Formula
    variables: tuple[str, ...]
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class ProjectAttributes:
    """`PROJECT[X(a, b)](φ)`: only these attributes of X's events."""

    inner: Formula
    variable: str
    attributes: tuple[str, ...]
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Assign:
    """`b = SUM(X.a)` inside AGG."""

    attribute: str
    aggregate: str
    variable: str
    source: str
    place: Place = somewhere()


@dataclass(frozen=True, slots=True)
class Aggregation:
    """`AGG[Y(b = SUM(X.a), …)](φ)`: one new event for Y at the end of each complex event."""

    inner: Formula
    variable: str
    assigns: tuple[Assign, ...]
    place: Place = somewhere()


Formula = (
    OneEvent
    | Next
    | As
    | Filter
    | PairFilter
    | Or
    | And
    | Sequence
    | Contiguous
    | Iteration
    | ContiguousIteration
    | Project
    | ProjectAttributes
    | Aggregation
)


def parts(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that this one is made of directly."""
    match formula:
        case OneEvent() | Next():
            return ()
        case Or() | And() | Sequence() | Contiguous():
            return (formula.left, formula.right)
        case _:
            return (formula.inner,)


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it."""
    yield formula
    for part in parts(formula):
        yield from walk(part)
