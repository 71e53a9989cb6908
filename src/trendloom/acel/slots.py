"""Automata that mark events and compare each with the one before in its bag, made deterministic.

`increasing`, `decreasing` and `same` ask a register for the last value of a bag. As in `marking` a
state is a set: what runs with the same marks have reached. Here each of them is a state of the
automaton and, for its registers, the slots that hold their values; registers that must be equal,
because one event gave them their values, share a slot. Which steps are possible depends on tests of
slots, so a state has moves for every outcome of its tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel.acea import Acea
from trendloom.acel.demands import letters_of, steps_of
from trendloom.acel.events import MOMENT, NUMBER
from trendloom.acel.marking import Label, label_of, only_marks
from trendloom.acel.registers import lean
from trendloom.kernels import ordering

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trendloom.acel.acea import Expression, Guard
    from trendloom.acel.conditions import Shape
    from trendloom.acel.demands import Letter, Step

EMPTY = -1
"""In the place of a slot: no value yet."""
Source = int
"""A slot, or EMPTY, or an attribute of the event: -2 - its number."""
Place = tuple[int, tuple[Source, ...]]
"""A state of the automaton, and a slot for each register that is still read there."""
State = tuple[tuple[Place, ...], int]
"""Places, and how many slots they have together."""
Test = tuple[int, int, int]
"""A shape, a slot, an attribute."""
SHAPES: dict[Shape, int] = {
    "increasing": ordering.INCREASING, "decreasing": ordering.DECREASING, "same": ordering.SAME,
}  # fmt: skip

MOST_SLOTS, MOST_TESTS, MOST_STEPS = 8, 8, 4000
"""Beyond, runs are better followed one by one."""


@dataclass(frozen=True)
class Move:
    """Where a state goes, and for each slot there what it is made of."""

    label: Label
    target: int
    sources: tuple[Source, ...]


class TooManyError(Exception):
    """More states, slots or tests than are worth it."""


@dataclass
class Slots:
    """The deterministic automaton, as far as it has been asked for."""

    automaton: Acea
    letters: tuple[Letter, ...]
    attributes: tuple[str, ...]
    """What registers may hold."""
    states: list[State] = field(init=False)
    _numbers: dict[State, int] = field(init=False)
    _steps: dict[int, tuple[Step, ...]] = field(init=False)
    _live: dict[int, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self._steps, live = lean(steps_of(self.automaton, self.letters))
        self._live = {state: tuple(sorted(names)) for state, names in live.items()}
        self.states = [(((Acea.START, ()),), 0), (((Acea.END, ()),), 0)]
        self._numbers = {state: number for number, state in enumerate(self.states)}

    @property
    def width(self) -> int:
        return max(count for _, count in self.states)

    def tests(self, number: int, mask: int) -> tuple[Test, ...]:
        """What decides the moves of a state at such an event."""
        found: dict[Test, None] = {}
        for place, step in self._fitting(number, mask):
            found.update((test, None) for test in self._asked(place, step))
        if len(found) > MOST_TESTS:
            raise TooManyError
        return tuple(found)

    def moves(self, number: int, mask: int, holding: frozenset[Test]) -> list[Move]:
        """The moves if exactly these tests hold."""
        reached: dict[Label, list[tuple[int, tuple[Source, ...]]]] = {}
        for place, step in self._fitting(number, mask):
            if holding.issuperset(self._asked(place, step)):
                one = step.transition
                assigned = dict(one.assigns)
                names = self._live[one.target]
                sources = tuple(self._source(place, assigned[name]) for name in names)
                reached.setdefault(label_of(one), []).append((one.target, sources))
        made = []
        for label, targets in sorted(reached.items(), key=lambda pair: sorted(pair[0])):
            if any(target == Acea.END for target, _ in targets):
                made.append(Move(label, Acea.END, ()))
            if inner := sorted({one for one in targets if one[0] != Acea.END}):
                made.append(self._move(label, inner))
        return made

    def _move(self, label: Label, inner: list[tuple[int, tuple[Source, ...]]]) -> Move:
        slots: dict[Source, int] = {EMPTY: EMPTY}
        for _, sources in inner:
            for source in sources:
                slots.setdefault(source, len(slots) - 1)
        if len(slots) - 1 > MOST_SLOTS:
            raise TooManyError
        places = tuple(sorted((q, tuple(slots[s] for s in sources)) for q, sources in inner))
        target = self._number((places, len(slots) - 1))
        return Move(label, target, tuple(source for source in slots if source != EMPTY))

    def _number(self, state: State) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self.states)
            self.states.append(state)
        return self._numbers[state]

    def _fitting(self, number: int, mask: int) -> Iterator[tuple[Place, Step]]:
        for place in self.states[number][0]:
            yield from ((place, step) for step in self._steps[place[0]] if step.fits(mask))

    def _asked(self, place: Place, step: Step) -> Iterator[Test]:
        assigned = dict(step.transition.assigns)
        for guard in step.guards:
            assert isinstance(guard, acea.Follows)
            slot = self._source(place, assigned[guard.before])
            attribute = -2 - self._source(place, assigned[guard.now])
            # Without a value before, only `same` asks something: that there is a value.
            if slot >= 0 or guard.shape == "same":
                yield SHAPES[guard.shape], max(slot, ordering.NO_SLOT), attribute

    def _source(self, place: Place, made: Expression) -> Source:
        match made:
            case acea.Register(name):
                return place[1][self._live[place[0]].index(name)]
            case acea.Gather((acea.Read(name),)):
                return -2 - self.attributes.index(name)
        return EMPTY

    def explore(self) -> bool:
        """Meets every state once; False if there are too many."""
        masks = list(islice(_masks(self.letters), MOST_STEPS + 1))
        if len(masks) > MOST_STEPS:
            return False
        done, taken = 0, 0
        try:
            while done < len(self.states):
                for mask in masks if done != Acea.END else ():
                    tests = self.tests(done, mask)
                    for some in _subsets(tests):
                        taken += 1
                        if taken > MOST_STEPS:
                            return False
                        self.moves(done, mask, some)
                done += 1
        except TooManyError:
            return False
        return True


def ordered_by(automaton: Acea, kinds: Mapping[str, str]) -> tuple[str, ...] | None:
    """The attributes whose order decides, if nothing does but marks and such an order."""
    found: dict[str, None] = {}

    def follows(guard: Guard, assigned: Mapping[str, Expression]) -> bool:
        if not isinstance(guard, acea.Follows):
            return False
        match assigned[guard.now], assigned[guard.before]:
            case acea.Gather((acea.Read(name),)), (acea.Register() | acea.Gather(())):
                found[name] = None
                return kinds.get(name) in (NUMBER, MOMENT)
        return False

    if not only_marks(automaton, follows):
        return None
    attributes = tuple(found)
    return attributes if Slots(automaton, letters_of(automaton), attributes).explore() else None


def _masks(letters: tuple[Letter, ...]) -> Iterator[int]:
    """Every mask that an event can have, by its type."""
    types = dict.fromkeys(letter.type for letter in letters)
    for kind in types:
        own = [1 << k for k, one in enumerate(letters) if one.type in (kind, None)]
        for size in range(len(own) + 1):
            yield from (sum(some) for some in combinations(own, size))
    yield 0


def _subsets(tests: tuple[Test, ...]) -> Iterator[frozenset[Test]]:
    for size in range(len(tests) + 1):
        yield from (frozenset(some) for some in combinations(tests, size))
