"""Automata over streams in memory: complex events with their events, as they end (paper, §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.demands import letters_of
from trendloom.acel.events import ComplexEvent, Event, Stream
from trendloom.acel.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.acel.acea import Acea

_EARLIEST = -(1 << 62)


def evaluate(automaton: Acea, over: Stream) -> frozenset[ComplexEvent]:
    """All complex events of the automaton over the stream."""
    return frozenset(found for _, found in complex_events(automaton, over.events))


def complex_events(automaton: Acea, events: Iterable[Event]) -> Iterator[tuple[int, ComplexEvent]]:
    """Complex events as their last event arrives, each once, with its time."""
    letters = letters_of(automaton)
    runs = Runs(automaton, letters)
    for event in events:
        mask = sum(1 << bit for bit, letter in enumerate(letters) if letter.holds_of(event))
        for found in runs.push(event, mask, event.time, _EARLIEST):
            for k in range(len(found)):
                labels = found.label[found.offset[k] : found.offset[k + 1]].tolist()
                bags = (bag for label in labels for bag in runs.labels[label])
                pairs = ((variable, made) for variable, bag in bags for made in bag)
                yield event.time, ComplexEvent.of(int(found.start[k]), event.time, pairs)
