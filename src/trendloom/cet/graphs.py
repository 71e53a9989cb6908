"""Runs → graphs: the plan's automaton over the events of a partition in a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.graph import Graph
from trendloom.cet.memory import too_large, too_many
from trendloom.cet.stretches import Searcher, graphs_of_stretches
from trendloom.engine.pair_programs import predicates_of
from trendloom.engine.program import compile_program
from trendloom.engine.spread import spread
from trendloom.engine.stopping import check_stop
from trendloom.errors import LimitError
from trendloom.kernels.steps import nodes_at_most, row_at, steps_of
from trendloom.kernels.superior import (
    MOST_PEERS,
    live_nodes,
    peer_blocks,
    with_superiors,
    without_dead,
)
from trendloom.plan.predecessors import is_plain, predecessors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.cet.stretches import Stretching
    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.language.nodes import Semantics
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]


def graphs_of(
    part: Part,
    semantics: Semantics,
    chunk: Chunk,
    runs: Runs,
    *,
    complete: bool,
    memory: int,
    stretching: Stretching,
) -> Iterator[Graph]:
    """The graphs of the runs that hold a trend, in order; anchored conditions make several per run.

    Of complete trends only, or of all. Building one may take up to `memory` bytes. Windows that
    overlap share the search for predecessors where they can, and where it fits (`stretching`).
    """
    masks = chunk.mask.astype(np.uint64)
    program = compile_program(part, semantics)
    predicates = predicates_of(part, chunk)
    if complete and is_plain(part):
        found = predecessors(part, semantics)
        searcher = Searcher(found, program, predicates, chunk.order, masks, memory)
        yield from graphs_of_stretches(part, searcher, chunk, runs, stretching)
        return
    work = spread(part, chunk, runs, masks)
    variable_of = np.array([state.variable for state in part.automaton.states], np.int64)
    for k in range(len(work.work.lo)):
        lo, hi = int(work.work.lo[k]), int(work.work.hi[k])
        most = nodes_at_most(program, masks, lo, hi)
        if most == 0:
            continue
        needed = 40 * most + (8 * row_at(most) if complete else 0)
        if needed > memory:
            raise too_large(hi - lo, needed, memory)
        event, state, begins, ends, pred_start, pred, above = steps_of(
            program, predicates, chunk.order, masks, work.codes, work.work.bound[k], lo, hi,
            complete, (memory - needed) // 24,
        )  # fmt: skip
        check_stop()
        if len(pred_start) == 0:
            raise too_many(hi - lo, memory)
        variable = variable_of[state]
        live = live_nodes(ends, pred_start, pred)
        origin = np.arange(len(event))
        if complete:
            peers, most_peers = peer_blocks(event, variable, live)
            if most_peers > 1:
                _check_peers(int((np.arange(len(peers)) - peers).max(initial=0)))
                origin, _, begins, ends, pred_start, pred = with_superiors(
                    begins, ends, pred_start, pred, above, live, peers, memory // 40
                )
                if len(pred_start) == 0:
                    raise too_many(hi - lo, memory)
                live = live_nodes(ends, pred_start, pred)
        old, begins, ends, pred_start, pred = without_dead(begins, ends, pred_start, pred, live)
        if len(old) == 0:
            continue
        at = origin[old]
        yield Graph(
            int(work.run[work.work.slot[k]]),
            event[at], variable[at], chunk.order[event[at]], begins, ends, pred_start, pred,
        )  # fmt: skip


def _check_peers(most: int) -> None:
    if most >= MOST_PEERS:
        raise LimitError(
            f"An event can be one variable in more than {MOST_PEERS} ways, too many to tell which "
            "trends are complete.",
            remedy="Lower the bounds of {m,n} or LENGTH(*), or list every trend (all=True).",
        )
