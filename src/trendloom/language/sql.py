"""Words of WHERE and HAVING → sqlglot trees.

1. The grammar has cut the text into words and knows which of them are references.
2. Each reference becomes a placeholder, so no name can be mistaken for a word of SQL.
3. sqlglot parses the words, joined by blanks.
4. What the language does not offer is refused, and the placeholders become columns again.

Every word remembers its place, so an error of sqlglot points into the query, not into step 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from trendloom.errors import Place, QuerySyntaxError, did_you_mean
from trendloom.language import expressions, foreign
from trendloom.language.aggregates import FUNCTIONS, aggregate, not_offered
from trendloom.language.expressions import Reference
from trendloom.language.limits import MAX_TERMS
from trendloom.language.nodes import Condition
from trendloom.language.words import KEYWORDS, OFFERED, near_clause, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCALARS = ("ABS", "ROUND", "UPPER", "LOWER", "COALESCE")
_SQL_WORDS = frozenset(
    {
        *("CASE", "WHEN", "SELECT", "CAST", "TRY_CAST", "EXISTS", "INTERVAL", "OVER", "ESCAPE"),
        *("ILIKE", "SIMILAR", "ANY", "ALL", "ARRAY", "FROM"),
    }
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_NODES = (
    *_COMPARISONS,
    *_NUMBERS,
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.In, exp.Between, exp.Like, exp.Is),
    *(exp.Null, exp.Boolean, exp.Literal, exp.Column, exp.Identifier, exp.Star, exp.Length),
    *(exp.Abs, exp.Round, exp.Upper, exp.Lower, exp.Coalesce, exp.Cast, exp.DataType),
)


@dataclass(frozen=True, slots=True)
class Index:
    """The `i-1` of `b[i-1]`: its letter and its shift."""

    letter: str
    shift: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word that sqlglot reads as it stands."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Call(Word):
    """The name of a function."""


@dataclass(frozen=True, slots=True)
class Mention(Word):
    """A reference; `index` is there for the `b[i]` of SASE."""

    reference: Reference
    index: Index | None = None


def where_conditions(words: Sequence[Word], text: str) -> tuple[Condition, ...]:
    """The conditions that these words of WHERE state together."""
    place = Place(words[0].place.start, words[-1].place.end)
    for before, word in zip([None, *words], words, strict=False):
        if isinstance(word, Mention) and word.reference.variable is None:
            raise _bare_word(word, before, text)
        if isinstance(word, Call):
            _check_function(word, text, having=False)
    tree = _parse(_resolve_indexes(words, text), text)
    parts = [part for conjunct in expressions.conjuncts(tree) for part in _unchain(conjunct)]
    found = [
        Condition(part, place if len(parts) == 1 else expressions.place_of(part) or place)
        for part in parts
    ]
    for condition in found:
        _check(condition.tree, text, condition.place)
    return tuple(found)


def having_condition(words: Sequence[Word], text: str) -> Condition:
    """HAVING as one condition; its aggregates are checked, its names are left to the planner."""
    place = Place(words[0].place.start, words[-1].place.end)
    for word in words:
        if isinstance(word, Call):
            _check_function(word, text, having=True)
        elif isinstance(word, Mention) and word.index is not None:
            raise QuerySyntaxError(
                "An index has no meaning in HAVING",
                text=text,
                place=word.place,
                remedy="HAVING speaks of aggregates, aliases and group attributes.",
            )
        elif isinstance(word, Mention) and word.reference.next:
            raise QuerySyntaxError(
                "NEXT has no meaning in HAVING",
                text=text,
                place=word.place,
                remedy="Move the condition on neighbouring events to WHERE.",
            )
    tree = expressions.bare(_parse(words, text))
    _check(tree, text, place, having=True)
    return Condition(tree, place)


# ── before sqlglot ───────────────────────────────────────────────────────────────────────────


def _bare_word(word: Mention, before: Word | None, text: str) -> QuerySyntaxError:
    name = word.reference.attribute
    if name.upper() in _SQL_WORDS:
        return _not_offered(name.upper(), text, word.place)
    quoted = text[word.place.start] == '"'
    if name.upper() in foreign.CLAUSES and not quoted:
        return _clause_of_sql(word, text)
    if isinstance(before, Mention) and not quoted:
        whole = quote(f"{before.reference.attribute} {name}")
        return QuerySyntaxError(
            f"The word {name} stands without a variable",
            text=text,
            place=word.place,
            remedy="A name with a blank in it stands in double quotes: "
            f"{quote(before.reference.variable or 'VARIABLE')}.{whole}.",
        )
    if name.upper() in KEYWORDS and not quoted:
        return QuerySyntaxError(
            f"'{text[word.place.start : word.place.end]}' cannot stand here",
            text=text,
            place=word.place,
            remedy=OFFERED,
        )
    near = near_clause(name)
    remedy = f"Quote it as a string ('{name}') or write VARIABLE.{name}."
    if near is not None:
        remedy = f"{near} Otherwise: {remedy[0].lower()}{remedy[1:]}"
    return QuerySyntaxError(
        f"The word {name} stands without a variable", text=text, place=word.place, remedy=remedy
    )


def _clause_of_sql(word: Word, text: str) -> QuerySyntaxError:
    written = text[word.place.start : word.place.end]
    cause, remedy = foreign.clause(written)
    return QuerySyntaxError(cause, text=text, place=word.place, remedy=remedy)


def _not_offered(what: str, text: str, place: Place) -> QuerySyntaxError:
    return QuerySyntaxError(f"{what} is not offered", text=text, place=place, remedy=OFFERED)


def _check_function(call: Call, text: str, *, having: bool) -> None:
    name = call.text.upper()
    aggregates = {*FUNCTIONS, "LOG2"}
    if name in SCALARS or name == "LENGTH" or (having and name in aggregates):
        return
    if name in aggregates:
        raise QuerySyntaxError(
            f"{name} is an aggregate and cannot stand in WHERE",
            text=text,
            place=call.place,
            remedy="Put a condition on aggregates into HAVING.",
        )
    if (remedy := foreign.instead_of_neighbour(name)) is not None:
        raise QuerySyntaxError(f"{name} is not offered", text=text, place=call.place, remedy=remedy)
    if name in foreign.AGGREGATES:
        raise not_offered(name, text=text, place=call.place)
    if name in _SQL_WORDS or name in foreign.FUNCTIONS:
        raise _not_offered(name, text, call.place)
    known = [*SCALARS, "LENGTH", "NEXT", *(aggregates if having else ())]
    near = did_you_mean(name, known)
    raise QuerySyntaxError(
        f"There is no function {name}",
        text=text,
        place=call.place,
        remedy=near if near.startswith("Did") else OFFERED,
    )


def _resolve_indexes(words: Sequence[Word], text: str) -> list[Word]:
    """`b[i-1].x … b[i].x` speaks of neighbours: the later one is NEXT."""
    indexed = [word for word in words if isinstance(word, Mention) and word.index is not None]
    letters = {word.index.letter for word in indexed if word.index is not None}
    shifts = sorted({word.index.shift for word in indexed if word.index is not None})
    if len(letters) > 1 or len(shifts) > 2 or shifts[-1:] > [shifts[0] + 1 if shifts else 0]:
        raise QuerySyntaxError(
            "Only neighbours can be compared by index",
            text=text,
            place=indexed[-1].place,
            remedy="Write b[i-1].x with b[i].x, or b.x with NEXT(b).x.",
        )
    later = shifts[-1] if len(shifts) == 2 else None
    return [
        Mention(
            word.text,
            word.place,
            Reference(
                word.reference.variable,
                word.reference.attribute,
                word.reference.next or (word.index is not None and word.index.shift == later),
            ),
        )
        if isinstance(word, Mention)
        else word
        for word in words
    ]


# ── through sqlglot ──────────────────────────────────────────────────────────────────────────


def _parse(words: Sequence[Word], text: str) -> exp.Expr:
    mentions = {f"_r{n}": word for n, word in enumerate(words) if isinstance(word, Mention)}
    # sqlglot would take `_r0 .5` for a column of `_r0`.
    spelled = [
        f"_r{n}" if isinstance(word, Mention) else "0" * word.text.startswith(".") + word.text
        for n, word in enumerate(words)
    ]
    try:
        tree = sqlglot.parse_one(" ".join(spelled), into=exp.Condition, dialect="duckdb")
    except SqlglotError as error:
        raise _misunderstood(error, words, spelled, text) from None

    def restore(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            mention = mentions.get(node.name)
            if mention is None:
                place = Place(words[0].place.start, words[-1].place.end)
                raise QuerySyntaxError(
                    "This condition cannot be read", text=text, place=place, remedy=OFFERED
                )
            return expressions.column(mention.reference, mention.place)
        return node

    low = _balanced(tree.transform(restore))
    _check_chains(low, text, Place(words[0].place.start, words[-1].place.end))
    return low


def _balanced(tree: exp.Expr) -> exp.Expr:
    """The same tree, with what AND or OR joins as a low tree instead of a chain.

    It prints alike, and thousands of terms take a few frames of Python's stack instead of all.
    """
    connectors = [node for node in tree.walk() if isinstance(node, exp.And | exp.Or)]
    for node in reversed(connectors):
        if type(node.parent) is type(node):
            continue
        parts = list(node.flatten(unnest=False))
        if len(parts) < 4:
            continue
        low = _joined(type(node), parts)
        if node is tree:
            return low
        node.replace(low)
    return tree


def _joined(connector: type[exp.And | exp.Or], parts: list[exp.Expr]) -> exp.Expr:
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        last = parts[-1:] if len(parts) % 2 else []
        parts = [connector(this=left, expression=right) for left, right in pairs] + last
    return parts[0]


def _check_chains(tree: exp.Expr, text: str, place: Place) -> None:
    """Refuses arithmetic that nests deeper than whoever walks through it can follow."""
    depths = {id(tree): 1}
    for node in tree.bfs():
        depth = depths[id(node)]
        if depth > MAX_TERMS:
            raise QuerySyntaxError(
                f"This condition has a chain of more than {MAX_TERMS} terms",
                text=text,
                place=place,
                remedy="Compute it as an attribute of the events; values to choose from can "
                "stand in a list, as in IN (1, 2), and conditions side by side, as in … AND ….",
            )
        for child in node.iter_expressions():
            depths[id(child)] = depth + 1


def _misunderstood(
    error: SqlglotError, words: Sequence[Word], spelled: Sequence[str], text: str
) -> QuerySyntaxError:
    """sqlglot names the column where its word ends; count which of our words that is."""
    ends = [end - 1 for end in accumulate(len(word) + 1 for word in spelled)]
    for word in words:
        if text[word.place.start : word.place.end].upper() in foreign.CLAUSES:
            return _clause_of_sql(word, text)
    details = getattr(error, "errors", None) or [{}]
    column = details[0].get("col") or ends[-1]
    word = next((w for w, end in zip(words, ends, strict=True) if end >= column), words[-1])
    written = text[word.place.start : word.place.end]
    missing = str(details[0].get("description", "")).startswith("Required")
    return QuerySyntaxError(
        f"Something is missing at {written}" if missing else f"This condition breaks at {written}",
        text=text,
        place=word.place,
        remedy=OFFERED,
    )


# ── after sqlglot ────────────────────────────────────────────────────────────────────────────


def _unchain(tree: exp.Expression) -> Iterator[exp.Expression]:
    """`A.id = B.id = C.id` (A-Seq) states A.id = B.id and B.id = C.id."""
    if isinstance(tree, exp.EQ) and isinstance(left := tree.this, exp.EQ):
        yield from _unchain(left)
        yield exp.EQ(this=left.expression.copy(), expression=tree.expression.copy())
    else:
        yield tree


def _check(tree: exp.Expr, text: str, place: Place, *, having: bool = False) -> None:
    """Refuse what sqlglot understands and the language does not offer."""

    def where(node: exp.Expr) -> Place:
        return expressions.place_of(node) or place

    if isinstance(tree, (*_NUMBERS, exp.Literal)):
        raise QuerySyntaxError(
            "This is a value, not a condition",
            text=text,
            place=place,
            remedy="Compare it with something.",
        )
    pending = [tree]
    while pending:
        node = pending.pop()
        if having and (type(node) in expressions.AGGREGATES or isinstance(node, exp.Log)):
            _check_aggregate(node, text, place)
            continue
        if (oddity := _oddity(node)) is not None:
            raise QuerySyntaxError(oddity, text=text, place=where(node), remedy=OFFERED)
        if isinstance(node, _COMPARISONS) and any(
            isinstance(side, _COMPARISONS) for side in (node.left, node.right)
        ):
            raise QuerySyntaxError(
                "This chain of comparisons has no meaning",
                text=text,
                place=where(node),
                remedy="Join two comparisons by AND; only A.id = B.id = C.id may be chained.",
            )
        pending.extend(node.iter_expressions())


def _oddity(node: exp.Expr) -> str | None:
    """What is wrong with an allowed node that only sqlglot's lenience lets pass."""
    match node:
        case exp.Star() if not isinstance(node.parent, exp.Length):
            return "A * stands where a value should"
        case exp.Length() if not isinstance(node.this, exp.Star) or node.args.get("binary"):
            return "LENGTH is the number of events of a trend, LENGTH(*), and nothing else"
        case exp.In() if not node.expressions or node.args.get("field") or node.args.get("query"):
            return "IN needs a list, as in IN (1, 2)"
        case exp.Is() if not isinstance(node.expression, exp.Null | exp.Boolean):
            return "IS goes with NULL, TRUE or FALSE"
        case exp.Round() if node.args.get("truncate"):
            return "ROUND takes a value and a number of decimals"
        case exp.Cast() if not node.this.is_string:
            return "A cast is not offered"
        case _ if not isinstance(node, _NODES):
            return "This form of condition is not offered"
    return None


def _check_aggregate(node: exp.Expr, text: str, place: Place) -> None:
    inner = node.expression if isinstance(node, exp.Log) else node
    found = expressions.aggregate_of(inner) if inner is not None else None
    mention = node.find(exp.Column)
    spot = place if mention is None else expressions.place_of(mention) or place
    if found is None:
        raise QuerySyntaxError(
            "This aggregate has no meaning",
            text=text,
            place=spot,
            remedy="Write COUNT(*), COUNT(V), SUM(V.attribute), MIN(LENGTH(*)) or LOG2(COUNT(*)).",
        )
    aggregate(
        found.function,
        found.argument,
        distinct=found.distinct,
        log2=isinstance(node, exp.Log),
        text=text,
        place=spot,
    )
