"""How large a text may be, so that reading takes time linear in it and never Python's whole stack.

One place for queries and formulas. `Lexer` looks at every word while lark reads; a number with a
long exponent is thus refused before anybody computes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trendloom.errors import Place, QuerySyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

MAX_CHARACTERS = 100_000
MAX_DIGITS = 100
MAX_EXPONENT = 400
MAX_PARENTHESES = 24
"""Inside each other in a query: sqlglot takes some 25 frames of Python's stack for each."""
MAX_SIGNS = 24
"""In a row: NOT NOT …, - - …, A++…"""
MAX_LEVELS = 200
"""Of a parse tree: operators inside each other in a formula."""
MAX_TERMS = 200
"""Of a chain of arithmetic in a query; those that AND or OR joins are not limited."""
MAX_INTEGER = 2**63 - 1

_SIGNS = frozenset({"PLUS", "MINUS", "STAR", "QUESTION", "_NEGATION", "_NOT", "BANG"})
_NUMBER = re.compile(r"(?P<whole>[0-9]*)\.?(?P<decimals>[0-9]*)([eE](?P<exponent>[+-]?[0-9]+))?")
# Halves of pairs of UTF-16.
_UNWRITABLE = re.compile("[\ud800-\udfff]")


class BeyondLimitError(Exception):
    """A word that is too much; `reading.read` adds the text."""

    def __init__(self, cause: str, place: Place, remedy: str) -> None:
        super().__init__(cause)
        self.cause, self.place, self.remedy = cause, place, remedy

    def of(self, text: str) -> QuerySyntaxError:
        return QuerySyntaxError(self.cause, text=text, place=self.place, remedy=self.remedy)


class Lexer:
    """What lark calls with all words of a text, one after the other."""

    always_accept = ()

    def __init__(self, parentheses: int) -> None:
        self.parentheses = parentheses

    def process(self, words: Iterator[Token]) -> Iterator[Token]:
        depth = signs = 0
        for word in words:
            kind = word.type
            if kind == "NUMBER":
                check_number(word, _place(word))
            if kind in _SIGNS or (kind == "SQL_WORD" and word.upper() == "NOT"):
                signs += 1
                if signs > MAX_SIGNS:
                    raise BeyondLimitError(
                        f"More than {MAX_SIGNS} signs stand in a row",
                        _place(word),
                        "One + after a pattern says what many say; NOT NOT and - - cancel out.",
                    )
            else:
                signs = 0
            if kind == "LPAR":
                depth += 1
                if depth > self.parentheses:
                    raise BeyondLimitError(
                        f"More than {self.parentheses} parentheses stand inside each other",
                        _place(word),
                        "Leave out those that change nothing, or split the text.",
                    )
            elif kind == "RPAR":
                depth -= 1
            yield word


def check_text(text: str) -> None:
    """Refuses what is too long, and characters that no encoding can write."""
    if len(text) > MAX_CHARACTERS:
        raise QuerySyntaxError(
            f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read",
            text=text,
            place=Place(MAX_CHARACTERS, MAX_CHARACTERS + 1),
            remedy="Put long lists of values into a column of the events, and compare with that.",
        )
    if (found := _UNWRITABLE.search(text)) is not None:
        raise QuerySyntaxError(
            f"The character U+{ord(found[0]):04X} cannot stand in a text",
            text=text,
            place=Place(found.start(), found.end()),
            remedy="Leave it out; was the text read in the wrong encoding?",
        )


def check_number(number: str, place: Place) -> None:
    """Refuses a number that takes long to compute, or that no double holds."""
    found = _NUMBER.fullmatch(number.removeprefix("-"))
    digits = 0 if found is None else len(found["whole"]) + len(found["decimals"])
    exponent = "0" if found is None else found["exponent"] or "0"
    if digits > MAX_DIGITS:
        raise BeyondLimitError(
            f"This number has {digits:,} digits; at most {MAX_DIGITS} are read",
            place,
            "Doubles have 17 digits, integers 19 and decimals 38.",
        )
    # The exponent itself may be of any length.
    if len(exponent) > MAX_DIGITS or abs(int(exponent)) > MAX_EXPONENT:
        raise BeyondLimitError(
            f"The exponent of this number is beyond ±{MAX_EXPONENT}",
            place,
            "Doubles lie between 4.9e-324 and 1.8e308.",
        )
    if float(number) in (float("inf"), float("-inf")):
        raise BeyondLimitError(
            "This number is beyond the largest double", place, "Doubles end at 1.8e308."
        )


def check_levels(tree: Tree[Token]) -> None:
    """Refuses a parse tree that whoever walks through it could not come back from."""
    level: list[Tree[Token]] = [tree]
    for _ in range(MAX_LEVELS):
        level = [part for node in level for part in node.children if hasattr(part, "children")]  # type: ignore[misc]
        if not level:
            return
    place = Place(level[0].meta.start_pos, level[0].meta.end_pos)
    raise BeyondLimitError(
        f"More than {MAX_LEVELS} operators stand inside each other",
        place,
        "Use fewer of them: a chain of operators nests as parentheses do.",
    )


def _place(word: Token) -> Place:
    start = word.start_pos or 0
    return Place(start, start + len(word))
