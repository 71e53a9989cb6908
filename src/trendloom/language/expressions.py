"""Reading the SQL expressions of WHERE and HAVING: what they mention, and how they print.

A reference `S.price` is `Column(this=price, table=S)`; `NEXT(S).price` has `db=NEXT` as well; an
alias or attribute in HAVING is a Column without a table. All identifiers are marked as quoted, so
that equal names are equal trees and any SQL made from them is safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp
from sqlglot.generator import Generator

from trendloom.errors import Place
from trendloom.language.nodes import (
    NOWHERE,
    Aggregate,
    Argument,
    Function,
    Length,
    Occurrences,
    Trends,
    Values,
)
from trendloom.language.words import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEXT = "NEXT"

AGGREGATES: dict[type[exp.Expr], Function] = {
    exp.Count: Function.COUNT,
    exp.Sum: Function.SUM,
    exp.Min: Function.MIN,
    exp.Max: Function.MAX,
    exp.Avg: Function.AVG,
    exp.Variance: Function.VARIANCE,
    exp.Stddev: Function.STDDEV,
}


@dataclass(frozen=True, slots=True)
class Reference:
    """`S.price`, `NEXT(S).price` (`next` is True), or a bare name (`variable` is None)."""

    variable: str | None
    attribute: str
    next: bool = False


def column(reference: Reference, place: Place = NOWHERE) -> exp.Column:
    """The reference as a tree; `place_of` finds the place again."""
    tree = exp.column(
        reference.attribute,
        table=reference.variable,
        db=NEXT if reference.next else None,
        quoted=True,
    )
    tree.meta["place"] = place
    return tree


def reference_of(tree: exp.Column) -> Reference:
    """The reference that `column` made into this tree."""
    return Reference(tree.table or None, tree.name, tree.db == NEXT)


def place_of(tree: exp.Expr) -> Place | None:
    """The stretch of the query text from the first to the last reference of the tree."""
    places = [mention.meta.get("place") for mention in tree.find_all(exp.Column)]
    known = [place for place in places if isinstance(place, Place) and place != NOWHERE]
    if not known:
        return None
    return Place(min(place.start for place in known), max(place.end for place in known))


def references(tree: exp.Expr) -> tuple[Reference, ...]:
    """The different references of the tree, from left to right; not those inside aggregates."""
    found = (reference_of(mention) for mention in _columns(tree))
    return tuple(dict.fromkeys(found))


def bare(tree: exp.Expr) -> exp.Expression:
    """The tree without parentheses around it."""
    inner = tree.unnest()
    assert isinstance(inner, exp.Expression)
    return inner


def conjuncts(tree: exp.Expr) -> tuple[exp.Expression, ...]:
    """The parts that AND joins, without the parentheses around them."""
    whole = bare(tree)
    if isinstance(whole, exp.And):
        return (*conjuncts(whole.left), *conjuncts(whole.right))
    return (whole,)


def having_aggregates(tree: exp.Expr) -> tuple[tuple[exp.Expression, Aggregate], ...]:
    """Each outermost aggregate sub-tree of a HAVING tree, with its meaning."""
    return tuple(
        (part, found)
        for part in _outermost(tree)
        if isinstance(part, exp.Expression) and (found := aggregate_of(part)) is not None
    )


def aggregate_of(tree: exp.Expr) -> Aggregate | None:
    """The aggregate that the tree is, if it is one; arguments of a wrong kind give None."""
    if isinstance(tree, exp.Log):
        base, inner = tree.this, tree.expression
        found = aggregate_of(inner) if inner is not None and base.name == "2" else None
        if found is None or found.log2:
            return None
        return Aggregate(found.function, found.argument, found.distinct, log2=True)
    function = AGGREGATES.get(type(tree))
    if function is None:
        return None
    inner = tree.this
    distinct = isinstance(inner, exp.Distinct)
    if distinct:
        inner = inner.expressions[0] if len(inner.expressions) == 1 else None
    argument = _argument(inner)
    others = [
        value
        for key, value in tree.args.items()
        if key != "this" and isinstance(value, exp.Expr | list) and value
    ]
    return None if argument is None or others else Aggregate(function, argument, distinct)


def to_sql(tree: exp.Expr) -> str:
    """The expression in query spelling, on one line: `S.price < NEXT(S).price`."""
    return _QueryGenerator().generate(tree)


def _argument(tree: exp.Expr | None) -> Argument | None:
    match tree:
        case exp.Star():
            return Trends()
        case exp.Length() if isinstance(tree.this, exp.Star):
            return Length()
        case exp.Column():
            mention = reference_of(tree)
            place = place_of(tree) or NOWHERE
            if mention.next:
                return None
            if mention.variable is None:
                return Occurrences(mention.attribute, place)
            return Values(mention.variable, mention.attribute, place)
    return None


def _is_aggregate(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Log) or type(tree) in AGGREGATES


def _outermost(tree: exp.Expr) -> Iterator[exp.Expr]:
    if _is_aggregate(tree):
        yield tree
    else:
        for child in tree.iter_expressions():
            yield from _outermost(child)


def _columns(tree: exp.Expr) -> Iterator[exp.Column]:
    if isinstance(tree, exp.Column):
        yield tree
    elif not _is_aggregate(tree):
        for child in tree.iter_expressions():
            yield from _columns(child)


def _column_sql(_: object, tree: exp.Column) -> str:
    mention = reference_of(tree)
    if mention.variable is None:
        return quote(mention.attribute)
    variable = quote(mention.variable)
    return (f"NEXT({variable})" if mention.next else variable) + "." + quote(mention.attribute)


def _cast_sql(generator: Generator, tree: exp.Cast) -> str:
    word = "DATE" if tree.is_type(exp.DType.DATE) else "TIMESTAMP"
    return f"{word} {generator.sql(tree, 'this')}"


def _not_sql(generator: Generator, tree: exp.Not) -> str:
    """`a NOT IN (…)` and its like, as people write them."""
    inner = tree.this
    words = {exp.In: "IN", exp.Between: "BETWEEN", exp.Like: "LIKE"}
    if isinstance(inner, exp.Is):
        return f"{generator.sql(inner, 'this')} IS NOT {generator.sql(inner, 'expression')}"
    if (word := words.get(type(inner))) is not None:
        whole, subject = generator.sql(inner), generator.sql(inner, "this")
        return f"{subject} NOT {word}" + whole.removeprefix(f"{subject} {word}")
    return f"NOT {generator.sql(inner)}"


class _QueryGenerator(Generator):
    """sqlglot's own spelling, except for what the query language writes in its own way.

    Not DuckDB's: that one rewrites calls for DuckDB's sake (UPPER of a date, say).
    """

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        **Generator.TRANSFORMS,
        exp.Column: _column_sql,
        exp.Cast: _cast_sql,
        exp.Not: _not_sql,
        exp.Length: lambda *_: "LENGTH(*)",
        exp.Log: lambda generator, tree: f"LOG2({generator.sql(tree, 'expression')})",
    }
