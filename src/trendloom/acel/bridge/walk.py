"""The words of a pattern as states and steps between them, each with the guards it stands under.

The positions of the pattern are states (Glushkov). For skip-till-next-match a state is the set of
all positions that one word reaches, because all of them decide what is next: which of them a step
reaches is told by which guards hold, and which do not. Besides, such a state remembers which of
some variables have occurred.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from trendloom.errors import LimitError
from trendloom.pattern.guards import NEVER, either, holds, mentioned
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.language import nodes as t
    from trendloom.pattern.guards import Guards

MOST_GUARDS = 6
"""On the steps to one variable: any combination of them may hold."""


class State(NamedTuple):
    """Where a word is."""

    positions: tuple[int, ...]
    seen: tuple[str, ...] = ()
    """Which of the variables to remember have occurred."""


class When(NamedTuple):
    """The guards of a step: each of the first holds, none of the others does."""

    hold: tuple[Guards, ...]
    broken: tuple[Guards, ...] = ()

    @property
    def guards(self) -> tuple[Guards, ...]:
        return (*self.hold, *self.broken)

    def may_be(self, true_guards: frozenset[int]) -> bool:
        """Whether it is so, or still may come to be: what was broken once stays so."""
        return all(holds(one, true_guards) for one in self.hold)

    def is_so(self, true_guards: frozenset[int]) -> bool:
        broken = not any(holds(one, true_guards) for one in self.broken)
        return broken and self.may_be(true_guards)


class Walk:
    """Through a pattern."""

    def __init__(self, pattern: t.Pattern, *, to_next: bool, remembered: Iterable[str]) -> None:
        self._positions = Positions.of(pattern)
        self._to_next = to_next
        self._remembered = frozenset(remembered)

    @property
    def negated(self) -> list[t.Pattern]:
        """The patterns of NOT, numbered as the guards."""
        return self._positions.negated

    @cached_property
    def first(self) -> dict[State, When]:
        """What may come first, and when."""
        return self._steps_to(self._positions.whole.first, ())

    def variable(self, state: State) -> str:
        return self._positions.labels[state.positions[0]]

    def last(self, state: State) -> When | None:
        """When a word may end here, if it may."""
        ending = NEVER
        for p in state.positions:
            ending = either(ending, self._positions.whole.last.get(p, NEVER))
        return When((ending,)) if ending else None

    def following(self, state: State) -> dict[State, When]:
        """What may come next, and when."""
        exits: dict[int, Guards] = {}
        for (p, q), guards in self._positions.follow.items():
            if p in state.positions:
                exits[q] = either(exits.get(q, NEVER), guards)
        return self._steps_to(exits, state.seen)

    def _steps_to(self, exits: dict[int, Guards], seen: tuple[str, ...]) -> dict[State, When]:
        """Positions with their guards: each alone, or those of one variable together."""
        if not self._to_next:
            return {State((q,), seen): When((guards,)) for q, guards in exits.items()}
        labels = self._positions.labels
        found: dict[State, When] = {}
        for name in dict.fromkeys(labels[q] for q in exits):
            after = tuple(sorted({*seen, name} & self._remembered))
            reached = {q: guards for q, guards in exits.items() if labels[q] == name}
            for some in _reached_together(reached):
                broken = tuple(guards for q, guards in reached.items() if q not in some)
                found[State(some, after)] = When(tuple(reached[q] for q in some), broken)
        return found


def _reached_together(exits: dict[int, Guards]) -> Iterator[tuple[int, ...]]:
    """The sets of positions to which one event may lead, by which guards hold."""
    involved = mentioned(exits.values())
    if len(involved) > MOST_GUARDS:
        raise LimitError(
            f"One event may come next by {len(involved)} NOTs, of which any may hold.",
            remedy=f"At most {MOST_GUARDS} are told apart; use fewer of them.",
        )
    found: dict[tuple[int, ...], None] = {}
    for truth in product((True, False), repeat=len(involved)):
        true_guards = frozenset(g for g, value in zip(involved, truth, strict=True) if value)
        found[tuple(q for q, guards in exits.items() if holds(guards, true_guards))] = None
    yield from (some for some in found if some)
