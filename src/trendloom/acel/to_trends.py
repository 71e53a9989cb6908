"""Formulas as trend queries, where every complex event is one trend: to aggregate all of them
without finding each (the trend engine's way).

Inside are `R`, `AS`, `;` or `:` (one of the two throughout), `+` or `:+`, `OR`, filters on single
events, `increasing`, `decreasing` and `LAST(X), X` right behind a repeated event, filters of two
variables around it all, and PROJECT that leaves every event a variable. Outside is what needs more
than that: the reason is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from trendloom.acel import nodes as n
from trendloom.acel.bridge.neighbours import follows_directly, repeats_only
from trendloom.acel.conditions import BagCondition
from trendloom.acel.demands import attributes_of
from trendloom.acel.depth import bounded
from trendloom.acel.events import TYPE
from trendloom.acel.sql import condition_between, condition_tree
from trendloom.errors import QueryMeaningError
from trendloom.language import nodes as t
from trendloom.language.expressions import Reference, column
from trendloom.language.parser import parse as parse_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trendloom.acel.conditions import Condition
    from trendloom.errors import Place


@dataclass(eq=False)
class _Leaf:
    """One occurrence of an event type: who holds it, and what is asked of it."""

    type: str
    held_by: list[str]
    conditions: list[Condition] = field(default_factory=list)
    neighbours: list[BagCondition | n.PairFilter] = field(default_factory=list)
    """What is asked of it and the next, where it is repeated."""

    def __hash__(self) -> int:
        return id(self)

    def is_like(self, other: _Leaf) -> bool:
        mine, theirs = (
            (leaf.type, sorted(leaf.held_by), leaf.conditions, leaf.neighbours)
            for leaf in (self, other)
        )
        return mine == theirs


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
    pairs: list[tuple[_Tree | _Leaf, n.PairFilter]] = field(default_factory=list)
    """Filters of two variables, and what they are around."""

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
        where = (*self._where(leaves, names, pattern), *self._compared(tree, names, pattern))
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
            case n.PairFilter(inner, left_name, right_name):
                tree = self._tree(inner)
                if formula.last and left_name == right_name and _is_run(tree):
                    _leaves(tree)[0].neighbours.append(formula)
                else:
                    self.pairs.append((tree, formula))
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
        if not (isinstance(tree, _Leaf) or _is_run(tree)) or condition.shape == "same":
            self._refuse(
                "This speaks of events that need not follow one another",
                place,
                "Trend queries know increasing and decreasing right behind a repeated event.",
            )
        if not isinstance(tree, _Leaf):
            leaves[0].neighbours.append(condition)

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
            if not leaf.is_like(other) or not _apart(tree, leaf, other):
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
                for mention in list(made.find_all(exp.Column)):
                    mention.set("table", exp.to_identifier(name))
            for asked in leaf.neighbours:
                if not repeats_only(pattern, name):
                    self._refuse(
                        f"Several events of '{name}' follow one another elsewhere too",
                        asked.place,
                        "Let another event stand between.",
                    )
                trees.append(_between(asked, name, name))
            found.update((made.sql(), made) for made in trees)
        return tuple(t.Condition(made) for made in found.values())

    def _compared(
        self, whole: _Tree | _Leaf, names: dict[_Leaf, str], pattern: t.Pattern
    ) -> Iterator[t.Condition]:
        """Filters of two variables: between neighbours, or an event and all of the other."""
        for tree, asked in self.pairs:
            one, other = self._holder(names, asked.left), self._holder(names, asked.right)
            if None in (one, other) or tree is not whole or _reads_type(asked.condition):
                self._refuse(
                    "Trend queries do not compare these",
                    asked.place,
                    "They compare two variables of one event type each, by filters around the "
                    "whole formula, and not by type.",
                )
            if asked.last and not follows_directly(pattern, str(one), str(other)):
                self._refuse(
                    f"The last '{one}' before a '{other}' need not be right before it",
                    asked.place,
                    "Trend queries compare neighbours, and an event that occurs once with others.",
                )
            yield t.Condition(_between(asked, str(one), str(other)))

    def _holder(self, names: dict[_Leaf, str], variable: str) -> str | None:
        """The variable of the query that holds the same events; None if there are several."""
        found = {name for leaf, name in names.items() if variable in leaf.held_by}
        return found.pop() if len(found) == 1 else None

    def _refuse(self, cause: str, place: Place, remedy: str) -> NoReturn:
        shown = place if place != t.NOWHERE else None
        raise QueryMeaningError(cause, text=self.text, place=shown, remedy=remedy)


def _is_run(tree: _Tree | _Leaf) -> bool:
    """Whether it is a single event, repeated."""
    return not isinstance(tree, _Leaf) and tree[0] == "+" and isinstance(tree[1][0], _Leaf)


def _between(asked: BagCondition | n.PairFilter, one: str, other: str) -> exp.Expression:
    """What is asked of two events of these variables; of neighbours, the later is under NEXT."""
    if isinstance(asked, BagCondition):
        kind = exp.LT if asked.shape == "increasing" else exp.GT
        sides = (Reference(one, asked.attribute), Reference(other, asked.attribute, next=True))
        return kind(this=column(sides[0]), expression=column(sides[1]))
    left = (asked.left, asked.last)
    names = {
        read.key: Reference(one, read.name)
        if (read.variable, read.last) == left
        else Reference(other, read.name, next=asked.last)
        for read in attributes_of(asked.condition)
    }
    return condition_between(asked.condition, names)


def _reads_type(condition: Condition) -> bool:
    return any(read.name == TYPE for read in attributes_of(condition))


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
