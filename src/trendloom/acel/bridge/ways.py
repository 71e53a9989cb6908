"""A condition between one event and each of several, as ways in which it holds or fails for all.

A filter sees one event. So the several are in variables, one for each way, and the least or
greatest of a variable is compared with the one: `A.a < B.b` fails for all B if the greatest is not
greater. `A.a != B.b` holds in two ways. An event for which it holds in several may be in the
variable of any: complex events are a set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.branches import branches
from trendloom.acel.bridge.truth import growth, untrue
from trendloom.acel.demands import attributes_of, renamed
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from trendloom.acel.bridge.asked import Asked
    from trendloom.plan.conditions import Pair

T = TypeVar("T")

MOST_WAYS = 12
"""Each is a variable."""
TURNED: dict[on.Comparator, on.Comparator] = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
NEGATED: dict[on.Comparator, on.Comparator] = {
    "=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<",
}  # fmt: skip
NEAR = ""
"""Stands for the event right before, where an anchor is named by its variable."""
MARK = "\0"
"""Between the variable of the one and its attribute."""
EACH = MARK * 2
"""Before the attributes of the several."""


class NotSeparable(Exception):
    """The condition does not grow or fall with one attribute of the later event."""


@dataclass(frozen=True)
class Way:
    """Conditions on the one, on each of the several, and on both: an attribute of the latter is on
    the left."""

    own: tuple[on.Condition, ...] = ()
    each: tuple[on.Condition, ...] = ()
    both: tuple[on.Comparison, ...] = ()
    strict: bool = False
    """Whether null does not satisfy it; else it does."""

    def __add__(self, other: Way) -> Way:
        return replace(
            self,
            own=_merged(self.own, other.own),
            each=_merged(self.each, other.each),
            both=_merged(self.both, other.both),
        )

    def of(self, anchor: str) -> Way:
        """What it says of this earlier event."""
        own = tuple(one for one in self.own if owner_of(one) == anchor)
        both = tuple(one for one in self.both if owner_of(one) == anchor)
        return replace(self, own=own, each=(), both=both)

    @property
    def anchors(self) -> list[str]:
        return sorted({owner_of(one) for one in (*self.own, *self.both)})


def _merged(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def owner_of(condition: on.Condition) -> str:
    """The earlier event of which a condition speaks; of none: the one right before."""
    names = (name for name in attributes_of(condition) if not name.startswith(EACH))
    return next((name.partition(MARK)[0] for name in names), NEAR)


def ways(asked: Asked, pair: Pair, anchor: str, *, strict: bool) -> list[Way]:
    """How the condition holds (`strict`), or fails to."""

    def spelled(column: exp.Column) -> str:
        # What stands under NEXT is marked so.
        marked = anchor == NEAR or pair.earlier == pair.later
        near = column.args.get("db") is None if marked else column.table == anchor
        return (anchor + MARK if near else EACH) + column.name

    return list(_Reading(strict).ways(asked.condition(pair.tree, spelled), than=not strict))


def bounded(found: list[Way]) -> tuple[Way, ...]:
    different = tuple(dict.fromkeys(found))
    if len(different) > MOST_WAYS:
        raise LimitError(
            f"Events would be told apart by {len(different)} ways to satisfy conditions.",
            remedy=f"At most {MOST_WAYS} are; ask for less between two events.",
        )
    return different


@dataclass(frozen=True)
class _Reading:
    """A condition is false (or: true), if `strict`; else it is not true (or: not false)."""

    strict: bool

    def ways(self, condition: on.Condition, *, than: bool) -> Iterator[Way]:
        names = attributes_of(condition)
        if not any(name.startswith(EACH) for name in names):
            yield Way(own=(self._plain(condition, than),), strict=self.strict)
            return
        if all(name.startswith(EACH) for name in names):
            bare = {name: on.Attribute(name.removeprefix(EACH)) for name in names}
            each = renamed(self._plain(condition, than), bare)
            yield Way(each=(each,), strict=self.strict)
            return
        match condition:
            case on.Comparison(comparator, left, right):
                yield from self._compared(NEGATED[comparator] if than else comparator, left, right)
            case on.Not(inner):
                yield from self.ways(inner, than=not than)
            case on.All(one, two) | on.Any(one, two):
                first, second = (list(self.ways(side, than=than)) for side in (one, two))
                if isinstance(condition, on.All) is than:
                    yield from (*first, *second)
                else:
                    yield from (a + b for a, b in product(first, second))
            case _:
                raise NotSeparable

    def _plain(self, condition: on.Condition, than: bool) -> on.Condition:
        if self.strict:
            return on.Not(condition) if than else condition
        return untrue(condition, than)

    def _compared(self, comparator: on.Comparator, left: on.Term, right: on.Term) -> Iterator[Way]:
        options = list(product(branches(left, EACH), branches(right, EACH)))
        if len(options) > 1:
            for (when, one_side), (also, other_side) in options:
                here = on.Comparison(comparator, one_side, other_side)
                each = (list(self.ways(part, than=False)) for part in (*when, *also, here))
                yield from (reduce(Way.__add__, some) for some in product(*each))
            return
        if comparator == "!=":
            yield from self._compared("<", left, right)
            yield from self._compared(">", left, right)
            return
        one, other = growth(left, EACH), growth(right, EACH)
        if one is None or other is None or (one and other):
            raise NotSeparable
        made = on.Comparison(comparator, left, right)
        if not one:
            made = on.Comparison(TURNED[comparator], right, left)
        known: tuple[on.Condition, ...] = ()
        if self.strict:
            known = (on.Not(on.IsNull(on.Attribute(_source(made)))),)
        yield Way(each=known, both=(made,), strict=self.strict)


def _source(made: on.Comparison) -> str:
    """The attribute of the several in it."""
    (found,) = (name for name in attributes_of(made) if name.startswith(EACH))
    return found.removeprefix(EACH)


def every_one(way: Way, label: str, variable: str, assigns: dict[str, n.Assign]) -> on.Condition:
    """That all events of the label go this way with the one of the variable; what AGG must make."""

    def read(condition: on.Condition, extreme: str = "") -> on.Condition:
        spelled = {}
        for name in sorted(attributes_of(condition)):
            source = name.partition(MARK)[2]
            spelled[name] = on.Attribute(extreme if name.startswith(EACH) else f"own_{source}")
            if not name.startswith(EACH):
                assigns[f"own_{source}"] = n.Assign(f"own_{source}", "MAX", variable, source)
        return renamed(condition, spelled)

    each: list[on.Condition] = []
    for one in way.both:
        source = _source(one)
        grows = growth(one.left, EACH) == 1
        for extreme, signs in (("MAX", ("<", "<=")), ("MIN", (">", ">="))):
            if one.comparator not in (*signs, "="):
                continue
            function = extreme if grows else {"MAX": "MIN", "MIN": "MAX"}[extreme]
            name = f"{function.lower()}_{label}_{source}"
            assigns[name] = n.Assign(name, function, label, source)
            made = read(one, name)
            if not way.strict:
                assert isinstance(made, on.Comparison)
                sides = [side for side in (made.left, made.right) if attributes_of(side)]
                for side in sides:
                    made = on.Any(made, on.IsNull(side))
            each.append(made)
    each += map(read, way.own)
    if not way.own and not way.strict:
        return reduce(on.All, each)
    assigns[f"n_{label}"] = n.Assign(f"n_{label}", "COUNT", label, "type")
    absent = on.Comparison("=", on.Attribute(f"n_{label}"), on.Literally(0))
    return on.Any(absent, reduce(on.All, each)) if each else absent
