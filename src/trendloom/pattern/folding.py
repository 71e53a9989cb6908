"""The automaton of the fast path: guards have become cells that negated events clear.

A partial trend in A goes on over `NOT C` as long as no C came since. So a state has one cell per
set of guards that stand on steps out of it, every step into the state adds to all of its cells, and
a C clears those under the guard: still linear, and the same however many C come at one time.
A-Seq (§3.3) clears its prefix counters so; a cell of its own for steps without the guard makes it
right for `SEQ(A+, NOT C, B)` too, where C stops B and not the next A.

A guard before the first event has an armed cell: it holds one trend of no events when a window
begins, trends begin by going on from it, and a C clears it.

What clearing cannot express is left to the router (`fold_guards` gives None):

- a guard before the first event, where windows are not run from their beginning (`WITHIN` alone);
- a negated pattern of two events or more: the first alone clears nothing;
- a step that needs a guard to be broken, which tells two derivations of one trend apart;
- skip-till-next-match from a state with steps under different guards: what one step consumes
  would have to be subtracted from the other's cell;
- a guard after the last event, where finished trends are added up as they end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.pattern.automaton import DEAD, START, Arrow, Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.pattern.automaton import GuardAutomaton


@dataclass(frozen=True, slots=True)
class Folding:
    """Cells, and what events do to them."""

    cells: int
    arrows: tuple[Arrow, ...]
    """Between cells, without guards."""
    accepts: tuple[int, ...]
    """Cells in which trends may end."""
    clears: tuple[tuple[int, ...], ...]
    """Per letter, positive and then negated: the cells that its events set to zero."""
    asks: tuple[int, ...]
    """Per arrow: the number of a condition that must hold, -1 for none."""
    armed: tuple[int, ...] = ()
    """Cells that hold one trend of no events at first. Nothing but their guards clears them."""


def fold_guards(
    automaton: Automaton,
    negated: Sequence[str],
    semantics: Semantics,
    *,
    leading: bool,
    trailing: bool,
) -> Folding | None:
    """`leading` False: a vector is nothing at first. `trailing` False: what was finished stays."""
    if semantics is Semantics.CONTIGUOUS:
        automaton = _without_inner_guards(automaton)
    steps = [a for a in automaton.arrows if semantics is Semantics.NEXT or a.target != DEAD]
    beginnings = sorted({a.care for a in steps if a.source == START and a.care})
    if beginnings and not leading:
        return None
    conditions = [(a.care, a.want) for a in steps]
    conditions += [(a.care, a.want) for a in automaton.accepts]
    if any(care != want for care, want in conditions):
        return None
    if any(a.care for a in automaton.accepts) and (semantics is not Semantics.ANY or not trailing):
        return None
    breaking = [_breaking(guard) for guard in automaton.guards]
    mentioned = reduce(or_, (care for care, _ in conditions), 0)
    if any(letters is None and mentioned >> k & 1 for k, letters in enumerate(breaking)):
        return None

    leaving: list[set[int]] = [set() for _ in automaton.states]
    for arrow in steps:
        if arrow.source != START:
            leaving[arrow.source].add(arrow.care)
    if semantics is Semantics.NEXT and any(len(cares) > 1 for cares in leaving):
        return None
    if semantics is Semantics.ANY:
        for accept in automaton.accepts:
            leaving[accept.state].add(accept.care)
    pairs = [(state, care) for state, cares in enumerate(leaving) for care in sorted(cares or {0})]
    pairs += [(START, care) for care in beginnings]
    number = {pair: cell for cell, pair in enumerate(pairs)}
    cells_of = [[number[pair] for pair in pairs if pair[0] == s] for s in range(len(leaving))]
    arrows = tuple(
        Arrow(number.get((a.source, a.care), START), a.variable, target, 0, 0)
        for a in steps
        for target in ([DEAD] if a.target == DEAD else cells_of[a.target])
    )
    ends = (
        [number[a.state, a.care]] if semantics is Semantics.ANY else cells_of[a.state]
        for a in automaton.accepts
    )
    clears = tuple(
        tuple(
            cell
            for cell, (_, care) in enumerate(pairs)
            if any(care >> k & 1 and name in (ls or ()) for k, ls in enumerate(breaking))
        )
        for name in negated
    )
    return Folding(
        len(pairs),
        arrows,
        tuple(cell for cells in ends for cell in cells),
        ((),) * len(automaton.variables) + clears,
        (-1,) * len(arrows),
        tuple(number[START, care] for care in beginnings),
    )


def _without_inner_guards(automaton: Automaton) -> Automaton:
    """Between events of consecutive time points nothing lies, so no guard there is broken."""
    return Automaton(
        automaton.variables,
        automaton.states,
        tuple(
            a if a.source == START else Arrow(a.source, a.variable, a.target, 0, 0)
            for a in automaton.arrows
            if a.source == START or a.care == a.want
        ),
        automaton.accepts,
        automaton.guards,
        automaton.bound,
    )


def _breaking(guard: GuardAutomaton) -> frozenset[str] | None:
    """The letters of which one event breaks the guard, if that is all that can break it.

    Where every first position is also a last one, any longer match begins with a shorter one.
    """
    first = {q for p, q in guard.follow if p == START}
    return frozenset(guard.labels[q] for q in first) if first <= set(guard.last) else None
