"""A part of a plan → the arrays that the kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels import program as kernel
from trendloom.kernels.table import Table
from trendloom.language.nodes import Semantics
from trendloom.pattern.automaton import DEAD, START, Arrow
from trendloom.plan.plan import BindingKind, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trendloom.pattern.folding import Folding

SEMANTICS = {
    Semantics.ANY: kernel.ANY,
    Semantics.NEXT: kernel.NEXT,
    Semantics.CONTIGUOUS: kernel.CONTIGUOUS,
}


def ints(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def grouped(rows: Sequence[Sequence[tuple[int, ...]]], width: int) -> list[NDArray[np.int64]]:
    """Lists of tuples → a start column (one longer than the lists) and one column per field."""
    start = np.cumsum([0] + [len(group) for group in rows]).astype(np.int64)
    flat = [row for group in rows for row in group]
    return [start, *(ints(row[k] for row in flat) for k in range(width))]


def compile_program(part: Part, semantics: Semantics) -> kernel.Program:
    """The router's view of a part."""
    automaton = part.automaton
    states, variables = automaton.states, automaton.variables
    event_grained = part.event_grained
    entry_row = ints(
        sum(event_grained[:number]) if event_grained[number] else -1
        for number in range(len(states))
    )

    arrows: list[list[tuple[int, ...]]] = [[] for _ in variables]
    everything = (1 << len(automaton.bound)) - 1
    for a in sorted(automaton.arrows, key=lambda arrow: (arrow.variable, arrow.target)):
        predicate = -1
        met = 0
        if a.source != START:
            predicate = part.adjacent.get((states[a.source].variable, a.variable), -1)
            met = states[a.source].bound
        arrows[a.variable].append(
            (a.source, a.target, a.care, a.want, predicate, everything & ~met)
        )

    ends: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}
    final = [-1] * len(states)
    for number, state in enumerate(states):
        cases = tuple((a.care, a.want) for a in automaton.accepts if a.state == number)
        if cases:
            final[number] = ends.setdefault((cases, state.bound), len(ends))

    first_band = np.cumsum([1] + [len(guard.labels) for guard in automaton.guards])
    watches: list[list[tuple[int, ...]]] = [[] for _ in part.negated]
    for guard, band in zip(automaton.guards, first_band, strict=False):
        for p, q in guard.follow:
            origin = kernel.NO_STATE if p == START else int(band) + p
            letter = part.negated.index(guard.labels[q])
            watches[letter].append((origin, int(band) + q))
    guards = [
        [(int(band) + q,) for q in guard.last]
        for guard, band in zip(automaton.guards, first_band, strict=False)
    ]

    checks = [
        [(variables.index(c.variable), c.program) for c in binding.checks]
        for binding in part.bindings
    ]
    arrow_start, source, target, care, want, predicate_, unbound = grouped(arrows, 6)
    final_start, final_care, final_want = grouped([list(cases) for cases, _ in ends], 2)
    watch_start, watch_source, watch_target = grouped(watches, 2)
    guard_start, guard_band = grouped(guards, 1)
    check_start, check_variable, check_predicate = grouped(checks, 2)
    kinds = {BindingKind.ANCHOR: kernel.ANCHOR, BindingKind.GROUP: kernel.GROUP}
    return kernel.Program(
        semantics=SEMANTICS[semantics],
        states=len(states),
        bands=int(first_band[-1]),
        entry_row=entry_row,
        arrow_start=arrow_start,
        source=source,
        target=target,
        care=care,
        want=want,
        predicate=predicate_,
        unbound=unbound,
        final=ints(final),
        final_start=final_start,
        final_care=final_care,
        final_want=final_want,
        final_bound=ints(bound for _, bound in ends),
        watch_start=watch_start,
        watch_source=watch_source,
        watch_target=watch_target,
        guard_start=guard_start,
        guard_band=guard_band,
        bind_kind=ints(kinds[binding.kind] for binding in part.bindings),
        bind_variable=ints(variables.index(binding.variable) for binding in part.bindings),
        check_start=check_start,
        check_variable=check_variable,
        check_predicate=check_predicate,
    )


def compile_table(fast: Folding, semantics: Semantics, masks: Sequence[int | None]) -> Table:
    """The fast path's table: code c is an event of mask `masks[c]`, None for one that never is.

    A mask has a bit per letter, then one per condition that arrows may ask for.
    """
    size, letters = len(masks), len(fast.clears)
    states = fast.cells
    finished, zero, sink = states, states + 1, states + 2
    accepting = set(fast.accepts)
    steps: dict[int, list[tuple[int, int, list[Arrow]]]] = {}
    eats: dict[int, list[int]] = {}
    for code, mask in enumerate(masks):
        if mask is None:
            continue
        taken = [
            a
            for a, asked in zip(fast.arrows, fast.asks, strict=True)
            if (mask >> a.variable) & 1 and (asked < 0 or (mask >> (letters + asked)) & 1)
        ]
        by_target: dict[tuple[int, int], list[Arrow]] = {}
        for arrow in taken:
            if arrow.target != DEAD:
                by_target.setdefault((arrow.target, arrow.variable), []).append(arrow)
        steps[code] = [(t, v, arrows) for (t, v), arrows in by_target.items()]
        eaten = {c for k, cleared in enumerate(fast.clears) if (mask >> k) & 1 for c in cleared}
        if semantics is Semantics.NEXT:
            eaten |= {a.source for a in taken if a.source not in (START, *fast.armed)}
        if semantics is Semantics.CONTIGUOUS:
            eaten |= set(range(states)).difference(fast.armed)
        eats[code] = sorted(eaten)
    width = max([1, *(len(s) for s in steps.values())])
    fan_in = max(
        [1, *(len([a for a in arrows if a.source != START])
              for s in steps.values() for _, _, arrows in s)]
    )  # fmt: skip
    appetite = max([0, *(len(e) for e in eats.values())])
    table = Table(
        semantics=SEMANTICS[semantics],
        states=states,
        target=np.full((size, width), sink, np.int64),
        begins=np.zeros((size, width), np.int64),
        variable=np.full((size, width), -5, np.int64),
        finished=np.full((size, width), sink, np.int64),
        source=np.full((size, width, fan_in), zero, np.int64),
        eats=np.full((size, appetite), sink, np.int64),
    )
    for code, rows in steps.items():
        for k, (target, variable, arrows) in enumerate(rows):
            table.target[code, k] = target
            table.variable[code, k] = variable
            table.begins[code, k] = any(a.source == START for a in arrows)
            sources = [a.source for a in arrows if a.source != START]
            table.source[code, k, : len(sources)] = sources
            if semantics is not Semantics.ANY and target in accepting:
                table.finished[code, k] = finished
    for code, cells in eats.items():
        table.eats[code, : len(cells)] = cells
    return table


def possible_masks(types: Sequence[str], conditions: int = 0) -> list[int | None]:
    """Every mask of so many letters; None for those that mix types, which no event has."""
    bit_types = [(1 << k, one) for k, one in enumerate(types)]
    return [
        mask if len({one for bit, one in bit_types if mask & bit}) <= 1 else None
        for mask in range(1 << (len(types) + conditions))
    ]
