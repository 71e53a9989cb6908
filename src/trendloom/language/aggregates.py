"""Which aggregates exist and what each may be applied to: one rule for RETURN and HAVING."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import QuerySyntaxError, did_you_mean
from trendloom.language import foreign
from trendloom.language.nodes import (
    Aggregate,
    Argument,
    Function,
    Length,
    Occurrences,
    Trends,
)

if TYPE_CHECKING:
    from trendloom.errors import Place

FUNCTIONS = tuple(function.value for function in Function)
_OF_LENGTH = (Function.MIN, Function.MAX, Function.AVG)


def function_named(word: str, *, text: str, place: Place) -> Function:
    """The aggregate function of that name, in any case."""
    try:
        return Function(word.upper())
    except ValueError:
        if word.upper() in foreign.AGGREGATES | foreign.FUNCTIONS:
            raise not_offered(word.upper(), text=text, place=place) from None
        raise QuerySyntaxError(
            f"There is no aggregate function {word.upper()}",
            text=text,
            place=place,
            remedy=did_you_mean(word, [*FUNCTIONS, "LOG2"]),
        ) from None


def not_offered(name: str, *, text: str, place: Place) -> QuerySyntaxError:
    """For an aggregate of SQL."""
    return QuerySyntaxError(
        f"{name} is not offered",
        text=text,
        place=place,
        remedy=f"Aggregates are {', '.join(FUNCTIONS)}; to compute others, list the trends "
        "(tl.trends, without RETURN).",
    )


def aggregate(
    function: Function,
    argument: Argument,
    *,
    distinct: bool,
    log2: bool,
    text: str,
    place: Place,
) -> Aggregate:
    """The aggregate, or an error that says what the function can be applied to."""
    name = function.value

    def refuse(cause: str, remedy: str) -> QuerySyntaxError:
        return QuerySyntaxError(cause, text=text, place=place, remedy=remedy)

    match argument:
        case Trends() if function is not Function.COUNT:
            raise refuse(f"{name}(*) has no meaning", f"Write {name}(VARIABLE.attribute).")
        case Trends() | Length() if distinct:
            raise refuse(
                "DISTINCT makes each event count once, and this counts trends",
                "Write DISTINCT VARIABLE or DISTINCT VARIABLE.attribute.",
            )
        case Length() if function not in _OF_LENGTH:
            raise refuse(
                f"{name}(LENGTH(*)) is not offered", "LENGTH(*) goes with MIN, MAX and AVG."
            )
        case Occurrences(variable=variable) if function is not Function.COUNT:
            raise refuse(
                f"{name} needs an attribute of {variable}", f"Write {name}({variable}.attribute)."
            )
    if log2 and not (
        function is Function.COUNT and isinstance(argument, Trends | Occurrences) and not distinct
    ):
        raise refuse(
            "LOG2 is offered for counts only", "Write LOG2(COUNT(*)) or LOG2(COUNT(VARIABLE))."
        )
    return Aggregate(function, argument, distinct, log2, place)
