"""What there is to say of a workload before it runs: who shares what, and why others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.plan.explaining.algorithm import streams
from trendloom.plan.explaining.local import OrderFacts, order_of
from trendloom.plan.explaining.wording import canonical
from trendloom.workloads.costs import cost, table_of
from trendloom.workloads.family import Family, kind_of, why_alone
from trendloom.workloads.sharing import shares

if TYPE_CHECKING:
    from trendloom.workloads.sharing import Bursts, Group, Sharing


@dataclass(frozen=True, slots=True)
class CellFacts:
    """A prefix that several queries have: what ends in one cell of the merged automaton."""

    name: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyFacts:
    """Queries that are run as one."""

    queries: tuple[str, ...]
    cells: int
    cells_alone: int
    """Of all of them, each run by itself."""
    shared: tuple[CellFacts, ...]
    steps: int
    """Of an event, at most."""
    lanes: int
    """Numbers per cell."""
    cost: float
    """Estimated nanoseconds per row."""
    cost_alone: float


@dataclass(frozen=True, slots=True)
class KleeneFacts:
    """E+ of several queries, whose bursts they may share."""

    type: str
    queries: tuple[str, ...]
    between: str | None
    """The condition between an event and the next."""


@dataclass(frozen=True, slots=True)
class BurstFacts:
    """Queries that are run in one pass, sharing bursts where that pays."""

    queries: tuple[str, ...]
    kleene: tuple[KleeneFacts, ...]


@dataclass(frozen=True, slots=True)
class AloneFacts:
    """A query that shares the scan only."""

    query: str
    because: str


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
        tuple(_bursts(one) for one in group.bursts),
        tuple(AloneFacts(name, _because(name, group, mode)) for name in group.alone),
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
        table.steps,
        table.lanes,
        round(cost(family), 1),
        round(sum(map(cost, alone)), 1),
    )


def _bursts(bursts: Bursts) -> BurstFacts:
    name = dict(zip(bursts.template.queries, bursts.names, strict=True))
    return BurstFacts(
        bursts.names,
        tuple(
            KleeneFacts(one.type, tuple(name[k] for k in one.queries), one.adjacent)
            for one in bursts.template.kleene
        ),
    )


def cell_names(family: Family) -> list[str]:
    """Called as the letter's type; several of one letter are `A·1`, `A·2`, …"""
    merged = family.merged
    variable = {
        arrow.target: merged.variables[arrow.variable][0] for arrow in merged.folding.arrows
    }
    names: list[str] = []
    seen: dict[str, int] = {}
    for cell in range(len(merged.sharers)):
        letter = family.shared.scan.letters[variable[cell]]
        name = letter.type if letter.condition is None else f"{letter.type}[{letter.condition}]"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}·{seen[name]}")
    return names


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
    found = [Family.of(other, plan_, group.shared) for other, plan_ in others.items()]
    tried = [(other.joined(one), other) for other in found]
    worth = [(cost(joint), cost(other) + cost(one)) for joint, other in tried if shares(joint)]
    if not worth:
        return "it has no prefix in common with another query"
    joint_cost, apart = min(worth, key=lambda pair: pair[0] - pair[1])
    return f"sharing would cost more: {joint_cost:.0f} instead of {apart:.0f} ns per row"
