"""The events of a pattern one after the other, and what may lie between, before and after them.

1. States and steps are those of a `walk` through the pattern.
2. A step is an event and the gap behind it (`gaps`), joined by `:`. Where conditions with the event
   decide what is next, an AGG over event and gap says that what is left out fails them (`failing`).
3. A NOT before the first event, or after the last, is a gap up to the window's edge. Otherwise
   nothing stands there but, in AND, what the other parts do (`beside`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.beside import Beside
from trendloom.acel.bridge.elimination import NO_WAY, Elimination, Way
from trendloom.acel.bridge.failing import Failing, bound_in, refuse_next, ways_to_fail
from trendloom.acel.bridge.gaps import Exit, Gaps, Negated, letters_of
from trendloom.acel.bridge.groups import agreement
from trendloom.acel.bridge.neighbours import at_most_once, never_before, without_guards
from trendloom.acel.bridge.walk import Walk
from trendloom.acel.bridge.ways import NEAR
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.gaps import Letter
    from trendloom.acel.bridge.walk import State, When
    from trendloom.acel.bridge.ways import Way as HowItFails
    from trendloom.plan.conditions import Pair


class Course:
    """Of a pattern without AND, or of a part of one."""

    def __init__(self, asked: Asked, pattern: t.Pattern) -> None:
        self.asked = asked
        self._events = {str(event.variable): event for event in t.events_of(pattern)}
        self._to_next = asked.query.semantics is t.Semantics.NEXT
        agreeing = (pair.later for pair in asked.agreements)
        self._walk = Walk(pattern, to_next=self._to_next, remembered=agreeing)
        told = bool(self._walk.negated) or asked.at_start or asked.at_end
        self.joined = Elimination(contiguous=self._to_next or asked.contiguous or told)
        self._beside = Beside(asked, contiguous=self.joined.contiguous)

    @property
    def needs_types(self) -> bool:
        """Whether what may lie somewhere is told by the types of the stream."""
        told = self.asked.at_start or self.asked.at_end or bool(self.asked.beside)
        return self.joined.contiguous and (told or not self.asked.contiguous)

    @property
    def first(self) -> list[State]:
        return list(self._walk.first)

    @property
    def states(self) -> list[State]:
        return self._walk.states

    @cached_property
    def steps(self) -> list[tuple[State, State]]:
        return [(state, target) for state in self.states for target in self.following(state)]

    def variable(self, state: State) -> str:
        return self._walk.variable(state)

    def event(self, state: State) -> Way:
        return Way.of(self.asked.event(self._events[self.variable(state)]))

    def following(self, state: State) -> list[State]:
        """What may come next."""
        return list(self._walk.following(state))

    def before(self, state: State) -> Way:
        """What may lie before a first event."""
        if self.asked.at_start:
            return self._any_gap(self._walk.first[state])
        return self._beside.before

    def after(self, state: State) -> Way:
        """What may lie after an event, if it is the last; there is no way if it cannot be."""
        ending = self._walk.last(state)
        if ending is None:
            return NO_WAY
        return self._any_gap(ending) if self.asked.at_end else self._beside.after

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
        checked = Way.of(n.Project(near.checked(with_gap, variable, "left out"), kept))
        return self.joined.either(event, checked) if gap.empty else checked

    def labels(self, formula: n.Formula) -> tuple[str, ...]:
        """The variables in it that are still read: of what fails with an anchor (by `closed`), and
        of what others do."""
        bound = bound_in(formula)
        every = (name for one in self._far.values() for name in one.names.values())
        return (*(name for name in every if name in bound), *self._beside.bound_in(formula))

    def closed(self, formula: n.Formula) -> n.Formula:
        """The formula of all steps, where what fails with an anchor does fail."""
        for anchor, far in self._far.items():
            formula = far.checked(formula, anchor, f"left out by {anchor}")
        for name in self.asked.apart:
            formula = n.Filter(formula, self.asked.member, on.BagCondition("same", name))
        return self._beside.all_bound(formula)

    def pairs(self, state: State, target: State) -> tuple[Pair, ...]:
        """What is asked of an event and the next."""
        two = self.variable(state), self.variable(target)
        return tuple(p for p in self.asked.conditions.adjacent if (p.earlier, p.later) == two)

    def _any_gap(self, when: When) -> Way:
        """At an end: there nothing is next."""
        return Gaps(self.asked, self._negated, (), self._far, self._elsewhere).way(when)

    def _gap(self, state: State, target: State, near: Failing | None) -> Way:
        if not self.joined.contiguous:
            return self._beside.before
        failing = {} if near is None else {NEAR: near, **self._far}
        following = self._walk.following(state)
        deciding = following.items() if self._to_next else ()
        exits = tuple(self._exit(state, one, when) for one, when in deciding)
        gaps = Gaps(
            self.asked,
            self._negated,
            exits,
            failing,
            self._elsewhere,
            touching=self.asked.contiguous,
        )
        return gaps.way(following[target], checked=near is not None)

    def _exit(self, state: State, target: State, when: When) -> Exit:
        variable = self.variable(target)
        pairs = [(pair, NEAR) for pair in self.pairs(state, target)]
        pairs += (one for one in self._anchored if variable in both(one[0]) - {one[1]})
        agreements = (pair for pair in self.asked.agreements if pair.later == variable)
        pairs += ((pair, variable) for pair in agreements if variable in state.seen)
        return Exit(self._letters[variable], when, ways_to_fail(self.asked, pairs))

    @cached_property
    def _anchored(self) -> list[tuple[Pair, str]]:
        """Conditions with an event further back that decide what is next, and its variable."""
        deciding = self.asked.conditions.correlated if self._to_next else ()
        return [(pair, self._anchor(pair)) for pair in deciding]

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
        found = {one: Failing(self.asked, f"failing_{one}") for one in anchors}
        if self.asked.apart:
            found[self.asked.member] = Failing(self.asked, "elsewhere")
        return found

    @cached_property
    def _elsewhere(self) -> tuple[HowItFails, ...]:
        member = self.asked.member
        agreements = (agreement(member, name, t.NOWHERE) for name in self.asked.apart)
        return ways_to_fail(self.asked, [(pair, member) for pair in agreements])

    @cached_property
    def _letters(self) -> dict[str, Letter]:
        return letters_of(self.asked, self._events.values())

    @cached_property
    def _negated(self) -> tuple[Negated, ...]:
        return tuple(Negated(body, self._letters) for body in self._walk.negated)


def both(pair: Pair) -> set[str]:
    return {pair.earlier, pair.later}
