"""Formulas as trend queries, where every complex event is one trend: to aggregate all of them
without finding each (the trend engine's way).

Inside are `R`, `AS`, `;` or `:` (one of the two throughout), `+` or `:+`, `OR`, filters on single
events, `increasing` and `decreasing` right behind a repeated event, and PROJECT around it that
leaves every event a variable. Outside is what needs more than that: the reason is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from trendloom.acel import nodes as n
from trendloom.acel.bridge.neighbours import repeats_only
from trendloom.acel.conditions import BagCondition
from trendloom.acel.depth import bounded
from trendloom.acel.sql import condition_tree
from trendloom.errors import QueryMeaningError
from trendloom.language import nodes as t
from trendloom.language.parser import parse as parse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.acel.conditions import Condition
    from trendloom.errors import Place


@dataclass(eq=False)
class _Leaf:
    """One occurrence of an event type: who holds it, and what is asked of it."""

    type: str
    held_by: list[str]
    conditions: list[Condition] = field(default_factory=list)
    shapes: list[BagCondition] = field(default_factory=list)

    def __hash__(self) -> int:
        return id(self)


_Tree = tuple[str, "list[_Tree | _Leaf]"]


@bounded
def to_query(
    formula: n.Formula,
    text: str,
    returns: str,
    *,
    partition_by: Sequence[str] = (),
    window: t.TimeWindow | t.CountWindow | None = None,
) -> t.Query:
    """The query that aggregates the formula's complex events as `returns` says."""
    return _Reader(text).query(formula, returns, tuple(partition_by), window)


@dataclass
class _Reader:
    text: str
    joins: set[str] = field(default_factory=set)

    def query(
        self,
        formula: n.Formula,
        returns: str,
        partition_by: tuple[str, ...],
        window: t.TimeWindow | t.CountWindow | None,
    ) -> t.Query:
        if isinstance(window, t.TimeWindow) and window.slide is None:
            self._refuse(
                "A window without a slide says which results are listed, not how to group them",
                t.NOWHERE,
                "Add a slide; as long as the window, for windows side by side.",
            )
        tree = self._tree(formula)
        leaves = _leaves(tree)
        names = self._names(tree, leaves)
        if len(self.joins) > 1:
            self._refuse("';' and ':' are mixed", formula.place, "Use one of them throughout.")
        pattern = _pattern(tree, names)
        where = self._where(leaves, names, pattern)
        keys = tuple(t.GroupKey(name) for name in partition_by)
        items = parse_query(f"RETURN {returns} PATTERN {_quoted(leaves[0].type)}").returns
        shown = tuple(t.Item(key, text=key.attribute) for key in keys)
        known = {item.value for item in items}
        return t.Query(
            pattern=pattern,
            returns=(*(item for item in shown if item.value not in known), *items),
            semantics=t.Semantics.CONTIGUOUS if self.joins == {":"} else t.Semantics.ANY,
            where=where,
            group_by=keys,
            window=window,
            text="",
        )

    def _tree(self, formula: n.Formula) -> _Tree | _Leaf:
        match formula:
            case n.OneEvent(word):
                return _Leaf(word, [word])
            case n.As(inner, variable):
                tree = self._tree(inner)
                for leaf in _leaves(tree):
                    leaf.held_by.append(variable)
                return tree
            case n.Filter(inner, variable, condition, place):
                tree = self._tree(inner)
                self._filter(tree, variable, condition, place)
                return tree
            case n.Or(left, right):
                return "or", [self._tree(left), self._tree(right)]
            case n.Sequence(left, right) | n.Contiguous(left, right):
                self.joins.add(";" if isinstance(formula, n.Sequence) else ":")
                return "seq", [self._tree(left), self._tree(right)]
            case n.Iteration(inner) | n.ContiguousIteration(inner):
                self.joins.add(";" if isinstance(formula, n.Iteration) else ":")
                return "+", [self._tree(inner)]
            case n.Project(inner, variables):
                tree = self._tree(inner)
                for leaf in _leaves(tree):
                    leaf.held_by = [name for name in leaf.held_by if name in variables]
                    if not leaf.held_by:
                        self._refuse(
                            f"PROJECT leaves no variable to '{leaf.type}', so that different "
                            "trends are one result",
                            formula.place,
                            "Keep a variable for every event.",
                        )
                return tree
        return self._refuse(
            f"{type(formula).__name__} has no counterpart in trend queries",
            formula.place,
            "Without it, or list the results one by one.",
        )

    def _filter(
        self, tree: _Tree | _Leaf, variable: str, condition: Condition | BagCondition, place: Place
    ) -> None:
        leaves = [leaf for leaf in _leaves(tree) if variable in leaf.held_by]
        if not isinstance(condition, BagCondition):
            for leaf in leaves:
                leaf.conditions.append(condition)
            return
        alone = isinstance(tree, _Leaf) or (tree[0] == "+" and isinstance(tree[1][0], _Leaf))
        if not alone or condition.shape == "same":
            self._refuse(
                "This speaks of events that need not follow one another",
                place,
                "Trend queries know increasing and decreasing right behind a repeated event.",
            )
        if not isinstance(tree, _Leaf):
            leaves[0].shapes.append(condition)

    def _names(self, tree: _Tree | _Leaf, leaves: list[_Leaf]) -> dict[_Leaf, str]:
        """A variable for every leaf: the one that AS gave it last, else its type."""
        names = {leaf: leaf.held_by[-1] for leaf in leaves}
        by_name: dict[str, _Leaf] = {}
        by_holders: dict[frozenset[str], str] = {}
        for leaf, name in names.items():
            if by_holders.setdefault(frozenset(leaf.held_by), name) != name:
                self._refuse(
                    f"The same variables hold '{leaf.type}' and another event",
                    t.NOWHERE,
                    "Give each a variable of its own with AS.",
                )
            other = by_name.setdefault(name, leaf)
            if other is leaf:
                continue
            alike = (leaf.type, sorted(leaf.held_by), leaf.conditions, leaf.shapes)
            same = alike == (other.type, sorted(other.held_by), other.conditions, other.shapes)
            if not same or not _apart(tree, leaf, other):
                self._refuse(
                    f"Two different events are both held by '{name}' only",
                    t.NOWHERE,
                    "Give each a variable of its own with AS.",
                )
        return names

    def _where(
        self, leaves: list[_Leaf], names: dict[_Leaf, str], pattern: t.Pattern
    ) -> tuple[t.Condition, ...]:
        found: dict[str, exp.Expression] = {}
        for leaf in leaves:
            name = names[leaf]
            trees = [condition_tree(condition, leaf.type) for condition in leaf.conditions]
            for made in trees:
                for column in list(made.find_all(exp.Column)):
                    column.set("table", exp.to_identifier(name))
            for shape in leaf.shapes:
                if not repeats_only(pattern, name):
                    self._refuse(
                        f"Several events of '{name}' follow one another elsewhere too",
                        shape.place,
                        "Let another event stand between.",
                    )
                kind = exp.LT if shape.shape == "increasing" else exp.GT
                now, then = (exp.column(shape.attribute, table=name) for _ in range(2))
                then.set("db", exp.to_identifier("NEXT"))
                trees.append(kind(this=now, expression=then))
            found.update((made.sql(), made) for made in trees)
        return tuple(t.Condition(made) for made in found.values())

    def _refuse(self, cause: str, place: Place, remedy: str) -> NoReturn:
        shown = place if place != t.NOWHERE else None
        raise QueryMeaningError(cause, text=self.text, place=shown, remedy=remedy)


def _leaves(tree: _Tree | _Leaf) -> list[_Leaf]:
    if isinstance(tree, _Leaf):
        return [tree]
    return [leaf for part in tree[1] for leaf in _leaves(part)]


def _apart(tree: _Tree | _Leaf, one: _Leaf, other: _Leaf) -> bool:
    """Whether the two stand in different branches of an OR."""
    if isinstance(tree, _Leaf):
        return False
    kind, parts = tree
    for part in parts:
        leaves = _leaves(part)
        if one in leaves and other in leaves:
            return _apart(part, one, other)
    return kind == "or"


def _pattern(tree: _Tree | _Leaf, names: dict[_Leaf, str]) -> t.Pattern:
    if isinstance(tree, _Leaf):
        return t.Event(tree.type, names[tree])
    kind, parts = tree
    inner = tuple(_pattern(part, names) for part in parts)
    if kind == "or":
        return t.Either(inner)
    if kind == "+":
        return t.Repeat(inner[0], 1, None)
    flat: list[t.Pattern] = []
    for part in inner:
        flat += part.parts if isinstance(part, t.Sequence) else [part]
    return t.Sequence(tuple(flat))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
