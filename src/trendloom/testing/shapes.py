"""Hypothesis strategies for patterns: valid by construction, small, and fond of corner cases."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

from trendloom.language.nodes import Both, Either, Event, Not, Pattern, Repeat, Sequence, children
from trendloom.testing.words import endings

if TYPE_CHECKING:
    from collections.abc import Callable

TYPES = ("A", "B", "C", "D")
Chosen = TypeVar("Chosen")


@lru_cache(maxsize=None, typed=True)
def choice(*values: Chosen) -> st.SearchStrategy[Chosen]:
    """One of the values; made once, as hypothesis takes longer to check a choice than to draw."""
    return st.sampled_from(values)


def one_in(count: int) -> st.SearchStrategy[bool]:
    return choice(*[False] * (count - 1), True)


_PLUS, _STAR, _OPTION = (1, None), (0, None), (0, 1)
_COUNTS = tuple((low, high) for high in (1, 2, 3) for low in range(high + 1))
_repeats = choice(None, None, _PLUS, _PLUS, _STAR, _OPTION, *_COUNTS[2:])


@st.composite
def patterns(
    draw: st.DrawFn,
    *,
    types: tuple[str, ...] = TYPES,
    allow_negation: bool = True,
    need_negation: bool = False,
    max_events: int = 4,
    max_depth: int = 3,
) -> Pattern:
    """A pattern without AND, every variable named; names recur in OR branches sometimes."""
    leaves = draw(st.integers(1, max_events))
    tree = draw(_trees(types, leaves, max_depth, allow_negation))
    if need_negation and not _has_guard(tree):
        one, other = (Event(draw(choice(*types))) for _ in range(2))
        parts = list(tree.parts) if isinstance(tree, Sequence) else [tree, one]
        parts.insert(draw(st.integers(1, len(parts))), Not(other))
        tree = Sequence(tuple(parts))
    return name(tree, reuse=draw(choice(False, True)))


def _has_guard(tree: Pattern) -> bool:
    return isinstance(tree, Not) or any(map(_has_guard, children(tree)))


@st.composite
def conjunctions(
    draw: st.DrawFn, *, allow_negation: bool = True, allow_overlap: bool = True
) -> Both:
    """`P AND Q`, sometimes `P AND Q AND R`; the parts overlap only where that is allowed.

    Parts of the overlapping kind have each type once, so they label events in one way only.
    """
    if allow_overlap and draw(choice(False, True)):
        halves = [draw(_trees(TYPES[:2], 1, 2, False, once=True)) for _ in range(2)]
        if draw(choice(False, True)):
            halves[1] = draw(_trees(TYPES[:2], 2, 2, False, once=True))
        return _both(halves)
    homes = draw(choice(("AB", "CD"), ("A", "BCD"), ("A", "B", "CD")))
    return _both([draw(_trees(tuple(home), 2, 2, allow_negation)) for home in homes])


def _both(parts: list[Pattern]) -> Both:
    named = name(Both(tuple(parts)), reuse=False)
    assert isinstance(named, Both)
    return named


@st.composite
def _trees(
    draw: st.DrawFn,
    types: tuple[str, ...],
    leaves: int,
    depth: int,
    negation: bool,
    once: bool = False,
) -> Pattern:
    """A tree with so many events outside of guards; its events have no variables yet."""
    if leaves == 1 or (len(types) == 1 and once):
        tree: Pattern = Event(draw(choice(*types)))
    else:
        sizes = draw(
            st.sampled_from(
                [size for size in _splits(leaves) if not once or len(size) <= len(types)]
            )
        )
        homes = draw(st.permutations(types)) if once else types
        parts = [
            draw(
                _trees(
                    (homes[place],) if once else types,
                    size,
                    depth - 1,
                    negation and depth > 1,
                    once,
                )
            )
            for place, size in enumerate(sizes)
        ]
        # A guard needs a SEQ, so SEQ is drawn more often.
        if draw(choice(True, True, False)):
            if negation:
                parts = draw(_guarded(parts, types))
            tree = Sequence(tuple(parts))
        else:
            tree = Either(tuple(parts))
    if depth > 0:
        tree = _repeated(tree, draw(_repeats))
        # `(A+)+` and its like: derived in many ways, counted once.
        if leaves <= 2 and draw(one_in(5)):
            tree = _repeated(tree, draw(_repeats))
    return tree


@st.composite
def _guarded(draw: st.DrawFn, parts: list[Pattern], types: tuple[str, ...]) -> list[Pattern]:
    guarded = list(parts)
    for _ in range(draw(choice(0, 0, 1, 1, 2))):
        body = draw(_trees(types, draw(choice(1, 1, 1, 2)), 1, False))
        if endings((body,)):
            body = Sequence((Event(draw(choice(*types))), body))
        guarded.insert(draw(st.integers(0, len(guarded))), Not(body))
    return guarded


def _repeated(tree: Pattern, bounds: tuple[int, int | None] | None) -> Pattern:
    return tree if bounds is None else Repeat(tree, *bounds)


def _splits(leaves: int) -> list[tuple[int, ...]]:
    pairs = [(one, leaves - one) for one in range(1, leaves)]
    triples = [
        (one, two, leaves - one - two)
        for one in range(1, leaves - 1)
        for two in range(1, leaves - one)
    ]
    return [*pairs, *triples]


# ── names ────────────────────────────────────────────────────────────────────────────────────


def name(pattern: Pattern, *, reuse: bool) -> Pattern:
    """The same pattern with variables `A1`, `A2`, …; with `reuse`, OR branches share names."""
    return _name(pattern, dict.fromkeys(TYPES, 0), reuse)


def _name(pattern: Pattern, used: dict[str, int], reuse: bool) -> Pattern:
    match pattern:
        case Event(type=kind):
            used[kind] += 1
            return Event(kind, f"{kind}{used[kind]}")
        case Either(parts=parts) if reuse:
            before, named = dict(used), []
            for part in parts:
                mine = dict(before)
                named.append(_name(part, mine, reuse))
                used.update({kind: max(used[kind], mine[kind]) for kind in TYPES})
            return Either(tuple(named))
        case _:
            return rebuild(pattern, lambda child: _name(child, used, reuse))


def rebuild(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """The same node over changed children."""
    changed = tuple(change(child) for child in children(pattern))
    match pattern:
        case Repeat(low=low, high=high):
            return Repeat(changed[0], low, high)
        case Not():
            return Not(changed[0])
        case Sequence():
            return Sequence(changed)
        case Either():
            return Either(changed)
        case Both():
            return Both(changed)
        case Event():
            return pattern
