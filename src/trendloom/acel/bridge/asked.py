"""A query, read for its translation: its conditions, its variables, and how to refuse it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations
from typing import TYPE_CHECKING, NoReturn

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.check import check
from trendloom.acel.reading_sql import NotSaid, condition_from
from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language import nodes as t
from trendloom.pattern.guards import FREE
from trendloom.pattern.positions import Positions
from trendloom.plan.conditions import Conditions, Pair, classify
from trendloom.plan.shape import conjuncts_of, negated_events, positive_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlglot import exp

    from trendloom.acel.bridge.cases import Cases
    from trendloom.errors import Place


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
    cases: tuple[Cases, ...] = ()
    """Conditions between one event and several."""

    @classmethod
    def of(cls, query: t.Query, types: Iterable[str]) -> Asked:
        named = dict.fromkeys(str(event.variable) for event in positive_events(query.pattern))
        negated = [str(event.variable) for event in negated_events(query.pattern)]
        known = dict.fromkeys((*(event.type for event in t.events_of(query.pattern)), *types))
        whole = [Positions.of(part).whole for part in conjuncts_of(query.pattern)]
        return cls(
            query,
            classify(query, named, negated),
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

    def local(self, variable: str) -> tuple[on.Condition, ...]:
        """What is asked of each event of a variable."""
        trees = self.conditions.local.get(variable, ())
        keys = [key.attribute for key in self.query.group_by if key.variable == variable]
        # What has no group is no event of its variable.
        grouped = (on.Not(on.IsNull(on.Attribute(name))) for name in keys)
        return (*map(self.condition, trees), *grouped)

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
        """The event of a type as one of other parts, and in which of their variables it is."""
        for names in self.shared(word):
            made = reduce(n.As, (name for name in names if name != word), event)
            own_name_is_taken = word in self.variables and word not in names
            yield (n.Project(made, names) if own_name_is_taken else made), names

    def event(self, event: t.Event) -> n.Formula:
        """One event of the pattern."""
        made = self.satisfying(self.named(event), str(event.variable))
        made = n.As(made, self.member) if self.apart else made
        also = (reduce(n.As, names, made) for names in self.shared(event.type))
        return reduce(n.Or, also, made)

    def named(self, event: t.Event) -> n.Formula:
        """Any event of its type, in its variable."""
        variable = str(event.variable)
        made: n.Formula = n.OneEvent(event.type)
        if variable != event.type:
            made = n.As(made, variable)
            if event.type in self.variables:
                # The type's name is another variable's, which does not hold this event.
                made = n.Project(made, (variable,))
        return made

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
        for cases in self.cases:
            if cases.variable == variable:
                made = cases.event(made)
        return made

    def holders(self, *variables: str) -> tuple[str, ...]:
        """The variables, and those that hold some of their events besides."""
        apart = (one.apart for one in self.cases if one.variable in variables)
        member = (self.member,) if self.apart else ()
        return tuple(dict.fromkeys((*variables, *chain.from_iterable(apart), *member)))

    def condition(
        self, tree: exp.Expr, named: Callable[[exp.Column], str] | None = None
    ) -> on.Condition:
        try:
            made = condition_from(tree, named or (lambda column: column.name))
        except NotSaid as error:
            self.refuse(
                f"The logic has no words for '{error}'",
                t.NOWHERE,
                "Values are numbers, texts, truth values, and dates and timestamps in ISO spelling "
                "without a zone: not conditions.",
            )
        # SQL reckons with dates, the logic does not.
        check(n.Filter(n.OneEvent("X"), "X", made))
        return made

    def no_words(self, pair: Pair) -> NoReturn:
        self.refuse(
            "This compares two events of which one may come several times, or between which others "
            "may lie",
            pair.place,
            "The logic compares neighbours, and an event that occurs once with each of several by "
            "what grows or falls with one attribute of theirs.",
        )

    def free(self, name: str) -> str:
        """The name, or one like it that neither a variable nor a type has."""
        while name in self.variables or name in self.types:
            name += "_"
        return name

    def refuse(self, cause: str, place: Place, remedy: str) -> NoReturn:
        shown = place if self.query.text and place != t.NOWHERE else None
        raise QueryMeaningError(cause, text=self.query.text, place=shown, remedy=remedy)
