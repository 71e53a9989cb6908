"""What may lie between two events of a trend, as a formula: NOT, and skip-till-next-match.

1. An event is told apart by its type and by which conditions of letters hold of it: its class.
2. A NOT keeps the positions of its pattern that some of the events so far have reached. They only
   become more, so there are no ways back, only loops: the automaton of a gap is a formula at once.
3. Under skip-till-next-match an event with which the trend could go on is no part of a gap. Where
   that takes a comparison with the event before, it is put into a variable of what fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge import failing
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.truth import untrue
from trendloom.acel.bridge.ways import Way as HowItFails
from trendloom.errors import LimitError
from trendloom.pattern.guards import mentioned
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.walk import When
    from trendloom.language import nodes as t

MOST_CONDITIONS = 4
"""On one type: a gap may ask for any combination of them."""

Letter = tuple[str, tuple[on.Condition, ...]]
"""A type, and what is asked of the event."""
Class = tuple[str, frozenset[Letter]]
"""A type, and the letters that the event is."""
Left = tuple[Class, frozenset[tuple[HowItFails, ...]]]
"""What is left out: its class, and comparisons that must fail, each in one of some ways."""
State = tuple[frozenset[int] | None, ...]
"""Per NOT: the positions that were reached; None: all of its pattern has happened."""


class Exit(NamedTuple):
    """A letter that may come next, and when."""

    letter: Letter
    when: When
    fails: tuple[HowItFails, ...]
    """How events of the letter fail what is asked of them and the event before."""


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
    """Gaps after one state of a pattern."""

    asked: Asked
    negated: tuple[Negated, ...]
    exits: tuple[Exit, ...]
    """Under skip-till-next-match: the first of these that may come is the one that comes."""
    failing: Mapping[str, failing.Failing]
    """By earlier event, the variables of what fails with it."""
    elsewhere: tuple[HowItFails, ...]
    """How events are of another partition, if the formula sees several: those are no part of it."""
    touching: bool = False
    """Whether nothing but such may lie there."""

    def way(self, when: When, *, checked: bool = True) -> Way:
        """What may lie before an event that comes when this is so; perhaps nothing can.

        Not `checked`: what could fail a comparison is taken to fail.
        """
        start: State = (frozenset(),) * len(self.negated)
        moves: dict[tuple[State, State], set[Left]] = {}
        asked = chain(when.guards, *(one.when.guards for one in self.exits))
        deciding = mentioned(asked)
        pending, seen = [start], {start}
        known = list(dict.fromkeys(self._letters(deciding)))
        classes = list(self._classes(known))
        while pending:
            state = pending.pop()
            for event in classes:
                if self.elsewhere:
                    apart = frozenset({self.elsewhere} if checked else ())
                    moves.setdefault((state, state), set()).add((event, apart))
                must_fail = self._must_fail(state, event)
                if () in must_fail or self.touching:
                    continue
                if not checked:
                    must_fail = frozenset()
                after = tuple(
                    self.negated[k].after(reached, event) if k in deciding else reached
                    for k, reached in enumerate(state)
                )
                if not when.may_be(_true(after)):
                    continue
                moves.setdefault((state, after), set()).add((event, must_fail))
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        edges: dict[tuple[object, object], Way] = {
            edge: Way.of(self._event(events, known)) for edge, events in moves.items()
        }
        edges |= {(state, "end"): EMPTY for state in seen if when.is_so(_true(state))}
        edges["start", start] = EMPTY
        return Elimination(contiguous=True).way(edges, "start", "end")

    def _must_fail(self, state: State, event: Class) -> frozenset[tuple[HowItFails, ...]]:
        """What keeps the trend from going on with the event; `()`: nothing does."""
        return frozenset(
            one.fails
            for one in self.exits
            if one.letter in event[1] and one.when.is_so(_true(state))
        )

    def _letters(self, deciding: Iterable[int]) -> Iterator[Letter]:
        yield from (one.letter for one in self.exits)
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

    def _event(self, events: set[Left], known: list[Letter]) -> n.Formula:
        """Any event of these classes."""
        made: list[n.Formula] = []
        for must_fail in sorted({fails for _, fails in events}, key=repr):
            classes = {event for event, fails in events if fails == must_fail}
            theirs = list(self._theirs(classes, known))
            either = self._either(classes, known)
            if not must_fail:
                made += (self.asked.skipped(either), *(event for event, _ in theirs))
                continue
            for way in failing.all_fail(sorted(must_fail, key=repr)):
                made += (
                    self._failing(way, event, names) for event, names in [(either, ()), *theirs]
                )
        return reduce(n.Or, made)

    def _theirs(
        self, classes: set[Class], known: list[Letter]
    ) -> Iterator[tuple[n.Formula, tuple[str, ...]]]:
        """Events of these classes that are in other parts of an AND."""
        for word in self.asked.types:
            mine = {event for event in classes if event[0] == word}
            if mine:
                yield from self.asked.theirs(word, self._either(mine, known))

    def _failing(self, way: HowItFails, event: n.Formula, names: tuple[str, ...]) -> n.Formula:
        """What fails in this way, which these variables hold, too."""
        labels = tuple(self.failing[anchor].name(way.of(anchor)) for anchor in way.anchors)
        labels = labels or (self.asked.free("skipped"),)
        event = reduce(n.As, labels, event)
        for condition in way.each:
            event = n.Filter(event, labels[0], condition)
        return n.Project(event, (*names, *labels))

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


def letters_of(asked: Asked, events: Iterable[t.Event]) -> dict[str, Letter]:
    """What each variable asks of its events."""
    return {str(event.variable): (event.type, asked.local(str(event.variable))) for event in events}
