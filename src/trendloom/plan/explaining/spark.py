"""What the Spark host would do with the plan: what travels between tasks, what a stream keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import TimeWindow
from trendloom.language.printer import to_text
from trendloom.plan.distribution import (
    MAX_PANES,
    Keeps,
    arrives,
    can_combine,
    exchange_key,
    group_key,
    has_joints,
    map_size,
    pane_length,
    panes,
    stream_keeps,
)
from trendloom.plan.explaining.algorithm import numbers
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trendloom.plan.plan import Plan

COMBINE = "combine"
EXCHANGE = "exchange"
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """Events of a DataFrame. `because`: why the plan is not combine."""

    plan: str
    because: tuple[str, ...]
    travels: str
    """Maps, or events."""
    map: str | None
    """How many maps there are, and how large."""
    by: tuple[str, ...]
    """Attributes that tell the task; without any there is one."""
    needs_tiebreak: bool


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Parquet files by their paths. `then`: what is done with the events that workers read."""

    plan: str
    then: str


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """`refused` says why a stream has no answer, and nothing is kept then."""

    keeps: str | None
    refused: str | None
    by: tuple[str, ...]
    """Attributes that tell the shard; without any there is one."""


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """By what the events are."""

    dataframe: FrameFacts
    parquet: FileFacts
    stream: StreamFacts


def on_spark(plan: Plan, detours: Iterable[str]) -> SparkFacts:
    """`detours`: what keeps the plan's parts from being folded, in the query's words."""
    combines = can_combine(plan)
    return SparkFacts(
        FrameFacts(
            plan=COMBINE if combines else EXCHANGE,
            because=() if combines else (*_unfit_window(plan), *dict.fromkeys(detours)),
            travels="maps" if combines else "events",
            map=_maps(plan) if combines else None,
            by=group_key(plan) if combines else exchange_key(plan),
            needs_tiebreak=plan.scan.input_order,
        ),
        FileFacts(DIRECT, COMBINE if combines and not has_joints(plan) else EXCHANGE),
        _stream(plan),
    )


def _unfit_window(plan: Plan) -> tuple[str, ...]:
    match plan.strategy:
        case WindowStrategy.CHANGES:
            return ("WITHIN without SLIDE",)
        case WindowStrategy.COUNTED:
            return ("a window of events",)
    many = panes(plan)
    return (f"{many:,} panes per window, more than {MAX_PANES}",) if many > MAX_PANES else ()


def _maps(plan: Plan) -> str:
    sizes = [map_size(plan, part) for part in plan.all_parts]
    counts = " + ".join(f"{size.vectors} × {size.cells}" for size in sizes)
    of = f"({counts})" if len(sizes) > 1 else counts
    pane = pane_length(plan)
    per = " and partition" if pane is None else f", partition and pane of {to_text(pane)}"
    beside = ", and the first and last event" if has_joints(plan) else ""
    return f"one per task{per}, {of} numbers × {numbers(plan)}{beside}"


def _stream(plan: Plan) -> StreamFacts:
    by = group_key(plan)
    match stream_keeps(plan):
        case None if plan.strategy is WindowStrategy.WHOLE:
            return StreamFacts(None, "without WITHIN there is no row before the input ends", by)
        case None:
            return StreamFacts(None, "windows of events need partitions that are groups", by)
        case Keeps.NUMBERED:
            kept = "how many events each partition had, and the events of open windows"
            return StreamFacts(kept, None, by)
        case Keeps.VECTORS:
            kept = "one vector per partition and open window, and events ahead of the watermark"
            if any(accept.care for part in plan.all_parts for accept in part.automaton.accepts):
                kept += "; events for updates, as the last NOT may undo trends"
            return StreamFacts(kept, None, by)
    window = plan.window
    assert isinstance(window, TimeWindow)
    if window.slide is None:
        kept = f"events, until the watermark is {to_text(window.within)} past them"
        return StreamFacts(kept, None, by)
    kept = "the events of open windows"
    if arrives(plan):
        kept += ", or in update mode their sums by value"
    return StreamFacts(kept, None, by)
