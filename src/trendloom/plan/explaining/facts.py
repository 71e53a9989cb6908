"""A plan's facts, in words and numbers: the JSON of `explain`, and what its text is made of.

The dataclasses are the JSON: a field's name is a key, and `FORMAT` grows when one changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import ceil
from operator import or_
from typing import TYPE_CHECKING

from trendloom.language.expressions import to_sql
from trendloom.language.nodes import CountWindow, Semantics, TimeWindow
from trendloom.language.printer import to_text
from trendloom.pattern.automaton import DEAD, START
from trendloom.pattern.picture import edges, endings, state_names
from trendloom.plan.explaining import costs
from trendloom.plan.explaining.algorithm import (
    algorithm,
    distinct,
    folds,
    ranks,
    slides,
    stacks,
    steps,
    streams,
)
from trendloom.plan.explaining.columns import Column, columns
from trendloom.plan.explaining.local import OrderFacts, ThreadFacts, order_facts, thread_facts
from trendloom.plan.explaining.spark import SparkFacts, on_spark
from trendloom.plan.explaining.wording import (
    anchored_texts,
    canonical,
    drawing,
    pattern_text,
)
from trendloom.plan.plan import BindingKind, WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.plan.plan import Binding, Part, Plan

FORMAT = 2


@dataclass(frozen=True, slots=True)
class LetterFacts:
    """A variable: what the scan looks for."""

    variable: str
    type: str
    condition: str | None
    negated: bool


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """What is read."""

    letters: tuple[LetterFacts, ...]
    partition_by: tuple[str, ...]
    attributes: tuple[str, ...]
    reads_unmatched_rows: bool


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """`windows_per_event` is None where it depends on the events."""

    strategy: str
    within: str | None
    slide: str | None
    windows_per_event: int | None


@dataclass(frozen=True, slots=True)
class StateFacts:
    """`ends_if`: None if no trend ends here, else alternatives of guards (none: always)."""

    name: str
    keeps: str
    ends_if: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ArrowFacts:
    """`source` None is the start, `target` None a step that leads to no trend."""

    source: str | None
    target: str | None
    variable: str
    guards: tuple[str, ...]
    condition: str | None


@dataclass(frozen=True, slots=True)
class AutomatonFacts:
    """Deterministic over variables: every trend has one run."""

    cyclic: bool
    guards: tuple[str, ...]
    states: tuple[StateFacts, ...]
    arrows: tuple[ArrowFacts, ...]


@dataclass(frozen=True, slots=True)
class Detour:
    """What keeps a part from being folded, and what is done instead."""

    cause: str
    effect: str


@dataclass(frozen=True, slots=True)
class KeptFacts:
    """States that keep partial trends one by one, and the condition that looks back at them."""

    states: tuple[str, ...]
    condition: str


@dataclass(frozen=True, slots=True)
class BindingFacts:
    """One run per event of an anchor, or per value of a grouping attribute."""

    kind: str
    variable: str
    attribute: str | None
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartFacts:
    """One pattern of single trends."""

    role: str
    pattern: str
    algorithm: str
    because: tuple[Detour, ...]
    """Why it is not a fold."""
    folded_guards: tuple[Detour, ...]
    """What became of guards in a fold."""
    grain: str
    automaton: AutomatonFacts
    kept_events: tuple[KeptFacts, ...]
    bindings: tuple[BindingFacts, ...]
    distinct: tuple[str, ...]
    bands: int
    arrows_per_event: int
    time: tuple[str, ...]
    growth: str
    """Of a window's time with its events: linear, n log n, n log² n, quadratic."""
    threads: ThreadFacts


@dataclass(frozen=True, slots=True)
class CostFacts:
    """`streams`: whether memory is independent of the number of events."""

    time: str
    memory: str
    streams: bool


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """The table that comes out."""

    rows: str
    trends: str
    columns: tuple[Column, ...]
    having: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything `explain` knows."""

    format: int
    query: str
    semantics: str
    scan: ScanFacts
    order: OrderFacts
    window: WindowFacts
    parts: tuple[PartFacts, ...]
    cost: CostFacts
    result: ResultFacts
    spark: SparkFacts


def gather(plan: Plan) -> Facts:
    """Reads the facts off the plan."""
    window = window_facts(plan)
    parts = tuple(_part(plan, part, window) for part in plan.all_parts)
    return Facts(
        format=FORMAT,
        query=canonical(plan.query),
        semantics=plan.semantics.value,
        scan=scan_facts(plan),
        order=order_facts(plan),
        window=window,
        parts=parts,
        cost=CostFacts(_time(plan, parts, window), costs.memory(plan), streams(plan)),
        result=ResultFacts(
            _rows(plan),
            "exponential" if plan.exponential else "polynomial",
            columns(plan),
            None if plan.query.having is None else to_text(plan.query.having),
        ),
        spark=on_spark(plan, _causes(plan, parts)),
    )


def _causes(plan: Plan, parts: Iterable[PartFacts]) -> Iterator[str]:
    """What keeps parts from being folded: guards that would clear sums do not."""
    for part, facts in zip(plan.all_parts, parts, strict=True):
        harmless = facts.automaton.guards if plan.folding(part) is not None else ()
        yield from (one.cause for one in facts.because if one.cause not in harmless)


def scan_facts(plan: Plan) -> ScanFacts:
    negated = {name for part in plan.parts for name in part.negated}
    letters = tuple(
        LetterFacts(
            letter.variable,
            letter.type,
            None if letter.condition is None else to_sql(letter.condition),
            letter.variable in negated,
        )
        for letter in plan.scan.letters
    )
    return ScanFacts(letters, plan.scan.partition, plan.scan.attributes, plan.scan.keep_unmatched)


def window_facts(plan: Plan) -> WindowFacts:
    strategy = plan.strategy.value if plan.lists else _strategy(plan)
    match plan.window:
        case None:
            return WindowFacts(strategy, None, None, 1)
        case CountWindow(within=within, slide=slide):
            every = ceil(within / slide)
            return WindowFacts(strategy, f"{within} events", f"{slide} events", every)
        case TimeWindow(within=length, slide=None):
            return WindowFacts(strategy, to_text(length), None, None)
        case TimeWindow(within=length, slide=step):
            assert step is not None
            every = ceil(length.nanoseconds / step.nanoseconds)
            return WindowFacts(strategy, to_text(length), to_text(step), every)


def _strategy(plan: Plan) -> str:
    if not slides(plan):
        return plan.strategy.value
    each = "time point with other trends" if plan.strategy is WindowStrategy.CHANGES else "window"
    return f"two stacks, or a run per {each}"


# ── parts ────────────────────────────────────────────────────────────────────────────────────


def _part(plan: Plan, part: Part, window: WindowFacts) -> PartFacts:
    automaton = automaton_facts(plan, part)
    kept = _kept(plan, part)
    bindings = tuple(_binding(plan, binding) for binding in part.bindings)
    role = "pattern" if len(plan.parts) == 1 else "side"
    return PartFacts(
        role="overlap" if part is plan.overlap else role,
        pattern=pattern_text(plan, part),
        algorithm=algorithm(plan, part),
        because=_detours(plan, part, automaton, kept, bindings),
        folded_guards=_folded_guards(plan, part, automaton),
        grain=part.grain.value,
        automaton=automaton,
        kept_events=kept,
        bindings=bindings,
        distinct=tuple(dict.fromkeys(to_text(a) for a in distinct(plan, part))),
        bands=costs.bands(plan, part),
        arrows_per_event=costs.arrows_per_event(plan, part),
        time=costs.time(plan, part, window.windows_per_event),
        growth=costs.growth(plan, part),
        threads=thread_facts(plan, part),
    )


def automaton_facts(plan: Plan, part: Part) -> AutomatonFacts:
    drawn = drawing(plan, part)
    names = state_names(part.automaton)
    ends = endings(drawn)
    return AutomatonFacts(
        cyclic=part.automaton.cyclic,
        guards=tuple(f"NOT {guard}" for guard in drawn.guards),
        states=tuple(
            StateFacts(name, "events" if drawn.kept[number] else "sums", ends.get(number))
            for number, name in enumerate(names)
        ),
        arrows=tuple(
            ArrowFacts(
                None if edge.source == START else names[edge.source],
                None if edge.target == DEAD else names[edge.target],
                part.automaton.variables[edge.variable],
                edge.guards,
                edge.condition,
            )
            for edge in edges(drawn)
        ),
    )


def _kept(plan: Plan, part: Part) -> tuple[KeptFacts, ...]:
    drawn = drawing(plan, part)
    names = state_names(part.automaton)
    states: dict[str, dict[str, None]] = {}
    for edge in edges(drawn):
        if edge.condition is not None:
            states.setdefault(edge.condition, {})[names[edge.source]] = None
    return tuple(KeptFacts(tuple(found), condition) for condition, found in states.items())


def _binding(plan: Plan, binding: Binding) -> BindingFacts:
    attribute = None if binding.key is None else plan.group_by[binding.key].attribute
    return BindingFacts(
        binding.kind.value, binding.variable, attribute, anchored_texts(plan, binding)
    )


def _detours(
    plan: Plan,
    part: Part,
    automaton: AutomatonFacts,
    kept: tuple[KeptFacts, ...],
    bindings: tuple[BindingFacts, ...],
) -> tuple[Detour, ...]:
    how = "looked up by value" if ranks(plan, part) else "single events"
    if stacks(plan, part):
        how = "a stack of those that wait"
    if steps(plan, part):
        how = "told from the rows, ties by single events"
    found = [
        Detour(one.condition, f"between consecutive events: {how} in {_few(one.states)}")
        for one in kept
    ]
    if not folds(plan, part):
        found += [Detour(guard, "is a guard: sums in bands") for guard in automaton.guards]
    for binding in bindings:
        if binding.kind == BindingKind.ANCHOR.value:
            effect = f"between distant events: one run per {binding.variable} event"
            found += [Detour(text, effect) for text in binding.conditions]
        else:
            by = f"GROUP-BY {binding.variable}.{binding.attribute}"
            found.append(Detour(by, "groups by a variable: one run per value"))
    for aggregate in dict.fromkeys(distinct(plan, part)):
        found.append(
            Detour(to_text(aggregate), f"needs bit sets: one pass per {costs.BLOCK:,} events")
        )
    return tuple(found)


def _folded_guards(plan: Plan, part: Part, automaton: AutomatonFacts) -> tuple[Detour, ...]:
    if not folds(plan, part):
        return ()
    effect = "is a guard: its events clear sums"
    if plan.semantics is Semantics.CONTIGUOUS:
        effect = "is a guard: contiguous trends leave nothing out, so it always holds"
    first = reduce(or_, (a.care for a in part.automaton.arrows if a.source == START), 0)
    before = "is a guard before the first event: after its events no trends begin"
    return tuple(
        Detour(guard, before if first >> k & 1 else effect)
        for k, guard in enumerate(automaton.guards)
    )


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} states"


# ── the whole ────────────────────────────────────────────────────────────────────────────────


def _time(plan: Plan, parts: tuple[PartFacts, ...], window: WindowFacts) -> str:
    if len(parts) == 1:
        return "; ".join(parts[0].time)
    growths = (costs.LINEAR, costs.SORTING, costs.HALVING, costs.QUADRATIC)
    slowest = max(parts, key=lambda part: growths.index(part.growth))
    words = f"that of {len(parts)} automata together, {slowest.growth} in the events of a window"
    repeated = costs.repetition(plan, window.windows_per_event, "the vectors")
    return words if repeated is None else f"{words}; {repeated}"


def _rows(plan: Plan) -> str:
    groups = [to_text(key) for key in plan.group_by]
    if plan.strategy is WindowStrategy.CHANGES:
        of = f" of a group ({', '.join(groups)})" if groups else ""
        return f"one per time point at which the aggregates{of} change"
    words = [*([] if plan.window is None else ["window"]), *groups]
    if not words:
        return "one, if there is any trend"
    *most, last = words
    return f"one per {', '.join(most)}{' and ' * bool(most)}{last} with a trend"
