"""Which lane is kept in which number domain, once the types of the attributes are known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine.lanes import TRENDS, Extremum, Lane, Sum, lanes_of
from trendloom.language.nodes import Aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.plan.plan import Part, Plan


class Numbers(Enum):
    """What the caller asked for."""

    AUTO = "auto"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Layout:
    """A part's lanes by semiring. Lane 0 of every summing semiring counts trends.

    The trend count itself is read from the first semiring that has lanes of: exact, checked,
    scaled.
    """

    scaled: tuple[Sum, ...] | None
    checked: tuple[Sum, ...] | None
    exact: tuple[Sum, ...] | None
    extremes: tuple[Extremum, ...]
    distinct: tuple[Sum, ...]

    @property
    def fits_vectors(self) -> bool:
        """Whether a vector per window holds all lanes: no sets of events, no residues."""
        return not (self.distinct or self.exact is not None)


def lay_out(plan: Plan, types: Sequence[pa.DataType], numbers: Numbers, part: Part) -> Layout:
    """The lanes that the plan's aggregates need of one part's trends."""
    wanted: dict[Lane, None] = {TRENDS: None}
    for output in plan.outputs:
        if isinstance(output.value, Aggregate):
            wanted.update(dict.fromkeys(lanes_of(plan, output.value)))
    mine = [lane for lane in wanted if _belongs(lane, part)]
    sums = [lane for lane in mine if isinstance(lane, Sum) and not lane.distinct]
    whole = tuple(lane for lane in sums if is_whole(lane, types))
    rest = tuple(lane for lane in sums if not is_whole(lane, types))
    exact: tuple[Sum, ...] | None = None
    checked: tuple[Sum, ...] | None = None
    scaled: tuple[Sum, ...] | None = rest or None
    if numbers is Numbers.EXACT:
        exact = whole
    elif plan.exponential:
        scaled = (*whole, *rest)
    else:
        checked = whole
    return Layout(
        scaled,
        checked,
        exact,
        tuple(lane for lane in mine if isinstance(lane, Extremum)),
        tuple(lane for lane in mine if isinstance(lane, Sum) and lane.distinct),
    )


def is_whole(lane: Sum, types: Sequence[pa.DataType]) -> bool:
    """Whether the lane's sums are integers."""
    if lane.power == 0:
        return True
    assert lane.operand is not None
    return lane.power == 1 and not lane.centred and pa.types.is_integer(types[lane.operand])


def _belongs(lane: Lane, part: Part) -> bool:
    if isinstance(lane, Sum | Extremum) and lane.variable is not None:
        return lane.variable in part.automaton.variables
    return True
