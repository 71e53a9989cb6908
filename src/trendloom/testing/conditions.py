"""WHERE, taken apart by what each conjunct refers to (§4).

One variable: local. Two, the later one under NEXT: adjacent. Two without NEXT: anchored.
LENGTH(*): a condition on the finished trend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import Both, Condition, Equivalence, Pattern, Query, events_of
from trendloom.testing.expressions import satisfied
from trendloom.testing.words import anchors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.testing.records import Record


@dataclass(frozen=True, slots=True)
class Local:
    """Each event of `variable` satisfies `tree`."""

    variable: str
    tree: exp.Expr

    def holds(self, event: Record) -> bool:
        return _holds(self.tree, {(self.variable, False): event})


@dataclass(frozen=True, slots=True)
class Adjacent:
    """Each `before` directly followed by an `after` satisfies `tree`."""

    before: str
    after: str
    tree: exp.Expr

    def holds(self, event: Record, following: Record) -> bool:
        return _holds(self.tree, {(self.before, False): event, (self.after, True): following})


@dataclass(frozen=True, slots=True)
class Anchored:
    """The one `anchor` of a trend satisfies `tree` with every `other` after it."""

    anchor: str
    other: str
    tree: exp.Expr

    def holds(self, anchor: Record, event: Record) -> bool:
        return _holds(self.tree, {(self.anchor, False): anchor, (self.other, False): event})


@dataclass(frozen=True, slots=True)
class OfLength:
    """The finished trend's length satisfies `tree`."""

    tree: exp.Expr

    def holds(self, length: int) -> bool:
        return satisfied(
            self.tree, lambda leaf: (True, length) if is_length(leaf) else (False, None)
        )


@dataclass(frozen=True, slots=True)
class Conditions:
    """All of WHERE but the equivalences, by class."""

    local: tuple[Local, ...] = ()
    adjacent: tuple[Adjacent, ...] = ()
    anchored: tuple[Anchored, ...] = ()
    of_length: tuple[OfLength, ...] = ()


def equivalences(query: Query) -> tuple[str, ...]:
    """The attributes that all events of a trend agree on."""
    return tuple(
        attribute
        for condition in query.where
        if isinstance(condition, Equivalence)
        for attribute in condition.attributes
    )


def classify(query: Query) -> Conditions:
    """Each conjunct of WHERE in its class."""
    found = [
        _classify(tree, query.pattern)
        for condition in query.where
        if isinstance(condition, Condition)
        for tree in conjuncts(condition.tree)
    ]
    return Conditions(
        tuple(one for one in found if isinstance(one, Local)),
        tuple(one for one in found if isinstance(one, Adjacent)),
        tuple(one for one in found if isinstance(one, Anchored)),
        tuple(one for one in found if isinstance(one, OfLength)),
    )


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a conjunction, also of one in parentheses."""
    if isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    elif isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    else:
        yield tree


def is_length(leaf: exp.Expr) -> bool:
    """Is this `LENGTH(*)`?"""
    return isinstance(leaf, exp.Length) and isinstance(leaf.this, exp.Star)


def _classify(tree: exp.Expr, pattern: Pattern) -> Local | Adjacent | Anchored | OfLength:
    columns = list(tree.find_all(exp.Column))
    now = sorted({column.table for column in columns if not _is_next(column)})
    following = sorted({column.table for column in columns if _is_next(column)})
    has_length = any(is_length(node) for node in tree.find_all(exp.Length))
    known = {event.variable for event in events_of(pattern)}
    if known.issuperset(now) and known.issuperset(following):
        match (has_length, now, following):
            case (True, [], []):
                return OfLength(tree)
            case (False, [variable], []):
                return Local(variable, tree)
            case (False, [before], [after]):
                return Adjacent(before, after, tree)
            case (False, [one, two], []):
                for part in pattern.parts if isinstance(pattern, Both) else (pattern,):
                    inside = {event.variable for event in events_of(part)}
                    for anchor, other in ((one, two), (two, one)):
                        if {one, two} <= inside and anchors(part, anchor, other):
                            return Anchored(anchor, other, tree)
    raise QueryMeaningError("The oracle cannot define this condition.", text=tree.sql())


def _is_next(column: exp.Column) -> bool:
    return bool(column.db.upper() == "NEXT")


def _holds(tree: exp.Expr, rows: dict[tuple[str, bool], Record]) -> bool:
    def lookup(leaf: exp.Expr) -> tuple[bool, Any]:
        if not isinstance(leaf, exp.Column):
            return False, None
        return True, rows[leaf.table, _is_next(leaf)][leaf.name]

    return satisfied(tree, lookup)
