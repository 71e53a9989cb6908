"""What may lie between two events of a trend, as a formula: NOT, and skip-till-next-match.

1. An event is told apart by its type and by which letters of NOT it is: its class.
2. A NOT keeps the positions of its pattern that some of the events so far have reached. They only
   become more, so there are no ways back, only loops: the automaton of a gap is a formula at once.
3. Under skip-till-next-match an event with which the trend could go on is no part of a gap. Where
   that takes a comparison with an earlier event, it goes to a variable of what fails (`claims`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.claims import all_of
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.truth import untrue
from trendloom.errors import LimitError
from trendloom.pattern.guards import mentioned
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.claims import Claim, Labels, Ways
    from trendloom.acel.bridge.walk import When
    from trendloom.language import nodes as t

MOST_CONDITIONS = 6
"""Of NOT on one type: a gap may ask for any combination of them."""

Letter = tuple[str, tuple[on.Condition, ...]]
"""A type, and what is asked of the event."""
Class = tuple[str, frozenset[Letter]]
"""A type, and the letters that the event is."""
Left = tuple[Class, frozenset["Ways"]]
"""What is left out: its class, and what is said of it besides."""
Plain = tuple[Class, tuple[on.Condition, ...]]
"""A class, and conditions on the event alone."""
State = tuple[frozenset[int] | None, ...]
"""Per NOT: the positions that were reached; None: all of its pattern has happened."""


class Exit(NamedTuple):
    """The type of an event that may come next, when, and how events of the type may fail to."""

    type: str
    when: When
    fails: Ways


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
    labels: Labels
    """The variables of what is compared with earlier events."""
    elsewhere: Claim | None
    """That an event is of another partition, if the formula sees several: then it is no part."""
    here: Claim | None
    """That it is not."""
    touching: bool = False
    """Whether nothing but what is elsewhere may lie there."""

    def way(self, when: When) -> Way:
        """What may lie before an event that comes when this is so; perhaps nothing can."""
        start: State = (frozenset(),) * len(self.negated)
        moves: dict[tuple[State, State], set[Left]] = {}
        deciding = mentioned(chain(when.guards, *(one.when.guards for one in self.exits)))
        known = list(dict.fromkeys(chain.from_iterable(self.negated[k].letters for k in deciding)))
        classes = list(self._classes(known))
        pending, seen = [start], {start}
        while pending:
            state = pending.pop()
            for event in classes:
                if self.elsewhere is not None:
                    apart = frozenset({(self.elsewhere,)})
                    moves.setdefault((state, state), set()).add((event, apart))
                said = self._must_fail(state, event)
                if () in said or self.touching:
                    continue
                after = tuple(
                    self.negated[k].after(reached, event) if k in deciding else reached
                    for k, reached in enumerate(state)
                )
                if not when.may_be(_true(after)):
                    continue
                if after != state and self.here is not None:
                    # What is elsewhere breaks no NOT.
                    said.add((self.here,))
                moves.setdefault((state, after), set()).add((event, frozenset(said)))
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        edges: dict[tuple[object, object], Way] = {
            edge: Way.of(self._event(events, known)) for edge, events in moves.items()
        }
        edges |= {(state, "end"): EMPTY for state in seen if when.is_so(_true(state))}
        edges["start", start] = EMPTY
        return Elimination(contiguous=True).way(edges, "start", "end")

    def _must_fail(self, state: State, event: Class) -> set[Ways]:
        """What keeps the trend from going on with the event; `()`: nothing does."""
        true_guards = _true(state)
        return {
            one.fails for one in self.exits if one.type == event[0] and one.when.is_so(true_guards)
        }

    def _classes(self, known: list[Letter]) -> Iterator[Class]:
        for word in self.asked.types:
            own = [letter for letter in known if letter[0] == word]
            plain = frozenset(letter for letter in own if not letter[1])
            asking = [letter for letter in own if letter[1]]
            if len(asking) > MOST_CONDITIONS:
                raise LimitError(
                    f"What is left out would be told apart by {len(asking)} conditions on {word}.",
                    remedy=f"At most {MOST_CONDITIONS} are; ask for less in NOT.",
                )
            for some in _subsets(asking):
                yield word, plain | some

    def _event(self, events: set[Left], known: list[Letter]) -> n.Formula:
        """Any of these events."""
        groups: dict[tuple[Claim, ...], set[Plain]] = {}
        for event, said in events:
            for claims in all_of(said):
                ordered = sorted(claims, key=repr)
                alone = tuple(one.condition for one in ordered if one.anchor is None)
                compared = tuple(one for one in ordered if one.anchor is not None)
                groups.setdefault(compared, set()).add((event, alone))
        made: list[n.Formula] = []
        for compared, plain in sorted(groups.items(), key=repr):
            either, theirs = self._either(plain, known), list(self._theirs(plain, known))
            if not compared:
                made += (self.asked.skipped(either), *(event for event, _ in theirs))
                continue
            made += (
                self._labelled(compared, event, names) for event, names in [(either, ()), *theirs]
            )
        return reduce(n.Or, made)

    def _theirs(
        self, events: set[Plain], known: list[Letter]
    ) -> Iterator[tuple[n.Formula, tuple[str, ...]]]:
        """These events as such that are in other parts of an AND."""
        for word in self.asked.types:
            mine = {one for one in events if one[0][0] == word}
            if mine:
                yield from self.asked.theirs(word, self._either(mine, known))

    def _labelled(
        self, claims: tuple[Claim, ...], event: n.Formula, names: tuple[str, ...]
    ) -> n.Formula:
        """What is compared with earlier events, and which these variables hold, too."""
        labels = tuple(map(self.labels.name, claims))
        return n.Project(reduce(n.As, labels, event), (*names, *labels))

    def _either(self, events: set[Plain], known: list[Letter]) -> n.Formula:
        made: list[n.Formula] = []
        for word in self.asked.types:
            asking = [letter for letter in known if letter[0] == word and letter[1]]
            mine = [one for one in events if one[0][0] == word]
            for alone in sorted({conditions for _, conditions in mine}, key=repr):
                holding = [event[1] for event, conditions in mine if conditions == alone]
                told = list(alone)
                if len(holding) < 2 ** len(asking):
                    told.append(_union(holding, asking))
                one: n.Formula = n.OneEvent(word)
                for condition in told:
                    one = n.Filter(one, word, condition)
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
