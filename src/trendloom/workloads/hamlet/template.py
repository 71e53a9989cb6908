"""The mergeable template of a workload (HAMLET §3.1): every type once, arrows labelled by queries.

Queries are in one group if they can be evaluated in one pass that shares bursts: the same
partitioning (Def. 3.2), and a mask that has room for all their letters. Windows may differ: bursts
are cut at panes, whose length is the greatest common divisor of all sizes and slides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from trendloom.language.nodes import TimeWindow
from trendloom.pattern.automaton import START
from trendloom.workloads.hamlet.joint import MAX_LETTERS, Joint
from trendloom.workloads.hamlet.member import Member, members_of
from trendloom.workloads.scan import letter_key, letters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Alone:
    """A query that shares nothing, and why."""

    query: int
    reason: str


@dataclass(frozen=True, slots=True)
class Transition:
    """Events of type `source` (None: nothing) come before those of `target` for these queries."""

    source: str | None
    target: str
    queries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SharedKleene:
    """E+ of several queries (Def. 3.1), under one condition between its events."""

    type: str
    adjacent: str | None
    queries: tuple[int, ...]
    conditions: tuple[tuple[str | None, tuple[int, ...]], ...]
    """Local conditions on E, and whose they are: bursts that tell them apart need snapshots."""


@dataclass(frozen=True)
class Group:
    """Queries of one pass, by their numbers in the workload."""

    queries: tuple[int, ...]
    members: tuple[Member, ...]
    """Of one query after the other."""
    partition: tuple[str, ...]
    pane: int | None
    """In nanoseconds; None without windows."""
    kleene: tuple[SharedKleene, ...]
    transitions: tuple[Transition, ...]

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Per query the places of its members: one, or with AND one for each side."""
        starts = [place for place, member in enumerate(self.members) if member.side == 0]
        bounds = pairwise([*starts, len(self.members)])
        return tuple(tuple(range(*bound)) for bound in bounds)

    @property
    def joint(self) -> Joint:
        return Joint.of([member.plan for member in self.members])


@dataclass(frozen=True)
class Template:
    """A workload: who shares, and who does not."""

    plans: tuple[Plan, ...]
    groups: tuple[Group, ...]
    alone: tuple[Alone, ...]


def merge(plans: Sequence[Plan]) -> Template:
    """The template of all queries."""
    alone: list[Alone] = []
    lots: list[list[tuple[int, Member]]] = []
    for number, plan in enumerate(plans):
        members = members_of(plan)
        if isinstance(members, str):
            alone.append(Alone(number, members))
            continue
        lot = next((lot for lot in lots if _fits(lot, plan)), None)
        if lot is None:
            lot = []
            lots.append(lot)
        lot += [(number, member) for member in members]
    groups = []
    for lot in lots:
        shared = {number for one in _group(lot).kleene for number in one.queries}
        if shared:
            groups.append(_group([one for one in lot if one[0] in shared]))
        reason = "no other query has its E+"
        alone += [Alone(number, reason) for number in _numbers(lot) if number not in shared]
    return Template(tuple(plans), tuple(groups), tuple(sorted(alone, key=lambda a: a.query)))


def _fits(lot: list[tuple[int, Member]], plan: Plan) -> bool:
    first = lot[0][1].plan
    if (first.scan.partition, first.group_by) != (plan.scan.partition, plan.group_by):
        return False
    plans = [one.plan for _, one in lot]
    return len(letters_of([*plans, plan])) <= MAX_LETTERS


def _group(lot: list[tuple[int, Member]]) -> Group:
    kleene: dict[tuple[str, str | None], list[tuple[int, Member]]] = {}
    transitions: dict[tuple[str | None, str], dict[int, None]] = {}
    for number, member in lot:
        for name in member.kleene:
            kleene.setdefault((name, member.intakes[name].adjacent), []).append((number, member))
        for source, target in _steps(member):
            transitions.setdefault((source, target), {})[number] = None
    members = tuple(member for _, member in lot)
    return Group(
        _numbers(lot),
        members,
        members[0].plan.scan.partition,
        _pane(members),
        tuple(
            SharedKleene(name, adjacent, _numbers(users), _conditions(name, users))
            for (name, adjacent), users in kleene.items()
            if len(_numbers(users)) > 1
        ),
        tuple(Transition(*types, tuple(queries)) for types, queries in transitions.items()),
    )


def _numbers(some: list[tuple[int, Member]]) -> tuple[int, ...]:
    """Queries, each once, though several sides of it may be here."""
    return tuple(dict.fromkeys(number for number, _ in some))


def _steps(member: Member) -> list[tuple[str | None, str]]:
    automaton, found = member.part.automaton, []
    for arrow in automaton.arrows:
        source = None
        if arrow.source != START:
            source = member.type_of(automaton.states[arrow.source].variable)
        found.append((source, member.type_of(arrow.variable)))
    return found


def _conditions(
    name: str, users: list[tuple[int, Member]]
) -> tuple[tuple[str | None, tuple[int, ...]], ...]:
    found: dict[str | None, list[tuple[int, Member]]] = {}
    for number, member in users:
        bit = member.part.bits[member.intakes[name].letter][0]
        words = letter_key(member.plan.scan.letters[bit])[1]
        found.setdefault(words, []).append((number, member))
    return tuple((words, _numbers(some)) for words, some in found.items())


def _pane(members: Sequence[Member]) -> int | None:
    lengths: list[int] = []
    for member in members:
        window = member.plan.window
        if isinstance(window, TimeWindow):
            lengths.append(int(window.within.nanoseconds))
            lengths.append(int((window.slide or window.within).nanoseconds))
    return reduce(gcd, lengths) if lengths else None
