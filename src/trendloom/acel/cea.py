"""Complex event automata, without registers, and how they become automata with them (Theorem 6.1).

A transition marks the event it reads with variables. With registers, it keeps the event's
attributes and puts out a copy for each of these variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Renaming, Transition
from trendloom.acel.conditions import Attribute, Comparison, Condition, Literally, holds
from trendloom.acel.denotation import STREAM
from trendloom.acel.events import TYPE, ComplexEvent, Event, Schema, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Marking:
    """From a state to a state, by an event for which the condition holds; None: by any event."""

    source: int
    target: int
    condition: Condition | None = None
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cea:
    """States are numbers; any state may be final, and a run may go on from there."""

    transitions: tuple[Marking, ...]
    start: int
    final: frozenset[int]


def run_cea(automaton: Cea, over: Stream) -> frozenset[ComplexEvent]:
    """All complex events of the automaton over the stream, by the definition of its runs."""
    return frozenset(
        ComplexEvent.of(start, end, pairs)
        for start in range(len(over.events))
        for end, pairs in _accepted(automaton, automaton.start, start, (), over)
    )


def _accepted(
    automaton: Cea, state: int, at: int, pairs: tuple[tuple[str, Event], ...], over: Stream
) -> Iterator[tuple[int, tuple[tuple[str, Event], ...]]]:
    if at == len(over.events):
        return
    event = over.events[at]
    for one in automaton.transitions:
        if one.source != state or not (one.condition is None or holds(one.condition, event.get)):
            continue
        longer = (*pairs, *((variable, event) for variable in sorted(one.variables)))
        if one.target in automaton.final:
            yield at, longer
        yield from _accepted(automaton, one.target, at + 1, longer, over)


def with_registers(automaton: Cea, schema: Schema) -> Acea:
    """The automaton with registers that denotes the same over streams of this schema."""
    made = [
        transition
        for marking in automaton.transitions
        for word in sorted(schema)
        for transition in _copies(automaton, marking, word, schema)
    ]
    return Acea(tuple(made))


def _copies(automaton: Cea, marking: Marking, word: str, schema: Schema) -> Iterator[Transition]:
    """One transition for each event type, because types differ in what must be kept.

    The start has nothing before it and the end nothing after it, so a state that is also one of
    these is taken twice.
    """
    names = sorted({TYPE, *schema[word]})
    event = Renaming(STREAM, tuple((name, f"copy of {name}") for name in names))
    guards = [acea.Satisfies(Comparison("=", Attribute(TYPE), Literally(word)), event)]
    if marking.condition is not None:
        guards.append(acea.Satisfies(marking.condition, event))
    sources = [marking.source + 2] + [Acea.START] * (marking.source == automaton.start)
    targets = [marking.target + 2] + [Acea.END] * (marking.target in automaton.final)
    for source in sources:
        for target in targets:
            yield Transition(
                source,
                target,
                tuple((register, acea.Read(name)) for name, register in event.attributes),
                tuple(guards),
                tuple((variable, (event,)) for variable in sorted(marking.variables)),
            )
