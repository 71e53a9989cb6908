"""What may lie between two events of a trend, as a formula: NOT, and skip-till-next-match.

1. An event is told apart by its type and by which conditions of letters hold of it: its class.
2. A NOT keeps the positions of its pattern that some of the events so far have reached. They only
   become more, so there are no ways back, only loops: the automaton of a gap is a formula at once.
3. Under skip-till-next-match an event with which the trend could go on is no part of a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.errors import LimitError
from trendloom.pattern.guards import holds, mentioned
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.language import nodes as t
    from trendloom.pattern.guards import Guards

MOST_CONDITIONS = 4
"""On one type: a gap may ask for any combination of them."""

Letter = tuple[str, tuple[on.Condition, ...]]
"""A type, and what is asked of the event."""
Class = tuple[str, frozenset[Letter]]
"""A type, and the letters that the event is."""
State = tuple[frozenset[int] | None, ...]
"""Per NOT: the positions that were reached; None: all of its pattern has happened."""


class Negated:
    """The pattern of a NOT, read event by event."""

    def __init__(self, pattern: t.Pattern, letters: dict[str, Letter]) -> None:
        self._positions = Positions.of(pattern)
        self._letters = [letters[name] for name in self._positions.labels]

    @property
    def letters(self) -> list[Letter]:
        return self._letters

    def after(self, reached: frozenset[int] | None, event: Class) -> frozenset[int] | None:
        if reached is None:
            return None
        follow, whole = self._positions.follow, self._positions.whole
        fresh = {
            q
            for q, letter in enumerate(self._letters)
            if letter in event[1] and (q in whole.first or any((p, q) in follow for p in reached))
        }
        return None if fresh & whole.last.keys() else reached | fresh


@dataclass(frozen=True)
class Gaps:
    """Gaps after one state of a pattern. `exits`: the letters that may come next, and when."""

    asked: Asked
    negated: tuple[Negated, ...]
    exits: tuple[tuple[Letter, Guards], ...]
    to_next: bool
    """Whether the first that may come is the one that comes."""
    ordered: Letter | None = None
    """Not among the exits: what of it is left out is put into the variable `failing`."""

    def way(self, guards: Guards) -> Way:
        """What may lie before an event with these guards; `EMPTY` is in it: nothing need to."""
        start: State = (frozenset(),) * len(self.negated)
        moves: dict[tuple[State, State], set[Class]] = {}
        deciding = mentioned([guards, *(g for _, g in self.exits)] if self.to_next else [guards])
        pending, seen = [start], {start}
        known = list(dict.fromkeys(self._letters(deciding)))
        classes = list(self._classes(known))
        while pending:
            state = pending.pop()
            for event in classes:
                if self.to_next and self._goes_on(state, event):
                    continue
                after = tuple(
                    self.negated[k].after(reached, event) if k in deciding else reached
                    for k, reached in enumerate(state)
                )
                if not holds(guards, _true(after)):
                    # What a NOT forbids has happened, and stays so.
                    continue
                moves.setdefault((state, after), set()).add(event)
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        edges: dict[tuple[object, object], Way] = {
            edge: Way.of(self._event(events, known)) for edge, events in moves.items()
        }
        if not edges:
            return EMPTY
        edges |= {(state, "end"): EMPTY for state in seen}
        edges["start", start] = EMPTY
        return Way(Elimination(contiguous=True).formula(edges, "start", "end"), empty=True)

    def _goes_on(self, state: State, event: Class) -> bool:
        return any(
            letter in event[1] and holds(guards, _true(state)) for letter, guards in self.exits
        )

    def _letters(self, deciding: Iterable[int]) -> Iterator[Letter]:
        if self.to_next:
            yield from (letter for letter, _ in self.exits)
        if self.ordered is not None:
            yield self.ordered
        yield from chain.from_iterable(self.negated[k].letters for k in deciding)

    def _classes(self, known: list[Letter]) -> Iterator[Class]:
        for word in self.asked.types:
            own = [letter for letter in known if letter[0] == word]
            plain = frozenset(letter for letter in own if not letter[1])
            asking = [letter for letter in own if letter[1]]
            if len(asking) > MOST_CONDITIONS:
                raise LimitError(
                    f"What is left out would be told apart by {len(asking)} conditions on {word}.",
                    remedy=f"At most {MOST_CONDITIONS} are; ask for less in NOT, or of what is "
                    "next.",
                )
            for some in _subsets(asking):
                yield word, plain | some

    def _event(self, events: set[Class], known: list[Letter]) -> n.Formula:
        """Any event of these classes."""
        watched = {event for event in events if self.ordered in event[1]}
        made = []
        if others := events - watched:
            either = self._either(others, known)
            # A type whose name is a variable's must not put what is left out into it.
            if set(self.asked.variables) & {word for word, _ in others}:
                either = n.Project(n.As(either, self._own("skipped")), (self._own("skipped"),))
            made.append(either)
        if watched:
            either = n.As(self._either(watched, known), self.failing)
            made.append(n.Project(either, (self.failing,)))
        return reduce(n.Or, made)

    def _either(self, events: set[Class], known: list[Letter]) -> n.Formula:
        made: list[n.Formula] = []
        for word in self.asked.types:
            asking = [letter for letter in known if letter[0] == word and letter[1]]
            mine = [holding for kind, holding in events if kind == word]
            if not mine:
                continue
            one: n.Formula = n.OneEvent(word)
            if len(mine) < 2 ** len(asking):
                one = n.Filter(one, word, _union(mine, asking))
            made.append(one)
        return reduce(n.Or, made)

    @property
    def failing(self) -> str:
        return self._own("failing")

    def _own(self, name: str) -> str:
        """A name that neither a variable nor a type has."""
        while name in (*self.asked.variables, *self.asked.types):
            name += "_"
        return name


def _true(state: State) -> frozenset[int]:
    return frozenset(number for number, reached in enumerate(state) if reached is not None)


def _subsets(letters: list[Letter]) -> Iterator[frozenset[Letter]]:
    sizes = range(len(letters) + 1)
    yield from (frozenset(some) for size in sizes for some in combinations(letters, size))


def _union(classes: list[frozenset[Letter]], asking: list[Letter]) -> on.Condition:
    """That an event is in one of the classes; a letter that does not decide is not asked for."""
    for letter in asking:
        rest = [one for one in asking if one != letter]
        without = {holding - {letter} for holding in classes if letter not in holding}
        if without == {holding - {letter} for holding in classes if letter in holding}:
            return _union(list(without), rest)
    made = []
    for holding in sorted(classes, key=lambda one: [letter in one for letter in asking]):
        every = [
            reduce(on.All, letter[1])
            if letter in holding
            else reduce(on.Any, map(untrue, letter[1]))
            for letter in asking
        ]
        made.append(reduce(on.All, every))
    return reduce(on.Any, made)


def untrue(condition: on.Condition, than: bool = True) -> on.Condition:
    """The condition is not true (or: not false): the other value, or null."""
    match condition:
        case on.Comparison(_, left, right):
            other: on.Condition = on.Not(condition) if than else condition
            unknown = [on.IsNull(term) for term in (left, right) if not _is_known(term)]
            return reduce(on.Any, unknown, other)
        case on.IsNull():
            return on.Not(condition) if than else condition
        case on.Not(inner):
            return untrue(inner, not than)
        case on.All(one, two) | on.Any(one, two):
            joins_all = isinstance(condition, on.All) is not than
            kind: type[on.All | on.Any] = on.All if joins_all else on.Any
            return kind(untrue(one, than), untrue(two, than))


def _is_known(term: on.Term) -> bool:
    return isinstance(term, on.Literally)


def letters_of(asked: Asked, events: Iterable[t.Event]) -> dict[str, Letter]:
    """What each variable asks of its events."""
    return {str(event.variable): (event.type, asked.local(str(event.variable))) for event in events}
