"""What a stream may be asked, and when its rows come."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from trendloom.errors import QueryMeaningError
from trendloom.plan.distribution import stream_keeps
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.plan.plan import Plan


class Mode(Enum):
    """When a window's row comes out. Rows of `WITHIN w` alone come at every change in both."""

    APPEND = "append"
    """Once, when the watermark has passed the window's end, or the last of its n events."""
    UPDATE = "update"
    """Whenever events that the watermark has passed may have changed it. A window whose trends
    are gone again (a match of a trailing NOT) says so with a COUNT of 0 and nulls."""


def may_lose_trends(plan: Plan) -> bool:
    """Whether finished trends of a window can be undone by later events: by a trailing NOT."""
    return any(accept.care for part in plan.all_parts for accept in part.automaton.accepts)


def check_streamable(plan: Plan) -> None:
    """Refuses queries that have no answer before the input ends."""
    query = plan.query
    if plan.strategy is WindowStrategy.WHOLE:
        raise QueryMeaningError(
            "A query over a stream needs a WITHIN: without one, the whole input is one window, "
            "and a stream never ends.",
            text=query.text,
            remedy="Add a window, such as WITHIN 1 hour SLIDE 10 min.",
        )
    if stream_keeps(plan) is None:
        raise QueryMeaningError(
            "On a stream, windows of events must be of groups: which of the partitions of a group "
            "will still come to their k-th window is not known before the input ends.",
            text=query.text,
            place=getattr(query.window, "place", None) if query.text else None,
            remedy="Name the attributes of [...] in GROUP-BY too, or use a window of time.",
        )
