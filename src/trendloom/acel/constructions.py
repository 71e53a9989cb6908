"""Automata from automata: the constructions of Theorem 6.2 that need no new registers (App. C)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Outputs, Renaming, Transition
from trendloom.acel.demands import demand
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trendloom.acel.conditions import Condition

    Bags = dict[str, tuple[Renaming, ...]]
    Change = Callable[[Bags], Bags]

START, END = Acea.START, Acea.END

MOST_TRANSITIONS = 100_000
"""AND multiplies transitions; past this many there is an error instead of a long silence."""


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


def outputs_of(bags: Bags) -> Outputs:
    return tuple((name, bags[name]) for name in sorted(bags) if bags[name])


def rewritten(
    inner: Acea,
    change: Change,
) -> Acea:
    return Acea(
        tuple(
            replace(one, outputs=outputs_of(change(dict(one.outputs)))) for one in inner.transitions
        )
    )


def gathering(
    variable: str,
) -> Change:
    def change(bags: Bags) -> Bags:
        every = dict.fromkeys(event for bag in bags.values() for event in bag)
        return {**bags, variable: tuple(every)}

    return change


def keeping(
    variables: tuple[str, ...],
) -> Change:
    return lambda bags: {name: bag for name, bag in bags.items() if name in variables}


def narrowing(variable: str, attributes: tuple[str, ...]) -> Change:
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


def filtered(inner: Acea, variable: str, condition: Condition) -> Acea:
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


def either(one: Acea, other: Acea) -> Acea:
    return _trimmed((*one.transitions, *_moved(other, _beyond(one), START, END)))


def chained(one: Acea, other: Acea, *, waits: bool) -> Acea:
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


def repeated(inner: Acea, *, waits: bool) -> Acea:
    """What leads to the end may also lead to a middle, from which all begins again."""
    middle = _beyond(inner)
    made = [Transition(middle, middle)] if waits else []
    for one in inner.transitions:
        sources = (START, middle) if one.source == START else (one.source,)
        targets = (END, middle) if one.target == END else (one.target,)
        made += [replace(one, source=s, target=t) for s in sources for t in targets]
    return _trimmed(made)


def both(one: Acea, other: Acea) -> Acea:
    """Both at once, step by step: events of one time are put out by one step, so that bags are
    equal if they are equal at each step. The first one's events are those that are put out.
    """
    width = _beyond(other)

    def state(first: int, second: int) -> int:
        if first == second and first in (START, END):
            return first
        return 2 + first * width + second

    asked = {each: _asked(each) for each in (*one.transitions, *other.transitions)}
    made: list[Transition] = []
    reached = [(START, START)]
    known = set(reached)
    for here in reached:
        for first, second in product(one.leaving[here[0]], other.leaving[here[1]]):
            if not asked[first].fits(asked[second]):
                continue
            others = dict(second.outputs)
            alike = (acea.Alike(bag, others[name]) for name, bag in first.outputs)
            there = first.target, second.target
            made.append(
                Transition(
                    state(*here),
                    state(*there),
                    (*first.assigns, *second.assigns),
                    (*first.guards, *second.guards, *alike),
                    first.outputs,
                )
            )
            if there not in known:
                known.add(there)
                reached.append(there)
        if len(made) > MOST_TRANSITIONS:
            raise LimitError(
                f"AND would need more than {MOST_TRANSITIONS:,} transitions.",
                remedy="Use smaller formulas on its sides.",
            )
    return _trimmed(made)


class _Asked(NamedTuple):
    """What tells at once that two transitions have no event in common."""

    type: str | None
    bags: tuple[tuple[str, int], ...]
    """How many events go into which variables."""

    def fits(self, other: _Asked) -> bool:
        return self.bags == other.bags and (
            self.type == other.type or None in (self.type, other.type)
        )


def _asked(one: Transition) -> _Asked:
    made = demand(one)
    kind = None if made is None else made.letter.type
    return _Asked(kind, tuple((name, len(bag)) for name, bag in one.outputs))
