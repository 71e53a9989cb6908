"""The events of a pattern one after the other, and what may lie between, before and after them.

1. States and steps are those of a `walk` through the pattern.
2. A step is an event and the gap behind it (`gaps`), joined by `:`. Where conditions with the event
   decide what is next, a filter on event and gap says that what is left out fails them (`claims`).
3. A NOT before the first event, or after the last, is a gap up to the window's edge. Otherwise
   nothing stands there but, in AND, what the other parts do (`beside`).
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.beside import Beside
from trendloom.acel.bridge.claims import EARLIER, LATER, NEAR, Claim, Labels, bound_in, ways_to_fail
from trendloom.acel.bridge.elimination import NO_WAY, Elimination, Way
from trendloom.acel.bridge.gaps import Exit, Gaps, Negated, letters_of
from trendloom.acel.bridge.groups import agreement
from trendloom.acel.bridge.walk import Walk
from trendloom.acel.truth import untrue
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.gaps import Letter
    from trendloom.acel.bridge.walk import State, When
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
        near = Labels(self.asked)
        gap = self._gap(state, target, near)
        assert not near.names, "nothing fails with this event"
        return gap

    def step(self, state: State, target: State, label: str | None = None) -> Way:
        """An event, which the label holds too, and all that may lie between it and the next."""
        event = self.event(state)
        if label is not None and event.formula is not None:
            event = Way.of(n.As(event.formula, label))
        near = Labels(self.asked)
        gap = self._gap(state, target, near)
        if not near.names or gap.formula is None:
            return self.joined.then(event, gap)
        with_gap = self.joined.then(event, gap._replace(empty=False)).formula
        assert with_gap is not None
        variable = self.variable(state)
        kept = (*self.asked.holders(variable), *self.labels(with_gap))
        kept += () if label is None else (label,)
        checked = near.checked(with_gap, variable)
        compared = Way.of(n.Project(checked, tuple(dict.fromkeys(kept))))
        return self.joined.either(event, compared) if gap.empty else compared

    def labels(self, formula: n.Formula) -> tuple[str, ...]:
        """The variables in it that are still read: of what is compared with an anchor (by
        `closed`), and of what others do."""
        bound = bound_in(formula)
        every = (name for one in self._far.values() for name in one.names.values())
        return (*(name for name in every if name in bound), *self._beside.bound_in(formula))

    def closed(self, formula: n.Formula) -> n.Formula:
        """The formula of all steps, where what is said of what is left out is true."""
        for anchor, far in self._far.items():
            formula = far.checked(formula, anchor)
        for name in self.asked.apart:
            formula = n.Filter(formula, self.asked.member, on.BagCondition("same", name))
        return self._beside.all_bound(formula)

    def pairs(self, state: State, target: State) -> tuple[Pair, ...]:
        """What is asked of an event and the next."""
        two = self.variable(state), self.variable(target)
        return tuple(p for p in self.asked.conditions.adjacent if (p.earlier, p.later) == two)

    def _any_gap(self, when: When) -> Way:
        """At an end: there nothing is next."""
        return self._gaps((), self._far).way(when)

    def _gap(self, state: State, target: State, near: Labels | None) -> Way:
        """`near`: the variables of what is compared; without, nothing is."""
        if not self.joined.contiguous:
            return self._beside.before
        following = self._walk.following(state)
        deciding = following.items() if self._to_next else ()
        exits = tuple(self._exit(state, one, when) for one, when in deciding)
        labels = {} if near is None else {NEAR: near, **self._far}
        return self._gaps(exits, labels, self.asked.contiguous).way(following[target])

    def _gaps(
        self, exits: tuple[Exit, ...], labels: dict[str, Labels], touching: bool = False
    ) -> Gaps:
        elsewhere = here = None
        if self.asked.apart:
            member = self.asked.member
            pairs = [agreement(member, name, t.NOWHERE) for name in self.asked.apart]
            same = reduce(on.All, [self.asked.between(pair, EARLIER, LATER) for pair in pairs])
            elsewhere = Claim(untrue(same), member, "elsewhere")
            here = Claim(same, member, "here")
        return Gaps(self.asked, self._negated, exits, labels, elsewhere, here, touching)

    def _exit(self, state: State, target: State, when: When) -> Exit:
        variable = self.variable(target)
        deciding = [(NEAR, pair) for pair in self.pairs(state, target)]
        anchored = self.asked.conditions.correlated
        deciding += ((pair.earlier, pair) for pair in anchored if pair.later == variable)
        agreements = self.asked.agreements if variable in state.seen else ()
        deciding += ((variable, pair) for pair in agreements if pair.later == variable)
        asked: dict[str, list[on.Condition]] = {}
        for anchor, pair in deciding:
            asked.setdefault(anchor, []).append(self.asked.between(pair, EARLIER, LATER))
        word, local = self._letters[variable]
        return Exit(word, when, tuple(ways_to_fail(local, asked)))

    @cached_property
    def _far(self) -> dict[str, Labels]:
        """By event further back, the variables of what is compared with it."""
        asked = self.asked
        anchors = [pair.earlier for pair in (*asked.conditions.correlated, *asked.agreements)]
        member = [asked.member] if asked.apart else []
        return {one: Labels(asked) for one in (*dict.fromkeys(anchors), *member)}

    @cached_property
    def _letters(self) -> dict[str, Letter]:
        return letters_of(self.asked, self._events.values())

    @cached_property
    def _negated(self) -> tuple[Negated, ...]:
        return tuple(Negated(body, self._letters) for body in self._walk.negated)
