"""Guard conditions: which sets of `NOT`s must hold for a step to be allowed.

A condition is a disjunction of conjunctions (one conjunction per derivation of the word), kept as
a minimal set of sets of guard numbers: `{∅}` always holds, `{}` never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Guards = frozenset[frozenset[int]]

FREE: Guards = frozenset({frozenset()})
NEVER: Guards = frozenset()


def guarded_by(guard: int) -> Guards:
    return frozenset({frozenset({guard})})


def both(left: Guards, right: Guards) -> Guards:
    if left == FREE:
        return right
    if right == FREE:
        return left
    return _minimal(a | b for a in left for b in right)


def either(left: Guards, right: Guards) -> Guards:
    return left if left == right else _minimal([*left, *right])


def mentioned(conditions: Iterable[Guards]) -> tuple[int, ...]:
    """The guards that decide any of the conditions, sorted."""
    return tuple(sorted({guard for c in conditions for conjunct in c for guard in conjunct}))


def holds(condition: Guards, true_guards: frozenset[int]) -> bool:
    return any(conjunct <= true_guards for conjunct in condition)


def _minimal(conjuncts: Iterable[frozenset[int]]) -> Guards:
    """Absorption: a conjunct that contains another adds nothing."""
    kept: list[frozenset[int]] = []
    for conjunct in sorted(set(conjuncts), key=len):
        if not any(smaller <= conjunct for smaller in kept):
            kept.append(conjunct)
    return frozenset(kept)
