"""Automata that only mark events, as deterministic ones that a kernel runs (CORE's evaluation).

1. A state of the deterministic automaton is a set of states: those that runs with the same marks
   have reached. So every complex event is found once, by however many runs (paper, §5: sets).
2. Events are told apart by their masks alone; a class is one mask.
3. Steps are made when the kernel first meets them, so only those that a stream asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.acel import acea
from trendloom.acel.acea import Acea
from trendloom.acel.classes import Classes
from trendloom.acel.demands import demand, steps_of
from trendloom.acel.denotation import STREAM
from trendloom.acel.store import Store
from trendloom.engine.arrow import read_only
from trendloom.errors import LimitError
from trendloom.kernels import histories, marking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from trendloom.acel.acea import Expression, Guard, Transition
    from trendloom.acel.demands import Letter, Step
    from trendloom.acel.store import Found

    Ints = NDArray[np.int64]

MOST_STATES = 4096
"""Sets of states; they may be exponentially many, and then the general way is better."""

Label = frozenset[str]
"""The variables that hold an event."""


def only_marks(
    automaton: Acea, allowed: Callable[[Guard, Mapping[str, Expression]], bool] | None = None
) -> bool:
    """Whether the automaton puts events into variables as they are, and asks nothing of registers.

    Or what is `allowed` only, given what is assigned. Copies with different attributes of one event
    would have to be compared by their values.
    """
    names: dict[str | None, set[frozenset[str]]] = {}
    for one in automaton.transitions:
        asked = demand(one)
        if asked is None:
            continue
        assigned = dict(one.assigns)
        if not all(allowed is not None and allowed(guard, assigned) for guard in asked.guards):
            return False
        for _, bag in one.outputs:
            if len(bag) != 1 or bag[0].origin != STREAM:
                return False
            if not all(assigned[r] == acea.Read(name) for name, r in bag[0].attributes):
                return False
            found = frozenset(name for name, _ in bag[0].attributes)
            names.setdefault(asked.letter.type, set()).add(found)
    return all(len(different) == 1 for different in names.values())


def label_of(one: Transition) -> Label:
    return frozenset(variable for variable, _ in one.outputs)


def labels_of(automaton: Acea) -> list[Label]:
    """All labels; the first is the empty one."""
    found = {label_of(one) for one in automaton.transitions} - {frozenset()}
    return [frozenset(), *sorted(found, key=sorted)]


@dataclass
class Marking:
    """One evaluation: push the events of a scan, take what ends among them."""

    automaton: Acea
    letters: tuple[Letter, ...]
    labels: list[Label] = field(init=False)
    """By their numbers; 0 is the empty one."""
    _steps: dict[int, tuple[Step, ...]] = field(init=False)
    _states: list[frozenset[int]] = field(init=False)
    _numbers: dict[frozenset[int], int] = field(init=False)
    _classes: Classes = field(init=False, default_factory=Classes)
    _first: Ints = field(init=False)
    _moves: list[tuple[int, int]] = field(init=False, default_factory=list)
    _store: Store = field(init=False, default_factory=Store)
    _heaps: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.labels = labels_of(self.automaton)
        self._steps = steps_of(self.automaton, self.letters)
        self._states = [frozenset({Acea.START}), frozenset({Acea.END})]
        self._numbers = {states: number for number, states in enumerate(self._states)}
        self._first = np.full((2, 1, 2), -1, np.int64)
        self._heaps = np.full(2, histories.NONE, np.int64)

    def push(
        self, mask: NDArray[Any], key: Ints, bound: Ints, begins: NDArray[np.bool_], base: int
    ) -> Iterator[Found]:
        """The next events of the scan, numbered from `base`; results by their ends, in order."""
        store = self._store
        # One type for the compiler, wherever they come from.
        key, bound, begins = read_only(key), read_only(bound), read_only(begins)
        classes = read_only(self._classes.of(mask))
        self._widen(len(self._states), len(self._classes))
        store.where[histories.NEXT] = 0
        label, target = self._flat()
        while True:
            reason = marking.advance(
                self._first, label, target, classes, key, bound, begins, base,
                store.nodes, store.where, self._heaps, np.empty_like(self._heaps),
                store.stack, store.path, store.found, store.offset, store.marks,
            )  # fmt: skip
            at = int(store.where[histories.NEXT])
            match reason:
                case histories.UNKNOWN:
                    self._learn(int(classes[at]))
                    label, target = self._flat()
                case histories.GROW:
                    room = (len(self._moves) + 1) * (histories.SPINE + 1)
                    store.make_room(self._heaps, int(bound[at]), room)
                case histories.STACK:
                    store.deepen()
                case _:
                    found = store.take()
                    if found is not None:
                        yield found
                    if reason == histories.DONE:
                        return

    def _widen(self, states: int, classes: int) -> None:
        old = self._first
        if old.shape[0] < states or old.shape[1] < classes:
            shape = (max(states, old.shape[0]), max(classes, old.shape[1]), 2)
            self._first = np.full(shape, -1, np.int64)
            self._first[: old.shape[0], : old.shape[1]] = old
        if len(self._heaps) < len(self._first):
            more = np.full(len(self._first) - len(self._heaps), histories.NONE, np.int64)
            self._heaps = np.concatenate([self._heaps, more])

    def _flat(self) -> tuple[Ints, Ints]:
        moves = np.array(self._moves or [(0, 0)], np.int64)
        return np.ascontiguousarray(moves[:, 0]), np.ascontiguousarray(moves[:, 1])

    def _learn(self, kind: int) -> None:
        """The steps at this class of all states in which there are runs."""
        mask = self._classes.masks[kind]
        for state in range(len(self._first)):
            waits = state == Acea.START or self._heaps[state] != histories.NONE
            if waits and self._first[state, kind, 0] < 0:
                self._step(state, kind, mask)

    def _step(self, state: int, kind: int, mask: int) -> None:
        reached: dict[Label, set[int]] = {}
        for one in self._states[state]:
            for step in self._steps[one]:
                if step.fits(mask):
                    reached.setdefault(label_of(step.transition), set()).add(step.transition.target)
        low = len(self._moves)
        for label, targets in sorted(reached.items(), key=lambda pair: sorted(pair[0])):
            number = self.labels.index(label)
            if Acea.END in targets:
                self._moves.append((number, Acea.END))
            if inner := frozenset(targets - {Acea.END}):
                self._moves.append((number, self._number(inner)))
        self._first[state, kind] = low, len(self._moves)

    def _number(self, states: frozenset[int]) -> int:
        if states not in self._numbers:
            if len(self._states) >= MOST_STATES:
                raise LimitError(
                    f"The formula needs more than {MOST_STATES} sets of states at once.",
                    remedy="Leave out some of what may happen at any time, or filter earlier.",
                )
            self._numbers[states] = len(self._states)
            self._states.append(states)
            self._widen(len(self._states), self._first.shape[1])
        return self._numbers[states]
