"""Formula → text; the printed formula parses back to an equal one."""

from __future__ import annotations

from datetime import datetime

from trendloom.acel import conditions as on
from trendloom.acel.depth import bounded
from trendloom.acel.moments import words_of
from trendloom.acel.nodes import (
    Aggregation,
    And,
    As,
    Contiguous,
    ContiguousIteration,
    Filter,
    Formula,
    Iteration,
    Next,
    OneEvent,
    Or,
    PairFilter,
    Project,
    ProjectAttributes,
    Sequence,
)
from trendloom.acel.words import quote
from trendloom.language.moments import to_text as to_text_of

_TIGHT = 5


@bounded
def to_text(formula: Formula) -> str:
    """The formula in its canonical spelling, on one line, with the parentheses it needs."""
    match formula:
        case OneEvent(word):
            return quote(word)
        case Next(word):
            return f"NEXT({quote(word)})"
        case As(inner, variable):
            return f"{_within(inner, _TIGHT)} AS {quote(variable)}"
        case Filter(inner, variable, condition):
            return f"{_within(inner, _TIGHT)} FILTER {quote(variable)}[{condition_text(condition)}]"
        case PairFilter(inner, left, right, condition, last):
            names = f"{f'LAST({quote(left)})' if last else quote(left)}, {quote(right)}"
            return f"{_within(inner, _TIGHT)} FILTER {names}[{condition_text(condition)}]"
        case Or(left, right):
            return _pair(left, "OR", right, 1)
        case And(left, right):
            return _pair(left, "AND", right, 2)
        case Sequence(left, right):
            return _pair(left, ";", right, 3)
        case Contiguous(left, right):
            return _pair(left, ":", right, 4)
        case Iteration(inner):
            return f"{_within(inner, _TIGHT)}+"
        case ContiguousIteration(inner):
            return f"{_within(inner, _TIGHT)}:+"
        case Project(inner, variables):
            return f"PROJECT[{', '.join(map(quote, variables))}]({to_text(inner)})"
        case ProjectAttributes(inner, variable, attributes):
            names = ", ".join(map(quote, attributes))
            return f"PROJECT[{quote(variable)}({names})]({to_text(inner)})"
        case Aggregation(inner, variable, assigns):
            made = ", ".join(
                f"{quote(one.attribute)} = {one.aggregate}"
                f"({quote(one.variable)}.{quote(one.source)})"
                for one in assigns
            )
            return f"AGG[{quote(variable)}({made})]({to_text(inner)})"


def _strength(formula: Formula) -> int:
    strengths: dict[type, int] = {Or: 1, And: 2, Sequence: 3, Contiguous: 4}
    return strengths.get(type(formula), _TIGHT)


def _within(formula: Formula, least: int) -> str:
    text = to_text(formula)
    return text if _strength(formula) >= least else f"({text})"


def _pair(left: Formula, word: str, right: Formula, strength: int) -> str:
    return f"{_within(left, strength)} {word} {_within(right, strength + 1)}"


def condition_text(condition: on.Condition | on.BagCondition) -> str:
    """The condition as it stands between the brackets of FILTER."""
    match condition:
        case on.BagCondition(shape, attribute):
            return f"{shape}({quote(attribute)})"
        case on.Comparison(comparator, left, right):
            return f"{_term(left)} {comparator} {_term(right)}"
        case on.IsNull(term):
            return f"{_term(term)} IS NULL"
        case on.Like(left, right):
            return f"{_term(left)} LIKE {_term(right)}"
        case on.Not(on.Like(left, right)):
            return f"{_term(left)} NOT LIKE {_term(right)}"
        case on.Not(on.IsNull(term)):
            return f"{_term(term)} IS NOT NULL"
        case on.Not(inner):
            return f"NOT {_condition_within(inner, 3)}"
        case on.All(first, second):
            return f"{_condition_within(first, 2)} AND {_condition_within(second, 3)}"
        case on.Any(first, second):
            return f"{_condition_within(first, 1)} OR {_condition_within(second, 2)}"


def _condition_within(condition: on.Condition, least: int) -> str:
    strengths: dict[type, int] = {on.Any: 1, on.All: 2}
    text = condition_text(condition)
    return text if strengths.get(type(condition), 3) >= least else f"({text})"


def _term(term: on.Term, least: int = 1) -> str:
    match term:
        case on.Attribute(name, variable=None):
            return quote(name)
        case on.Attribute(key=key):
            return key
        case on.Literally(None):
            return "NULL"
        case on.Literally(bool() as truth):
            return str(truth).upper()
        case on.Literally(str() as word):
            return "'" + word.replace("'", "''") + "'"
        case on.Literally(datetime() as moment):
            typed = words_of(moment)
            return f"{typed} '{to_text_of(typed, moment)}'"
        case on.Literally(value):
            return repr(value)
        case on.Call(function, terms):
            return f"{function}({', '.join(map(_term, terms))})"
        case on.Negative(on.Negative() as inner):
            # Two signs would begin a comment.
            text, strength = f"-({_term(inner)})", 3
        case on.Negative(inner):
            text, strength = f"-{_term(inner, 3)}", 3
        case on.Arithmetic(operator, left, right):
            strength = 1 if operator in "+-" else 2
            text = f"{_term(left, strength)} {operator} {_term(right, strength + 1)}"
    return text if strength >= least else f"({text})"
