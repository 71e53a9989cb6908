"""Windows (§5): which events of a partition a trend may use, and how the window is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import CountWindow, TimeWindow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.testing.matching import Events
    from trendloom.testing.records import Clock


@dataclass(frozen=True, slots=True)
class Slice:
    """The events of one partition inside one window; the bounds are None without a window."""

    start: int | None
    end: int | None
    events: Events


def is_on_change(window: TimeWindow | CountWindow | None) -> bool:
    """Is this `WITHIN w` alone?"""
    return isinstance(window, TimeWindow) and window.slide is None


def slices(
    window: TimeWindow | CountWindow | None, stream: Events, partition: Events, clock: Clock
) -> Iterator[Slice]:
    """Every window that holds an event, with the events of the partition in it."""
    match window:
        case None:
            yield Slice(None, None, partition)
        case CountWindow(within=within, slide=slide):
            _check(within, slide)
            for start in range(0, len(partition), slide):
                yield Slice(start, start + within, partition[start : start + within])
        case TimeWindow(within=length, slide=None):
            # The points are those of the whole stream: a group's row is over all its partitions.
            within = clock.ticks(length)
            for point in sorted({event.time + age for event in stream for age in (0, within)}):
                inside = (event for event in partition if point - within < event.time <= point)
                yield Slice(point - within, point, tuple(inside))
        case TimeWindow(within=length, slide=step) if step is not None:
            within, slide = clock.ticks(length), clock.ticks(step)
            _check(within, slide)
            starts = {
                number * slide
                for event in partition
                for number in range((event.time - within) // slide + 1, event.time // slide + 1)
            }
            for start in sorted(starts):
                inside = (event for event in partition if start <= event.time < start + within)
                yield Slice(start, start + within, tuple(inside))


def _check(within: int, slide: int) -> None:
    if slide <= 0 or within <= 0:
        raise QueryMeaningError("WITHIN and SLIDE must be positive.", text="")
