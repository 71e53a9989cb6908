"""What a transition does with registers: new values, guards on them, events made of them (§6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from trendloom.acel import acea
from trendloom.acel.acea import Expression, Guard, Renaming, Transition, reads
from trendloom.acel.aggregates import aggregate
from trendloom.acel.conditions import all_same, holds, in_order
from trendloom.acel.demands import Step, attributes_of
from trendloom.acel.events import ComplexEvent, Event

Registers = Mapping[str, Any]
Row = Mapping[str, Any]
"""The attributes of the event that is read."""


Maker = Callable[[Registers, Row], Any]


def prepared(one: Transition) -> Callable[[Registers, Row], dict[str, Any]]:
    """From all registers before the transition, and the event's attributes, to those after it.

    A function is made of every expression once: to look at the expression at each event would
    take most of the time.
    """
    makers = [(name, _maker(made)) for name, made in one.assigns]
    return lambda before, row: {name: made(before, row) for name, made in makers}


def _maker(expression: Expression) -> Maker:
    match expression:
        case acea.Read(attribute):
            return lambda _, row: row.get(attribute)
        case acea.Register(name):
            return lambda before, _: before[name]
        case acea.Identity(name):
            identity = aggregate(name).identity
            return lambda *_: identity
        case acea.Lift(name, inner):
            lifted, value = aggregate(name).lifted, _maker(inner)
            return lambda before, row: lifted(value(before, row))
        case acea.Combine(name, left, right):
            combine, one, other = aggregate(name).combine, _maker(left), _maker(right)
            return lambda before, row: combine(one(before, row), other(before, row))
        case acea.Finish(name, inner):
            finished, element = aggregate(name).finished, _maker(inner)
            return lambda before, row: finished(element(before, row))
        case acea.Gather(values):
            makers = [_maker(value) for value in values]
            return lambda before, row: tuple(made(before, row) for made in makers)
        case acea.Collect(held, rows):
            return _collector(held, [[_maker(value) for value in values] for values in rows])


def _collector(name: str | None, rows: list[list[Maker]]) -> Maker:
    def made(before: Registers, row: Row) -> frozenset[Any]:
        old: frozenset[Any] = frozenset() if name is None else before[name]
        values = (tuple(one(before, row) for one in makers) for makers in rows)
        # 1, 1.0 and TRUE are equal to Python, but are not reckoned with alike.
        return old.union((tuple(map(type, some)), some) for some in values)

    return made


def passes(guard: Guard, after: Registers, time: int) -> bool:
    """Whether a guard holds of the registers after the transition."""
    match guard:
        case acea.Satisfies(condition, made):
            held = dict(made.attributes)
            return holds(condition, lambda name: after.get(held.get(name, "")))
        case acea.Alike(left, right):
            return _bag(left, after, time) == _bag(right, after, time)
        case acea.Follows(shape, before, now):
            if shape == "same":
                return all_same((*after[before], *after[now]))
            return all(in_order(shape, one, other) for one in after[before] for other in after[now])
        case acea.Every(condition, made, register, names):
            own = {name: after[kept] for name, kept in made.attributes}
            rows = (dict(zip(names, values, strict=True)) for _, values in after[register])
            return all(holds(condition, {**own, **row}.get) for row in rows)


def event_of(made: Renaming, after: Registers, time: int) -> Event:
    """The event that a renaming makes of the registers."""
    return Event.of(time, {name: after[register] for name, register in made.attributes})


def _bag(made: Iterable[Renaming], after: Registers, time: int) -> ComplexEvent:
    """The bag as the only one of a complex event, which knows when bags are equal."""
    return ComplexEvent.of(time, time, (("", event_of(one, after, time)) for one in made))


def lean(
    steps: Mapping[int, tuple[Step, ...]],
) -> tuple[dict[int, tuple[Step, ...]], dict[int, frozenset[str]]]:
    """The steps without assignments that nothing reads; and per state the registers that matter.

    Runs that differ in other registers do not differ.
    """
    live: dict[int, frozenset[str]] = {state: frozenset() for state in steps}
    changed = True
    while changed:
        changed = False
        for state, leaving in steps.items():
            read = live[state].union(
                *(reads(made) for step in leaving for _, made in _needed(step, live))
            )
            if read != live[state]:
                live[state], changed = read, True
    return {
        state: tuple(
            replace(step, transition=replace(step.transition, assigns=_needed(step, live)))
            for step in leaving
        )
        for state, leaving in steps.items()
    }, live


def _needed(
    step: Step, live: Mapping[int, frozenset[str]]
) -> tuple[tuple[str, acea.Expression], ...]:
    """What is assigned and then read by the step's guards and outputs, or after it."""
    one = step.transition
    read = {r for _, bag in one.outputs for made in bag for _, r in made.attributes}
    for guard in step.guards:
        match guard:
            case acea.Satisfies(condition, made):
                names = {one.key for one in attributes_of(condition)}
                read |= {register for name, register in made.attributes if name in names}
            case acea.Alike(left, right):
                read |= {r for made in (*left, *right) for _, r in made.attributes}
            case acea.Follows(_, before, now):
                read |= {before, now}
            case acea.Every(_, made, register, _):
                read |= {register, *(kept for _, kept in made.attributes)}
    read |= live[one.target]
    return tuple(pair for pair in one.assigns if pair[0] in read)
