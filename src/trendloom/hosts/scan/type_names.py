"""Names that queries give to event types and variables, held against the types that events have.

A query with a misspelt type, or with a comma forgotten between two types, is a query all the same,
and its answer is right. Only the events tell that something else was meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import TypeNameWarning, did_you_mean, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from trendloom.plan.plan import Plan

KNOWN = 1000
"""The most frequent types, among which one that is meant is looked for."""
LOOKED_AT = 100_000
"""Rows at the beginning of the input in which the names of variables are looked for as types.

To look at the types of all rows would cost more than a query may pay for it."""


@dataclass(frozen=True)
class TypeNames:
    """What queries name, and which of them do."""

    types: Mapping[str, tuple[str, ...]]
    """Event type → queries of the workload; () where there is one query."""
    variables: Mapping[tuple[str, str], tuple[str, ...]]
    """Variables that the caller names, and not as a type of the same query, with their types."""

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> TypeNames:
        """Of the queries of a workload."""
        types: dict[str, list[str]] = {}
        variables: dict[tuple[str, str], list[str]] = {}
        for name, plan in plans.items():
            own = {letter.type for letter in plan.scan.letters}
            for letter in plan.scan.letters:
                types.setdefault(letter.type, []).append(name)
                if letter.variable not in own and _is_given(letter.variable, letter.type):
                    variables.setdefault((letter.variable, letter.type), []).append(name)
        return cls(
            {kind: _once(named) for kind, named in types.items()},
            {pair: _once(named) for pair, named in variables.items()},
        )

    @classmethod
    def of_one(cls, plan: Plan) -> TypeNames:
        """Of one query."""
        found = cls.of({"": plan})
        return cls(dict.fromkeys(found.types, ()), dict.fromkeys(found.variables, ()))

    @classmethod
    def only(cls, types: Iterable[str]) -> TypeNames:
        """Of a formula: its variables have other names than types by rule."""
        return cls(dict.fromkeys(types, ()), {})

    @property
    def suspects(self) -> set[str]:
        """Variables that could be types of events."""
        return {variable for variable, _ in self.variables}

    def tell_absent(
        self, absent: Collection[str], known: Iterable[str], events: int, event_type: str | None
    ) -> None:
        """Warns of types that no event has. `event_type`: the one that all of them have."""
        for kind in self.types:
            if kind not in absent:
                continue
            cause = f"No event is of type '{kind}' in {events:,}."
            remedy = did_you_mean(kind, known)
            if event_type is not None:
                cause = f"No event is of type '{kind}': event_type says '{event_type}' of all."
                remedy = (
                    f"Write {event_type} in the pattern, or name the column of types with type=."
                )
            warn(TypeNameWarning(cause, remedy=remedy, queries=self.types[kind]))

    def tell_variables(self, types: Collection[str]) -> None:
        """Warns of variables that are called as events are."""
        for (variable, kind), queries in self.variables.items():
            if variable in types:
                cause = (
                    f"'{variable}' is the name of {kind} events in the pattern, "
                    "and a type of events in the input."
                )
                remedy = (
                    f"If a {variable} is to follow, a comma is missing: SEQ({kind}, {variable}). "
                    "If not, give the variable another name."
                )
                warn(TypeNameWarning(cause, remedy=remedy, queries=queries))


def _is_given(variable: str, kind: str) -> bool:
    """Whether the text names the variable; otherwise it is called as its type, or A1, A2, …"""
    return re.fullmatch(re.escape(kind) + r"\d*", variable) is None


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
