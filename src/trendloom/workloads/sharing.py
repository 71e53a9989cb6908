"""Who shares what: groups that share a scan, and inside them families that share a run.

1. Queries with the same partition attributes are a group: one scan, one sort.
2. Of a group, queries of one kind (`kind_of`) that fold are candidates for one run.
3. A candidate joins the family where it saves most, if it saves anything ("dynamic"); wherever it
   has a prefix in common ("always"); or none ("never").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.workloads.costs import cost
from trendloom.workloads.family import MOST_LETTERS, Family, kind_of, letters_of, why_alone
from trendloom.workloads.scan import SharedScan

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from trendloom.plan.plan import Plan

MODES = ("dynamic", "always", "never")
MOST_CELLS = 512
"""Of a family: a vector of them is looked at per window."""


@dataclass(frozen=True)
class Group:
    """Queries of one scan: some run in families, the others alone."""

    plans: Mapping[str, Plan]
    shared: SharedScan
    families: tuple[Family, ...]

    @property
    def alone(self) -> dict[str, Plan]:
        together = {name for family in self.families for name in family.plans}
        return {name: plan for name, plan in self.plans.items() if name not in together}


@dataclass(frozen=True)
class Sharing:
    """How a workload is run."""

    mode: str
    groups: tuple[Group, ...]


def share(plans: Mapping[str, Plan], mode: str) -> Sharing:
    """Decided from the queries alone."""
    groups: dict[tuple[str, ...], dict[str, Plan]] = {}
    for name, plan in plans.items():
        groups.setdefault(plan.scan.partition, {})[name] = plan
    return Sharing(mode, tuple(_group(members, mode) for members in groups.values()))


def _group(plans: Mapping[str, Plan], mode: str) -> Group:
    shared = SharedScan.of(plans)
    kinds: dict[Hashable, list[Family]] = {}
    for name, plan in plans.items() if mode != "never" else ():
        if why_alone(plan) is None:
            one = Family.of(name, plan, shared)
            _join(kinds.setdefault(kind_of(plan), []), one, mode)
    families = [family for found in kinds.values() for family in found if len(family.plans) > 1]
    return Group(plans, shared, tuple(families))


def _join(families: list[Family], one: Family, mode: str) -> None:
    """Puts a query into the family where it saves most, or into one of its own."""
    best: tuple[float, int, Family] | None = None
    alone = cost(one)
    for number, family in enumerate(families):
        if not family.beginnings & one.beginnings:
            continue
        if letters_of({**family.plans, **one.plans}) > MOST_LETTERS:
            continue
        joint = family.joined(one)
        if joint.merged.folding.cells > MOST_CELLS or not shares(joint):
            continue
        saved = cost(family) + alone - cost(joint)
        if (mode == "always" or saved > 0) and (best is None or saved > best[0]):
            best = saved, number, joint
    if best is None:
        families.append(one)
    else:
        families[best[1]] = best[2]


def shares(family: Family) -> bool:
    """Whether the newest member has a cell in common with an older one."""
    newest = len(family.plans) - 1
    return any(newest in members and len(members) > 1 for members in family.merged.sharers)
