"""The query's own words for what a plan only numbers: conditions, guards, patterns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from trendloom.language.expressions import to_sql
from trendloom.language.nodes import (
    Both,
    Either,
    Event,
    Not,
    Pattern,
    Query,
    Repeat,
    Semantics,
    Sequence,
    children,
    events_of,
)
from trendloom.language.printer import to_text
from trendloom.pattern.picture import Drawing, to_mermaid
from trendloom.plan.conditions import Conditions, classify
from trendloom.plan.plan import BindingKind
from trendloom.plan.shape import conjuncts_of, negated_events, positive_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.plan.plan import Binding, Part, Plan


WIDTH = 90


def canonical(query: Query) -> str:
    """The query as the printer writes it, without variables that are called as their types.

    RETURN goes over several lines where it is long; the text parses back all the same.
    """
    first, _, rest = to_text(replace(query, pattern=_short(query.pattern, query))).partition("\n")
    lines = ["RETURN"]
    if first != "RETURN " + ", ".join(map(to_text, query.returns)):
        return f"{first}\n{rest}"
    for number, item in enumerate(query.returns):
        text = to_text(item) + ("," if number < len(query.returns) - 1 else "")
        if len(lines[-1]) + len(text) >= WIDTH and lines[-1].strip():
            lines.append("      ")
        lines[-1] += f" {text}"
    return "\n".join([*lines, rest])


def pattern_text(plan: Plan, part: Part) -> str:
    """The part's own pattern."""
    if part is plan.overlap:
        return " AND ".join(pattern_text(plan, side) for side in plan.parts)
    pattern = conjuncts_of(plan.query.pattern)[plan.parts.index(part)]
    return to_text(_short(pattern, plan.query))


def picture(plan: Plan) -> str:
    """The automata of all parts, in Mermaid."""
    drawings = [drawing(plan, part) for part in plan.all_parts]
    if len(drawings) > 1:
        titles = [f"{pattern_text(plan, part)}" for part in plan.parts] + ["trends of both sides"]
        drawings = [replace(d, title=t) for d, t in zip(drawings, titles, strict=False)]
    return to_mermaid(drawings)


def drawing(plan: Plan, part: Part) -> Drawing:
    """The part's automaton with its words."""
    return Drawing(
        automaton=part.automaton,
        guards=guard_texts(plan, part),
        conditions=step_texts(plan, part),
        kept=part.event_grained,
        dead_steps=plan.semantics is Semantics.NEXT,
    )


def guard_texts(plan: Plan, part: Part) -> tuple[str, ...]:
    """The negated patterns, in the order of the automaton's guards: by first occurrence."""
    if part is plan.overlap:
        return tuple(text for side in plan.parts for text in guard_texts(plan, side))
    pattern = conjuncts_of(plan.query.pattern)[plan.parts.index(part)]
    bodies = dict.fromkeys(_negated(pattern))
    return tuple(to_text(Not(_short(body, plan.query))).removeprefix("NOT ") for body in bodies)


def step_texts(plan: Plan, part: Part) -> dict[tuple[int, int], str]:
    """(earlier variable, later variable) → the condition on consecutive events."""
    if part is plan.overlap:
        return _both_texts(plan, part)
    index = {name: number for number, name in enumerate(part.automaton.variables)}
    found: dict[tuple[int, int], list[str]] = {}
    conditions = _conditions(plan.query)
    for pair in (*conditions.adjacent, *conditions.correlated):
        if pair.earlier not in index or pair.later not in index:
            continue
        steps = [(index[pair.earlier], index[pair.later])]
        if pair in conditions.correlated:
            steps.append(steps[0][::-1])
            if any(_anchors(b, {pair.earlier, pair.later}) for b in part.bindings):
                continue
        for step in steps:
            if step in part.adjacent:
                found.setdefault(step, []).append(to_sql(pair.tree))
                break
    return {step: " AND ".join(texts) for step, texts in found.items()}


def anchored_texts(plan: Plan, binding: Binding) -> tuple[str, ...]:
    """The conditions between an anchor and every event of other variables."""
    return tuple(
        to_sql(pair.tree)
        for pair in _conditions(plan.query).correlated
        if _anchors(binding, {pair.earlier, pair.later})
    )


def _anchors(binding: Binding, variables: set[str]) -> bool:
    return binding.kind is BindingKind.ANCHOR and any(
        {binding.variable, check.variable} == variables for check in binding.checks
    )


def _both_texts(plan: Plan, part: Part) -> dict[tuple[int, int], str]:
    left, right = plan.parts
    sides = {
        f"{a} & {b}": (m, n)
        for m, a in enumerate(left.automaton.variables)
        for n, b in enumerate(right.automaton.variables)
    }
    pairs = [sides[name] for name in part.automaton.variables]
    one, two = step_texts(plan, left), step_texts(plan, right)
    texts = {}
    for earlier, later in part.adjacent:
        first = one.get((pairs[earlier][0], pairs[later][0]))
        second = two.get((pairs[earlier][1], pairs[later][1]))
        texts[earlier, later] = " AND ".join(t for t in (first, second) if t is not None)
    return texts


def _conditions(query: Query) -> Conditions:
    return classify(
        query,
        (event.variable or "" for event in positive_events(query.pattern)),
        (event.variable or "" for event in negated_events(query.pattern)),
    )


def _negated(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Not):
        yield pattern.body
    else:
        for child in children(pattern):
            yield from _negated(child)


def _short(pattern: Pattern, query: Query) -> Pattern:
    """The pattern without the names that `name_variables` would give anyway."""
    times = Counter(event.type for event in events_of(query.pattern))

    def unnamed(event: Event) -> Event:
        obvious = event.variable == event.type and times[event.type] == 1
        return replace(event, variable=None) if obvious else event

    return _mapped(pattern, unnamed)


def _mapped(pattern: Pattern, change: Callable[[Event], Event]) -> Pattern:
    match pattern:
        case Event():
            return change(pattern)
        case Repeat(body=body) | Not(body=body):
            return replace(pattern, body=_mapped(body, change))
        case Sequence(parts=parts) | Either(parts=parts) | Both(parts=parts):
            return replace(pattern, parts=tuple(_mapped(part, change) for part in parts))
