"""Aggregate functions as commutative monoids (paper, §4).

A value is lifted into the monoid, combined there in any order, and finished in constant time.
Doubles do not add up associatively, so sums and products are exact inside (a double is a
fraction) and are rounded once, at the end: no order of evaluation shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from trendloom.acel.events import MOMENT, NUMBER, TEXT, TRUTH, Value
from trendloom.acel.moments import as_held
from trendloom.errors import NumberError, TrendloomError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Element = Any
"""An element of a monoid: whatever an aggregate's own functions agree on; hashable."""


def _same(value: Element) -> Element:
    return value


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A commutative monoid (combine, identity) with a lift before it and a finish after it.

    A null or missing attribute is never lifted: it counts as the identity.
    """

    name: str
    identity: Element
    combine: Callable[[Element, Element], Element]
    lift: Callable[[Value], Element] = _same
    finish: Callable[[Element], Value] = _same
    takes: tuple[str, ...] = (NUMBER,)
    """The kinds of values that it can be applied to."""
    gives: str | None = NUMBER
    """The kind of its result; None: the kind that it was applied to."""

    def lifted(self, value: Value) -> Element:
        return self.identity if value is None else self.lift(value)

    def finished(self, element: Element) -> Value:
        held: Value = as_held(self.finish(element))
        return held

    def __call__(self, values: Iterable[Value]) -> Value:
        return self.finished(reduce(self.combine, map(self.lifted, values), self.identity))


def _exact(value: Any) -> int | Fraction:
    return value if isinstance(value, int) else Fraction(value)


def _rounded(value: int | Fraction) -> Value:
    if isinstance(value, int):
        return value
    try:
        return float(value)
    except OverflowError:
        raise NumberError(
            "An aggregate is beyond the largest double.", remedy="Scale the attribute down."
        ) from None


def _extreme(choose: Callable[[Any, Any], Any]) -> Callable[[Element, Element], Element]:
    def combine(one: Element, other: Element) -> Element:
        if one is None or other is None:
            return other if one is None else one
        return choose(one, other)

    return combine


def _pairs(
    first: Callable[[Element, Element], Element], second: Callable[[Element, Element], Element]
) -> Callable[[Element, Element], Element]:
    return lambda one, other: (first(one[0], other[0]), second(one[1], other[1]))


def _add(one: Element, other: Element) -> Element:
    return one + other


def _average(pair: Element) -> Value:
    total, count = pair
    return _rounded(Fraction(total, 1) / count) if count else None


def _width(pair: Element) -> Value:
    low, high = pair
    return None if low is None else _rounded(high - low)


_BUILT_IN = (
    Aggregate("SUM", 0, _add, _exact, _rounded),
    Aggregate("PROD", 1, lambda one, other: one * other, _exact, _rounded),
    Aggregate("COUNT", 0, _add, lambda _: 1, takes=(NUMBER, TEXT, TRUTH, MOMENT)),
    Aggregate("MIN", None, _extreme(min), takes=(NUMBER, TEXT, MOMENT), gives=None),
    Aggregate("MAX", None, _extreme(max), takes=(NUMBER, TEXT, MOMENT), gives=None),
    Aggregate("AVG", (0, 0), _pairs(_add, _add), lambda value: (_exact(value), 1), _average),
    Aggregate(
        "RANGE",
        (None, None),
        _pairs(_extreme(min), _extreme(max)),
        lambda value: (_exact(value), _exact(value)),
        _width,
    ),
)

_known = {aggregate.name: aggregate for aggregate in _BUILT_IN}


def register(aggregate: Aggregate) -> None:
    """Makes an aggregate known to formulas by its name, in upper case."""
    name = aggregate.name
    if name != name.upper() or not name.isidentifier():
        raise TrendloomError(
            f"'{name}' cannot name an aggregate.", remedy="Use a plain word in upper case."
        )
    if name in _known:
        raise TrendloomError(f"There is an aggregate {name} already.", remedy="Choose a new name.")
    _known[name] = aggregate


def aggregate(name: str) -> Aggregate:
    """The aggregate of this name, in upper case."""
    if name not in _known:
        raise TrendloomError(f"Unknown aggregate '{name}'.", remedy=did_you_mean(name, _known))
    return _known[name]


def known() -> tuple[str, ...]:
    """The names of all aggregates."""
    return tuple(_known)


def registered(names: Iterable[str]) -> tuple[Aggregate, ...]:
    """Those of these names that are not built in: another process does not know them."""
    return tuple(_known[name] for name in dict.fromkeys(names) if _known[name] not in _BUILT_IN)


def ensure(own: Aggregate) -> None:
    """An aggregate that another process has registered."""
    if own.name not in _known:
        register(own)
