"""Formula → automaton, by the constructions of Theorem 6.2 (paper, App. C).

Each operator makes an automaton from those of its parts. Registers are never shared between parts:
a counter names them. The path to an AGG in the formula is the origin of the events it makes, as in
the denotation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Renaming, Transition
from trendloom.acel.check import check
from trendloom.acel.conditions import Attribute, BagCondition, Comparison, Literally
from trendloom.acel.constructions import (
    both,
    chained,
    either,
    filtered,
    gathering,
    keeping,
    narrowing,
    outputs_of,
    repeated,
    rewritten,
)
from trendloom.acel.denotation import STREAM
from trendloom.acel.depth import bounded
from trendloom.acel.events import TYPE, Schema
from trendloom.acel.nodes import (
    Aggregation,
    And,
    As,
    Contiguous,
    ContiguousIteration,
    Filter,
    Formula,
    Iteration,
    Next,
    OneEvent,
    Or,
    PairFilter,
    Project,
    ProjectAttributes,
    Sequence,
)
from trendloom.acel.pairing import pairs_filtered, value_of
from trendloom.acel.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

START, END = Acea.START, Acea.END


def compile_formula(formula: Formula | str, schema: Schema) -> Acea:
    """The automaton that denotes what the formula denotes, over streams of this schema."""
    if isinstance(formula, str):
        formula = parse(formula, schema)
    else:
        check(formula, schema)
    return automaton_of(formula, schema)


@bounded
def automaton_of(formula: Formula, schema: Schema) -> Acea:
    """The same for a formula that was checked; kinds in the schema do not matter."""
    return _Compiler(schema).automaton(formula, "0")


@dataclass(frozen=True)
class _Compiler:
    """The constructions; all registers of one formula are numbered by one counter."""

    schema: Schema
    numbers: Iterator[int] = field(default_factory=count)

    def automaton(self, formula: Formula, path: str) -> Acea:
        first, second = f"{path}0", f"{path}1"
        match formula:
            case OneEvent(word):
                return Acea((self._reading(word),))
            case Next(word):
                return self._next(word)
            case As(inner, variable):
                gathered = gathering(variable)
                return rewritten(self.automaton(inner, first), gathered)
            case Filter(inner, variable, BagCondition() as condition):
                return self._bag_filter(self.automaton(inner, first), variable, condition)
            case Filter(inner, variable, condition):
                assert not isinstance(condition, BagCondition)
                return filtered(self.automaton(inner, first), variable, condition)
            case PairFilter(inner):
                return pairs_filtered(self.automaton(inner, first), formula, self._fresh)
            case Or(left, right):
                return either(self.automaton(left, first), self.automaton(right, second))
            case And(left, right):
                return both(self.automaton(left, first), self.automaton(right, second))
            case Sequence(left, right) | Contiguous(left, right):
                one, other = self.automaton(left, first), self.automaton(right, second)
                return chained(one, other, waits=isinstance(formula, Sequence))
            case Iteration(inner) | ContiguousIteration(inner):
                waits = isinstance(formula, Iteration)
                return repeated(self.automaton(inner, first), waits=waits)
            case Project(inner, variables):
                kept = keeping(variables)
                return rewritten(self.automaton(inner, first), kept)
            case ProjectAttributes(inner, variable, attributes):
                narrowed = narrowing(variable, attributes)
                return rewritten(self.automaton(inner, first), narrowed)
            case Aggregation(inner):
                return self._aggregated(self.automaton(inner, first), formula, path)

    def _fresh(self, hint: str) -> str:
        return f"{hint}.{next(self.numbers)}"

    def _reading(self, word: str) -> Transition:
        """Keeps the event's attributes, checks its type, puts it into the variable."""
        names = sorted({TYPE, *self.schema[word]})
        kept = {name: self._fresh(name) for name in names}
        event = Renaming(STREAM, tuple(kept.items()))
        return Transition(
            START,
            END,
            tuple((register, acea.Read(name)) for name, register in kept.items()),
            (acea.Satisfies(Comparison("=", Attribute(TYPE), Literally(word)), event),),
            ((word, (event,)),),
        )

    def _next(self, word: str) -> Acea:
        """Any number of events of other types, then the event."""
        found, kind, waiting = self._reading(word), self._fresh(TYPE), 2
        other = acea.Satisfies(
            Comparison("!=", Attribute(TYPE), Literally(word)),
            Renaming(STREAM, ((TYPE, kind),)),
        )
        passing = Transition(START, waiting, ((kind, acea.Read(TYPE)),), (other,))
        return Acea(
            (found, replace(found, source=waiting), passing, replace(passing, source=waiting))
        )

    def _bag_filter(self, inner: Acea, variable: str, condition: BagCondition) -> Acea:
        """Keeps the values of the last step that put events into the variable, and compares."""
        last, before = self._fresh("last"), self._fresh("before")

        def watched(one: Transition) -> Transition:
            old = acea.Gather(()) if one.source == START else acea.Register(last)
            assigned = dict(one.assigns)
            values = tuple(
                value_of(event, condition.attribute, assigned)
                for event in dict(one.outputs).get(variable, ())
            )
            now = acea.Gather(values) if values else old
            check_order = acea.Follows(condition.shape, before, last)
            return replace(
                one,
                assigns=(*one.assigns, (before, old), (last, now)),
                guards=(*one.guards, check_order) if values else one.guards,
            )

        return Acea(tuple(map(watched, inner.transitions)))

    def _aggregated(self, inner: Acea, formula: Aggregation, path: str) -> Acea:
        """A register sums up as events are put out; at the end it becomes a new event."""
        assigns = [
            (one, self._fresh(one.aggregate.lower()), self._fresh(one.attribute))
            for one in formula.assigns
        ]
        event = Renaming(path, tuple(sorted((one.attribute, made) for one, _, made in assigns)))

        def summed(one: Transition) -> Transition:
            assigned, added = dict(one.assigns), list(one.assigns)
            bags = dict(one.outputs)
            for assign, register, made in assigns:
                name = assign.aggregate
                old: acea.Expression = (
                    acea.Identity(name) if one.source == START else acea.Register(register)
                )
                total = reduce(
                    lambda total, value, name=name: acea.Combine(  # type: ignore[misc]
                        name, total, acea.Lift(name, value)
                    ),
                    (
                        value_of(output, assign.source, assigned)
                        for output in bags.get(assign.variable, ())
                        if output.register(assign.source) is not None
                    ),
                    old,
                )
                added.append((register, total))
                if one.target == END:
                    added.append((made, acea.Finish(name, total)))
            if one.target == END:
                bags[formula.variable] = (*bags.get(formula.variable, ()), event)
            return replace(one, assigns=tuple(added), outputs=outputs_of(bags))

        return Acea(tuple(map(summed, inner.transitions)))
