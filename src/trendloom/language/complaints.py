"""What lark could not read → an error in words a reader of the query understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from trendloom.errors import Place, QuerySyntaxError, did_you_mean
from trendloom.language.words import CLAUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark.exceptions import UnexpectedInput

# Terminals of grammar.lark in human words. Those that only make a list longer are left out.
_WORDS = {
    "NAME": "a name",
    "QUOTED": "a name",
    "NUMBER": "a number",
    "STRING": "a value",
    "NULL": "a value",
    "MODE": "skip-till-any-match, skip-till-next-match or contiguous",
    "STAR": "'*'",
    "PLUS": "'+'",
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "RBRACE": "'}'",
    "DOT": "'.'",
    "MORE": "'>'",
    "SEQ": "SEQ",
    "ON": "ON",
    "CHANGE": "CHANGE",
    "COMPARISON": "a comparison",
    "AND": "AND",
    "OR": "OR",
    "AS": "AS",
    "SLIDE": "SLIDE",
}
_CLAUSE_TERMINALS = {
    *("PATTERN", "RETURN", "AGG", "SEMANTICS", "WHERE", "GROUP_BY", "HAVING", "WITHIN")
}
_CURLY = "‘’“”"


def complaint(error: UnexpectedInput, text: str) -> QuerySyntaxError:
    """The error of lark, told at the place where the reader has to look."""
    if isinstance(error, UnexpectedCharacters):
        return _about_character(error.pos_in_stream or 0, text)
    if isinstance(error, UnexpectedToken):
        return _about_token(error, text)
    return QuerySyntaxError("The query cannot be read", text=text)


def _about_character(start: int, text: str) -> QuerySyntaxError:
    sign = text[start]
    place = Place(start, start + 1)
    remedy: str | None = None
    if sign == "'":
        cause, remedy = "The string that begins here never ends", "Close it with '."
    elif text.startswith('""', start):
        cause = "A name cannot be empty"
    elif sign == '"':
        cause, remedy = "The quoted name that begins here never ends", 'Close it with ".'
    elif text.startswith("/*", start):
        cause, remedy = "The comment that begins here never ends", "Close it with */."
    elif sign in _CURLY:
        cause, remedy = (
            f"The quotation mark {sign} is not understood",
            "Write straight quotes: '…'.",
        )
    else:
        cause = f"The character {sign} cannot stand here"
    return QuerySyntaxError(cause, text=text, place=place, remedy=remedy)


def _about_token(error: UnexpectedToken, text: str) -> QuerySyntaxError:
    token = error.token
    assert isinstance(token, Token)
    accepts = set(error.accepts or error.expected or ())
    at_end = token.type == "$END"
    start = len(text.rstrip()) if at_end else token.start_pos or 0
    place = Place(start, start + max(1, len(token)))
    opening = _open_parenthesis(error)

    if token.type == "RPAR" and opening is None:
        return QuerySyntaxError(
            "This parenthesis closes nothing", text=text, place=place, remedy="Leave it out."
        )
    if opening is not None and (at_end or token.type in _CLAUSE_TERMINALS):
        return QuerySyntaxError(
            "This parenthesis is never closed", text=text, place=opening, remedy="Add a ')'."
        )
    misspelled = _misspelled_clause(error, accepts)
    if misspelled is not None:
        word, remedy = misspelled
        spot = Place(word.start_pos or 0, (word.start_pos or 0) + len(word))
        return QuerySyntaxError(
            f"The word {word} is not understood here", text=text, place=spot, remedy=remedy
        )
    cause = "The query ends too early" if at_end else f"'{token}' cannot stand here"
    return QuerySyntaxError(cause, text=text, place=place, remedy=_expected(accepts))


def _open_parenthesis(error: UnexpectedToken) -> Place | None:
    """The innermost parenthesis that lark has seen opened and not closed."""
    if error.interactive_parser is None:
        return None
    for value in reversed(error.interactive_parser.parser_state.value_stack):
        if isinstance(value, Token) and value.type == "LPAR":
            start = value.start_pos or 0
            return Place(start, start + 1)
    return None


def _misspelled_clause(error: UnexpectedToken, accepts: set[str]) -> tuple[Token, str] | None:
    """`SEMANTIC any`: the wrong word, or the one before it that was taken for a variable."""
    before = [token for token in error.token_history or () if isinstance(token, Token)]
    known = [*CLAUSES, "GROUP", "SLIDE"] if "SLIDE" in accepts else [*CLAUSES, "GROUP"]
    assert isinstance(error.token, Token)
    for word in (*before, error.token):
        if word.type != "NAME" or word.upper() in known:
            continue
        remedy = did_you_mean(word, known)
        if remedy.startswith("Did"):
            return word, remedy.replace("'GROUP'", "'GROUP-BY'")
    return None


def _expected(accepts: Iterable[str]) -> str | None:
    words = {_WORDS[terminal] for terminal in accepts if terminal in _WORDS}
    if _CLAUSE_TERMINALS & set(accepts):
        words.add("a clause (" + ", ".join(CLAUSES) + ")")
    if "$END" in accepts:
        words.add("the end of the query")
    if not words:
        return None
    *first, last = sorted(words, key=lambda word: (not word.startswith("'"), word))
    return "Expected " + (f"{', '.join(first)} or {last}" if first else last) + "."
