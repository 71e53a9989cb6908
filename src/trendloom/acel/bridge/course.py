"""The events of a pattern one after the other, and what may lie between, before and after them.

1. States and steps are those of a `walk` through the pattern.
2. A step is an event and the gap behind it (`gaps`), joined by `:` if that says what may lie there,
   else by `;`.
3. Events that are compared with an earlier one are in variables of their own, by what is asked of
   them (`claims`): filters around the whole say that it holds.
4. A NOT before the first event, or after the last, is a gap up to the window's edge. Otherwise
   nothing stands there but, in AND, what the other parts do (`beside`).
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.beside import Beside
from trendloom.acel.bridge.claims import EARLIER, LATER, Claim, Labels, ways_to_fail
from trendloom.acel.bridge.elimination import NO_WAY, Elimination, Way
from trendloom.acel.bridge.gaps import Exit, Gaps, Negated, letters_of
from trendloom.acel.bridge.groups import agreement
from trendloom.acel.bridge.neighbours import follows_directly, without_guards
from trendloom.acel.bridge.walk import Walk
from trendloom.acel.truth import untrue
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.gaps import Letter
    from trendloom.acel.bridge.walk import State, When
    from trendloom.plan.conditions import Pair


class Course:
    """Of a pattern without AND, or of a part of one."""

    def __init__(self, asked: Asked, pattern: t.Pattern) -> None:
        self.asked = asked
        self._pattern = pattern
        self._labels = Labels(asked)
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

    def variable(self, state: State) -> str:
        return self._walk.variable(state)

    def event(self, state: State, label: str | None = None) -> Way:
        """The event of a state; besides, the label holds it."""
        made = self.asked.event(self._events[self.variable(state)])
        return Way.of(made if label is None else n.As(made, label))

    def label(self, state: State, target: State) -> str | None:
        """The variable of events that come right after this one, if that is to be told."""
        earlier, later = self.variable(state), self.variable(target)
        pairs = [pair for pair in self._pairs(state, target) if pair in self._told_apart]
        if not pairs:
            return None
        condition = reduce(on.All, [self.asked.between(pair, EARLIER, LATER) for pair in pairs])
        return self._labels.name(Claim(condition, earlier, True, f"{later}_after_{earlier}"))

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
        """What may lie between two events."""
        if not self.joined.contiguous:
            return self._beside.before
        following = self._walk.following(state)
        deciding = following.items() if self._to_next else ()
        exits = tuple(self._exit(state, one, when) for one, when in deciding)
        return self._gaps(exits, self.asked.contiguous).way(following[target])

    def closed(self, formula: n.Formula) -> n.Formula:
        """The formula of all steps, where what is said of events is true."""
        formula = self._labels.checked(formula)
        for name in self.asked.apart:
            formula = n.Filter(formula, self.asked.member, on.BagCondition("same", name))
        return self._beside.all_bound(formula)

    def _pairs(self, state: State, target: State) -> Iterator[Pair]:
        """What is asked of an event and the next."""
        two = self.variable(state), self.variable(target)
        return (p for p in self.asked.conditions.adjacent if (p.earlier, p.later) == two)

    @cached_property
    def _told_apart(self) -> list[Pair]:
        """What is asked of neighbours, where the last event of a variable may not be one."""
        positive = without_guards(self._pattern)
        assert positive is not None, "a pattern has events"
        adjacent = self.asked.conditions.adjacent
        return [p for p in adjacent if not follows_directly(positive, p.earlier, p.later)]

    def _any_gap(self, when: When) -> Way:
        """At an end: there nothing is next."""
        return self._gaps(()).way(when)

    def _gaps(self, exits: tuple[Exit, ...], touching: bool = False) -> Gaps:
        elsewhere = here = None
        if self.asked.apart:
            member = self.asked.member
            pairs = [agreement(member, name, t.NOWHERE) for name in self.asked.apart]
            same = reduce(on.All, [self.asked.between(pair, EARLIER, LATER) for pair in pairs])
            elsewhere = Claim(untrue(same), member, stem="elsewhere")
            here = Claim(same, member, stem="here")
        return Gaps(self.asked, self._negated, exits, self._labels, elsewhere, here, touching)

    def _exit(self, state: State, target: State, when: When) -> Exit:
        """With which earlier events an event of the target is compared: the one right before is the
        last of its variable."""
        variable = self.variable(target)
        deciding = [((self.variable(state), True), pair) for pair in self._pairs(state, target)]
        anchored = self.asked.conditions.correlated
        deciding += (((pair.earlier, False), pair) for pair in anchored if pair.later == variable)
        agreements = self.asked.agreements if variable in state.seen else ()
        deciding += (((variable, True), pair) for pair in agreements if pair.later == variable)
        asked: dict[tuple[str, bool], list[on.Condition]] = {}
        for anchor, pair in deciding:
            asked.setdefault(anchor, []).append(self.asked.between(pair, EARLIER, LATER))
        word, local = self._letters[variable]
        return Exit(word, when, tuple(ways_to_fail(local, asked)))

    @cached_property
    def _letters(self) -> dict[str, Letter]:
        return letters_of(self.asked, self._events.values())

    @cached_property
    def _negated(self) -> tuple[Negated, ...]:
        return tuple(Negated(body, self._letters) for body in self._walk.negated)
