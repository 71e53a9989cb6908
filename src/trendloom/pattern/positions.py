"""Pattern → positions: the Glushkov construction, with guards on the steps.

1. Every occurrence of a variable is a position; `P{m,n}` copies its body, so positions of several
   copies carry one variable.
2. `first`, `last` and `follow` say which positions may begin, end and succeed one another, each
   with the guards that a derivation puts there (SEMANTICS §2, §3.5).
3. `NOT P` is a part that derives the empty word under a guard. Concatenation then carries the
   guard to the step around it, past absent optional neighbours, with no case of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from trendloom.errors import LimitError
from trendloom.language.nodes import Both, Either, Event, Not, Pattern, Repeat, Sequence
from trendloom.pattern.guards import FREE, NEVER, Guards, both, either, guarded_by

MAX_POSITIONS = 1_000
MAX_LINKS = 100_000

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Fragment:
    """What a sub-pattern looks like from outside: how it begins, ends, and vanishes."""

    empty: Guards
    first: dict[int, Guards]
    last: dict[int, Guards]


@dataclass(slots=True)
class Positions:
    """All positions of a pattern. `labels[p]` is p's variable; START and END are outside."""

    labels: list[str] = field(default_factory=list)
    follow: dict[tuple[int, int], Guards] = field(default_factory=dict)
    negated: list[Pattern] = field(default_factory=list)
    """The bodies of `NOT`, numbered as the guards."""
    whole: Fragment = field(default_factory=lambda: Fragment(NEVER, {}, {}))

    @classmethod
    def of(cls, pattern: Pattern) -> Positions:
        positions = cls()
        positions.whole = positions._build(pattern)
        return positions

    def _build(self, pattern: Pattern) -> Fragment:
        match pattern:
            case Event(variable=variable):
                assert variable is not None, "variables are named before positions are built"
                return self._letter(variable)
            case Sequence(parts=parts):
                fragment = Fragment(FREE, {}, {})
                for part in parts:
                    fragment = self._then(fragment, self._build(part))
                return fragment
            case Either(parts=parts):
                fragment = self._build(parts[0])
                for part in parts[1:]:
                    fragment = _union(fragment, self._build(part))
                return fragment
            case Not(body=body):
                return Fragment(guarded_by(self._guard(body)), {}, {})
            case Repeat(body=body, low=low, high=high):
                return self._repeat(body, low, high)
            case Both():
                raise AssertionError("AND is split before positions are built")

    def _letter(self, variable: str) -> Fragment:
        if len(self.labels) >= MAX_POSITIONS:
            raise LimitError(
                f"The pattern unfolds to more than {MAX_POSITIONS} positions.",
                remedy="Lower the bounds of {m,n}, or use + and a LENGTH(*) condition.",
            )
        self.labels.append(variable)
        position = len(self.labels) - 1
        return Fragment(NEVER, {position: FREE}, {position: FREE})

    def _guard(self, body: Pattern) -> int:
        if body not in self.negated:
            self.negated.append(body)
        return self.negated.index(body)

    def _then(self, left: Fragment, right: Fragment) -> Fragment:
        self._link(left, right)
        first = dict(left.first)
        last = dict(right.last)
        for position, guards in right.first.items():
            _add(first, position, both(left.empty, guards) if left.empty else NEVER)
        for position, guards in left.last.items():
            _add(last, position, both(guards, right.empty) if right.empty else NEVER)
        empty = both(left.empty, right.empty) if left.empty and right.empty else NEVER
        return Fragment(empty, first, last)

    def _link(self, left: Fragment, right: Fragment) -> None:
        if len(left.last) * len(right.first) + len(self.follow) > MAX_LINKS:
            raise LimitError(
                f"The pattern has more than {MAX_LINKS:,} possible steps.",
                remedy="Lower the bounds of {m,n}, or nest fewer optional parts.",
            )
        for p, leaving in left.last.items():
            for q, entering in right.first.items():
                _add(self.follow, (p, q), both(leaving, entering))

    def _repeat(self, body: Pattern, low: int, high: int | None) -> Fragment:
        """`P{m,n}` as m copies, then nested options, P P (P (P)?)?: `follow` stays linear."""
        if high is None:
            fragment = self._build(body)
            self._link(fragment, fragment)
            copies_before, optional = low - 1, low == 0
        else:
            fragment = self._build(body)
            for _ in range(high - max(low, 1)):
                tail = Fragment(FREE, fragment.first, fragment.last)
                fragment = self._then(self._build(body), tail)
            copies_before, optional = low - 1, low == 0
        if optional:
            return Fragment(FREE, fragment.first, fragment.last)
        for _ in range(copies_before):
            fragment = self._then(self._build(body), fragment)
        return fragment


def _union(left: Fragment, right: Fragment) -> Fragment:
    first, last = dict(left.first), dict(left.last)
    for position, guards in right.first.items():
        _add(first, position, guards)
    for position, guards in right.last.items():
        _add(last, position, guards)
    return Fragment(either(left.empty, right.empty), first, last)


def _add(table: dict[Key, Guards], key: Key, guards: Guards) -> None:
    if guards:
        table[key] = either(table.get(key, NEVER), guards)
