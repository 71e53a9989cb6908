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
from trendloom.acel.acea import Acea, Outputs, Renaming, Transition
from trendloom.acel.check import check
from trendloom.acel.conditions import Attribute, BagCondition, Comparison, Condition, Literally
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
    Project,
    ProjectAttributes,
    Sequence,
)
from trendloom.acel.parser import parse
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Bags = dict[str, tuple[Renaming, ...]]
    Change = Callable[[Bags], Bags]

START, END = Acea.START, Acea.END

MOST_TRANSITIONS = 100_000
"""AND multiplies transitions; past this many there is an error instead of a long silence."""


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


def _trimmed(transitions: Iterable[Transition]) -> Acea:
    """The automaton of what lies on a way from start to end, its states numbered anew."""
    every = tuple(dict.fromkeys(transitions))
    forth = _reached(START, ((one.source, one.target) for one in every))
    back = _reached(END, ((one.target, one.source) for one in every))
    useful = [one for one in every if one.source in forth and one.target in back]
    numbers = {START: START, END: END}
    for one in useful:
        for state in (one.source, one.target):
            numbers.setdefault(state, len(numbers))
    return Acea(
        tuple(
            replace(one, source=numbers[one.source], target=numbers[one.target]) for one in useful
        )
    )


def _reached(origin: int, steps: Iterable[tuple[int, int]]) -> set[int]:
    following: dict[int, list[int]] = {}
    for one, other in steps:
        following.setdefault(one, []).append(other)
    found, pending = {origin}, [origin]
    while pending:
        fresh = set(following.get(pending.pop(), ())) - found
        found |= fresh
        pending.extend(fresh)
    return found


def _outputs(bags: Bags) -> Outputs:
    return tuple((name, bags[name]) for name in sorted(bags) if bags[name])


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
                gathered = _gathering(variable)
                return _rewritten(self.automaton(inner, first), gathered)
            case Filter(inner, variable, BagCondition() as condition):
                return self._bag_filter(self.automaton(inner, first), variable, condition)
            case Filter(inner, variable, condition):
                assert not isinstance(condition, BagCondition)
                return _filter(self.automaton(inner, first), variable, condition)
            case Or(left, right):
                return _either(self.automaton(left, first), self.automaton(right, second))
            case And(left, right):
                return _both(self.automaton(left, first), self.automaton(right, second))
            case Sequence(left, right) | Contiguous(left, right):
                one, other = self.automaton(left, first), self.automaton(right, second)
                return _chained(one, other, waits=isinstance(formula, Sequence))
            case Iteration(inner) | ContiguousIteration(inner):
                waits = isinstance(formula, Iteration)
                return _repeated(self.automaton(inner, first), waits=waits)
            case Project(inner, variables):
                kept = _keeping(variables)
                return _rewritten(self.automaton(inner, first), kept)
            case ProjectAttributes(inner, variable, attributes):
                narrowed = _narrowing(variable, attributes)
                return _rewritten(self.automaton(inner, first), narrowed)
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
                _value_of(event, condition.attribute, assigned)
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
                        _value_of(output, assign.source, assigned)
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
            return replace(one, assigns=tuple(added), outputs=_outputs(bags))

        return Acea(tuple(map(summed, inner.transitions)))


def _value_of(
    event: Renaming, attribute: str, assigned: dict[str, acea.Expression]
) -> acea.Expression:
    """What the attribute of an event put out by this transition is, in terms of what it reads."""
    register = event.register(attribute)
    # An attribute that the event cannot have is null, as is one that the event read lacks.
    return acea.Finish("MIN", acea.Identity("MIN")) if register is None else assigned[register]


def _rewritten(
    inner: Acea,
    change: Change,
) -> Acea:
    return Acea(
        tuple(
            replace(one, outputs=_outputs(change(dict(one.outputs)))) for one in inner.transitions
        )
    )


def _gathering(
    variable: str,
) -> Change:
    def change(bags: Bags) -> Bags:
        every = dict.fromkeys(event for bag in bags.values() for event in bag)
        return {**bags, variable: tuple(every)}

    return change


def _keeping(
    variables: tuple[str, ...],
) -> Change:
    return lambda bags: {name: bag for name, bag in bags.items() if name in variables}


def _narrowing(variable: str, attributes: tuple[str, ...]) -> Change:
    def narrowed(event: Renaming) -> Renaming:
        return replace(
            event, attributes=tuple(pair for pair in event.attributes if pair[0] in attributes)
        )

    def change(bags: Bags) -> Bags:
        if variable not in bags:
            return bags
        # Two that differed in other attributes only are one now: same origin, same names.
        return {**bags, variable: tuple(dict.fromkeys(map(narrowed, bags[variable])))}

    return change


def _filter(inner: Acea, variable: str, condition: Condition) -> Acea:
    return Acea(
        tuple(
            replace(
                one,
                guards=(
                    *one.guards,
                    *(
                        acea.Satisfies(condition, event)
                        for event in dict(one.outputs).get(variable, ())
                    ),
                ),
            )
            for one in inner.transitions
        )
    )


def _beyond(inner: Acea) -> int:
    """The first number that no state has."""
    return max(inner.states) + 1


def _moved(inner: Acea, offset: int, start: int, end: int) -> Iterator[Transition]:
    """The automaton's transitions with its inner states moved out of the way."""
    ends = {START: start, END: end}
    for one in inner.transitions:
        yield replace(
            one,
            source=ends.get(one.source, one.source + offset),
            target=ends.get(one.target, one.target + offset),
        )


def _either(one: Acea, other: Acea) -> Acea:
    return _trimmed((*one.transitions, *_moved(other, _beyond(one), START, END)))


def _chained(one: Acea, other: Acea, *, waits: bool) -> Acea:
    """The end of the first is the start of the second, where `;` may wait and `:` may not."""
    middle = _beyond(one)
    waiting = (Transition(middle, middle),) if waits else ()
    return _trimmed(
        (
            *_moved(one, 0, START, middle),
            *waiting,
            *_moved(other, middle, middle, END),
        )
    )


def _repeated(inner: Acea, *, waits: bool) -> Acea:
    """What leads to the end may also lead to a middle, from which all begins again."""
    middle = _beyond(inner)
    made = [Transition(middle, middle)] if waits else []
    for one in inner.transitions:
        sources = (START, middle) if one.source == START else (one.source,)
        targets = (END, middle) if one.target == END else (one.target,)
        made += [replace(one, source=s, target=t) for s in sources for t in targets]
    return _trimmed(made)


def _both(one: Acea, other: Acea) -> Acea:
    """Both at once, step by step: events of one time are put out by one step, so that bags are
    equal if they are equal at each step. The first one's events are those that are put out.
    """
    if len(one.transitions) * len(other.transitions) > MOST_TRANSITIONS:
        raise LimitError(
            f"AND would need {len(one.transitions) * len(other.transitions)} transitions.",
            remedy=f"At most {MOST_TRANSITIONS} are made; use smaller formulas on its sides.",
        )
    width = _beyond(other)

    def state(first: int, second: int) -> int:
        if first == second and first in (START, END):
            return first
        return 2 + first * width + second

    made = []
    for first in one.transitions:
        bags = dict(first.outputs)
        for second in other.transitions:
            others = dict(second.outputs)
            if {name: len(bag) for name, bag in bags.items()} != {
                name: len(bag) for name, bag in others.items()
            }:
                continue
            alike = (acea.Alike(bag, others[name]) for name, bag in bags.items())
            made.append(
                Transition(
                    state(first.source, second.source),
                    state(first.target, second.target),
                    (*first.assigns, *second.assigns),
                    (*first.guards, *second.guards, *alike),
                    first.outputs,
                )
            )
    return _trimmed(made)
