"""What a plan costs: time per event, and what is in memory at once. Honest, not flattering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.language.nodes import Occurrences, Semantics, Values
from trendloom.pattern.automaton import DEAD
from trendloom.pattern.picture import state_names
from trendloom.plan.explaining.algorithm import (
    cells,
    distinct,
    folds,
    numbers,
    pairs,
    ranks,
    slides,
    stacks,
    steps,
    streams,
)
from trendloom.plan.plan import BindingKind, Grain, WindowStrategy

if TYPE_CHECKING:
    from trendloom.plan.plan import Part, Plan

BLOCK = 4_096
"""Events per pass of DISTINCT."""
LANES = 8
"""Windows that are lanes of one tree, where conditions are looked up by value."""
SHARED = 5
"""Overlapping windows: with fewer, each has a tree of its own."""
LINEAR = "linear"
SORTING = "n log n"
HALVING = "n log² n"
QUADRATIC = "quadratic"


def arrows_per_event(plan: Plan, part: Part) -> int:
    """The most arrows that one event can take: those of all variables of its type."""
    count: dict[str, int] = {}
    fast = plan.folding(part) if folds(plan, part) else None
    for arrow in part.automaton.arrows if fast is None else fast.arrows:
        if arrow.target != DEAD or plan.semantics is Semantics.NEXT:
            kind = plan.scan.letters[part.bits[arrow.variable][0]].type
            count[kind] = count.get(kind, 0) + 1
    return max(count.values(), default=0)


def bands(plan: Plan, part: Part) -> int:
    """How many sums a routed state has: guards tell apart when a partial trend ended."""
    if folds(plan, part):
        return 1
    return 1 + sum(len(guard.labels) for guard in part.automaton.guards)


def growth(plan: Plan, part: Part) -> str:
    """How the time of one window grows with its events."""
    looks_back = part.grain is Grain.MIXED and plan.semantics is not Semantics.CONTIGUOUS
    anchored = any(binding.kind is BindingKind.ANCHOR for binding in part.bindings)
    if anchored or distinct(plan, part) or (looks_back and not ranks(plan, part)):
        return QUADRATIC
    if not looks_back or stacks(plan, part):
        return LINEAR
    return HALVING if pairs(plan, part) else SORTING


def repetition(plan: Plan, windows_per_event: int | None, vectors: str) -> str | None:
    """How often an event is looked at for the windows it is in, if more than once."""
    if windows_per_event == 1:
        return None
    if windows_per_event is None:
        each, cost = "in every run whose window holds it", ": O(n · events in the window)"
    else:
        each, cost = f"in each of {windows_per_event} overlapping windows", ""
    if slides(plan):
        return f"× {vectors} of a map, or {each}"
    return each + cost


def map_vectors(plan: Plan, part: Part) -> str:
    """What a map has: one for trends that begin inside, and one per cell that they come in."""
    return f"{1 + cells(plan, part)} vectors"


def time(plan: Plan, part: Part, windows_per_event: int | None) -> tuple[str, ...]:
    """What one event costs, and what multiplies it."""
    lines = [_step(plan, part)]
    vectors = map_vectors(plan, part) if slides(plan) else ""
    repeated = repetition(plan, windows_per_event, vectors)
    if repeated is not None:
        shares = plan.semantics is Semantics.ANY and ranks(plan, part)
        if shares and (windows_per_event is None or windows_per_event >= SHARED):
            repeated += f", {LANES} windows at a stroke"
        lines.append(repeated)
    for binding in part.bindings:
        if binding.kind is BindingKind.ANCHOR:
            lines.append(
                f"once per {binding.variable} event of the window: O(n · n_{binding.variable})"
            )
        else:
            assert binding.key is not None
            attribute = plan.group_by[binding.key].attribute
            lines.append(f"once per value of {binding.variable}.{attribute} in the window")
    counted = dict.fromkeys(_variable(a.argument) for a in distinct(plan, part))
    lines += [f"again per {BLOCK:,} events of {v}: O(n · n_{v} / 64)" for v in counted]
    return tuple(lines)


def memory(plan: Plan) -> str:
    """What waits in memory while the events of one partition after another go by."""
    parts = plan.all_parts
    if streams(plan):
        many = " + ".join(str(cells(plan, part)) for part in parts)
        per_state = all(cells(plan, part) == len(part.automaton.states) for part in parts)
        many += " state" if per_state else " cell"
        many += "s" * (many not in {"1 state", "1 cell"})
        per = "partition" if plan.window is None else "open window"
        rest = "a map per pane" if slides(plan) else "however many events"
        words = f"one vector per {per}, {many} × {numbers(plan)}, {rest}"
    else:
        sliding = plan.strategy is WindowStrategy.SLIDING
        words = (
            "the events of a partition's open windows" if sliding else "all events of a partition"
        )
        if any(part.adjacent and not steps(plan, part) for part in parts):
            words += ", single ones with their sums"
        vectors = any(folds(plan, part) for part in parts)
        if vectors and plan.strategy in (WindowStrategy.CHANGES, WindowStrategy.COUNTED):
            words += ", a vector per run"
        if slides(plan):
            words += ", a map per pane"
    # Partitions of one group are added up at the end.
    return f"{words}; all result rows" if plan.scan.partition or plan.window else words


def _step(plan: Plan, part: Part) -> str:
    words = _plural(arrows_per_event(plan, part), "arrow")
    if bands(plan, part) > 1:
        words += f" × {bands(plan, part)} bands"
    if plan.semantics is Semantics.CONTIGUOUS:
        words += f" and {_plural(len(part.automaton.states), 'state')} to clear"
    words = f"at most {words} per event"
    if part.grain is not Grain.MIXED:
        return words
    names = state_names(part.automaton)
    kept = [name for name, single in zip(names, part.event_grained, strict=True) if single]
    if plan.semantics is Semantics.CONTIGUOUS:
        before = "the event" if steps(plan, part) else "the events of the time point"
        return f"{words}, against {before} before: linear"
    if pairs(plan, part):
        return f"{words}, two comparisons by halves of time: O(n log² n)"
    if stacks(plan, part):
        return f"{words}, partial trends wait on a stack: linear"
    if ranks(plan, part):
        return f"{words}, conditions looked up by value: O(n log n)"
    if len(kept) == 1 and kept[0].isalnum():
        return f"{words}, against every one kept in {kept[0]}: O(n · n_{kept[0]}), quadratic"
    where = ", ".join(kept) if len(kept) <= 4 else f"{len(kept)} states"
    return f"{words}, against every one kept in {where}: quadratic"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _variable(argument: object) -> str:
    assert isinstance(argument, Occurrences | Values)
    return argument.variable
