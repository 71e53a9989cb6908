"""A part whose conditions are looked up by value, over runs that go on as events arrive.

What is kept of past events is, per run, the sums of its states, and every partial trend's last
event by value with the sums of the trends that end there. So the next events cost O(log² n) each,
however many came before; a known batch costs less in all, but every row of a stream in update mode
would be such a batch.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.cells import Cells, longest_tie
from trendloom.engine.columns import has_lasting_keys, lasting_keys
from trendloom.engine.evaluate import Evaluator
from trendloom.engine.lanes import with_count
from trendloom.engine.live.shelves import Shelves
from trendloom.engine.numbers import Doubles
from trendloom.engine.ranked import compile_steps
from trendloom.engine.ranks import GREATER, admits, rank, rankings_of
from trendloom.engine.slots import Slots, State
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.layers import Sums
from trendloom.kernels.ranked import Carried, sum_by_value
from trendloom.language.nodes import Semantics
from trendloom.plan.lookups import are_paired, lookups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.ranks import Ranking
    from trendloom.engine.windows import Runs
    from trendloom.kernels.ranked import Steps

    Ints = NDArray[np.int64]


def can_arrive(evaluator: Evaluator) -> bool:
    """Whether a part's entries may be kept by value: one that means the same in every batch.

    Integers that are checked may leave their range in a sum that no trend asks for: the engine then
    looks at the events again, which would have to be there.
    """
    found = lookups(evaluator.part, evaluator.semantics)
    layout = evaluator.layout
    return (
        evaluator.semantics is Semantics.ANY
        and evaluator.ranks
        and found is not None
        and not are_paired(found)
        and layout.scaled is not None
        and layout.checked is None
        and all(
            column.partner is not None
            and has_lasting_keys(
                evaluator.operand_types[column.operand], evaluator.operand_types[column.partner]
            )
            for column in evaluator.part.columns
        )
    )


@dataclass(frozen=True)
class Arriving(Evaluator):
    """An evaluator of such a part. A vector has the sums of its states, and a shelf."""

    @classmethod
    def of(cls, evaluator: Evaluator) -> Arriving:
        """With the same centres."""
        return cls(*(getattr(evaluator, one.name) for one in fields(Evaluator)))

    @property
    def cells(self) -> int:
        return len(self.part.automaton.states)

    @cached_property
    def rankings(self) -> list[Ranking]:
        found = lookups(self.part, self.semantics)
        assert found is not None, "every condition is a lookup"
        return rankings_of(found)[0]

    @cached_property
    def compiled(self) -> Steps:
        # All states add up: a vector of zeros has begun nothing, and is forgotten.
        steps = compile_steps(self.part, self.rankings)
        return steps._replace(plain=np.ones_like(steps.plain))

    @cached_property
    def shelves(self) -> Shelves:
        """The entries of all runs. Not to be shared: they are what was folded."""
        columns = 1 + max(len(one.equalities) for one in self.rankings)
        lanes = 1 + len(self.layout.scaled or ())
        return Shelves(len(self.compiled.ranking), columns, lanes, len(self.layout.extremes))

    # ── vectors ──────────────────────────────────────────────────────────────────────────────

    def blank(self, rows: int) -> State:
        lanes, extremes = self.shelves.lanes, self.shelves.extremes
        shape = (rows, (self.cells + 1) * lanes)
        keys = np.full((rows, (self.cells + 1) * extremes), ABSENT, np.int64)
        doubles = Doubles(np.zeros(shape), np.zeros(shape, np.int64))
        return State(doubles, None, keys if extremes else None, np.full(rows, -1, np.int64))

    def read(self, state: State) -> Slots:
        assert state.doubles is not None
        rows, lanes = len(state.doubles.m), self.shelves.lanes
        at = self.cells * lanes
        columns = {
            lane: Doubles(state.doubles.m[:, at + k], state.doubles.e[:, at + k])
            for k, lane in enumerate(with_count(self.layout.scaled or ()))
        }
        finished = self.cells * self.shelves.extremes
        extremes = {
            lane: state.extremes[:, finished + k]
            for k, lane in enumerate(self.layout.extremes)
            if state.extremes is not None
        }
        return Slots(np.arange(rows), (), state.doubles.m[:, at] != 0, dict(columns), extremes)

    def fold(self, chunk: Chunk, runs: Runs, state: State) -> State:
        """Moves row r of the state, and its entries, on by the events of run r."""
        assert state.doubles is not None
        assert state.shelf is not None
        shelves, steps, masks = self.shelves, self.compiled, self.masks(chunk)
        fresh = state.shelf < 0
        state.shelf[fresh] = shelves.number(int(fresh.sum()))
        asked = _Asked.of(self, chunk, runs, state.shelf)
        group, key = asked.rows(masks, later=True)
        group[np.repeat(fresh[asked.run], shelves.indexes)] = -1
        found = shelves.look_up(group, key, asked.which())

        width = longest_tie(chunk.order) * self.cells
        cells = Cells(self.part.automaton.variables, chunk, self.cells + 2 + width, len(runs))
        flat = (len(runs) * (self.cells + 1), -1)
        keys = np.zeros((flat[0], 0), np.int64)
        if state.extremes is not None:
            keys = state.extremes.reshape(flat)
        carried = Carried(
            asked.first,
            found,
            np.zeros(len(found.m), np.uint8),
            Sums(state.doubles.m.reshape(flat), state.doubles.e.reshape(flat), keys),
        )
        sum_by_value(
            steps,
            rank(self.part, chunk, masks, self.rankings),
            chunk.order,
            masks,
            runs.lo,
            runs.hi,
            cells.scaled(self.layout.scaled, self.centres),
            cells.checked(None),
            cells.extreme(self.layout.extremes),
            width,
            np.zeros(len(runs), np.uint8),
            carried,
        )
        rows = np.flatnonzero(carried.entered)
        group, key = asked.rows(masks, later=False)
        own = Sums(found.m[rows], found.e[rows], found.k[rows])
        shelves.add(group[rows], key[rows], own)
        return state


@dataclass(frozen=True)
class _Asked:
    """One row per run, event and index: what precedes the event there, and where it enters."""

    by: Arriving
    chunk: Chunk
    first: Ints
    run: Ints
    """[run and event]"""
    event: Ints
    shelf: Ints

    @classmethod
    def of(cls, by: Arriving, chunk: Chunk, runs: Runs, shelf: Ints) -> _Asked:
        sizes = runs.hi - runs.lo
        before = np.concatenate([[0], np.cumsum(sizes)])
        run = np.repeat(np.arange(len(runs)), sizes)
        event = np.arange(before[-1]) - before[run] + runs.lo[run]
        return cls(by, chunk, before[:-1] * by.shelves.indexes, run, event, shelf[run])

    def rows(self, masks: NDArray[np.uint64], *, later: bool) -> tuple[Ints, Ints]:
        """Group and key of each, on the side of the earlier events or of the later ones.

        The group is -1 for events that are none of the index's, or have no value.
        """
        shelves = self.by.shelves
        groups = np.full((len(self.run), shelves.indexes), -1, np.int64)
        keys = np.zeros((len(self.run), shelves.indexes, shelves.columns), np.int64)
        for index, number in enumerate(self.by.compiled.ranking):
            one = self.by.rankings[number]
            variable = np.uint64(one.later if later else one.earlier)
            here = (masks >> variable) & np.uint64(1) != 0
            sides = [(c.left, c.right)[later] for c in one.equalities]
            if one.op is not None:
                sides.append((one.left, one.right)[later])
            for column, side in enumerate(sides):
                key, known = self._keys(side)
                # The order is reversed where greater values precede.
                is_value = one.op is not None and column == len(sides) - 1
                at = shelves.columns - 1 if is_value else column
                keys[:, index, at] = (~key if is_value and one.op in GREATER else key)[self.event]
                here &= known
            own = here[self.event]
            groups[own, index] = self.shelf[own] * shelves.indexes + index
        return groups.ravel(), keys.reshape(-1, shelves.columns)

    def _keys(self, number: int) -> tuple[Ints, NDArray[np.bool_]]:
        column = self.by.part.columns[number]
        assert column.partner is not None, "it is compared"
        operands = self.by.operand_types
        return lasting_keys(self.chunk.operand(column.operand), operands[column.partner])

    def which(self) -> Ints:
        """[row]: whether equal values precede."""
        each = [admits(self.by.rankings[number]) for number in self.by.compiled.ranking]
        return np.tile(each, len(self.run)).astype(np.int64)
