"""Any automaton with registers over a stream, with histories shared (paper, §6).

1. A run is where it is: a state, and the registers that anything still reads (`live`).
2. Runs that have put out the same so far are one set; so every complex event is found once.
3. A set of runs has the histories that lead to it (`kernels.histories`): sets that meet again
   share them, and no run is ever copied.

Unlike `marking` this is done event by event in Python, because what runs hold is known only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.acel.acea import Acea, Transition
from trendloom.acel.demands import Letter, Step, steps_of
from trendloom.acel.events import Event
from trendloom.acel.registers import event_of, lean, passes, prepared
from trendloom.acel.store import Store
from trendloom.kernels import histories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.acel.store import Found

Prepared = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
Run = tuple[int, tuple[tuple[str, Any], ...]]
"""A state, and registers by name."""
Output = tuple[tuple[str, tuple[Event, ...]], ...]
"""Variable → events, sorted both ways: what one step puts out."""

_BEGUN: frozenset[Run] = frozenset({(Acea.START, ())})


@dataclass
class Runs:
    """One evaluation: push event after event, take what ends with each."""

    automaton: Acea
    letters: tuple[Letter, ...]
    labels: list[Output] = field(init=False)
    """By their numbers; 0 is the empty one."""
    _numbers: dict[object, int] = field(init=False)
    _steps: dict[int, tuple[Step, ...]] = field(init=False)
    _live: dict[int, frozenset[str]] = field(init=False)
    _store: Store = field(init=False, default_factory=Store)
    _sets: dict[frozenset[Run], int] = field(init=False)
    _known: dict[tuple[int, int], list[tuple[Step, Prepared]]] = field(
        init=False, default_factory=dict
    )
    _resting: dict[tuple[int, int], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._steps, self._live = lean(steps_of(self.automaton, self.letters))
        self.clear()

    def clear(self) -> None:
        """Nothing has happened yet."""
        self._sets = {}
        self._store.where[histories.NODES] = 0
        self.labels, self._numbers = [()], {(): 0}

    def go_on(self, sets: dict[frozenset[Run], int], store: Store, labels: list[Output]) -> None:
        """From runs that another search has followed, with its histories and their labels."""
        self._sets, self._store = sets, store
        self.labels = list(labels)
        self._numbers = {number: number for number in range(1, len(labels))} | {(): 0}

    def is_idle(self, mask: int) -> bool:
        """Whether no run moves at such an event, and none begins."""
        return self._rests(Acea.START, mask) and all(
            self._rests(state, mask) for runs in self._sets for state, _ in runs
        )

    def push(self, event: Event, mask: int, key: int, bound: int) -> list[Found]:
        """What ends with the next event; no run that started before `bound` is of interest."""
        self._tidy(bound)
        store = self._store
        coming: dict[frozenset[Run], int] = {}
        ended = histories.NONE
        for runs, heap in (*self._sets.items(), (_BEGUN, histories.NONE)):
            if heap != histories.NONE and store.nodes[heap, histories.LATEST] < bound:
                continue
            for label, targets in self._moved(runs, event, mask).items():
                if (Acea.END, ()) in targets:
                    ended = self._with(ended, heap, event.time, label, key)
                if inner := frozenset(targets - {(Acea.END, ())}):
                    old = coming.get(inner, histories.NONE)
                    coming[inner] = self._with(old, heap, event.time, label, key)
        self._sets = coming
        return store.walk(ended, event.time, bound)

    def _tidy(self, bound: int) -> None:
        """What no run needs makes room for what comes."""
        store = self._store
        if 2 * store.where[histories.NODES] < len(store.nodes):
            return
        roots = np.array(list(self._sets.values()), np.int64)
        store.make_room(roots, bound, histories.SPINE)
        kept = zip(self._sets, roots.tolist(), strict=True)
        self._sets = {runs: root for runs, root in kept if root != histories.NONE}

    def _with(self, old: int, heap: int, time: int, label: int, key: int) -> int:
        """The old histories, and those of the heap continued by this event."""
        store = self._store
        if store.where[histories.NODES] + histories.SPINE + 1 > len(store.nodes):
            store.lengthen(histories.SPINE + 1)
        nodes, where = store.nodes, store.where
        if heap == histories.NONE:
            made = histories.add(nodes, where, time, label, heap, key)
        elif label != histories.UNMARKED:
            latest = int(nodes[heap, histories.LATEST])
            made = histories.add(nodes, where, time, label, heap, latest)
        elif old == histories.NONE:
            return heap
        else:
            return int(histories.unite_shared(nodes, where, old, heap, store.spine))
        return int(histories.unite(nodes, where, old, made, store.spine))

    def _moved(self, runs: Iterable[Run], event: Event, mask: int) -> dict[int, set[Run]]:
        """Where the runs are after the event, by the label of what they put out."""
        found: dict[int, set[Run]] = {}
        row = dict(event.attributes)
        for state, registers in runs:
            before = dict(registers)
            for step, made in self._fitting(state, mask):
                one = step.transition
                after = made(before, row)
                if all(passes(guard, after, event.time) for guard in step.guards):
                    kept = self._live[one.target]
                    pairs = sorted((pair for pair in after.items() if pair[0] in kept), key=_name)
                    run = (one.target, tuple(pairs))
                    found.setdefault(self._label(one, after, event.time), set()).add(run)
        return found

    def _fitting(self, state: int, mask: int) -> list[tuple[Step, Prepared]]:
        if (state, mask) not in self._known:
            self._known[state, mask] = [
                (step, prepared(step.transition)) for step in self._steps[state] if step.fits(mask)
            ]
        return self._known[state, mask]

    def _label(self, one: Transition, after: Mapping[str, Any], time: int) -> int:
        if not one.outputs:
            return histories.UNMARKED
        output = tuple(_bags(one, after, time))
        # As the key of an event tells TRUE from 1.
        known = tuple((name, tuple(event.key() for event in bag)) for name, bag in output)
        if known not in self._numbers:
            self._numbers[known] = len(self.labels)
            self.labels.append(output)
        return self._numbers[known]

    def _rests(self, state: int, mask: int) -> bool:
        if (state, mask) not in self._resting:
            fitting = self._fitting(state, mask)
            alone = all(step.is_waiting for step, _ in fitting)
            self._resting[state, mask] = alone and bool(fitting or state == Acea.START)
        return self._resting[state, mask]


def _name(pair: tuple[str, Any]) -> str:
    return pair[0]


def _bags(
    one: Transition, after: Mapping[str, Any], time: int
) -> Iterator[tuple[str, tuple[Event, ...]]]:
    for variable, bag in one.outputs:
        # An event of one origin with the same attributes is one, though two registers hold it.
        made = {(r.origin, frozenset(n for n, _ in r.attributes)): r for r in bag}
        events = (event_of(renaming, after, time) for renaming in made.values())
        yield variable, tuple(sorted(events, key=Event.key))
