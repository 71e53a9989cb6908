"""Positions → an automaton that is deterministic over variables.

1. A state is the set of positions a labelled prefix can be in (all carry one variable), together
   with the length so far, as far as a LENGTH condition needs it, and which *bound* variables
   (anchors, grouping variables) the prefix already holds.
2. Where guards decide which positions are reached, a transition has one arrow per truth
   assignment of the guards involved. So every trend has exactly one run and is counted once,
   however many ways the pattern derives its word (SEMANTICS §3).
3. A step that the pattern allows, but that no longer leads to a trend of an allowed length, goes to
   `DEAD`: skip-till-next-match still takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from trendloom.errors import LimitError
from trendloom.pattern.guards import Guards, either, holds, mentioned
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from trendloom.language.nodes import Pattern

START = -1
DEAD = -1
MAX_STATES = 4_096
MAX_ARROWS = 200_000
MAX_WORK = 1_000_000
"""Steps looked at while building: seconds, never minutes."""
MAX_GUARDS_PER_STEP = 8


@dataclass(frozen=True, slots=True)
class State:
    """Where a partial trend can be. `bound` has bit b set once bound variable b has occurred."""

    variable: int
    positions: tuple[int, ...]
    length: int
    bound: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """`source` —variable→ `target`, if of the guards in `care` exactly those in `want` hold."""

    source: int
    variable: int
    target: int
    care: int
    want: int


@dataclass(frozen=True, slots=True)
class Accept:
    """A trend may end in `state`, if of the guards in `care` exactly those in `want` hold."""

    state: int
    care: int
    want: int


@dataclass(frozen=True, slots=True)
class GuardAutomaton:
    """The positions of a negated pattern; `follow` has (START, q) for first positions."""

    labels: tuple[str, ...]
    follow: tuple[tuple[int, int], ...]
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LengthBounds:
    """`LENGTH(*)` conditions, intersected. `high` None: unbounded."""

    low: int = 1
    high: int | None = None

    @property
    def trivial(self) -> bool:
        return self.low <= 1 and self.high is None

    @property
    def ceiling(self) -> int:
        """Lengths from here on behave alike."""
        return self.low if self.high is None else self.high

    def allows(self, length: int) -> bool:
        return length >= self.low and (self.high is None or length <= self.high)


@dataclass(frozen=True)
class Automaton:
    """Deterministic over `variables`; arrows and accepts refer to states by number."""

    variables: tuple[str, ...]
    states: tuple[State, ...]
    arrows: tuple[Arrow, ...]
    accepts: tuple[Accept, ...]
    guards: tuple[GuardAutomaton, ...]
    bound: tuple[str, ...]

    @cached_property
    def cyclic(self) -> bool:
        """Whether trends of any length exist: exponential or polynomial counts (COGRA Table 4)."""
        edges = [
            (a.source, a.target) for a in self.arrows if a.source != START and a.target != DEAD
        ]
        remaining = set(range(len(self.states)))
        while True:
            busy = {source for source, target in edges if target in remaining}
            leaves = remaining - busy
            if not leaves:
                return bool(remaining)
            remaining -= leaves
            edges = [(s, t) for s, t in edges if s in remaining and t in remaining]


def build_automaton(
    pattern: Pattern, *, lengths: LengthBounds | None = None, bound: tuple[str, ...] = ()
) -> Automaton:
    """The automaton of a pattern without AND, variables named."""
    return _Builder(Positions.of(pattern), lengths or LengthBounds(), bound).build()


def build_guard(pattern: Pattern) -> GuardAutomaton:
    """The positions of a negated pattern; only its latest start counts, so no determinism."""
    positions = Positions.of(pattern)
    first = [(START, q) for q in positions.whole.first]
    return GuardAutomaton(
        tuple(positions.labels), (*first, *positions.follow), tuple(positions.whole.last)
    )


class _Builder:
    """Subset construction over (positions, length, bound), breadth first from START."""

    def __init__(self, positions: Positions, lengths: LengthBounds, bound: tuple[str, ...]) -> None:
        self.positions = positions
        self.lengths = lengths
        self.bound = bound
        self.variables = tuple(dict.fromkeys(positions.labels))
        self.index = {name: number for number, name in enumerate(self.variables)}
        self.numbers: dict[State, int] = {}
        self.order: list[State] = []
        self.arrows: list[Arrow] = []
        self.work = 0
        self.successors: dict[int, dict[int, Guards]] = {}
        for (p, q), guards in positions.follow.items():
            self.successors.setdefault(p, {})[q] = guards

    def build(self) -> Automaton:
        self._leave(START, {START: self.positions.whole.first}, length=0, bound=0)
        done = 0
        while done < len(self.order):
            state = self.order[done]
            follow = {p: self.successors.get(p, {}) for p in state.positions}
            self._leave(done, follow, length=state.length, bound=state.bound)
            done += 1
        states = tuple(self.order)
        accepts = tuple(
            a for number, state in enumerate(states) for a in self._accepts(number, state)
        )
        guards = tuple(build_guard(body) for body in self.positions.negated)
        whole = Automaton(self.variables, states, tuple(self.arrows), accepts, guards, self.bound)
        return _bury_the_dead(whole)

    def _leave(
        self, source: int, follow: dict[int, dict[int, Guards]], length: int, bound: int
    ) -> None:
        reached: dict[int, dict[int, Guards]] = {}
        for targets in follow.values():
            self.work += len(targets)
            if self.work > MAX_WORK:
                raise _too_large(f"{MAX_WORK:,} steps to build")
            for q, guards in targets.items():
                by_position = reached.setdefault(self.index[self.positions.labels[q]], {})
                by_position[q] = either(by_position[q], guards) if q in by_position else guards
        for variable, conditions in sorted(reached.items()):
            for care, want, positions in _cases(conditions):
                target = self._state(variable, positions, length + 1, bound)
                self.arrows.append(Arrow(source, variable, target, care, want))
        if len(self.arrows) > MAX_ARROWS:
            raise _too_large(f"{MAX_ARROWS} transitions")

    def _state(self, variable: int, positions: tuple[int, ...], length: int, bound: int) -> int:
        if self.lengths.high is not None and length > self.lengths.high:
            return DEAD
        name = self.variables[variable]
        if name in self.bound:
            bound |= sum(1 << b for b, other in enumerate(self.bound) if other == name)
        kept = 0 if self.lengths.trivial else min(length, self.lengths.ceiling)
        state = State(variable, positions, kept, bound)
        if state not in self.numbers:
            if len(self.numbers) >= MAX_STATES:
                raise _too_large(f"{MAX_STATES} states")
            self.numbers[state] = len(self.numbers)
            self.order.append(state)
        return self.numbers[state]

    def _accepts(self, number: int, state: State) -> list[Accept]:
        if not self.lengths.trivial and not self.lengths.allows(state.length):
            return []
        last = self.positions.whole.last
        ending = [last[p] for p in state.positions if p in last]
        if not ending:
            return []
        condition = ending[0]
        for other in ending[1:]:
            condition = either(condition, other)
        return [Accept(number, care, want) for care, want, _ in _cases({0: condition})]


def _cases(conditions: dict[int, Guards]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(care, want, positions reached) for each truth assignment that reaches any position."""
    involved = mentioned(conditions.values())
    if len(involved) > MAX_GUARDS_PER_STEP:
        raise _too_large(f"{MAX_GUARDS_PER_STEP} guards on one step")
    care = sum(1 << guard for guard in involved)
    cases = []
    for truth in product((False, True), repeat=len(involved)):
        true_guards = frozenset(g for g, value in zip(involved, truth, strict=True) if value)
        positions = tuple(sorted(q for q, c in conditions.items() if holds(c, true_guards)))
        if positions:
            cases.append((care, sum(1 << guard for guard in true_guards), positions))
    return cases


def _bury_the_dead(automaton: Automaton) -> Automaton:
    """Drops states that reach no accepting one; arrows into them go to DEAD."""
    incoming: dict[int, set[int]] = {}
    for arrow in automaton.arrows:
        if arrow.target != DEAD:
            incoming.setdefault(arrow.target, set()).add(arrow.source)
    alive: set[int] = set()
    todo = {accept.state for accept in automaton.accepts}
    while todo:
        alive |= todo
        todo = {s for target in todo for s in incoming.get(target, ()) if s != START} - alive
    number = {old: new for new, old in enumerate(sorted(alive))}
    return Automaton(
        automaton.variables,
        tuple(automaton.states[old] for old in number),
        tuple(
            Arrow(
                number.get(a.source, START), a.variable, number.get(a.target, DEAD), a.care, a.want
            )
            for a in automaton.arrows
            if a.source == START or a.source in alive
        ),
        tuple(Accept(number[a.state], a.care, a.want) for a in automaton.accepts),
        automaton.guards,
        automaton.bound,
    )


def _too_large(what: str) -> LimitError:
    return LimitError(
        f"The pattern's automaton needs more than {what}.",
        remedy="Lower the bounds of {m,n} or LENGTH(*), or split the query.",
    )
