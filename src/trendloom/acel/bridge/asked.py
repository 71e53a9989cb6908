"""A query, read for its translation: its conditions, its variables, its events."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, combinations
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.reading_sql import condition_from
from trendloom.errors import LimitError
from trendloom.language import nodes as t
from trendloom.pattern.guards import FREE
from trendloom.pattern.positions import Positions
from trendloom.plan.conditions import Conditions, Pair, classify
from trendloom.plan.planner import with_anchor
from trendloom.plan.shape import conjuncts_of, negated_events, positive_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlglot import exp


MOST_SHARED = 5
"""Variables of one type in the other parts of an AND: an event may be in any of them at once."""


@dataclass(frozen=True)
class Asked:
    """What every part of the translation looks at."""

    query: t.Query
    conditions: Conditions
    variables: tuple[str, ...]
    types: tuple[str, ...]
    """All types of the stream: what is left out is one of them."""
    at_start: bool = False
    """Whether complex events begin with the window's first event: a NOT reaches to it."""
    at_end: bool = False
    """Whether they end with the window's last."""
    beside: tuple[t.Event, ...] = ()
    """What happens in the other parts of an AND: any event may be one of these, too."""
    apart: tuple[str, ...] = ()
    """Of a part of an AND: on what its events agree, and those of other parts need not."""
    agreements: tuple[Pair, ...] = ()
    """What decides which event is next by all of its variable before."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Variable → another one that holds its events, too: that of all events of its part."""

    @classmethod
    def of(cls, query: t.Query, types: Iterable[str]) -> Asked:
        named = dict.fromkeys(str(event.variable) for event in positive_events(query.pattern))
        negated = [str(event.variable) for event in negated_events(query.pattern)]
        known = dict.fromkeys((*(event.type for event in t.events_of(query.pattern)), *types))
        parts = conjuncts_of(query.pattern)
        whole = [Positions.of(part).whole for part in parts]
        conditions = classify(query, named, negated)
        anchored = [
            with_anchor(pair, part, query.text)
            for part in parts
            for pair in conditions.correlated
            if {pair.earlier, pair.later} <= {one.variable for one in positive_events(part)}
        ]
        return cls(
            query,
            replace(conditions, correlated=tuple(anchored)),
            tuple(named),
            tuple(known),
            at_start=any(guards != FREE for one in whole for guards in one.first.values()),
            at_end=any(guards != FREE for one in whole for guards in one.last.values()),
        )

    def of_part(self, part: t.Pattern) -> Asked:
        """What is asked of one part of an AND; the others do beside it what they like."""
        own = {str(event.variable) for event in positive_events(part)}
        others = (other for other in self.parts if other is not part)
        beside = tuple(chain.from_iterable(map(positive_events, others)))
        asked = self.conditions
        conditions = replace(
            asked,
            adjacent=tuple(p for p in asked.adjacent if {p.earlier, p.later} <= own),
            correlated=tuple(p for p in asked.correlated if {p.earlier, p.later} <= own),
        )
        return replace(
            self,
            query=replace(self.query, pattern=part),
            conditions=conditions,
            beside=beside,
            apart=self.mixed,
        )

    @property
    def contiguous(self) -> bool:
        return self.query.semantics is t.Semantics.CONTIGUOUS

    @property
    def partition(self) -> tuple[str, ...]:
        """What all events of a complex event agree on."""
        plain = [key.attribute for key in self.query.group_by if key.variable is None]
        whole = [name for name in self.conditions.equivalence if name not in self.mixed]
        return tuple(dict.fromkeys((*plain, *whole)))

    @property
    def mixed(self) -> tuple[str, ...]:
        """Partitions by these are no groups, and the trends of an AND may be of several."""
        grouped = {key.attribute for key in self.query.group_by if key.variable is None}
        every = self.conditions.equivalence if isinstance(self.query.pattern, t.Both) else ()
        return tuple(name for name in every if name not in grouped)

    @property
    def member(self) -> str:
        """The variable of all events of a part whose partition is not that of the others."""
        return self.free("member")

    @property
    def parts(self) -> tuple[t.Pattern, ...]:
        """The parts of a top-level AND, else the pattern."""
        return conjuncts_of(self.query.pattern)

    @property
    def shown(self) -> tuple[str, ...]:
        """The variables of complex events, before any is left out."""
        return (*self.variables, *dict.fromkeys(self.roles.values()))

    def local(self, variable: str) -> tuple[on.Condition, ...]:
        """What is asked of each event of a variable."""
        trees = self.conditions.local.get(variable, ())
        keys = [key.attribute for key in self.query.group_by if key.variable == variable]
        # What has no group is no event of its variable.
        grouped = (on.Not(on.IsNull(on.Attribute(name))) for name in keys)
        asked = (condition_from(tree, lambda column: on.Attribute(column.name)) for tree in trees)
        return (*asked, *grouped)

    def shared(self, word: str) -> list[tuple[str, ...]]:
        """The variables of other parts in which an event of the type may be, too: some or all."""
        names = tuple(dict.fromkeys(str(one.variable) for one in self.beside if one.type == word))
        if len(names) > MOST_SHARED:
            raise LimitError(
                f"Every event of {word} could be in any of {len(names)} variables of another part "
                "of AND.",
                remedy=f"At most {MOST_SHARED} are told apart; use fewer of one type.",
            )
        sizes = range(1, len(names) + 1)
        return list(chain.from_iterable(combinations(names, size) for size in sizes))

    def theirs(self, word: str, event: n.Formula) -> Iterator[tuple[n.Formula, tuple[str, ...]]]:
        """The event of a type as one of other parts, and in which variables it is."""
        for names in self.shared(word):
            yield self.holding(word, names, event), self.with_roles(names)

    def event(self, event: t.Event) -> n.Formula:
        """One event of the pattern."""
        made = self.satisfying(self.named(event), str(event.variable))
        made = n.As(made, self.member) if self.apart else made
        also = (reduce(n.As, self.with_roles(names), made) for names in self.shared(event.type))
        return reduce(n.Or, also, made)

    def named(self, event: t.Event) -> n.Formula:
        """Any event of its type, in its variable."""
        return self.holding(event.type, (str(event.variable),), n.OneEvent(event.type))

    def holding(self, word: str, names: tuple[str, ...], made: n.Formula) -> n.Formula:
        """An event of a type in these variables, and in no others of the pattern."""
        names = self.with_roles(names)
        made = reduce(n.As, (name for name in names if name != word), made)
        own_name_is_taken = word in self.variables and word not in names
        return n.Project(made, names) if own_name_is_taken else made

    def with_roles(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The variables, and those of their parts."""
        roles = (self.roles[name] for name in names if name in self.roles)
        return tuple(dict.fromkeys((*names, *roles)))

    def skipped(self, either: n.Formula) -> n.Formula:
        """An event of one of some types that is left out."""
        words = {one.type for one in n.walk(either) if isinstance(one, n.OneEvent)}
        if not words & set(self.variables):
            return either
        # A type whose name is a variable's must not put what is left out into it.
        name = self.free("skipped")
        return n.Project(n.As(either, name), (name,))

    def satisfying(self, made: n.Formula, variable: str) -> n.Formula:
        """The formula of one event, with what is asked of the variable."""
        for condition in self.local(variable):
            made = n.Filter(made, variable, condition)
        return made

    def between(self, pair: Pair, earlier: str, later: str, *, last: bool = False) -> on.Condition:
        """What is asked of two events: the first is one of this variable, or the last one."""

        def named(column: exp.Column) -> on.Attribute:
            # What stands under NEXT is marked so.
            if column.args.get("db") is not None or column.table != pair.earlier:
                return on.Attribute(column.name, variable=later)
            return on.Attribute(column.name, variable=earlier, last=last)

        return condition_from(pair.tree, named)

    def free(self, name: str) -> str:
        """The name, or one like it that neither a variable nor a type has."""
        while name in self.variables or name in self.types:
            name += "_"
        return name
