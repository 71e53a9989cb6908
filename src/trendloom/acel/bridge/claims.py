"""What is said of an event and an earlier one of the trend, and filters that say it.

Under skip-till-next-match an event is left out only if the trend could not go on with it, also by
conditions such as `S.a < NEXT(S).a`. In AND, what lies between may be of another partition. And a
condition between neighbours is asked of an event only if it comes right after the other. Events of
which such a thing is said go to a variable, and a filter compares them with the earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count, product
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

EARLIER, LATER = "earlier", "later"
"""The two events of a condition, until their variables are known."""
MOST_WAYS = 64
"""In which an event can be left out."""


class Claim(NamedTuple):
    """A condition on an event, and on an earlier one if there is an anchor."""

    condition: on.Condition
    anchor: str | None = None
    """The variable of the earlier event."""
    last: bool = False
    """Whether it is the last one of its variable; else it is any."""
    stem: str = ""
    """What the variable is called that holds such events."""


Ways = tuple[Claim, ...]
"""One of these is true."""


def ways_to_fail(
    local: Sequence[on.Condition], pairs: dict[tuple[str, bool], list[on.Condition]]
) -> Iterator[Claim]:
    """Of an event that would be next if it met these conditions: alone, and with which anchor."""
    if not pairs and local:
        yield Claim(untrue(reduce(on.All, local)))
    for number, ((anchor, last), conditions) in enumerate(pairs.items()):
        own = [] if number else [owned(one, LATER) for one in local]
        yield Claim(untrue(reduce(on.All, [*own, *conditions])), anchor, last, "failing")


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
    """The variables of events by what is said of them, as they come to be used."""

    asked: Asked
    names: dict[Claim, str] = field(default_factory=dict)

    def name(self, claim: Claim) -> str:
        """The variable of events of which this is said."""
        if claim not in self.names:
            numbered = (f"{claim.stem}_{number}" for number in count(2))
            stems = map(self.asked.free, chain([claim.stem], numbered))
            self.names[claim] = next(one for one in stems if one not in self.names.values())
        return self.names[claim]

    def checked(self, formula: n.Formula) -> n.Formula:
        """The formula, where what is said is true; some labels are of ways that led nowhere."""
        bound = {one.variable for one in n.walk(formula) if isinstance(one, n.As)}
        for claim, label in self.names.items():
            if label in bound:
                assert claim.anchor is not None
                said = _spoken(claim, label)
                formula = n.PairFilter(formula, claim.anchor, label, said, claim.last)
        return formula


def _spoken(claim: Claim, label: str) -> on.Condition:
    """The condition of the events of these variables."""
    owners = {EARLIER: (claim.anchor, claim.last), LATER: (label, False)}
    names = {}
    for one in attributes_of(claim.condition):
        variable, last = owners[str(one.variable)]
        names[one.key] = on.Attribute(one.name, variable=variable, last=last)
    return renamed(claim.condition, names)
