"""Any conditions between neighbours, `X.a < NEXT(Y).b`: the links of a trend, taken two by two.

A formula can compare two events that it binds together, and what it repeats does not overlap. So
one formula reads the trend as pairs from its first event on, another from its second event on, and
each filters its pairs: together they have seen every link. `AND` leaves what both of them denote.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.neighbours import at_most_once, only_neighbours, repeats_only
from trendloom.acel.bridge.pairs import is_order
from trendloom.language import nodes as t
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from sqlglot import exp

    from trendloom.acel.bridge.asked import Asked

Edges = dict[tuple[object, object], Way]
START, END = "start", "end"


def needs_links(asked: Asked, pattern: t.Pattern) -> bool:
    """Whether a condition between neighbours is neither an order in `V+` nor of single events."""
    once = at_most_once(pattern)
    for pair in asked.conditions.adjacent:
        if pair.earlier == pair.later:
            simple = is_order(pair) and repeats_only(pattern, pair.earlier)
        else:
            simple = {pair.earlier, pair.later} <= once
            simple = simple and only_neighbours(pattern, pair.earlier, pair.later)
        if not simple:
            return True
    return False


def by_links(asked: Asked, pattern: t.Pattern) -> n.Formula:
    """The formula of a pattern without NOT, with all conditions between neighbours."""
    made = _Links(asked, pattern)
    one, other = (
        n.Project(side, asked.variables) for side in (made.formula(first=2), made.formula(first=1))
    )
    return one if one == other else n.And(one, other)


class _Links:
    def __init__(self, asked: Asked, pattern: t.Pattern) -> None:
        self._asked = asked
        self._events = {str(event.variable): event for event in t.events_of(pattern)}
        positions = Positions.of(pattern)
        self._labels = positions.labels
        self._first, self._last = positions.whole.first, positions.whole.last
        self._follow: dict[int, list[int]] = {p: [] for p in range(len(positions.labels))}
        for p, q in positions.follow:
            self._follow[p].append(q)
        contiguous = asked.query.semantics is t.Semantics.CONTIGUOUS
        self._joined = Elimination(contiguous=contiguous)

    def formula(self, first: int) -> n.Formula:
        """As many events first, then pairs, and perhaps a single one at the end."""
        edges: Edges = {}
        if first == 1:
            for p in self._first:
                self._add(edges, START, p, self._one(p))
        else:
            self._go_on(edges, START, list(self._first))
        for p, following in self._follow.items():
            if p in self._last:
                self._add(edges, p, END, EMPTY)
            self._go_on(edges, p, following)
        return self._joined.formula(edges, START, END)

    def _go_on(self, edges: Edges, source: object, following: list[int]) -> None:
        for p in following:
            if p in self._last:
                self._add(edges, source, END, self._one(p))
            for q in self._follow[p]:
                self._add(edges, source, q, self._two(p, q))

    def _add(self, edges: Edges, source: object, target: object, way: Way) -> None:
        known = edges.get((source, target))
        edges[source, target] = way if known is None else self._joined.either(known, way)

    def _one(self, p: int) -> Way:
        return Way.of(self._asked.event(self._events[self._labels[p]]))

    def _two(self, p: int, q: int) -> Way:
        """Both events, if what is asked of the two together holds."""
        asked, labels = self._asked, self._labels
        pairs = [
            pair
            for pair in asked.conditions.adjacent
            if (pair.earlier, pair.later) == (labels[p], labels[q])
        ]
        if not pairs:
            return self._joined.then(self._one(p), self._one(q))
        own, following, link = map(self._free, ("own", "following", "link"))
        assigns: dict[str, n.Assign] = {}

        def named(column: exp.Column) -> str:
            # What stands under NEXT is marked so.
            variable = own if column.args.get("db") is None else following
            name = f"{variable}_{column.name}"
            assigns[name] = n.Assign(name, "MAX", variable, column.name)
            return name

        condition = reduce(on.All, [asked.condition(pair.tree, named) for pair in pairs])
        both = self._joined.then(
            *(
                Way.of(n.As(asked.event(self._events[labels[at]]), name))
                for at, name in ((p, own), (q, following))
            )
        ).formula
        assert both is not None
        compared = n.Filter(n.Aggregation(both, link, tuple(assigns.values())), link, condition)
        kept = tuple(dict.fromkeys((labels[p], labels[q])))
        return Way.of(n.Project(compared, kept))

    def _free(self, name: str) -> str:
        """A name that nothing else has."""
        while name in self._asked.variables or name in self._asked.types:
            name += "_"
        return name
