"""Queries that are run as one: their automata merged, their aggregates side by side.

A family has one vector per window, with every member's cells and every member's lanes. Members read
their finished trends off it. All of them see the events of all, which changes nothing for any: an
event that is no letter of a member moves none of its cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from trendloom.engine.lanes import Extremum, Lane, Sum, TrendCount, lanes_of
from trendloom.language.nodes import Aggregate, CountWindow, Semantics, TimeWindow
from trendloom.pattern.automaton import Automaton
from trendloom.plan.plan import Grain, Part, Plan
from trendloom.plan.scan import Scan
from trendloom.workloads.chopping import Chop, chop, letter_pairs
from trendloom.workloads.merging import Member, Merged, merge

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from trendloom.workloads.scan import SharedScan

MOST_LETTERS = 64
"""Of a family: its events' letters are one mask."""
LIVE = 100.0
"""Events that a window which slides with every event is taken to have: nobody knows beforehand."""


@dataclass(frozen=True, slots=True)
class LaneNames:
    """A member's lanes → the family's; all but the count of trends, which everybody has."""

    sums: dict[Sum, Sum]
    extremes: dict[Extremum, Extremum]


@dataclass(frozen=True)
class Family:
    """Named plans of one kind (`kind_of`) and their merged automaton over the shared letters."""

    plans: Mapping[str, Plan]
    shared: SharedScan
    members: tuple[Member, ...]
    merged: Merged
    chops: tuple[Chop, ...] = ()
    """Sub-patterns that members have in common behind different beginnings."""

    @classmethod
    def of(cls, name: str, plan: Plan, shared: SharedScan) -> Family:
        """Of one query."""
        return cls._merged({name: plan}, shared, (member_of(plan, shared),))

    def joined(self, other: Family) -> Family:
        """Of this one's queries, then the other's."""
        plans = {**self.plans, **other.plans}
        return self._merged(plans, self.shared, (*self.members, *other.members))

    @classmethod
    def _merged(
        cls, plans: Mapping[str, Plan], shared: SharedScan, members: tuple[Member, ...]
    ) -> Family:
        one = next(iter(plans.values()))
        # Alone, a query's run has a way of its own to add up what is finished.
        steps = overlap(one) > 1 and len(plans) > 1
        merged = merge(members, one.semantics, steps=steps)
        together = chop(merged) if len(plans) > 1 else (merged, ())
        return cls(plans, shared, members, *together)

    @cached_property
    def beginnings(self) -> frozenset[Hashable]:
        """How its first cells look: without one in common, families share no prefix."""
        return self.merged.beginnings

    @cached_property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """Letters that follow each other: without a pair in common, families share no infix."""
        return letter_pairs(self.merged)

    @cached_property
    def operands(self) -> tuple[int, ...]:
        """The shared operands that any member's aggregates need."""
        needed = [k for plan in self.plans.values() for k in self.shared.operands_of(plan)]
        return tuple(dict.fromkeys(needed))

    @cached_property
    def part(self) -> Part:
        """The merged automaton as a part of a plan; its letters are the family's."""
        names = tuple(variable_name(name) for name in self.merged.variables)
        automaton = Automaton(names, (), (), (), (), ())
        bits = tuple((k,) for k in range(len(self.merged.letters)))
        return Part(automaton, bits, (), (), (), (), (), {}, (), Grain.TYPE)

    @cached_property
    def plan(self) -> Plan:
        """What the engine needs to know of all members."""
        first = next(iter(self.plans.values()))
        letters = tuple(self.shared.scan.letters[k] for k in self.merged.letters)
        operands = tuple(self.shared.scan.operands[k] for k in self.operands)
        keep = first.scan.keep_unmatched
        scan = Scan(letters, first.scan.partition, operands, keep, first.scan.input_order)
        return replace(first, scan=scan, parts=(self.part,), outputs=(), having=None)

    def lanes(self, plan: Plan) -> LaneNames:
        """A member's lanes → the family's."""
        names = dict(zip(plan.parts[0].automaton.variables, self._names(plan), strict=True))
        operands = [self.operands.index(k) for k in self.shared.operands_of(plan)]
        found = LaneNames({}, {})
        for lane in _lanes(plan):
            if isinstance(lane, TrendCount):
                continue
            variable = None if lane.variable is None else names[lane.variable]
            operand = None if lane.operand is None else operands[lane.operand]
            if isinstance(lane, Sum):
                found.sums[lane] = replace(lane, variable=variable, operand=operand)
            else:
                found.extremes[lane] = replace(lane, variable=variable, operand=operand)
        return found

    def _names(self, plan: Plan) -> list[str]:
        at = next(k for k, one in enumerate(self.plans.values()) if one is plan)
        return [variable_name(name) for name in self.members[at].names]


def variable_name(name: tuple[int, int]) -> str:
    """Of a merged variable: letter and turn."""
    return "{}.{}".format(*name)


def member_of(plan: Plan, shared: SharedScan) -> Member:
    """A plan that folds, over the shared letters."""
    (part,) = plan.parts
    fast = plan.folding(part)
    assert fast is not None, "only plans that fold are merged"
    own = shared.letters_of(plan)
    letters = tuple(own[bit] for (bit,) in part.bits)
    return Member(fast, letters, len(part.automaton.variables))


def overlap(plan: Plan) -> float:
    """How many windows an event is in; as many as one has events, if they slide with each."""
    match plan.window:
        case None:
            return 1.0
        case CountWindow(within=count, slide=step):
            return max(1.0, count / step)
        case TimeWindow(within=length, slide=every):
            if every is None:
                return LIVE
            return max(1.0, float(length.nanoseconds / every.nanoseconds))


def kind_of(plan: Plan) -> Hashable:
    """Plans of one kind can be run as one, if they fold."""
    # Vectors are read at the same moments, and are of the same numbers.
    window: Hashable = plan.window
    if isinstance(plan.window, TimeWindow):
        every = plan.window.slide
        window = plan.window.within.nanoseconds, None if every is None else every.nanoseconds
    return plan.scan.partition, plan.plain_groups, plan.semantics, window, plan.exponential


def why_alone(plan: Plan) -> str | None:
    """What keeps a plan from being run with others; None if nothing does."""
    if len(plan.parts) > 1:
        return "AND joins two patterns"
    (part,) = plan.parts
    if part.adjacent:
        return "a condition compares consecutive events"
    if part.bindings:
        return "it is run once per value of a variable"
    if any(isinstance(lane, Sum) and lane.distinct for lane in _lanes(plan)):
        return "DISTINCT keeps single events"
    fast = plan.folding(part)
    if fast is None:
        return "its NOT is not expressed by clearing sums"
    if fast.armed:
        return "its NOT is before the first event"
    return None


def _lanes(plan: Plan) -> list[Lane]:
    aggregates = [o.value for o in plan.outputs if isinstance(o.value, Aggregate)]
    return [lane for one in aggregates for lane in lanes_of(plan, one)]


ANY = Semantics.ANY
"""What a merged automaton is run as (`merging`)."""
