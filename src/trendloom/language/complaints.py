"""What lark could not read → an error in words a reader of the query understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from trendloom.errors import Place, QuerySyntaxError
from trendloom.language import foreign
from trendloom.language.words import CLAUSES, OFFERED, near_clause, quoted

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
    "_SEQ": "SEQ",
    "_ON": "ON",
    "_CHANGE": "CHANGE",
    "AND": "AND",
    "OR": "OR",
    "_AS": "AS",
    "_SLIDE": "SLIDE",
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
    if sign == "'":
        cause, remedy = "The string that begins here never ends", "Close it with '."
    elif text.startswith('""', start):
        cause, remedy = "A name cannot be empty", "Write a name between the quotes."
    elif sign == '"':
        cause, remedy = "The quoted name that begins here never ends", 'Close it with ".'
    elif text.startswith("/*", start):
        cause, remedy = "The comment that begins here never ends", "Close it with */."
    elif sign in _CURLY:
        cause = f"The quotation mark {sign} is not understood"
        remedy = "Write straight quotes: '…'."
    else:
        cause, remedy = f"'{sign}' cannot stand here", character_remedy(sign)
    return QuerySyntaxError(cause, text=text, place=Place(start, start + 1), remedy=remedy)


def character_remedy(sign: str) -> str:
    """What to do about a character that no language of the package has."""
    if sign.isnumeric():
        return "Write numbers with the digits 0 to 9."
    return "Leave it out; names with such characters stand in double quotes, values in single ones."


def string_for_name(token: str) -> tuple[str, str]:
    """Cause and remedy for an event type, or another name, in single quotes."""
    name = quoted(token[1:-1].replace("''", "'")) if len(token) > 2 else '"…"'
    return f"{token} is a string, not a name", f"Names stand in double quotes: {name}."


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
    if token.type == "STRING" and "NAME" in error.expected:
        return at(here, *string_for_name(token))
    if token.type == "DOT" and (called := _called(stack)) is not None:
        name, variable = called
        if (remedy := foreign.instead_of_neighbour(name, variable)) is not None:
            return at(_spot(name), f"{name.upper()} is not offered", remedy)
    if (word := _clause_of_sql(stack, token)) is not None:
        return at(_spot(word), *foreign.clause(word))
    for word in (*_word_before(stack), token):
        if (remedy := _misplaced(word)) is not None:
            return at(_spot(word), f"'{word}' cannot stand here", remedy)
    if token.type == "NAME" and (key := _key_before(stack)) is not None:
        remedy = (
            "Between two names stands a comma; a name with a blank in it stands in double quotes: "
            f"{quoted(f'{key} {token}')}."
        )
        return at(here, f"'{token}' cannot stand here", remedy)
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


def _clause_of_sql(stack: list[object], token: Token) -> Token | None:
    """A word that begins a clause of SQL: here, or before, where it was taken for a variable."""
    if token.type in ("NAME", "MODE") and token.upper() in foreign.CLAUSES:
        return token
    for word in _word_before(stack):
        follower = foreign.FOLLOWED.get(word.upper())
        if word.upper() in foreign.CLAUSES and (
            token.upper() == follower if follower else token.type in ("NUMBER", "NAME")
        ):
            return word
    return None


def _called(stack: list[object]) -> tuple[Token, str] | None:
    """The function whose parentheses were closed last, and what stood in them."""
    if not stack or not isinstance(stack[-1], Token) or stack[-1].type != "RPAR":
        return None
    opening = next((n for n in range(len(stack) - 1, 0, -1) if _is(stack[n], "LPAR")), None)
    if opening is None or not _is(stack[opening - 1], "NAME"):
        return None
    inner = [word for value in stack[opening + 1 : -1] for word in _names(value)]
    name = stack[opening - 1]
    assert isinstance(name, Token)
    return name, inner[0] if inner else "A"


def _is(value: object, kind: str) -> bool:
    return isinstance(value, Token) and value.type == kind


def _names(value: object) -> Iterator[str]:
    tokens = value.scan_values(lambda part: _is(part, "NAME")) if isinstance(value, Tree) else ()
    yield from map(str, tokens)


def _key_before(stack: list[object]) -> str | None:
    """The last name, if it is an attribute inside of an aggregate or of GROUP-BY."""
    inside = any(_is(value, "GROUP_BY") for value in stack) or _open_parenthesis(stack) is not None
    names = [*_names(stack[-1])] if inside and stack and isinstance(stack[-1], Tree) else []
    key = any(isinstance(value, Token) and value.type in ("RETURN", "GROUP_BY") for value in stack)
    return names[-1] if names and key else None


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
