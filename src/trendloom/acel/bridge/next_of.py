"""skip-till-next-match by NEXT alone, which needs no knowledge of the stream's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked


def by_next(asked: Asked, pattern: t.Pattern) -> n.Formula | None:
    """`A : NEXT(B)`, where every step has one type to go to and asks nothing else; else None."""
    if asked.query.semantics is not t.Semantics.NEXT or asked.beside:
        return None
    if asked.conditions.adjacent or asked.conditions.correlated:
        return None
    parts = pattern.parts if isinstance(pattern, t.Sequence) else (pattern,)
    made: n.Formula | None = None
    for part in parts:
        if not isinstance(part, t.Event):
            return None
        one = asked.event(part)
        if made is None:
            made = one
        elif asked.local(str(part.variable)):
            return None
        else:
            made = n.Contiguous(made, _as_next(one))
    return made


def _as_next(made: n.Formula) -> n.Formula:
    match made:
        case n.OneEvent(word):
            return n.Next(word)
        case n.As(inner, variable):
            return n.As(_as_next(inner), variable)
        case n.Project(inner, variables):
            return n.Project(_as_next(inner), variables)
    raise AssertionError("an event without conditions is one of these")
