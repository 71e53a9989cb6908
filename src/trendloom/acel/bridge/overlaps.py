"""AND of parts that the same events can match: two different trends, in no order (choice 5).

Complex events are a set, so that it takes no more than variables that do not tell the parts apart:
one holds the trend that has an event first which the other has not, one holds the other. Where each
of the two trends is one of either part, both choices make the same complex event.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, NO_WAY, Elimination, Way
from trendloom.plan.shape import positive_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.language import nodes as t

    Choices = list[tuple[t.Event, ...]]

JOINED = Elimination(contiguous=False)


def names_in_no_order(asked: Asked) -> tuple[str, str]:
    """The variables of the trend that differs first, and of the other."""
    return asked.free("first"), asked.free("second")


def in_no_order(asked: Asked) -> Iterator[tuple[Asked, n.Formula]]:
    """For either part, whose trend is then the first to differ: the same with variables for the two
    trends, and a formula of all complex events in which it is."""
    first, second = names_in_no_order(asked)
    one, other = ([*positive_events(part)] for part in asked.parts)
    for leading, following in ((one, other), (other, one)):
        roles = {str(event.variable): first for event in leading}
        roles |= {str(event.variable): second for event in following}
        told = replace(asked, roles=roles)
        yield told, _differing(told, leading, following)


def _differing(asked: Asked, leading: list[t.Event], following: list[t.Event]) -> n.Formula:
    """Events of both trends, one of the leading trend only, and then any."""
    shared: Choices = [(a, b) for a in leading for b in following if a.type == b.type]
    alone: Choices = [(event,) for event in leading]
    every: Choices = [*alone, *((event,) for event in following), *shared]
    anything: list[n.Formula] = [n.OneEvent(word) for word in asked.types]
    edge = Way.of(asked.skipped(reduce(n.Or, anything)))._replace(empty=True)
    course = [
        edge if asked.at_start else EMPTY,
        _repeated(_either(asked, shared)),
        _either(asked, alone),
        _repeated(_either(asked, every)),
        edge if asked.at_end else EMPTY,
    ]
    made = reduce(JOINED.then, course).formula
    assert made is not None, "a part has events"
    return made


def _either(asked: Asked, choices: Choices) -> Way:
    """An event that is in the variables of one of these."""
    ways = []
    for events in choices:
        word, names = events[0].type, tuple(str(event.variable) for event in events)
        ways.append(Way.of(asked.holding(word, names, n.OneEvent(word))))
    return reduce(JOINED.either, ways, NO_WAY)


def _repeated(way: Way) -> Way:
    return JOINED.repeated(way)._replace(empty=True) if way.formula is not None else EMPTY
