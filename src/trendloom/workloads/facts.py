"""What there is to say of a workload before it runs: who shares what, and why others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.plan.explaining.algorithm import streams
from trendloom.plan.explaining.local import OrderFacts, order_of
from trendloom.plan.explaining.wording import canonical
from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.costs import cost, table_of
from trendloom.workloads.family import Family, kind_of, why_alone
from trendloom.workloads.hamlet import calibration
from trendloom.workloads.hamlet.member import members_of
from trendloom.workloads.sharing import begins_alike, goes_alike, joined

if TYPE_CHECKING:
    from trendloom.plan.plan import Plan
    from trendloom.plan.scan import Letter
    from trendloom.workloads.chopping import Chop
    from trendloom.workloads.sharing import Bursts, Group, Sharing


@dataclass(frozen=True, slots=True)
class CellFacts:
    """A prefix that several queries have: what ends in one cell of the merged automaton."""

    name: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChopFacts:
    """A sub-pattern that is chopped out of several queries, behind different beginnings."""

    infix: tuple[str, ...]
    queries: tuple[str, ...]
    connections: int
    """Beginnings that it is connected to: copies that events move side by side."""


@dataclass(frozen=True, slots=True)
class FamilyFacts:
    """Queries that are run as one."""

    queries: tuple[str, ...]
    cells: int
    cells_alone: int
    """Of all of them, each run by itself."""
    shared: tuple[CellFacts, ...]
    chopped: tuple[ChopFacts, ...]
    steps: int
    """Of an event, at most: how many cells take from others."""
    lanes: int
    """Numbers per cell."""
    cost: float
    """Estimated nanoseconds per row."""
    cost_alone: float


@dataclass(frozen=True, slots=True)
class ConditionFacts:
    """A condition on the events of E, and whose it is: bursts that tell them apart cost more."""

    condition: str | None
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepFacts:
    """An arrow of the merged template; from None trends begin."""

    source: str | None
    target: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KleeneFacts:
    """E+ of several queries, whose bursts they may share."""

    type: str
    queries: tuple[str, ...]
    between: str | None
    """The condition between an event and the next."""
    conditions: tuple[ConditionFacts, ...]


@dataclass(frozen=True, slots=True)
class BurstFacts:
    """Queries that are run in one pass, sharing bursts where that pays."""

    queries: tuple[str, ...]
    kleene: tuple[KleeneFacts, ...]
    steps: tuple[StepFacts, ...]
    """The merged template: every type once, arrows with their queries."""
    constants: str | None
    """Of the benefit model: where they are from; None if nothing is decided."""


@dataclass(frozen=True, slots=True)
class AloneFacts:
    """A query that shares the scan only."""

    query: str
    because: str
    no_bursts: str | None
    """Why it does not share bursts, if it has a Kleene pattern."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Queries of one scan."""

    partition_by: tuple[str, ...]
    order: OrderFacts
    queries: tuple[str, ...]
    conditions: int
    """Different letters: each is evaluated once per row."""
    conditions_alone: int
    operands: int
    operands_alone: int
    families: tuple[FamilyFacts, ...]
    bursts: tuple[BurstFacts, ...]
    alone: tuple[AloneFacts, ...]


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """The whole of it."""

    mode: str
    queries: dict[str, str]
    groups: tuple[GroupFacts, ...]


def gather(sharing: Sharing) -> WorkloadFacts:
    plans = {name: plan for group in sharing.groups for name, plan in group.plans.items()}
    return WorkloadFacts(
        sharing.mode,
        {name: canonical(plan.query) for name, plan in plans.items()},
        tuple(_group(group, sharing.mode) for group in sharing.groups),
    )


def _group(group: Group, mode: str) -> GroupFacts:
    scans = [plan.scan for plan in group.plans.values()]
    apart = not group.families and not group.bursts
    side_by_side = apart and all(streams(plan) for plan in group.plans.values())
    return GroupFacts(
        group.shared.scan.partition,
        order_of(group.shared.scan.partition, streams=side_by_side),
        tuple(group.plans),
        len(group.shared.scan.letters),
        sum(len(scan.letters) for scan in scans),
        len(group.shared.scan.operands),
        sum(len(scan.operands) for scan in scans),
        tuple(_family(family) for family in group.families),
        tuple(_bursts(one, mode) for one in group.bursts),
        tuple(
            AloneFacts(name, _because(name, group, mode), _no_bursts(plan, mode))
            for name, plan in group.alone.items()
        ),
    )


def _family(family: Family) -> FamilyFacts:
    alone = [Family.of(name, plan, family.shared) for name, plan in family.plans.items()]
    names, table = cell_names(family), table_of(family)
    return FamilyFacts(
        tuple(family.plans),
        family.merged.folding.cells,
        sum(one.merged.folding.cells for one in alone),
        tuple(
            CellFacts(names[cell], tuple(list(family.plans)[m] for m in members))
            for cell, members in enumerate(family.merged.sharers)
            if len(members) > 1
        ),
        tuple(_chop(chop, family) for chop in family.chops),
        table.steps,
        table.lanes,
        round(cost(family), 1),
        round(sum(map(cost, alone)), 1),
    )


def _chop(chop: Chop, family: Family) -> ChopFacts:
    queries, letters = list(family.plans), family.shared.scan.letters
    return ChopFacts(
        tuple(letter_name(letters[k]) for k in chop.letters),
        tuple(queries[m] for m in sorted({m for copy in chop.members for m in copy})),
        len(chop.copies),
    )


def letter_name(letter: Letter) -> str:
    return letter.type if letter.condition is None else f"{letter.type}[{letter.condition}]"


def _bursts(bursts: Bursts, mode: str) -> BurstFacts:
    name, template = bursts.called, bursts.template

    def named(queries: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(name[k] for k in queries)

    return BurstFacts(
        bursts.names,
        tuple(
            KleeneFacts(
                one.type,
                named(one.queries),
                one.adjacent,
                tuple(ConditionFacts(words, named(queries)) for words, queries in one.conditions),
            )
            for one in template.kleene
        ),
        tuple(StepFacts(s.source, s.target, named(s.queries)) for s in template.transitions),
        _constants() if mode == "dynamic" else None,
    )


def _constants() -> str:
    found = calibration.known()
    if found.trouble is None:
        return found.origin
    return f"{found.origin}: {found.trouble}. {calibration.REMEDY}"


def cell_names(family: Family) -> list[str]:
    """Called as the letter's type; several of one letter are `A·1`, `A·2`, …"""
    merged = family.merged
    variable = {
        arrow.target: merged.variables[arrow.variable][0] for arrow in merged.folding.arrows
    }
    names: list[str] = []
    seen: dict[str, int] = {}
    for cell in range(len(merged.sharers)):
        name = letter_name(family.shared.scan.letters[variable[cell]])
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}·{seen[name]}")
    return names


def _no_bursts(plan: Plan, mode: str) -> str | None:
    if not plan.exponential or mode == "never":
        return None
    if plan.strategy is not WindowStrategy.SLIDING:
        return "it has no windows of time"
    members = members_of(plan)
    return members if isinstance(members, str) else "no other query has its E+"


def _because(name: str, group: Group, mode: str) -> str:
    plan = group.plans[name]
    reason = why_alone(plan)
    if reason is not None:
        return reason
    if mode == "never":
        return "mode is never"
    others = {
        other: one
        for other, one in group.plans.items()
        if other != name and why_alone(one) is None and kind_of(one) == kind_of(plan)
    }
    if not others:
        return "no other query here has its window, semantics, grouping and numbers"
    one = Family.of(name, plan, group.shared)
    worth = [
        (cost(joint), cost(other) + cost(one))
        for other in (Family.of(*named, group.shared) for named in others.items())
        for alike in (begins_alike, goes_alike)
        if (joint := joined(other, one, alike)) is not None
    ]
    if not worth:
        return "it has no prefix, and no two types in a row, in common with another query"
    joint_cost, apart = min(worth, key=lambda pair: pair[0] - pair[1])
    return f"sharing would cost more: {joint_cost:.0f} instead of {apart:.0f} ns per row"
