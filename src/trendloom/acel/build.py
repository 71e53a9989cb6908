"""lark's tree → formula, each node with its place in the text."""

from __future__ import annotations

from functools import partialmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token, Transformer, v_args

from trendloom.acel import conditions, nodes
from trendloom.acel.words import unquote
from trendloom.errors import Place, QuerySyntaxError
from trendloom.language.moments import SPELLED, from_text

if TYPE_CHECKING:
    from datetime import datetime

    from lark.tree import Meta


def _place(meta: Meta) -> Place:
    return Place(meta.start_pos, meta.end_pos)


class _Word(NamedTuple):
    """A name and where it stands."""

    name: str
    place: Place


def _plain(words: tuple[_Word, ...]) -> tuple[str, ...]:
    return tuple(word.name for word in words)


@v_args(meta=True)
class Builder(Transformer[Token, Any]):
    """One method for each rule of the grammar that makes a node."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def start(self, _: Meta, children: list[Any]) -> nodes.Formula:
        return children[0]  # type: ignore[no-any-return]

    def group(self, _: Meta, children: list[Any]) -> Any:
        return children[1]

    def name(self, meta: Meta, children: list[Any]) -> _Word:
        return _Word(unquote(children[0]), _place(meta))

    def names(self, _: Meta, children: list[Any]) -> tuple[_Word, ...]:
        return tuple(children)

    def _leaf(self, meta: Meta, children: list[Any], *, node: Any) -> Any:
        words = [child for child in children if not isinstance(child, Token)]
        names = [word.name if isinstance(word, _Word) else word for word in words]
        return node(*names, place=_place(meta))

    def _pair(self, meta: Meta, children: list[Any], *, node: Any) -> Any:
        left, right = children
        return node(left, right, place=_place(meta))

    event = partialmethod(_leaf, node=nodes.OneEvent)
    next_event = partialmethod(_leaf, node=nodes.Next)
    iteration = partialmethod(_leaf, node=nodes.Iteration)
    contiguous_iteration = partialmethod(_leaf, node=nodes.ContiguousIteration)
    labelled = partialmethod(_leaf, node=nodes.As)
    either = partialmethod(_pair, node=nodes.Or)
    conjunction = partialmethod(_pair, node=nodes.And)
    later = partialmethod(_pair, node=nodes.Sequence)
    directly = partialmethod(_pair, node=nodes.Contiguous)

    def filtered(self, _: Meta, children: list[Any]) -> nodes.Filter:
        inner, variable, condition = children
        return nodes.Filter(inner, variable.name, condition, variable.place)

    def pairs_filtered(self, _: Meta, children: list[Any]) -> nodes.PairFilter:
        inner, left, right, condition = children
        place = Place(left.place.start, right.place.end)
        return nodes.PairFilter(inner, left.name, right.name, condition, place=place)

    def last_filtered(self, _: Meta, children: list[Any]) -> nodes.PairFilter:
        inner, word, _, left, _, right, condition = children
        place = Place(word.start_pos, right.place.end)
        return nodes.PairFilter(inner, left.name, right.name, condition, last=True, place=place)

    def project(self, meta: Meta, children: list[Any]) -> nodes.Project:
        # Without names there is nothing before the parenthesis.
        if isinstance(children[0], Token):
            return nodes.Project(children[-2], (), _place(meta))
        words = children[0]
        place = Place(words[0].place.start, words[-1].place.end)
        return nodes.Project(children[-2], _plain(words), place)

    def project_attributes(self, _: Meta, children: list[Any]) -> nodes.ProjectAttributes:
        variable, _, attributes, _, _, inner, _ = children
        place = Place(variable.place.start, attributes[-1].place.end)
        return nodes.ProjectAttributes(inner, variable.name, _plain(attributes), place)

    def assigns(self, _: Meta, children: list[Any]) -> tuple[nodes.Assign, ...]:
        return tuple(children)

    def assign(self, meta: Meta, children: list[Any]) -> nodes.Assign:
        attribute, function, _, variable, source, _ = children
        return nodes.Assign(
            attribute.name, function.upper(), variable.name, source.name, _place(meta)
        )

    def aggregation(self, meta: Meta, children: list[Any]) -> nodes.Aggregation:
        variable, _, assigns, _, _, inner, _ = children
        return nodes.Aggregation(inner, variable.name, assigns, _place(meta))

    # ── conditions ───────────────────────────────────────────────────────────────────────────

    def bag_condition(self, meta: Meta, children: list[Any]) -> conditions.BagCondition:
        return conditions.BagCondition(children[0].lower(), children[2].name, _place(meta))

    attribute = partialmethod(_leaf, node=conditions.Attribute)

    def attribute_of(self, meta: Meta, children: list[Any]) -> conditions.Attribute:
        variable, name = children
        return conditions.Attribute(name.name, _place(meta), variable.name)

    def attribute_of_last(self, meta: Meta, children: list[Any]) -> conditions.Attribute:
        _, _, variable, _, name = children
        return conditions.Attribute(name.name, _place(meta), variable.name, last=True)

    is_null = partialmethod(_leaf, node=conditions.IsNull)
    negated = partialmethod(_leaf, node=conditions.Not)
    any_of = partialmethod(_pair, node=conditions.Any)
    all_both = partialmethod(_pair, node=conditions.All)

    def is_not_null(self, meta: Meta, children: list[Any]) -> conditions.Not:
        return conditions.Not(conditions.IsNull(children[0], _place(meta)), _place(meta))

    like = partialmethod(_pair, node=conditions.Like)

    def not_like(self, meta: Meta, children: list[Any]) -> conditions.Not:
        left, _, right = children
        return conditions.Not(conditions.Like(left, right, _place(meta)), _place(meta))

    def comparison(self, meta: Meta, children: list[Any]) -> conditions.Comparison:
        left, sign, right = children
        comparator = "!=" if sign == "<>" else str(sign)
        return conditions.Comparison(comparator, left, right, _place(meta))  # type: ignore[arg-type]

    def arithmetic(self, meta: Meta, children: list[Any]) -> conditions.Arithmetic:
        left, sign, right = children
        return conditions.Arithmetic(str(sign), left, right, _place(meta))  # type: ignore[arg-type]

    def call(self, meta: Meta, children: list[Any]) -> conditions.Call:
        function, _, *terms, _ = children
        return conditions.Call(function.upper(), tuple(terms), _place(meta))

    def signed(self, meta: Meta, children: list[Any]) -> conditions.Term:
        sign, term = children
        return term if sign == "+" else conditions.Negative(term, _place(meta))

    def literal(self, meta: Meta, children: list[Any]) -> conditions.Literally:
        token, place = children[0], _place(meta)
        match token.type:
            case "STRING":
                return conditions.Literally(token[1:-1].replace("''", "'"), place)
            case "TRUE" | "FALSE":
                return conditions.Literally(token.type == "TRUE", place)
            case "NULL":
                return conditions.Literally(None, place)
            case "TYPED":
                return conditions.Literally(self._moment(token.upper(), children[1], place), place)
        value = int(token) if token.isdecimal() and len(token) < 4000 else float(token)
        if value == float("inf"):
            raise QuerySyntaxError(
                "This number is beyond the largest double",
                text=self._text,
                place=place,
                remedy="Write a smaller one.",
            )
        return conditions.Literally(value, place)

    def _moment(self, word: str, string: Token, place: Place) -> datetime:
        try:
            return from_text(word, string[1:-1])
        except ValueError:
            raise QuerySyntaxError(
                f"{string} is not a {word.lower()}",
                text=self._text,
                place=place,
                remedy=SPELLED,
            ) from None
