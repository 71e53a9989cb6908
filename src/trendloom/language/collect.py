"""lark's parse tree → the words of WHERE and HAVING, for sql.py to make conditions of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lark import Token, Transformer, v_args

from trendloom.errors import Place, QuerySyntaxError
from trendloom.language.expressions import Reference
from trendloom.language.moments import SPELLED, from_text, to_text
from trendloom.language.nodes import Equivalence, Query
from trendloom.language.sql import Call, Index, Mention, Word
from trendloom.language.words import unquote

if TYPE_CHECKING:
    from lark.tree import Meta


@dataclass(frozen=True, slots=True)
class Name:
    """A name without its quotes."""

    text: str
    place: Place


def place_of(meta: Meta) -> Place:
    """The place of a rule."""
    return Place(meta.start_pos, meta.end_pos)


def spot_of(token: Token) -> Place:
    """The place of a word."""
    start = token.start_pos or 0
    return Place(start, start + len(token))


@v_args(meta=True)
class WordCollector(Transformer[Token, Query]):
    """The rules that names, conjuncts and the words inside them have in the grammar."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def refuse(self, cause: str, place: Place, remedy: str | None = None) -> QuerySyntaxError:
        return QuerySyntaxError(cause, text=self.text, place=place, remedy=remedy)

    def disjunction(self, _: Meta, parts: list[object]) -> list[object]:
        """Equivalences, lists of words, and between them the lists [AND] and [OR]."""
        flat: list[object] = []
        for part in parts:
            if isinstance(part, list):
                flat.extend(part)
            elif isinstance(part, Token):
                flat.append(_flat([part]))
        return flat

    def conjunction(self, _: Meta, parts: list[object]) -> list[object]:
        return [
            [Word(part.upper(), spot_of(part))] if isinstance(part, Token) else part
            for part in parts
        ]

    def conjuncts(self, parts: list[object]) -> list[Equivalence | list[Word]]:
        """AND parts conjuncts, unless an OR beside it binds all into one condition."""
        joins = [part[0].text for part in parts[1::2] if isinstance(part, list)]
        if "OR" not in joins:
            return list(parts[::2])  # type: ignore[arg-type]
        for part in parts:
            if isinstance(part, Equivalence):
                raise self.refuse(
                    "An equivalence cannot stand beside OR",
                    part.place,
                    "Join it by AND, and put the OR in parentheses.",
                )
        return [[word for part in parts for word in part]]  # type: ignore[attr-defined]

    def equivalence(self, meta: Meta, names: list[Name]) -> Equivalence:
        return Equivalence(tuple(name.text for name in names), place_of(meta))

    def condition(self, _: Meta, parts: list[list[Word]]) -> list[Word]:
        return [word for part in parts for word in part]

    def range(self, _: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        return _flat(parts)

    def function(self, _: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        name, *rest = parts
        assert isinstance(name, Token)
        return [Call(name.upper(), spot_of(name)), *_flat(rest)]

    def group(self, _: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        return _flat(parts)

    def typed(self, meta: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        """In a spelling that all engines read alike."""
        word, string = _flat(parts)
        try:
            text = to_text(word.text, from_text(word.text, string.text[1:-1]))
        except ValueError:
            cause = f"{string.text} is not a {word.text.lower()}"
            raise self.refuse(cause, place_of(meta), SPELLED) from None
        return [word, replace(string, text=f"'{text}'")]

    def word(self, _: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        return _flat(parts)

    def inner_word(self, _: Meta, parts: list[Token | list[Word]]) -> list[Word]:
        return _flat(parts)

    def bare_word(self, meta: Meta, parts: list[Name]) -> list[Word]:
        place = place_of(meta)
        return [Mention(parts[0].text, place, Reference(None, parts[0].text))]

    def column(self, meta: Meta, parts: list[Name | Index]) -> list[Word]:
        variable, *between, attribute = parts
        assert isinstance(variable, Name)
        assert isinstance(attribute, Name)
        index = next((part for part in between if isinstance(part, Index)), None)
        reference = Reference(variable.text, attribute.text)
        return [Mention(attribute.text, place_of(meta), reference, index)]

    def next_column(self, meta: Meta, parts: list[Token | Name]) -> list[Word]:
        _, variable, attribute = parts
        assert isinstance(variable, Name)
        assert isinstance(attribute, Name)
        reference = Reference(variable.text, attribute.text, next=True)
        return [Mention(attribute.text, place_of(meta), reference)]

    def index(self, meta: Meta, parts: list[Token]) -> Index:
        letter, *shift = parts
        if letter.type == "NUMBER" or any(not s.isdecimal() for s in shift[1:]):
            raise self.refuse(
                "A place in a trend cannot be chosen by number",
                place_of(meta),
                "Write b[i] for every b, and b[i-1] for the one before it.",
            )
        return Index(str(letter), int("".join(shift) or "0"))

    def name(self, _: Meta, parts: list[Token]) -> Name:
        return Name(unquote(parts[0]), spot_of(parts[0]))


def _flat(parts: list[Token | list[Word]]) -> list[Word]:
    words: list[Word] = []
    for part in parts:
        if isinstance(part, Token):
            # Strings keep their case; the other words are keywords, numbers and signs.
            text = str(part) if part.type == "STRING" else part.upper()
            words.append(Word(text, spot_of(part)))
        else:
            words.extend(part)
    return words


def without_angles(parts: list[object]) -> list[object]:
    """A-Seq writes WHERE <…>; no condition begins with < and ends with >."""
    first, last = parts[0], parts[-1]
    if not (isinstance(first, list) and isinstance(last, list)):
        return parts
    if first[0].text != "<" or last[-1].text != ">":
        return parts
    parts = [first[1:], *parts[1:]]
    return [*parts[:-1], parts[-1][:-1]]  # type: ignore[index]
