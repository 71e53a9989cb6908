"""Expressions and guards of an automaton as small programs over exact numbers (`kernels.exact`).

A register holds one number, or two: AVG a sum and a count, RANGE the least and the greatest, and
what a bag condition gathers whether there is a value, and the value. Texts, truth values, moments
and aggregates of a user's own have no such program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel import conditions as on
from trendloom.kernels import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.acel.acea import Expression, Guard
    from trendloom.acel.conditions import Condition, Term

Code = tuple[tuple[int, int], ...]
"""Instructions."""

GATHERED = "gathered"
PLAIN = ""
DOUBLED = ("AVG", "RANGE", GATHERED)
KNOWN = ("SUM", "PROD", "COUNT", "MIN", "MAX", "AVG", "RANGE")
LARGEST = 2**53
"""Literals beyond are not the same number as a double."""
LONG = 200
"""Instructions that are not written twice."""

NULL = (exact.CONSTANT, 0)


class NoProgramError(Exception):
    """Something here is not done with numbers alone."""


@dataclass(frozen=True)
class Sort:
    """What a register holds: a value, or an element of an aggregate's monoid."""

    of: str
    whole: bool | None
    """Whether its numbers are whole; None: it holds none so far."""

    @property
    def width(self) -> int:
        return 2 if self.of in DOUBLED else 1


def joined(one: Sort | None, other: Sort) -> Sort:
    """What a register holds that is assigned both."""
    if one is None:
        return other
    if one.of != other.of or (None not in (one.whole, other.whole) and one.whole != other.whole):
        raise NoProgramError
    return Sort(one.of, one.whole if other.whole is None else other.whole)


@dataclass
class Programs:
    """Makes them; numbers of attributes and constants are given as they come."""

    whole: Mapping[str, bool]
    """The attributes that are numbers, and whether these are whole."""
    sorts: dict[str, Sort] = field(default_factory=dict)
    """Of registers."""
    attributes: list[str] = field(default_factory=list)
    constants: list[float] = field(default_factory=lambda: [float("nan")])

    def sort(self, made: Expression) -> Sort | None:
        """None: it reads a register of which nothing is known yet."""
        match made:
            case acea.Read(name):
                return Sort(PLAIN, self.whole.get(name))
            case acea.Register(name):
                return self.sorts.get(name)
            case acea.Identity(name):
                return Sort(_known(name), None)
            case acea.Lift(name, inner):
                if name == "COUNT":
                    return Sort(name, True)
                held = self.sort(inner)
                return Sort(_known(name), None if held is None else held.whole)
            case acea.Combine(name, left, right):
                total: Sort | None = Sort(_known(name), None)
                for side in (left, right):
                    held = self.sort(side)
                    total = total if held is None else joined(total, held)
                return total
            case acea.Finish(name, inner):
                if name in ("AVG", "COUNT"):
                    return Sort(PLAIN, name == "COUNT")
                held = self.sort(inner)
                return Sort(PLAIN, None if held is None else held.whole)
            case acea.Gather(values):
                if len(values) > 1:
                    raise NoProgramError
                held = self.sort(values[0]) if values else None
                return Sort(GATHERED, None if held is None else held.whole)
            case acea.Collect():
                raise NoProgramError

    def code(self, made: Expression, slots: Mapping[str, int]) -> tuple[Code, ...]:
        """A program for each number of the expression; `slots`: where registers begin."""
        match made:
            case acea.Read(name):
                return (((exact.VALUE, self._number(name)),),)
            case acea.Register(name):
                low = slots[name]
                return tuple(((exact.SLOT, low + k),) for k in range(self.sorts[name].width))
            case acea.Identity(name):
                return self._identity(name)
            case acea.Lift(name, inner):
                return self._lifted(name, inner, slots)
            case acea.Combine(name, left, right):
                pairs = zip(self.code(left, slots), self.code(right, slots), strict=True)
                return tuple(
                    (*one, *other, (operation, 0))
                    for (one, other), operation in zip(pairs, _COMBINED[name], strict=True)
                )
            case acea.Finish():
                return (self._finished(made, slots),)
            case acea.Gather(()):
                return ((self._constant(0),), (NULL,))
            case acea.Gather((value,)):
                return ((self._constant(1),), *self.code(value, slots))
        raise NoProgramError

    def _identity(self, name: str) -> tuple[Code, ...]:
        match name:
            case "SUM" | "COUNT":
                return ((self._constant(0),),)
            case "PROD":
                return ((self._constant(1),),)
            case "AVG":
                return ((self._constant(0),), (self._constant(0),))
            case "RANGE":
                return ((NULL,), (NULL,))
        return ((NULL,),)

    def _lifted(self, name: str, inner: Expression, slots: Mapping[str, int]) -> tuple[Code, ...]:
        if name in ("COUNT", "AVG") and isinstance(inner, acea.Read):
            counted: Code = ((exact.VALUE, self._number(inner.attribute, counted=name == "COUNT")),)
        else:
            (counted,) = self.code(inner, slots)
        if name == "COUNT":
            return ((*counted, (exact.KNOWN, 0)),)
        (value,) = self.code(inner, slots)
        match name:
            case "SUM" | "PROD":
                instead = (exact.INSTEAD, self._constant(1 if name == "PROD" else 0)[1])
                return ((*value, instead),)
            case "AVG":
                instead = (exact.INSTEAD, self._constant(0)[1])
                return (*value, instead), (*counted, (exact.KNOWN, 0))
            case "RANGE":
                return value, value
        return (value,)

    def _finished(self, made: acea.Finish, slots: Mapping[str, int]) -> Code:
        element = self.code(made.element, slots)
        held = self.sort(made.element)
        rounded: Code = () if held is not None and held.whole else ((exact.ROUNDED, 0),)
        match made.aggregate:
            case "SUM" | "PROD":
                return (*element[0], *rounded)
            case "AVG":
                return (*element[0], *element[1], (exact.AVERAGE, 0))
            case "RANGE":
                return (*element[1], *element[0], (exact.MINUS, 0), *rounded)
        return element[0]

    # ── guards ───────────────────────────────────────────────────────────────────────────────

    def guard(
        self, guard: Guard, assigned: Mapping[str, Expression], slots: Mapping[str, int]
    ) -> Code:
        """Leaves 1 if the guard holds."""
        match guard:
            case acea.Satisfies(condition, made):
                reading = _Reading(self, {n: assigned[r] for n, r in made.attributes}, slots)
                return reading.condition(condition)
            case acea.Follows(shape, before, now):
                there, old = self.code(assigned[before], slots)
                _, new = self.code(assigned[now], slots)
                if shape == "increasing":
                    fits: Code = (*old, *new, (exact.LESS, 0))
                elif shape == "decreasing":
                    fits = (*new, *old, (exact.LESS, 0))
                else:
                    fits = (*old, *new, (exact.EQUAL, 0))
                first: Code = (*there, (exact.NOT, 0), *fits, (exact.EITHER, 0))
                if shape != "same":
                    return first
                return (*first, *new, (exact.MISSING, 0), (exact.NOT, 0), (exact.BOTH, 0))
        raise NoProgramError

    def _number(self, attribute: str, *, counted: bool = False) -> int:
        """Of an attribute; where it is only counted, it may be of any kind."""
        if attribute not in self.whole and not counted:
            raise NoProgramError
        if attribute not in self.attributes:
            self.attributes.append(attribute)
        return self.attributes.index(attribute)

    def _constant(self, value: float) -> tuple[int, int]:
        if abs(value) > LARGEST:
            raise NoProgramError
        if float(value) not in self.constants:
            self.constants.append(float(value))
        return exact.CONSTANT, self.constants.index(float(value))


@dataclass(frozen=True)
class _Reading:
    """Conditions on an event that is made of registers."""

    programs: Programs
    names: Mapping[str, Expression]
    slots: Mapping[str, int]

    def condition(self, condition: Condition) -> Code:
        match condition:
            case on.Comparison(comparator, left, right):
                one, other = self._term(left)[0], self._term(right)[0]
                if comparator in (">", ">="):
                    one, other = other, one
                return (*one, *other, (_COMPARED[comparator], 0))
            case on.IsNull(term):
                return (*self._term(term)[0], (exact.MISSING, 0))
            case on.Like():
                raise NoProgramError
            case on.Not(inner):
                return (*self.condition(inner), (exact.NOT, 0))
            case on.All(first, second):
                return (*self.condition(first), *self.condition(second), (exact.BOTH, 0))
            case on.Any(first, second):
                return (*self.condition(first), *self.condition(second), (exact.EITHER, 0))

    def _term(self, term: Term) -> tuple[Code, bool]:
        """The program, and whether its numbers are whole."""
        programs = self.programs
        match term:
            case on.Attribute(key=key):
                if key not in self.names:
                    return (NULL,), True
                held = programs.sort(self.names[key])
                whole = held is None or held.whole is not False
                return programs.code(self.names[key], self.slots)[0], whole
            case on.Call("ABS", (inner,)):
                code, whole = self._term(inner)
                if len(code) > LONG:
                    raise NoProgramError
                negated = (programs._constant(0), *code, (exact.MINUS, 0))
                return (*code, *negated, (exact.GREATEST, 0)), whole
            case on.Call("COALESCE", (inner, on.Literally(int() | float() as value))) if (
                not isinstance(value, bool)
            ):
                code, whole = self._term(inner)
                _, number = programs._constant(value)
                return (*code, (exact.INSTEAD, number)), whole and isinstance(value, int)
            case on.Literally(None):
                return (NULL,), True
            case on.Literally(bool() | str() | date()) | on.Call() | on.Arithmetic("%"):
                raise NoProgramError
            case on.Literally(value):
                assert isinstance(value, int | float)
                return (programs._constant(value),), isinstance(value, int)
            case on.Negative(inner):
                code, whole = self._term(inner)
                return (programs._constant(0), *code, (exact.MINUS, 0)), whole
            case on.Arithmetic(operator, left, right):
                (one, first), (other, second) = self._term(left), self._term(right)
                whole = first and second and operator != "/"
                return (*one, *other, (_COMPUTED[operator][whole], 0)), whole


def _known(name: str) -> str:
    if name not in KNOWN:
        raise NoProgramError
    return name


_COMBINED = {
    "SUM": (exact.PLUS,),
    "COUNT": (exact.PLUS,),
    "PROD": (exact.TIMES,),
    "MIN": (exact.LEAST,),
    "MAX": (exact.GREATEST,),
    "AVG": (exact.PLUS, exact.PLUS),
    "RANGE": (exact.LEAST, exact.GREATEST),
}
_COMPARED = {
    "=": exact.EQUAL, "!=": exact.UNEQUAL, "<": exact.LESS, "<=": exact.LESS_EQUAL,
    ">": exact.LESS, ">=": exact.LESS_EQUAL,
}  # fmt: skip
_COMPUTED = {
    "+": (exact.ADD, exact.PLUS), "-": (exact.SUBTRACT, exact.MINUS),
    "*": (exact.MULTIPLY, exact.TIMES), "/": (exact.DIVIDE, exact.DIVIDE),
}  # fmt: skip
