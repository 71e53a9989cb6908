"""What lark could not read → an error in words a reader of the query understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from trendloom.errors import Place, QuerySyntaxError
from trendloom.language.words import CLAUSES, OFFERED, near_clause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lark.exceptions import UnexpectedInput

# Terminals of grammar.lark in human words. Those that only make a list longer are left out.
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
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
    "SEQ": "SEQ",
    "ON": "ON",
    "CHANGE": "CHANGE",
    "AND": "AND",
    "OR": "OR",
    "AS": "AS",
    "SLIDE": "SLIDE",
    "$END": "the end of the query",
}
_CLAUSE_TERMINALS = {clause.replace("-", "_") for clause in CLAUSES}
# Where this one may stand, a condition may go on, and so may all these.
_IN_CONDITION = "SQL_WORD"
_CONDITION_TERMINALS = {"NAME", "NUMBER", "STAR", "PLUS", "LPAR"}
_CURLY = "‘’“”"


def complaint(error: UnexpectedInput, text: str) -> QuerySyntaxError:
    """The error of lark, told at the place where the reader has to look."""
    if isinstance(error, UnexpectedCharacters):
        return _about_character(error, text)
    if isinstance(error, UnexpectedToken):
        return _about_token(error, text)
    return QuerySyntaxError("The query cannot be read", text=text)


def _about_character(error: UnexpectedCharacters, text: str) -> QuerySyntaxError:
    start = error.pos_in_stream or 0
    sign = text[start]
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
        cause = f"The quotation mark {sign} is not understood"
        remedy = "Write straight quotes: '…'."
    else:
        cause = f"'{sign}' cannot stand here"
        remedy = OFFERED if _IN_CONDITION in error.allowed else None
    return QuerySyntaxError(cause, text=text, place=Place(start, start + 1), remedy=remedy)


def _about_token(error: UnexpectedToken, text: str) -> QuerySyntaxError:
    token = error.token
    assert isinstance(token, Token)
    at_end = token.type == "$END"
    start = len(text.rstrip()) if at_end else token.start_pos or 0
    stack = _stack(error)
    opening = _open_parenthesis(stack)

    def at(place: Place, cause: str, remedy: str) -> QuerySyntaxError:
        return QuerySyntaxError(cause, text=text, place=place, remedy=remedy)

    here = Place(start, start + max(1, len(token)))
    if token.type == "RPAR" and opening is None:
        return at(here, "This parenthesis closes nothing", "Leave it out.")
    if opening is not None and (at_end or token.type in _CLAUSE_TERMINALS):
        return at(_spot(opening), "This parenthesis is never closed", "Add a ')'.")
    if any(isinstance(value, Token) and value.type == "NEXT" for value in stack[-4:]):
        return at(here, "NEXT is not complete", "Write NEXT(VARIABLE).attribute.")
    for word in (*_word_before(stack), token):
        if (remedy := _misplaced(word)) is not None:
            return at(_spot(word), f"'{word}' cannot stand here", remedy)
    cause = "The query ends too early" if at_end else f"'{token}' cannot stand here"
    return at(here, cause, _expected(error.accepts or error.expected, at_end=at_end))


def _spot(token: Token) -> Place:
    start = token.start_pos or 0
    return Place(start, start + len(token))


def _stack(error: UnexpectedToken) -> list[object]:
    """What lark has read and not yet put together."""
    parser = error.interactive_parser
    return [] if parser is None else list(parser.parser_state.value_stack)


def _open_parenthesis(stack: list[object]) -> Token | None:
    """The innermost parenthesis that was opened and not closed."""
    closed = 0
    for value in reversed(stack):
        if isinstance(value, Token) and value.type == "RPAR":
            closed += 1
        elif isinstance(value, Token) and value.type == "LPAR":
            if not closed:
                return value
            closed -= 1
    return None


def _word_before(stack: list[object]) -> Iterator[Token]:
    """The last word read, if it was taken for a name: `Stock+ SEMANTIC` may not mean one."""
    value = stack[-1] if stack else None
    while isinstance(value, Tree) and value.children:
        value = value.children[-1]
    if isinstance(value, Token) and value.type == "NAME":
        yield value


def _misplaced(word: Token) -> str | None:
    """What to do about a word that is, or nearly is, the name of a clause."""
    if word.type not in ("NAME", "MODE"):
        return None
    if word.upper() in (*CLAUSES, "SLIDE"):
        return f'Something is missing before it; as a name it has to be quoted: "{word}".'
    return near_clause(word)


def _expected(terminals: Iterable[str], *, at_end: bool) -> str:
    accepted = set(terminals)
    words = set()
    if _IN_CONDITION in accepted:
        if not at_end:
            return OFFERED
        accepted -= _CONDITION_TERMINALS
        words.add("a condition")
    if accepted & _CLAUSE_TERMINALS:
        words.add(f"a clause ({', '.join(CLAUSES[:2])}, …)")
    words |= {_WORDS[terminal] for terminal in accepted if terminal in _WORDS}
    *first, last = sorted(words, key=lambda word: (not word.startswith("'"), word)) or [
        "something else"
    ]
    return "Expected " + (f"{', '.join(first)} or {last}" if first else last) + "."
