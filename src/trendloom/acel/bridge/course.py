"""The words of a pattern as steps from event to event, and what may lie between two of them.

1. The positions of the pattern are states (Glushkov); for skip-till-next-match sets of positions
   that one word reaches, because all of them decide what is next.
2. A step is an event and the gap behind it (`gaps`), joined by `:`. Where conditions with the event
   decide what is next, an AGG over event and gap says that what is left out fails them (`failing`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.failing import Failing, bound_in, refuse_next, ways_to_fail
from trendloom.acel.bridge.gaps import Exit, Gaps, Negated, letters_of
from trendloom.acel.bridge.neighbours import at_most_once, never_before, without_guards
from trendloom.acel.bridge.ways import NEAR
from trendloom.language import nodes as t
from trendloom.pattern.guards import FREE, NEVER, either
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.gaps import Letter
    from trendloom.pattern.guards import Guards
    from trendloom.plan.conditions import Pair

State = frozenset[int]


class Course:
    """Of a pattern, none of whose guards stands at an end."""

    def __init__(self, asked: Asked, pattern: t.Pattern) -> None:
        semantics = asked.query.semantics
        self.asked = asked
        self._events = {str(event.variable): event for event in t.events_of(pattern)}
        self._positions = Positions.of(pattern)
        self._to_next = semantics is t.Semantics.NEXT
        self.has_gaps = self._to_next or bool(self._positions.negated)
        self.joined = Elimination(contiguous=self.has_gaps or semantics is t.Semantics.CONTIGUOUS)

    @cached_property
    def first(self) -> list[State]:
        begin = dict.fromkeys(self._positions.whole.first, FREE)
        return list(self._by_variable(begin))

    @cached_property
    def states(self) -> list[State]:
        found = list(self.first)
        for state in found:
            found += (one for one in self.following(state) if one not in found)
        return found

    @cached_property
    def steps(self) -> list[tuple[State, State]]:
        return [(state, target) for state in self.states for target in self.following(state)]

    def variable(self, state: State) -> str:
        return self._positions.labels[min(state)]

    def event(self, state: State) -> Way:
        return Way.of(self.asked.event(self._events[self.variable(state)]))

    def is_last(self, state: State) -> bool:
        return any(p in self._positions.whole.last for p in state)

    def following(self, state: State) -> dict[State, Guards]:
        """What may come next, and when."""
        return self._by_variable(self._exits(state))

    def between(self, state: State, target: State) -> Way:
        """What may lie between two events, as far as that is told without comparing anything."""
        return self._gap(state, target, None)

    def behind(self, state: State, target: State) -> Way:
        """The same behind an event that has no conditions with the next; of anchors it is told."""
        near = Failing(self.asked, "failing")
        gap = self._gap(state, target, near)
        assert not near.names, "nothing fails with this event"
        return gap

    def step(self, state: State, target: State, label: str | None = None) -> Way:
        """An event, which the label holds too, and all that may lie between it and the next."""
        event = self.event(state)
        if label is not None and event.formula is not None:
            event = Way.of(n.As(event.formula, label))
        near = Failing(self.asked, "failing")
        gap = self._gap(state, target, near)
        if not near.names or gap.formula is None:
            return self.joined.then(event, gap)
        with_gap = self.joined.then(event, gap._replace(empty=False)).formula
        assert with_gap is not None
        variable = self.variable(state)
        kept = (*self.asked.holders(variable), *self.labels(with_gap))
        kept += () if label is None else (label,)
        checked = n.Project(near.checked(with_gap, variable, "left out"), kept)
        return self.joined.either(event, Way.of(checked))

    def labels(self, formula: n.Formula) -> tuple[str, ...]:
        """The variables in it of what fails with an anchor; `closed` still reads them."""
        bound = bound_in(formula)
        every = (name for one in self._far.values() for name in one.names.values())
        return tuple(name for name in every if name in bound)

    def closed(self, formula: n.Formula) -> n.Formula:
        """The formula of all steps, where what fails with an anchor does fail."""
        for anchor, far in self._far.items():
            formula = far.checked(formula, anchor, f"left out by {anchor}")
        return formula

    def pairs(self, state: State, target: State) -> tuple[Pair, ...]:
        """What is asked of an event and the next."""
        two = self.variable(state), self.variable(target)
        return tuple(p for p in self.asked.conditions.adjacent if (p.earlier, p.later) == two)

    def _gap(self, state: State, target: State, near: Failing | None) -> Way:
        if not self.has_gaps:
            return EMPTY
        following = self.following(state)
        exits = tuple(self._exit(state, one, guards) for one, guards in following.items())
        failing = {} if near is None else {NEAR: near, **self._far}
        gaps = Gaps(self.asked, self._negated, exits, self._to_next, failing)
        return gaps.way(following[target], checked=near is not None)

    def _exit(self, state: State, target: State, guards: Guards) -> Exit:
        variable = self.variable(target)
        letter = self._letters[variable]
        if not self._to_next:
            return Exit(letter, guards)
        pairs = [(pair, NEAR) for pair in self.pairs(state, target)]
        pairs += (one for one in self._anchored if variable in both(one[0]) - {one[1]})
        for pair in self.asked.agreements:
            if pair.later == variable and self._comes_after(state, pair):
                pairs.append((pair, variable))
        return Exit(letter, guards, ways_to_fail(self.asked, pairs))

    def _comes_after(self, state: State, pair: Pair) -> bool:
        """Whether a trend that is there has an event of the variable that must agree."""
        found = self._counted(pair.later)[state]
        if len(found) > 1:
            self.asked.refuse(
                f"Under skip-till-next-match GROUP-BY decides which {pair.later} is next by those "
                f"before, and here there may be none",
                pair.place,
                "The logic can say it where the pattern tells; or use skip-till-any-match or "
                "contiguous.",
            )
        return True in found

    def _counted(self, variable: str) -> dict[State, set[bool]]:
        """Whether the variable has occurred on some way to each state, or has not."""
        found = {state: {self.variable(state) == variable} for state in self.first}
        pending = list(self.first)
        while pending:
            state = pending.pop()
            for target in self.following(state):
                here = found.setdefault(target, set())
                more = {True} if self.variable(target) == variable else found[state]
                if not more <= here:
                    here |= more
                    pending.append(target)
        return found

    @cached_property
    def _anchored(self) -> list[tuple[Pair, str]]:
        """Conditions with an event further back, and its variable."""
        return [(pair, self._anchor(pair)) for pair in self.asked.conditions.correlated]

    def _anchor(self, pair: Pair) -> str:
        positive = without_guards(self.asked.query.pattern)
        assert positive is not None, "a pattern has events"
        anchors = []
        for one, other in ((pair.earlier, pair.later), (pair.later, pair.earlier)):
            if one in at_most_once(positive) and never_before(positive, other, one):
                anchors.append(one)
        return anchors[0] if anchors else refuse_next(self.asked, pair)

    @cached_property
    def _far(self) -> dict[str, Failing]:
        agreeing = [pair.later for pair in self.asked.agreements]
        anchors = dict.fromkeys([*(anchor for _, anchor in self._anchored), *agreeing])
        return {one: Failing(self.asked, f"failing_{one}") for one in anchors if self._to_next}

    @cached_property
    def _letters(self) -> dict[str, Letter]:
        return letters_of(self.asked, self._events.values())

    @cached_property
    def _negated(self) -> tuple[Negated, ...]:
        return tuple(Negated(body, self._letters) for body in self._positions.negated)

    def _exits(self, state: State) -> dict[int, Guards]:
        found: dict[int, Guards] = {}
        for (p, q), guards in self._positions.follow.items():
            if p in state:
                found[q] = either(found.get(q, NEVER), guards)
        return found

    def _by_variable(self, exits: dict[int, Guards]) -> dict[State, Guards]:
        """Positions with their guards: each alone, or all of one variable together."""
        if not self._to_next:
            return {frozenset({q}): guards for q, guards in exits.items()}
        labels = self._positions.labels
        found: dict[State, Guards] = {}
        for name in dict.fromkeys(labels[q] for q in exits):
            reached = {q: guards for q, guards in exits.items() if labels[q] == name}
            if len(set(reached.values())) > 1:
                self.asked.refuse(
                    f"One {name} can be several events of the pattern, and NOT tells them apart",
                    self._events[name].place,
                    "Give the branches of OR different variables.",
                )
            found[frozenset(reached)] = next(iter(reached.values()))
        return found


def both(pair: Pair) -> set[str]:
    return {pair.earlier, pair.later}
