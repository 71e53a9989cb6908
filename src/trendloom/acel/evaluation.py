"""Runs of an automaton over a stream, event by event (paper, §6).

A run begins at every position. Runs that agree in start, state, registers and what they have put
out are one: nothing that comes can tell them apart. So a complex event is found once, by however
many runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Expression, Guard, Renaming, Transition
from trendloom.acel.aggregates import aggregate
from trendloom.acel.conditions import all_same, holds, in_order
from trendloom.acel.denotation import Mark, Match
from trendloom.acel.events import ComplexEvent, Event, Stream

Registers = Mapping[str, Any]


class _Run(NamedTuple):
    """Where a run is: registers as pairs by name, so that runs can be compared."""

    start: int
    state: int
    registers: tuple[tuple[str, Any], ...]
    marks: frozenset[Mark]


def evaluate(automaton: Acea, over: Stream) -> frozenset[ComplexEvent]:
    """All complex events of the automaton over the stream."""
    return frozenset(found for _, found in complex_events(automaton, over.events))


def complex_events(automaton: Acea, events: Iterable[Event]) -> Iterator[tuple[int, ComplexEvent]]:
    """Complex events as their last event arrives, each once, with its time."""
    runs: set[_Run] = set()
    for event in events:
        begun = _Run(event.time, Acea.START, (), frozenset())
        moved = {
            after
            for run in (*runs, begun)
            for transition in automaton.leaving[run.state]
            if (after := _step(run, transition, event)) is not None
        }
        ended = {run for run in moved if run.state == Acea.END}
        runs = moved - ended
        for found in {Match(run.start, event.time, run.marks).bags() for run in ended}:
            yield event.time, found


def _step(run: _Run, transition: Transition, event: Event) -> _Run | None:
    """The run after the transition, or None if a guard does not hold."""
    before = dict(run.registers)
    after = {name: _value(made, before, event) for name, made in transition.assigns}
    if not all(_passes(guard, after, event.time) for guard in transition.guards):
        return None
    marks = {
        Mark(variable, made.origin, _names(made), _event(made, after, event.time))
        for variable, bag in transition.outputs
        for made in bag
    }
    registers = tuple(sorted(after.items(), key=lambda pair: pair[0]))
    return _Run(run.start, transition.target, registers, run.marks | marks)


def _value(expression: Expression, before: Registers, event: Event) -> Any:
    match expression:
        case acea.Read(attribute):
            return event.get(attribute)
        case acea.Register(name):
            return before[name]
        case acea.Identity(name):
            return aggregate(name).identity
        case acea.Lift(name, inner):
            return aggregate(name).lifted(_value(inner, before, event))
        case acea.Combine(name, left, right):
            combine = aggregate(name).combine
            return combine(_value(left, before, event), _value(right, before, event))
        case acea.Finish(name, inner):
            return aggregate(name).finish(_value(inner, before, event))
        case acea.Gather(values):
            return tuple(_value(value, before, event) for value in values)


def _passes(guard: Guard, registers: Registers, time: int) -> bool:
    match guard:
        case acea.Satisfies(condition, made):
            return holds(condition, _event(made, registers, time).get)
        case acea.Alike(left, right):
            return _bag(left, registers, time) == _bag(right, registers, time)
        case acea.Follows(shape, before, now):
            if shape == "same":
                return all_same((*registers[before], *registers[now]))
            return all(
                in_order(shape, one, other) for one in registers[before] for other in registers[now]
            )


def _bag(made: Iterable[Renaming], registers: Registers, time: int) -> ComplexEvent:
    """The bag as the only one of a complex event, which knows when bags are equal."""
    return ComplexEvent.of(time, time, (("", _event(one, registers, time)) for one in made))


def _names(made: Renaming) -> frozenset[str]:
    return frozenset(name for name, _ in made.attributes)


def _event(made: Renaming, registers: Registers, time: int) -> Event:
    return Event.of(time, {name: registers[register] for name, register in made.attributes})
