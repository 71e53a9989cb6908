"""Text → formula: `parse` is the one way in. lark is loaded at the first formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.check import check
from trendloom.errors import Place, QuerySyntaxError
from trendloom.language.limits import MAX_LEVELS
from trendloom.language.reading import read

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

    from trendloom.acel.events import Schema
    from trendloom.acel.nodes import Formula

_SIGNS = {
    "NAME": "a name",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "DOT": "'.'",
    "EQUAL": "'='",
    "SEMICOLON": "';'",
    "COLON": "':'",
    "PLUS": "'+'",
    "COMPARATOR": "a comparison",
    "MINUS": "'-'",
    "NUMBER": "a number",
    "STRING": "a 'string'",
    "FUNCTION": "a function",
    "LAST": "LAST(…)",
    "SHAPE": "same(…), increasing(…) or decreasing(…)",
    "$END": "the end",
    **{
        f"_{word}": word
        for word in ("OR", "AND", "AS", "FILTER", "NEXT", "PROJECT", "AGG", "NOT", "IS", "LIKE")
    },
}


def parse(text: str, schema: Schema | None = None) -> Formula:
    """The formula, checked; or a QueryError that shows the place.

    With a schema, types, attributes and kinds of values are checked too.
    """
    formula = _read(text)
    check(formula, schema, text=text)
    return formula


def _read(text: str) -> Formula:
    from trendloom.acel.build import Builder

    if not text.strip():
        raise QuerySyntaxError(
            "The formula is empty",
            text=text,
            remedy="Write at least an event type, as in SELL AS X FILTER X[price > 100].",
        )
    formula: Formula = read(
        text, __package__, Builder(text), _complaint, _too_deep, parentheses=MAX_LEVELS
    )
    return formula


def _too_deep(text: str) -> QuerySyntaxError:
    return QuerySyntaxError(
        "The formula nests too deeply", text=text, remedy="Use fewer operators inside each other."
    )


def _complaint(error: UnexpectedInput, text: str) -> QuerySyntaxError:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from trendloom.language.complaints import character_remedy, string_for_name

    if isinstance(error, UnexpectedCharacters):
        start = error.pos_in_stream or 0
        sign, place = text[start], Place(start, start + 1)
        if sign in "'\"":
            what = "string" if sign == "'" else "quoted name"
            return QuerySyntaxError(
                f"The {what} that begins here never ends",
                text=text,
                place=place,
                remedy=f"Close it with {sign}.",
            )
        return QuerySyntaxError(
            f"'{sign}' cannot stand here", text=text, place=place, remedy=character_remedy(sign)
        )
    assert isinstance(error, UnexpectedToken)
    if error.token.type == "$END":
        end = len(text.rstrip())
        place, cause = Place(end, end + 1), "The formula ends too early"
    else:
        start = error.token.start_pos or 0
        place = Place(start, start + len(error.token))
        cause = f"'{error.token}' cannot stand here"
    expected = error.accepts or error.expected
    if error.token.type == "STRING" and "NAME" in expected:
        cause, remedy = string_for_name(error.token)
        return QuerySyntaxError(cause, text=text, place=place, remedy=remedy)
    return QuerySyntaxError(cause, text=text, place=place, remedy=_expected(expected))


def _expected(terminals: set[str]) -> str:
    words = sorted({_SIGNS[terminal] for terminal in terminals if terminal in _SIGNS})
    *first, last = words or ["something else"]
    return "Expected " + (f"{', '.join(first)} or {last}" if first else last) + "."
