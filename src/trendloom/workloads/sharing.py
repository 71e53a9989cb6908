"""Who shares what: groups that share a scan, and inside them families that share a run.

1. Queries with the same partition attributes are a group: one scan, one sort.
2. Of a group, queries of one kind (`kind_of`) that fold are candidates for one run.
3. A candidate joins the family where it saves most, if it saves anything ("dynamic"); wherever it
   has a prefix in common ("always"); or none ("never").
4. Queries that are left and have a Kleene sub-pattern in common share its bursts (`hamlet`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.costs import cost
from trendloom.workloads.family import MOST_LETTERS, Family, kind_of, why_alone
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.template import merge
from trendloom.workloads.scan import SharedScan, letters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from trendloom.plan.plan import Plan
    from trendloom.workloads.hamlet.template import Group as Template

MODES = ("dynamic", "always", "never")
MOST_CELLS = 512
"""Of a family: a vector of them is looked at per window."""


@dataclass(frozen=True)
class Bursts:
    """Queries that share bursts of their Kleene sub-patterns, decided burst by burst."""

    names: tuple[str, ...]
    template: Template
    shared: SharedScan
    mode: Mode

    @property
    def called(self) -> dict[int, str]:
        """The names of the template's queries."""
        return dict(zip(self.template.queries, self.names, strict=True))

    @property
    def letters(self) -> tuple[int, ...]:
        """The shared letter of each letter of the template's own scan."""
        return self._places(self.template.joint.letters, self.shared.letters_of)

    @property
    def operands(self) -> tuple[int, ...]:
        return self._places(self.template.joint.operands, self.shared.operands_of)

    def _places(
        self, own: Sequence[tuple[int, ...]], shared: Callable[[Plan], tuple[int, ...]]
    ) -> tuple[int, ...]:
        found = {
            joint: place
            for member, numbers in zip(self.template.members, own, strict=True)
            for joint, place in zip(numbers, shared(member.plan), strict=True)
        }
        return tuple(found[joint] for joint in range(len(found)))


@dataclass(frozen=True)
class Group:
    """Queries of one scan: some run in families, the others alone."""

    plans: Mapping[str, Plan]
    shared: SharedScan
    families: tuple[Family, ...]
    bursts: tuple[Bursts, ...] = ()

    @property
    def alone(self) -> dict[str, Plan]:
        together = {name for family in self.families for name in family.plans}
        together |= {name for bursts in self.bursts for name in bursts.names}
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
    group = Group(plans, shared, tuple(families))
    return group if mode == "never" else replace(group, bursts=_bursts(group, Mode(mode)))


def _bursts(group: Group, mode: Mode) -> tuple[Bursts, ...]:
    """Events of open windows wait, so queries without windows, which have all of them, do not."""
    names, plans = [], []
    for name, plan in group.alone.items():
        if plan.strategy is WindowStrategy.SLIDING:
            names.append(name)
            plans.append(plan)
    return tuple(
        Bursts(tuple(names[k] for k in one.queries), one, group.shared, mode)
        for one in merge(plans).groups
    )


def _join(families: list[Family], one: Family, mode: str) -> None:
    """Puts a query into the family where it saves most, or into one of its own."""
    best: tuple[float, int, Family] | None = None
    alone = cost(one)
    for number, family in enumerate(families):
        if not family.beginnings & one.beginnings:
            continue
        if len(letters_of([*family.plans.values(), *one.plans.values()])) > MOST_LETTERS:
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
