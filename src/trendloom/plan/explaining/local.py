"""What the local host does with a query's events: which order spares a sort, what threads share.

Which of it comes true depends on the events: `Result.order` tells what was done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.plan.explaining.algorithm import FOLD, algorithm, streams

if TYPE_CHECKING:
    from trendloom.plan.plan import Part, Plan


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """What is done with events, by how they come."""

    by: tuple[str, ...]
    """The order that the engine needs."""
    in_order: str
    in_order_of_time: str | None
    """None where that is no other order, or helps nobody."""
    otherwise: str
    found_out: str
    """When it is known in which order they are."""


@dataclass(frozen=True, slots=True)
class ThreadFacts:
    """How all cores, or as many as `threads` says, share a query's events."""

    side_by_side: tuple[str, ...]
    """What threads have each for themselves; none, if there is one of all."""
    cuts_time: bool
    """Whether one of them that is large is cut in time, where the threads are done sooner so."""
    because: str | None
    """Why not."""


def order_facts(plan: Plan) -> OrderFacts:
    """Reads them off the plan."""
    return order_of(plan.scan.partition, streams=not plan.lists and streams(plan), lists=plan.lists)


def order_of(partition: tuple[str, ...], *, streams: bool, lists: bool = False) -> OrderFacts:
    """`streams`: whether vectors of all keys can be open at once."""
    return OrderFacts(
        (*partition, "time"),
        "not sorted",
        "grouped by key, batch by batch" if partition and streams else None,
        "sorted: one batch in memory, more by DuckDB",
        "before the first row" if lists else "while rows are read",
    )


def thread_facts(plan: Plan, part: Part) -> ThreadFacts:
    """Of a part of a query that aggregates."""
    keys = ("keys",) if plan.scan.partition else ()
    windows = () if plan.window is None else ("windows",)
    why = _whole(plan, part)
    return ThreadFacts((*keys, *windows), why is None, why)


LISTING = ThreadFacts((), cuts_time=False, because="trends are listed one after the other")


def order_words(order: OrderFacts) -> str:
    or_by_time = " or by time" if order.in_order_of_time is not None else ""
    return f"sorted by {', '.join(order.by)} unless they come so{or_by_time}"


def thread_words(threads: ThreadFacts) -> str:
    sides = " and ".join(threads.side_by_side)
    if not sides:
        one = f"on one core: without keys and windows, {threads.because}"
        return one if threads.because else "on all cores: cut in time"
    cut = ", large ones cut in time" if threads.cuts_time else ""
    return f"on all cores: {sides} side by side{cut}"


def _whole(plan: Plan, part: Part) -> str | None:
    """Why the events of one window and key are one thread's; None if they are not."""
    chosen = algorithm(plan, part)
    return None if chosen == FOLD else f"{chosen} is not cut in time"
