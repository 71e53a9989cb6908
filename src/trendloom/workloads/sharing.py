"""Who shares what: groups that share a scan, and inside them families that share a run.

1. Queries with the same partition attributes are a group: one scan, one sort.
2. Of a group, queries of one kind (`kind_of`) that fold are candidates for one run.
3. A candidate joins the family where it saves most, if it saves anything ("dynamic"); wherever it
   has a prefix in common ("always"); or none ("never").
4. Queries that are left and have a Kleene sub-pattern in common share its bursts (`hamlet`).
5. Of the others, families and single queries join as in 3 by an infix in common (`chopping`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.costs import cost
from trendloom.workloads.family import MOST_LETTERS, Family, kind_of, why_alone
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.template import merge
from trendloom.workloads.scan import SharedScan, letters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from trendloom.plan.plan import Plan
    from trendloom.workloads.hamlet.template import Group as Template

    Alike = Callable[[Family, Family], Family | None]

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
    if mode == "never":
        return Group(plans, shared, ())
    kinds: dict[Hashable, list[Family]] = {}
    for name, plan in plans.items():
        if why_alone(plan) is None:
            one = Family.of(name, plan, shared)
            _join(kinds.setdefault(kind_of(plan), []), one, mode, begins_alike)
    families = [family for found in kinds.values() for family in found if len(family.plans) > 1]
    bursts = _bursts(Group(plans, shared, tuple(families)), Mode(mode))
    taken = {name for one in bursts for name in one.names}
    connected = [
        family
        for found in kinds.values()
        for family in _connected([one for one in found if taken.isdisjoint(one.plans)], mode)
    ]
    return Group(plans, shared, tuple(connected), bursts)


def _connected(families: list[Family], mode: str) -> list[Family]:
    """Those of several queries, after families with an infix in common became one."""
    connected: list[Family] = []
    for family in families:
        _join(connected, family, mode, goes_alike)
    return [family for family in connected if len(family.plans) > 1]


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


def _join(families: list[Family], one: Family, mode: str, alike: Alike) -> None:
    """Puts a query, or a family, where it saves most, or by itself."""
    best: tuple[float, int, Family] | None = None
    alone = cost(one) if families else 0.0
    for number, family in enumerate(families):
        joint = joined(family, one, alike)
        if joint is None:
            continue
        saved = cost(family) + alone - cost(joint)
        if (mode == "always" or saved > 0) and (best is None or saved > best[0]):
            best = saved, number, joint
    if best is None:
        families.append(one)
    else:
        families[best[1]] = best[2]


def joined(family: Family, one: Family, alike: Alike) -> Family | None:
    """Both as one, if they share what is asked for and are not too large."""
    if len(letters_of([*family.plans.values(), *one.plans.values()])) > MOST_LETTERS:
        return None
    joint = alike(family, one)
    return None if joint is None or joint.merged.folding.cells > MOST_CELLS else joint


def begins_alike(family: Family, one: Family) -> Family | None:
    """Joined, if a cell is shared: partial trends of one are those of the other."""
    if not family.beginnings & one.beginnings:
        return None
    joint = family.joined(one)
    return joint if _across(joint.merged.sharers, family) else None


def goes_alike(family: Family, one: Family) -> Family | None:
    """Joined, if an infix is shared (A-Seq §4.2)."""
    if not family.pairs & one.pairs:
        return None
    joint = family.joined(one)
    owners = [[m for copy in chop.members for m in copy] for chop in joint.chops]
    return joint if _across(owners, family) else None


def _across(owners: Iterable[Sequence[int]], family: Family) -> bool:
    """Whether a member of the family and one that came behind it own the same."""
    old = len(family.plans)
    return any(min(some) < old <= max(some) for some in owners if some)
