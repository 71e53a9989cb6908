"""Syntax tree → query text, one clause per line; what is printed parses back to an equal tree."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING

from trendloom.language.nodes import (
    Aggregate,
    Argument,
    Both,
    Condition,
    CountWindow,
    Duration,
    Either,
    Equivalence,
    Event,
    GroupKey,
    Item,
    Length,
    Not,
    Occurrences,
    Pattern,
    Query,
    Repeat,
    Semantics,
    Sequence,
    TimeWindow,
    Trends,
    Values,
)
from trendloom.language.words import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

Printable = Query | Pattern | Item | Aggregate | GroupKey | Equivalence | Condition | Duration


def to_text(node: Printable) -> str:
    """The node as it could stand in a query."""
    match node:
        case Query():
            return "\n".join(_clauses(node))
        case Item(value=value, alias=alias):
            return to_text(value) + ("" if alias is None else f" AS {quote(alias)}")
        case Aggregate():
            return _aggregate(node)
        case GroupKey(attribute=attribute, variable=variable):
            return _dotted(variable, attribute)
        case Equivalence(attributes=attributes):
            return "[" + ", ".join(map(quote, attributes)) + "]"
        case Condition(tree=tree):
            from trendloom.language.expressions import to_sql

            return to_sql(tree)
        case Duration():
            return _duration(node)
        case _:
            return _pattern(node)


def _clauses(query: Query) -> Iterator[str]:
    if query.returns:
        yield "RETURN " + ", ".join(map(to_text, query.returns))
    yield "PATTERN " + to_text(query.pattern)
    if query.semantics is not Semantics.ANY:
        yield f"SEMANTICS {query.semantics.value}"
    if query.where:
        yield "WHERE " + " AND ".join(map(_conjunct, query.where))
    if query.group_by:
        yield "GROUP-BY " + ", ".join(map(to_text, query.group_by))
    if query.having is not None:
        yield "HAVING " + to_text(query.having)
    match query.window:
        case TimeWindow(within=within, slide=None):
            yield f"WITHIN {_duration(within)}"
        case TimeWindow(within=within, slide=Duration() as slide):
            yield f"WITHIN {_duration(within)} SLIDE {_duration(slide)}"
        case CountWindow(within=size, slide=step):
            yield f"WITHIN {size} EVENTS SLIDE {step} EVENTS"


def _conjunct(part: Equivalence | Condition) -> str:
    from sqlglot import exp

    loose = isinstance(part, Condition) and isinstance(part.tree, exp.Or)
    return f"({to_text(part)})" if loose else to_text(part)


# ── patterns ─────────────────────────────────────────────────────────────────────────────────

# Lower binds looser; a part that binds no tighter than its surroundings stands in parentheses.
_EITHER, _BOTH, _NOT, _REPEAT, _WHOLE = range(5)


def _pattern(pattern: Pattern) -> str:
    match pattern:
        case Event(type=kind, variable=variable):
            return quote(kind) + ("" if variable is None else f" {quote(variable)}")
        case Repeat(body=Sequence() as body):
            # `(SEQ(A+, B))+`, as the papers write it.
            return f"({_pattern(body)}){_quantifier(pattern)}"
        case Repeat(body=body):
            return _inside(body, _REPEAT) + _quantifier(pattern)
        case Not(body=body):
            return "NOT " + _inside(body, _NOT)
        case Sequence(parts=parts):
            return "SEQ(" + ", ".join(map(_pattern, parts)) + ")"
        case Both(parts=parts):
            return " AND ".join(_inside(part, _NOT) for part in parts)
        case Either(parts=parts):
            return " OR ".join(_inside(part, _BOTH) for part in parts)


def _inside(pattern: Pattern, loosest: int) -> str:
    printed = _pattern(pattern)
    return printed if _binding(pattern) >= loosest else f"({printed})"


def _binding(pattern: Pattern) -> int:
    match pattern:
        case Either():
            return _EITHER
        case Both():
            return _BOTH
        case Not():
            return _NOT
        case Repeat():
            return _REPEAT
        case Event() | Sequence():
            return _WHOLE


def _quantifier(repeat: Repeat) -> str:
    match repeat.low, repeat.high:
        case 1, None:
            return "+"
        case 0, None:
            return "*"
        case 0, 1:
            return "?"
        case low, None:
            return f"{{{low},}}"
        case low, high if low == high:
            return f"{{{low}}}"
    return f"{{{repeat.low},{repeat.high}}}"


# ── RETURN and windows ───────────────────────────────────────────────────────────────────────


def _aggregate(node: Aggregate) -> str:
    inner = ("DISTINCT " if node.distinct else "") + _argument(node.argument)
    call = f"{node.function.value}({inner})"
    return f"LOG2({call})" if node.log2 else call


def _argument(argument: Argument) -> str:
    match argument:
        case Trends():
            return "*"
        case Length():
            return "LENGTH(*)"
        case Occurrences(variable=variable):
            return quote(variable)
        case Values(variable=variable, attribute=attribute):
            return _dotted(variable, attribute)


def _dotted(variable: str | None, attribute: str) -> str:
    return quote(attribute) if variable is None else f"{quote(variable)}.{quote(attribute)}"


def _duration(duration: Duration) -> str:
    amount = duration.amount
    # Every amount that was written is a finite decimal, and its digits bound the precision.
    exact = Context(prec=len(str(amount.numerator)) + len(str(amount.denominator)) * 4)
    number = exact.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    unit = duration.unit.name.lower() + ("" if amount == 1 else "s")
    return f"{number:f} {unit}"
