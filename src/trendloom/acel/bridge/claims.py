"""What is said of an event that is left out and an earlier one of the trend.

Under skip-till-next-match an event is left out only if the trend could not go on with it, also by
conditions such as `S.a < NEXT(S).a`. In AND, what lies between may be of another partition. An
event of which such a thing is said goes to a variable, and a filter compares all of these with the
earlier one; then the variable is dropped.

The earlier event is the one right before, or one further back. What is said with the first is
checked step by step, what is said with the second in the formula of the whole trend.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.demands import attributes_of, renamed
from trendloom.acel.truth import untrue
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trendloom.acel.bridge.asked import Asked

NEAR = ""
"""Stands for the event right before, where others are named by their variable."""
EARLIER, LATER = "earlier", "later"
"""The two events of a condition, until their variables are known."""
MOST_WAYS = 64
"""In which an event can be left out."""


class Claim(NamedTuple):
    """A condition on an event that is left out, and on an earlier one if there is an anchor."""

    condition: on.Condition
    anchor: str | None = None
    """The variable of the earlier event, or NEAR."""
    stem: str = ""
    """What the variable is called that holds such events."""


Ways = tuple[Claim, ...]
"""One of these is true."""


def ways_to_fail(
    local: Sequence[on.Condition], pairs: dict[str, list[on.Condition]]
) -> Iterator[Claim]:
    """Of an event that would be next if it met these conditions: alone, and with which anchor."""
    if not pairs and local:
        yield Claim(untrue(reduce(on.All, local)))
    for number, (anchor, conditions) in enumerate(pairs.items()):
        own = [] if number else [owned(one, LATER) for one in local]
        stem = "failing" if anchor == NEAR else f"failing_{anchor}"
        yield Claim(untrue(reduce(on.All, [*own, *conditions])), anchor, stem)


def all_of(every: Iterable[Ways]) -> Iterator[frozenset[Claim]]:
    """The ways in which one of each is true."""
    choices = sorted(every, key=repr)
    if prod(map(len, choices)) > MOST_WAYS:
        raise LimitError(
            f"An event could be left out in {prod(map(len, choices))} ways.",
            remedy=f"At most {MOST_WAYS} are told apart; ask for less of what is next.",
        )
    yield from dict.fromkeys(map(frozenset, product(*choices)))


def owned(condition: on.Condition, variable: str) -> on.Condition:
    """A condition on one event as one on two, of which it speaks of this one."""
    names = {one.key: on.Attribute(one.name, variable=variable) for one in attributes_of(condition)}
    return renamed(condition, names)


@dataclass(frozen=True)
class Labels:
    """The variables of what is left out, by what is said of it and one earlier event."""

    asked: Asked
    names: dict[Claim, str] = field(default_factory=dict)

    def name(self, claim: Claim) -> str:
        """The variable of events of which this is said."""
        if claim not in self.names:
            same = sum(1 for one in self.names if one.stem == claim.stem)
            self.names[claim] = self.asked.free(f"{claim.stem}_{same}" if same else claim.stem)
        return self.names[claim]

    def checked(self, formula: n.Formula, variable: str) -> n.Formula:
        """The formula, where what is said is true; `variable` holds the earlier event."""
        bound = bound_in(formula)
        for claim, label in self.names.items():
            if label in bound:
                said = spoken(claim.condition, {EARLIER: variable, LATER: label})
                formula = n.PairFilter(formula, variable, label, said)
        return formula


def spoken(condition: on.Condition, variables: dict[str, str]) -> on.Condition:
    """The condition of the two events of these variables."""
    names = {
        one.key: replace(one, variable=variables[str(one.variable)])
        for one in attributes_of(condition)
    }
    return renamed(condition, names)


def bound_in(formula: n.Formula) -> set[str]:
    """The variables that AS binds somewhere in it."""
    return {one.variable for one in n.walk(formula) if isinstance(one, n.As)}
