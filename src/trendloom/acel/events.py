"""What formulas speak of: events, streams, complex events (paper, §3).

A position in the stream is the time of its event. The type is an attribute like any other, named
`type`. A null attribute and a missing one are the same: reading either gives None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from trendloom.acel.moments import as_held
from trendloom.errors import InputError, did_you_mean

TYPE = "type"

Value = bool | int | float | str | date | None

NUMBER, TEXT, TRUTH, MOMENT = "number", "text", "truth value", "moment"
UNKNOWN = ""
"""The kind of an attribute that no event has."""

Schema = Mapping[str, Mapping[str, str]]
"""Event type → attribute → kind of its values: NUMBER, TEXT, TRUTH or MOMENT."""


def kind_of(value: Value) -> str | None:
    """NUMBER, TEXT, TRUTH or MOMENT; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, str):
        return TEXT
    return MOMENT if isinstance(value, date) else NUMBER


@dataclass(frozen=True, slots=True)
class Event:
    """A time and what is known: pairs of attribute and value by name, without nulls.

    `of` makes one. Moments are as in `moments`, so that equal ones are equal to Python.
    """

    time: int
    attributes: tuple[tuple[str, bool | int | float | str | date], ...] = ()

    @classmethod
    def of(cls, time: int, values: Mapping[str, Value]) -> Event:
        known = ((name, as_held(value)) for name, value in values.items() if value is not None)
        return cls(time, tuple(sorted(known, key=lambda pair: pair[0])))

    def get(self, name: str) -> Value:
        return next((value for known, value in self.attributes if known == name), None)

    def restricted(self, names: Iterable[str]) -> Event:
        kept = frozenset(names)
        return Event(self.time, tuple(pair for pair in self.attributes if pair[0] in kept))

    def key(self) -> tuple[object, ...]:
        """Orders events and tells TRUE from 1, which Python holds for equal."""
        pairs = tuple((name, str(kind_of(value)), value) for name, value in self.attributes)
        return (self.time, pairs)

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.attributes)
        return f"{{{inner}}}@{self.time}"


@dataclass(frozen=True)
class ComplexEvent:
    """An interval and a bag of events for each variable that has any (§3)."""

    start: int
    end: int
    bags: tuple[tuple[str, tuple[Event, ...]], ...]

    @classmethod
    def of(cls, start: int, end: int, pairs: Iterable[tuple[str, Event]]) -> ComplexEvent:
        """From (variable, event) pairs, in any order; a pair that comes twice counts twice."""
        bags: dict[str, list[Event]] = {}
        for variable, event in pairs:
            bags.setdefault(variable, []).append(event)
        ordered = ((name, tuple(sorted(bags[name], key=Event.key))) for name in sorted(bags))
        return cls(start, end, tuple(ordered))

    def __getitem__(self, variable: str) -> tuple[Event, ...]:
        return dict(self.bags).get(variable, ())

    @cached_property
    def _key(self) -> tuple[object, ...]:
        bags = tuple((name, tuple(event.key() for event in bag)) for name, bag in self.bags)
        return (self.start, self.end, bags)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComplexEvent) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        bags = (f"{name}: {', '.join(map(str, bag))}" for name, bag in self.bags)
        return f"[{self.start}, {self.end}] " + "; ".join(bags)


@dataclass(frozen=True)
class Stream:
    """Events by position, and the schema that all of them satisfy; `stream` makes one."""

    events: tuple[Event, ...]
    schema: Schema


def stream(rows: Iterable[Mapping[str, Value]], schema: Schema | None = None) -> Stream:
    """Rows with a `type` each, at positions 0, 1, …; without a schema, the rows make one."""
    events = tuple(_event(position, row) for position, row in enumerate(rows))
    if schema is None:
        schema = _schema_of(events)
    for event in events:
        _satisfies(event, schema)
    return Stream(events, schema)


def _event(position: int, row: Mapping[str, Value]) -> Event:
    if not isinstance(row.get(TYPE), str):
        raise InputError(
            f"The event at position {position} has no type.",
            remedy="Give every row a 'type' that is a word.",
        )
    for name, value in row.items():
        if not isinstance(value, bool | int | float | str | date | None):
            raise InputError(
                f"'{name}' at position {position} is a {type(value).__name__}.",
                remedy="Values are numbers, words, dates, datetimes, True, False and None.",
            )
        # NaN and pandas' NaT differ from themselves, and exact sums have no infinity.
        if value != value or (isinstance(value, float) and not math.isfinite(value)):
            raise InputError(
                f"'{name}' at position {position} is {value}, which has no place in a bag.",
                remedy="Replace it by None, or leave the event out.",
            )
    return Event.of(position, row)


def refuse_infinite(name: str, values: Iterable[Value]) -> None:
    """Exact sums have no infinity."""
    if any(value in (math.inf, -math.inf) for value in values):
        raise InputError(
            f"'{name}' is infinite in some event, which has no place in a bag.",
            remedy="Replace it by null, or leave the event out.",
        )


def _schema_of(events: Iterable[Event]) -> Schema:
    schema: dict[str, dict[str, str]] = {}
    for event in events:
        attributes = schema.setdefault(str(event.get(TYPE)), {})
        for name, value in event.attributes:
            if name != TYPE:
                attributes.setdefault(name, str(kind_of(value)))
    return schema


def _satisfies(event: Event, schema: Schema) -> None:
    word = str(event.get(TYPE))
    if word not in schema:
        raise InputError(
            f"The schema does not know the type '{word}' (position {event.time}).",
            remedy=did_you_mean(word, schema),
        )
    for name, value in event.attributes:
        if name == TYPE:
            continue
        if name not in schema[word]:
            raise InputError(
                f"The schema of '{word}' does not know '{name}' (position {event.time}).",
                remedy=did_you_mean(name, schema[word]),
            )
        if kind_of(value) != schema[word][name]:
            raise InputError(
                f"'{name}' of '{word}' is a {schema[word][name]}, but {value!r} at position "
                f"{event.time}.",
                remedy="Give an attribute of a type one kind of values throughout.",
            )
