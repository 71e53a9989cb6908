"""Which of the engine's four ways a part takes, and what waits between batches.

**fold**: one vector of sums and extremes per window. It needs type grain, guards that clear sums
(`pattern/folding.py`), nothing bound, and no sets of events (DISTINCT, but for MIN and MAX).
**step**: contiguous trends with conditions between neighbours, which the rows alone decide: a fold,
and a route where events are simultaneous.
**rank**: conditions between consecutive events that are lookups by value (`plan/lookups.py`), under
skip-till-any-match or skip-till-next-match; the former without sets of events and exact integers,
and with two comparisons on a step too. One comparison alone, as in `S+` with `S.x > NEXT(S).x`,
needs a stack under skip-till-next-match, and nothing is sorted.
**route**: everything else, and `numbers="exact"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.language.nodes import (
    Aggregate,
    CountWindow,
    Duration,
    Function,
    Length,
    Occurrences,
    Semantics,
    TimeWindow,
    Values,
)
from trendloom.plan.lookups import are_paired, lookups, one_order
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.plan.plan import Part, Plan

EXTREMES = {Function.MIN, Function.MAX}
FOLD, STEP, RANK, ROUTE = "fold", "step", "rank", "route"


def algorithm(plan: Plan, part: Part) -> str:
    """With numbers as the plan chooses them."""
    if folds(plan, part):
        return FOLD
    if steps(plan, part):
        return STEP
    return RANK if ranks(plan, part) else ROUTE


def ranks(plan: Plan, part: Part) -> bool:
    """Whether conditions between consecutive events are looked up by value."""
    if plan.semantics is Semantics.ANY and distinct(plan, part):
        return False
    return lookups(part, plan.semantics) is not None


def pairs(plan: Plan, part: Part) -> bool:
    """Whether two comparisons are looked up together."""
    found = lookups(part, plan.semantics)
    return ranks(plan, part) and found is not None and are_paired(found)


def stacks(plan: Plan, part: Part) -> bool:
    """Whether partial trends wait on a stack: `S+` with one comparison, each extended once."""
    return plan.semantics is Semantics.NEXT and one_order(part, plan.semantics) is not None


def steps(plan: Plan, part: Part) -> bool:
    """Whether conditions between neighbours are letters, and runs without ties are folded."""
    return plan.stepping(part) is not None and not distinct(plan, part)


def folds(plan: Plan, part: Part) -> bool:
    """Whether the part is folded, with numbers as the plan chooses them."""
    return plan.folding(part) is not None and not distinct(plan, part)


def cells(plan: Plan, part: Part) -> int:
    """How many sums of each lane a vector has, for a part that is folded or stepped."""
    fast = plan.folding(part) or plan.stepping(part)
    assert fast is not None, "only parts that fold or step have vectors"
    return fast.cells


def streams(plan: Plan) -> bool:
    """Whether vectors, and no events, wait between batches."""
    simple = plan.strategy in (WindowStrategy.WHOLE, WindowStrategy.SLIDING)
    return simple and all(folds(plan, part) for part in plan.all_parts)


def maps(plan: Plan) -> bool:
    """Whether what stretches of events do to vectors is known without the vectors."""
    simple = plan.strategy in (WindowStrategy.WHOLE, WindowStrategy.SLIDING)
    return simple and all(folds(plan, part) or steps(plan, part) for part in plan.all_parts)


def slides(plan: Plan) -> bool:
    """Whether windows that overlap are made of maps of panes, where these cost less."""
    match plan.window:
        case TimeWindow(within=within, slide=Duration() as slide):
            overlaps = slide.nanoseconds < within.nanoseconds
        case TimeWindow():
            overlaps = True
        case CountWindow(within=count, slide=step):
            overlaps = step < count
        case None:
            overlaps = False
    return overlaps and all(folds(plan, part) for part in plan.all_parts)


def numbers(plan: Plan) -> str:
    """What a vector has, in words."""
    aggregates = [one.value for one in plan.outputs if isinstance(one.value, Aggregate)]
    has_extremes = any(one.function in EXTREMES for one in aggregates)
    return "the sums and extremes" if has_extremes else "the sums"


def distinct(plan: Plan, part: Part) -> tuple[Aggregate, ...]:
    """The part's DISTINCT aggregates that need sets of events (MIN and MAX do not)."""
    return tuple(a for a in _aggregates(plan, part) if a.distinct and a.function not in EXTREMES)


def _aggregates(plan: Plan, part: Part) -> list[Aggregate]:
    return [
        output.value
        for output in plan.outputs
        if isinstance(output.value, Aggregate) and _concerns(output.value, part)
    ]


def _concerns(aggregate: Aggregate, part: Part) -> bool:
    match aggregate.argument:
        case Occurrences(variable=variable) | Values(variable=variable):
            return variable in part.automaton.variables
        case Length():
            return True
    return False
