"""The words of a pattern, letter by letter, with the guards that each derivation puts on each step.

A derivation writes a pattern as a line of letters and guards: `SEQ(A, NOT C, B?)` gives `A !C B`
and `A !C`. A guard belongs to the step between the letters around it, or to the beginning or the
end of the trend. That is all of §2: an absent optional neighbour leaves no letter, so the guard
reaches on by itself, and repetitions simply follow one another.

What is still to be written is a tuple of patterns (`Rest`). Of all derivations only those are left
out that differ from a kept one by more guards on the same word (superfluous empty repetitions):
a trend needs one derivation whose guards hold, so they decide nothing, and without them the
derivations of a word are finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import (
    Both,
    Either,
    Event,
    Not,
    Pattern,
    Repeat,
    Sequence,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Rest = tuple[Pattern, ...]
Guards = tuple[Not, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One way to write the next letter: the guards passed, the letter, what remains."""

    guards: Guards
    letter: Event
    rest: Rest


@lru_cache(maxsize=10_000)
def endings(rest: Rest) -> tuple[Guards, ...]:
    """The ways to write nothing more: the guards that each of them passes."""
    ways = product(*(_empty(pattern) for pattern in rest))
    return tuple(dict.fromkeys(_concatenate(way) for way in ways))


@lru_cache(maxsize=10_000)
def steps(rest: Rest) -> tuple[Step, ...]:
    """The ways to write one more letter."""
    found: list[Step] = []
    for position, pattern in enumerate(rest):
        for passed in endings(rest[:position]):
            found += [
                Step(passed + step.guards, step.letter, step.rest + rest[position + 1 :])
                for step in _first(pattern)
            ]
    return tuple(dict.fromkeys(found))


def _empty(pattern: Pattern) -> tuple[Guards, ...]:
    match pattern:
        case Event():
            return ()
        case Not():
            return ((pattern,),)
        case Sequence(parts=parts):
            return endings(parts)
        case Either(parts=parts):
            return tuple(guards for part in parts for guards in _empty(part))
        case Repeat(body=body, low=low):
            return endings((body,) * low)
        case Both():
            raise _and_below_the_top()


def _first(pattern: Pattern) -> Iterator[Step]:
    match pattern:
        case Event():
            yield Step((), pattern, ())
        case Not():
            return
        case Sequence(parts=parts):
            yield from steps(parts)
        case Either(parts=parts):
            for part in parts:
                yield from _first(part)
        case Repeat(body=body, low=low, high=high):
            # `skipped` repetitions write nothing; more than low - 1 of them are superfluous.
            most = max(low - 1, 0) if high is None else min(max(low - 1, 0), high - 1)
            for skipped in range(most + 1):
                more = None if high is None else high - 1 - skipped
                again = Repeat(body, max(low - 1 - skipped, 0), more)
                after: Rest = () if more == 0 else (again,)
                for passed in endings((body,) * skipped):
                    for step in _first(body):
                        yield Step(passed + step.guards, step.letter, step.rest + after)
        case Both():
            raise _and_below_the_top()


def _concatenate(way: Iterable[Guards]) -> Guards:
    # The same guard twice on one step says nothing new.
    return tuple(dict.fromkeys(guard for guards in way for guard in guards))


def _and_below_the_top() -> QueryMeaningError:
    return QueryMeaningError("AND stands at the top of the pattern only.", text="")


# ── questions about all words ────────────────────────────────────────────────────────────────


def anchors(pattern: Pattern, anchor: str, other: str) -> bool:
    """Does `anchor` occur exactly once in every word, before every occurrence of `other`?

    The empty word does not ask for an anchor: no trend spells it.
    """
    start: tuple[Rest, bool] = ((pattern,), False)
    seen, todo = {start}, [start]
    while todo:
        rest, has_anchor = todo.pop()
        for step in steps(rest):
            if step.letter.variable == anchor and has_anchor:
                return False
            if step.letter.variable == other and not has_anchor:
                return False
            state = (step.rest, has_anchor or step.letter.variable == anchor)
            if endings(step.rest) and not state[1]:
                return False
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return True


def overlap(left: Pattern, right: Pattern) -> bool:
    """Can one sequence of events match both: is there a common sequence of types?"""
    start: tuple[Rest, Rest] = ((left,), (right,))
    seen, todo = {start}, [start]
    while todo:
        rests = todo.pop()
        for mine, yours in product(steps(rests[0]), steps(rests[1])):
            if mine.letter.type != yours.letter.type:
                continue
            state = (mine.rest, yours.rest)
            if endings(mine.rest) and endings(yours.rest):
                return True
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return False


def labels_one_way(pattern: Pattern) -> bool:
    """Does every sequence of types have at most one word? (Two equal-typed letters never compete.)

    Literally: no two runs over the same types reach an end after having differed in a variable.
    """
    start: tuple[Rest, Rest, bool] = ((pattern,), (pattern,), False)
    seen, todo = {start}, [start]
    while todo:
        left, right, differ = todo.pop()
        for mine, yours in product(steps(left), steps(right)):
            if mine.letter.type != yours.letter.type:
                continue
            state = (
                mine.rest,
                yours.rest,
                differ or mine.letter.variable != yours.letter.variable,
            )
            if state[2] and endings(mine.rest) and endings(yours.rest):
                return False
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return True


def followers(pattern: Pattern) -> set[tuple[str, str]]:
    """The pairs of variables that stand next to each other in some word."""
    start: tuple[Rest, str | None] = ((pattern,), None)
    seen, todo = {start}, [start]
    pairs = set()
    while todo:
        rest, before = todo.pop()
        for step in steps(rest):
            variable = step.letter.variable or step.letter.type
            if before is not None:
                pairs.add((before, variable))
            if (step.rest, variable) not in seen:
                seen.add((step.rest, variable))
                todo.append((step.rest, variable))
    return pairs


def positive_variables(pattern: Pattern) -> list[str]:
    """The variables outside of guards, from left to right."""
    if isinstance(pattern, Not):
        return []
    if isinstance(pattern, Event):
        return [pattern.variable or pattern.type]
    inner = (name for child in children(pattern) for name in positive_variables(child))
    return list(dict.fromkeys(inner))
