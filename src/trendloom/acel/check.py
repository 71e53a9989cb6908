"""What a formula binds, and whether it has a meaning.

From the inside out, `check` finds for every variable the attributes its events may have and of
which kind; what reads a variable or an attribute that cannot be there is refused at its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from trendloom.acel import conditions as on
from trendloom.acel import nodes
from trendloom.acel.aggregates import aggregate, known
from trendloom.acel.depth import bounded
from trendloom.acel.events import MOMENT, NUMBER, TEXT, TRUTH, TYPE, UNKNOWN, Schema, kind_of
from trendloom.acel.functions import TAKES
from trendloom.acel.printer import to_text
from trendloom.acel.words import quote
from trendloom.errors import Place, QueryMeaningError, did_you_mean
from trendloom.language.nodes import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Mapping

Kinds = frozenset[str]
"""Kinds of values that an attribute may have; empty: not known."""

Owner = tuple[str | None, bool]
"""Whose an attribute is in a condition: that of one event, of X, or of LAST(X)."""

Bindings = dict[str, dict[str, Kinds]]
"""Variable → attribute → kinds. Without a schema only what AGG makes is known."""


@bounded
def check(
    formula: nodes.Formula, schema: Schema | None = None, text: str | None = None
) -> Bindings:
    """What the formula binds; a QueryMeaningError where it has no meaning."""
    spoken = to_text(formula) if text is None else text
    return _Check(schema, spoken, _named(formula), placed=text is not None).bindings(formula)


def _named(formula: nodes.Formula) -> frozenset[str]:
    """Every variable that is bound somewhere in the formula."""
    found = set()
    for part in nodes.walk(formula):
        match part:
            case nodes.OneEvent(name) | nodes.Next(name):
                found.add(name)
            case nodes.As(_, name) | nodes.Aggregation(_, name):
                found.add(name)
    return frozenset(found)


def _merged(one: dict[str, Kinds], other: dict[str, Kinds]) -> dict[str, Kinds]:
    return {
        name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {**one, **other}
    }


def _joined(one: Bindings, other: Bindings) -> Bindings:
    return {name: _merged(one.get(name, {}), other.get(name, {})) for name in {**one, **other}}


@dataclass(frozen=True)
class _Check:
    """One formula's check: what is known of the stream, and the text that errors show."""

    schema: Schema | None
    text: str
    named: frozenset[str]
    placed: bool

    def bindings(self, formula: nodes.Formula) -> Bindings:
        match formula:
            case nodes.OneEvent(word, place) | nodes.Next(word, place):
                return {word: self._attributes_of(word, place)}
            case nodes.As(inner, variable):
                bound = self.bindings(inner)
                all_events: dict[str, Kinds] = {}
                for attributes in bound.values():
                    all_events = _merged(all_events, attributes)
                return {**bound, variable: all_events} if bound else bound
            case nodes.Filter(inner, variable, condition, place):
                bound = self.bindings(inner)
                self._bound(variable, bound, place)
                _Typing(self, {(None, False): (variable, bound[variable])}).condition(condition)
                return bound
            case nodes.PairFilter():
                return self._pair_filter(formula)
            case nodes.And(left, right):
                # Equal valuations: what only one side binds is empty in all that both denote.
                first, second = self.bindings(left), self.bindings(right)
                return {name: kinds for name, kinds in first.items() if name in second}
            case (
                nodes.Or(left, right) | nodes.Sequence(left, right) | nodes.Contiguous(left, right)
            ):
                return _joined(self.bindings(left), self.bindings(right))
            case nodes.Iteration(inner, place) | nodes.ContiguousIteration(inner, place):
                bound = self.bindings(inner)
                if not bound:
                    self.refuse(
                        "This repeats a formula that binds no variable",
                        place,
                        "Repeat first, and leave variables out with PROJECT around it.",
                    )
                return bound
            case nodes.Project(inner, variables, place):
                bound = self.bindings(inner)
                for variable in variables:
                    self._bound(variable, bound, place)
                return {name: kinds for name, kinds in bound.items() if name in variables}
            case nodes.ProjectAttributes(inner, variable, attributes, place):
                bound = self.bindings(inner)
                self._bound(variable, bound, place)
                for name in attributes:
                    self.kinds(variable, bound[variable], name, place)
                kept = {name: bound[variable].get(name, frozenset()) for name in attributes}
                return {**bound, variable: kept}
            case nodes.Aggregation():
                return self._aggregation(formula)

    def _pair_filter(self, formula: nodes.PairFilter) -> Bindings:
        bound = self.bindings(formula.inner)
        left, right, place = formula.left, formula.right, formula.place
        for variable in (left, right):
            self._bound(variable, bound, place)
        if left == right and not formula.last:
            self.refuse(
                f"Every event of '{left}' is compared with itself",
                place,
                f"Compare it with the one before: LAST({quote(left)}), {quote(left)}.",
            )
        _Typing(
            self,
            {(left, formula.last): (left, bound[left]), (right, False): (right, bound[right])},
        ).condition(formula.condition)
        return bound

    def _attributes_of(self, word: str, place: Place) -> dict[str, Kinds]:
        if self.schema is None:
            return {}
        if word not in self.schema:
            self.refuse(
                f"The stream has no events of type '{word}'",
                place,
                did_you_mean(word, self.schema),
            )
        known = self.schema[word].items()
        kinds = {name: frozenset({kind} - {UNKNOWN}) for name, kind in known}
        return {**kinds, TYPE: frozenset({TEXT})}

    def _bound(self, variable: str, bound: Bindings, place: Place) -> None:
        if variable in bound:
            return
        if variable in self.named:
            self.refuse(
                f"'{variable}' can never be bound here",
                place,
                "It is bound outside of this formula, left out by PROJECT, or on one side of AND "
                f"only. Bound here: {', '.join(sorted(bound)) or 'nothing'}.",
            )
        self.refuse(f"Unknown variable '{variable}'", place, did_you_mean(variable, bound))

    def kinds(self, variable: str, attributes: dict[str, Kinds], name: str, place: Place) -> Kinds:
        """The kinds of an attribute; refuses one that no event of the variable can have."""
        if self.schema is not None and name not in attributes:
            self.refuse(
                f"No event of '{variable}' has an attribute '{name}'",
                place,
                did_you_mean(name, attributes),
            )
        return attributes.get(name, frozenset())

    def _aggregation(self, formula: nodes.Aggregation) -> Bindings:
        bound = self.bindings(formula.inner)
        made: dict[str, Kinds] = {}
        for assign in formula.assigns:
            if assign.aggregate not in known():
                self.refuse(
                    f"Unknown aggregate '{assign.aggregate}'",
                    assign.place,
                    did_you_mean(assign.aggregate, known()),
                )
            if assign.attribute in made:
                self.refuse(
                    f"'{assign.attribute}' is made twice", assign.place, "Give each its own name."
                )
            self._bound(assign.variable, bound, assign.place)
            function = aggregate(assign.aggregate)
            kinds = self.kinds(assign.variable, bound[assign.variable], assign.source, assign.place)
            source = f"'{assign.variable}.{assign.source}'"
            if wrong := sorted(kinds - set(function.takes)):
                self.refuse(
                    f"{function.name} cannot be applied to {source}, a {wrong[0]}",
                    assign.place,
                    f"{function.name} takes a {' or a '.join(function.takes)}; COUNT takes all.",
                )
            if len(kinds) > 1 and function.gives is None:
                self.refuse(
                    f"{source} is a {' in some events, a '.join(sorted(kinds))} in others",
                    assign.place,
                    f"{function.name} compares values of one kind.",
                )
            made[assign.attribute] = frozenset({function.gives}) if function.gives else kinds
        return _joined(bound, {formula.variable: made})

    def refuse(self, cause: str, place: Place, remedy: str) -> NoReturn:
        shown = place if self.placed and place != NOWHERE else None
        raise QueryMeaningError(cause, text=self.text, place=shown, remedy=remedy)


@dataclass(frozen=True)
class _Typing:
    """The kinds of values in a condition on the events of one variable, or of two."""

    check: _Check
    attributes: Mapping[Owner, tuple[str, dict[str, Kinds]]]
    """By how a condition names it: the variable, and what its events have."""

    def condition(self, condition: on.Condition | on.BagCondition) -> None:
        match condition:
            case on.BagCondition(shape, name, place):
                kind = self._attribute(on.Attribute(name, place))
                if shape != "same" and kind == TRUTH:
                    self._refuse(f"A {TRUTH} does not increase or decrease", place)
            case on.Comparison(comparator, left, right, place):
                kinds = {self._term(left), self._term(right)} - {None}
                if len(kinds) > 1:
                    one, other = self._term(left), self._term(right)
                    self._refuse(f"A {one} is compared with a {other}", place)
                if TRUTH in kinds and comparator not in ("=", "!="):
                    self._refuse(f"A {TRUTH} is neither less nor more than another", place)
            case on.IsNull(term):
                self._term(term)
            case on.Like(left, right, place):
                for term in (left, right):
                    if (kind := self._term(term)) not in (TEXT, None):
                        self._refuse(f"A {kind} is not like a text", place)
            case on.Not(inner):
                self.condition(inner)
            case on.All(first, second) | on.Any(first, second):
                self.condition(first)
                self.condition(second)

    def _term(self, term: on.Term) -> str | None:
        match term:
            case on.Attribute():
                return self._attribute(term)
            case on.Literally(value):
                return kind_of(value)
            case on.Negative(inner):
                self._number(inner)
            case on.Arithmetic("+" | "-" as operator, left, right):
                return self._added(operator, left, right)
            case on.Arithmetic(_, left, right):
                self._number(left)
                self._number(right)
            case on.Call():
                return self._call(term)
        return NUMBER

    def _added(self, operator: str, left: on.Term, right: on.Term) -> str | None:
        """Numbers, or a moment and days, or two moments; of unknown kinds it may be either."""
        one, other = self._term(left), self._term(right)
        for kind, term in ((one, left), (other, right)):
            if kind not in (NUMBER, MOMENT, None):
                self._refuse(f"A {kind} cannot be reckoned with", term.place)
        if one == other == MOMENT and operator == "+":
            self._refuse(f"A {MOMENT} cannot be added to another", right.place)
        if other == MOMENT and operator == "-" and one == NUMBER:
            self._refuse(f"A {MOMENT} cannot be taken from a {NUMBER}", right.place)
        if None in (one, other):
            return None
        return MOMENT if one != other else NUMBER

    def _call(self, call: on.Call) -> str | None:
        function, place = call.function, call.place
        given = [self._term(term) for term in call.terms]
        kinds = {kind for kind in given if kind is not None}
        if function == "COALESCE":
            if len(kinds) > 1:
                self._refuse(f"COALESCE gives either a {' or a '.join(sorted(kinds))}", place)
            return next(iter(kinds), None)
        if given[0] not in (TAKES[function], None):
            self._refuse(f"{function} cannot be applied to a {given[0]}", place)
        others = call.terms[1:]
        if others and (function != "ROUND" or len(others) > 1 or not _is_whole(others[0])):
            self.check.refuse(
                f"{function} cannot be applied to this",
                place,
                "ROUND takes a value and a whole number of decimals; ABS, UPPER and LOWER a value.",
            )
        return TAKES[function]

    def _number(self, term: on.Term) -> None:
        if (kind := self._term(term)) not in (NUMBER, None):
            self._refuse(f"A {kind} cannot be reckoned with", term.place)

    def _attribute(self, one: on.Attribute) -> str | None:
        owner = (one.variable, one.last)
        if owner not in self.attributes:
            known = (on.Attribute(one.name, NOWHERE, *each).key for each in self.attributes)
            self.check.refuse(
                f"'{one.key}' is no attribute of what is filtered",
                one.place,
                f"Write {' or '.join(known)}.",
            )
        variable, attributes = self.attributes[owner]
        kinds = self.check.kinds(variable, attributes, one.name, one.place)
        if len(kinds) > 1:
            either = " in some events, a ".join(sorted(kinds))
            self._refuse(f"'{variable}.{one.name}' is a {either} in others", one.place)
        return next(iter(kinds), None)

    def _refuse(self, cause: str, place: Place) -> NoReturn:
        self.check.refuse(cause, place, "Compare and reckon with values of one kind.")


def _is_whole(term: on.Term) -> bool:
    """Whether it is a whole number, or one below zero."""
    inner = term.term if isinstance(term, on.Negative) else term
    return isinstance(inner, on.Literally) and type(inner.value) is int
