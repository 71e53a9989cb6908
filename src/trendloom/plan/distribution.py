"""How a plan's work is divided where many machines share it, as far as the query alone decides.

A bounded input is divided in one of two ways.

**combine**: every task reduces its own events to maps, and only maps travel. It needs what the fold
or the step needs, and windows of few panes. A group goes by exchange where tasks interleave in
time, or, with conditions between neighbours, where events are simultaneous.
**exchange**: the events travel, to where all of their group or partition are.

A stream is divided by group, and keeps vectors or events (in update mode also entries by value);
some queries have no answer on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from trendloom.language.nodes import Duration, Semantics, TimeWindow, Unit
from trendloom.plan.explaining.algorithm import cells, folds, maps, pairs, ranks, streams
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.plan.plan import Part, Plan

MAX_PANES = 256
"""More panes than this in a window: most hold so few events that the events are smaller than maps,
and each window is a product of all its panes."""
MOST_WINDOWS = 8
"""That hold an event whose partial trends are kept for each: events are kept once."""


class Keeps(Enum):
    """What a stream keeps of events that the watermark has passed."""

    VECTORS = "vectors"
    EVENTS = "events"
    NUMBERED = "numbered events"


@dataclass(frozen=True, slots=True)
class MapSize:
    """A part's map: so many vectors of so many cells. Per sum, the count among them, and per
    extremum, whether there are trends among them."""

    vectors: int
    cells: int


def can_combine(plan: Plan) -> bool:
    """Whether events can travel as maps, with numbers as the plan chooses them."""
    return maps(plan) and panes(plan) <= MAX_PANES


def has_joints(plan: Plan) -> bool:
    """Whether conditions between neighbours decide what goes on where two maps meet."""
    return any(part.adjacent for part in plan.all_parts)


def panes(plan: Plan) -> int:
    """How many of the stretches that windows hold all or nothing of are in one window."""
    match plan.window:
        case TimeWindow(within=within, slide=Duration() as slide):
            return Fraction(within.nanoseconds, slide.nanoseconds).numerator
    return 1


def pane_length(plan: Plan) -> Duration | None:
    """In the largest unit of which it is a whole number, if any; None without windows of time."""
    match plan.window:
        case TimeWindow(within=within, slide=Duration()):
            length = within.nanoseconds / panes(plan)
            whole = [unit for unit in Unit if (length / unit.value).denominator == 1]
            unit = max(whole, key=lambda unit: unit.value, default=within.unit)
            return Duration(length / unit.value, unit)
    return None


def map_size(plan: Plan, part: Part) -> MapSize:
    """One vector for trends that begin inside, one for those that come in each state."""
    states = cells(plan, part)
    # Finished trends are added up as they end, except where nothing is ever consumed.
    finishing = plan.semantics is not Semantics.ANY
    return MapSize(1 + states, max(1, states + finishing))


def exchange_key(plan: Plan) -> tuple[str, ...]:
    """The attributes that events are exchanged by: their partition's, or only their group's.

    `WITHIN w` alone has a row wherever any partition of the group changes: it needs them all.
    """
    changes = plan.strategy is WindowStrategy.CHANGES
    return group_key(plan) if changes else plan.scan.partition


def group_key(plan: Plan) -> tuple[str, ...]:
    """The attributes that maps, and a stream's events, are divided by."""
    return plan.scan.partition[: plan.plain_groups]


def stream_keeps(plan: Plan) -> Keeps | None:
    """None: a stream has no answer to the query."""
    match plan.strategy:
        case WindowStrategy.WHOLE:
            return None
        case WindowStrategy.COUNTED:
            # A window is of a partition, a row of a group: see `engine.live.numbered`.
            return Keeps.NUMBERED if group_key(plan) == plan.scan.partition else None
        case WindowStrategy.SLIDING if streams(plan):
            return Keeps.VECTORS
    return Keeps.EVENTS


def overlaps_little(plan: Plan) -> bool:
    """Whether few windows hold an event: each keeps entries of its own."""
    match plan.window:
        case TimeWindow(within=within, slide=Duration() as slide):
            return within.nanoseconds <= MOST_WINDOWS * slide.nanoseconds
    return False


def arrives(plan: Plan) -> bool:
    """Whether a stream's updates need no events, but what ends in each, by the numbers compared."""
    if plan.strategy is not WindowStrategy.SLIDING or plan.semantics is not Semantics.ANY:
        return False
    looked_up = [ranks(plan, p) and not pairs(plan, p) for p in plan.all_parts]
    folded = [folds(plan, part) for part in plan.all_parts]
    each = all(a or b for a, b in zip(looked_up, folded, strict=True))
    return plan.exponential and overlaps_little(plan) and each and any(looked_up)
