"""Windows that begin further apart than they are long: what lies between them is in none."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from trendloom.errors import GapWarning, InputError, warn
from trendloom.language.nodes import CountWindow, TimeWindow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trendloom.plan.plan import Plan

    Window = TimeWindow | CountWindow | None


def share_left_out(window: Window) -> Fraction | None:
    """How much of time, or of a partition's events, is in no window; None: all of it is in one."""
    match window:
        case TimeWindow(within=length, slide=every) if every is not None:
            left = 1 - length.nanoseconds / every.nanoseconds
        case CountWindow(within=count, slide=step):
            left = 1 - Fraction(count, step)
        case _:
            return None
    return left if left > 0 else None


def tell_gap(window: Window, queries: Sequence[str] = ()) -> None:
    """Warns of what is never looked at, if there is any."""
    left = share_left_out(window)
    if left is not None:
        what = "events of each partition" if isinstance(window, CountWindow) else "time"
        cause = f"SLIDE is greater than WITHIN: {float(left):.1%} of the {what} is in no window."
        warn(GapWarning(cause, remedy="Make SLIDE at most WITHIN to look at all.", queries=queries))


def tell_gaps(plans: Mapping[str, Plan]) -> None:
    """`tell_gap` of the queries of a workload."""
    for name, plan in plans.items():
        tell_gap(plan.window, (name,))


def refuse_gap(plan: Plan) -> None:
    """For hosts that cut time into panes, of which windows have all."""
    if share_left_out(plan.window) is not None:
        raise InputError(
            "SLIDE is greater than WITHIN, and Spark computes windows without gaps between them.",
            remedy="Make SLIDE at most WITHIN, and leave out windows of the result.",
        )
