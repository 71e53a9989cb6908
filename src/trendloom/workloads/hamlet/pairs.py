"""Queries with a comparison inside E+: windows shared as expressions over snapshots, or not.

Earlier events of the window keep their own counts for every query, so that who has begun a window
alone cannot join the others before the next: here the decision is made per window, with the
statistics of all its bursts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.columns import pair_columns
from trendloom.engine.lanes import TRENDS
from trendloom.engine.numbers import Doubles
from trendloom.kernels.burst_choice import choose_windows
from trendloom.kernels.burst_pairs import fold_pairs
from trendloom.kernels.burst_tree import Keys
from trendloom.kernels.bursts import EACH, EVENTS, GRAPHLETS, ONCE
from trendloom.kernels.scaled import RADIX
from trendloom.plan.pairs import Op
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.bursts import Classes, changes, cut, traced
from trendloom.workloads.hamlet.found import as_slots
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.hamlet.trace import MOST, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.lanes import Lane
    from trendloom.engine.slots import Slots
    from trendloom.engine.windows import Runs
    from trendloom.kernels.burst_pieces import Pieces
    from trendloom.workloads.hamlet.execute import Sharing
    from trendloom.workloads.hamlet.net import Wiring

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]


@dataclass(frozen=True)
class _Facts:
    """Per window: the statistics of Definition 4.2, and where its pieces are."""

    first: Ints
    last: Ints
    events: Ints
    graphlets: Ints
    snapshots: Ints
    unique: NDArray[np.int32]
    """[window, letter]."""

    @classmethod
    def of(cls, pieces: Pieces, runs: Runs, kind: int, letters: int = 0) -> _Facts:
        """`letters` are those to tell the unique snapshots of."""
        first = np.searchsorted(pieces.lo, runs.lo)
        last = np.searchsorted(pieces.hi, runs.hi)
        # Mixed time points may hold events of E too, each of them a graphlet and a snapshot.
        mine, mixed = pieces.kind == kind, pieces.kind == -1
        size = pieces.hi - pieces.lo
        begins = mine & np.append(True, ~mine[:-1])

        def between(values: Ints) -> Ints:
            sums = np.append(0, np.cumsum(values))
            found: Ints = sums[last + 1] - sums[first]
            return found

        unique = np.zeros((len(first), 64), np.int32)
        told = np.flatnonzero(pieces.row >= 0)
        for bit in (bit for bit in range(64) if letters >> bit & 1):
            of_bit = np.zeros(len(pieces.lo), np.int64)
            of_bit[told] = pieces.unique[pieces.row[told], bit]
            unique[:, bit] = between(np.where(mine, of_bit, 0))
        return cls(
            first,
            last,
            between(np.where(mine | mixed, size, 0)),
            between(begins + 2 * np.where(mixed, size, 0)) + 1,
            between(np.where(mine, pieces.snapshots, 0)),
            unique,
        )


def fold_pairs_of(
    sharing: Sharing, chunk: Chunk, words: Words, runs: list[Runs], slots: list[Slots | None]
) -> Metrics:
    """Fills the slots of all members with a condition inside E+."""
    metrics = Metrics()
    for lot in sharing.paired:
        metrics += _Lot(sharing, chunk, words, lot, runs[lot[0]]).fold(slots)
    return metrics


@dataclass(frozen=True)
class _Lot:
    """Members with the same E+, condition and windows."""

    sharing: Sharing
    chunk: Chunk
    words: Words
    members: tuple[int, ...]
    runs: Runs

    def fold(self, slots: list[Slots | None]) -> Metrics:
        wiring = self.sharing.wiring(self.members)
        windows = len(self.runs)
        width = 1 + max(len(lanes) for lanes in wiring.lanes)
        out_m = np.zeros((len(self.members), windows, width))
        out_e = np.zeros((len(self.members), windows, width), np.int64)
        lost = np.zeros((len(self.members), windows), np.bool_)
        keys = self._keys()
        chosen, metrics = self._decide(wiring)
        bits = [_bit(wiring, k, self._kind(wiring)) for k in range(len(self.members))]
        for one in np.unique(chosen):
            mine = np.flatnonzero(chosen == one)
            sharers = [k for k, bit in enumerate(bits) if int(one) >> bit & 1]
            others = [[k] for k in range(len(self.members)) if k not in sharers]
            for places in ([sharers] if sharers else []) + others:
                numbers = [self.members[k] for k in places]
                part = self.sharing.wiring(numbers)
                m, e, gone, more = self._run(part, keys, mine, direct=places is not sharers)
                metrics += more
                for at, k in enumerate(places):
                    out_m[k, mine, : m.shape[2]] = m[:, at]
                    out_e[k, mine, : m.shape[2]] = e[:, at]
                    lost[k, mine] = gone
        for k, number in enumerate(self.members):
            if lost[k].any():
                self._alone(number, np.flatnonzero(lost[k]), wiring, k, out_m[k], out_e[k])
            slots[number] = as_slots(wiring.lanes[k], out_m[k], out_e[k])
        return replace(metrics, fallbacks=int(lost.sum()))

    def _kind(self, wiring: Wiring) -> int:
        name = self.sharing.group.members[self.members[0]].paired
        assert name is not None, "members of a lot have an E+ with a condition"
        return wiring.types.index(name)

    def _keys(self) -> Keys:
        """What earlier and later events are compared by, so that earlier ones must be less."""
        number = self.members[0]
        member = self.sharing.group.members[number]
        lookup = member.lookup
        assert lookup is not None, "members of a lot have one lookup"
        columns = pair_columns(member.part, self.sharing.joint.own_chunk(number, self.chunk))
        groups = np.zeros((2, len(self.chunk)), np.int64)
        for one in lookup.equalities:
            groups = _told_apart(groups, columns[one.left], columns[one.right])
        left = right = np.zeros(len(self.chunk))
        op = Op.LE
        for one in lookup.comparisons:  # one at most
            op, left, right = one.op, columns[one.left], columns[one.right]
        if op in (Op.GT, Op.GE):
            left, right = -left, -right
        return Keys(
            np.ascontiguousarray(left), np.ascontiguousarray(right), groups[0], groups[1],
            op in (Op.LT, Op.GT), op is Op.NE,
        )  # fmt: skip

    def _decide(self, wiring: Wiring) -> tuple[Words, Metrics]:
        """Per window the letters whose queries share it."""
        kind = self._kind(wiring)
        by = Classes.of(wiring, [1.0] * len(self.members))
        could = by.sharing[kind]
        chosen = np.zeros(len(self.runs), np.uint64)
        started = time.perf_counter()
        if self.sharing.mode is Mode.ALWAYS:
            chosen[:] = could
        elif self.sharing.mode is Mode.DYNAMIC and could:
            pieces = cut(self.chunk, self.words & wiring.letters, [self.runs], wiring, by)
            facts = _Facts.of(pieces, self.runs, kind, int(could))
            started = time.perf_counter()
            chosen = choose_windows(
                self.sharing.costs[1], facts.events, facts.graphlets, facts.snapshots,
                facts.unique, could, by.every[kind], by.weight,
            )  # fmt: skip
        elapsed = time.perf_counter() - started
        split, merged = changes(chosen)
        return chosen, Metrics(
            bursts=len(chosen) if could else 0,
            shared=int((chosen != 0).sum()),
            partly_shared=int(((chosen != 0) & (chosen != could)).sum()),
            split=split,
            merged=merged,
            decision_seconds=elapsed,
            trace=self._traced(wiring, kind, by, chosen) if could else Trace(),
        )

    def _traced(self, wiring: Wiring, kind: int, by: Classes, chosen: Words) -> Trace:
        could = np.full(len(chosen), by.sharing[kind])
        types = [wiring.types[kind]] * min(len(chosen), MOST)
        return traced(self.chunk, self.runs.lo, self.runs.hi, types, could, chosen, by)

    def _run(
        self, wiring: Wiring, keys: Keys, mine: Ints, *, direct: bool
    ) -> tuple[Floats, Ints, NDArray[np.bool_], Metrics]:
        """The windows `mine` for the wiring's queries: numbers, [window, query, lane]; and lost."""
        chunk, kind, runs = self.chunk, self._kind(wiring), self.runs.pick(mine)
        by = Classes.of(wiring, [1.0] * len(wiring.lanes))
        words = self.words & wiring.letters
        pieces = cut(chunk, words, [runs], wiring, by)
        facts = _Facts.of(pieces, runs, kind)
        x = wiring.inputs(chunk, self.sharing.centres)
        shared = np.zeros(len(pieces.lo), np.uint64)
        small = bool((np.abs(x) < RADIX).all())
        if not direct and small:
            typed = pieces.kind >= 0
            shared[typed] = by.sharing[pieces.kind[typed]]
        width = 1 + max(len(lanes) for lanes in wiring.lanes)
        shape = (len(mine), len(wiring.lanes), width)
        out_m, out_e = np.zeros(shape), np.zeros(shape, np.int64)
        lost = np.zeros(len(mine), np.bool_)
        tally = np.zeros(4, np.int64)
        most = np.ones_like(facts.events) if direct else facts.graphlets + facts.snapshots
        if small:
            fold_pairs(
                wiring.net, kind, direct, words, np.ascontiguousarray(chunk.order), x, keys,
                pieces, shared, facts.first, facts.last, most, out_m, out_e, lost, tally,
            )  # fmt: skip
        else:
            lost[:] = True
        return (
            out_m,
            out_e,
            lost,
            Metrics(
                snapshots=int(tally[GRAPHLETS] + tally[EVENTS]) if not direct else 0,
                event_snapshots=int(tally[EVENTS]),
                events_once=int(tally[ONCE]),
                events_per_query=int(tally[EACH]),
            ),
        )

    def _alone(
        self, number: int, rows: Ints, wiring: Wiring, k: int, out_m: Floats, out_e: Ints
    ) -> None:
        """Windows with too large counts, by the engine."""
        side = self.sharing.group.members[number].side
        evaluator = self.sharing.setting(number).evaluators()[side]
        evaluator.centres.update(self.sharing.own_centres(number))
        own = self.sharing.joint.own_chunk(number, self.chunk)
        found = evaluator.from_nothing(own, self.runs.pick(rows))
        out_m[rows], out_e[rows] = 0.0, 0
        lanes: tuple[Lane, ...] = (TRENDS, *wiring.lanes[k])
        for lane, one in enumerate(lanes):
            column = found.columns[one]
            assert isinstance(column, Doubles), "exponential counts are doubles"
            out_m[rows[found.run], lane] = column.m
            out_e[rows[found.run], lane] = column.e


def _told_apart(groups: Ints, left: Floats, right: Floats) -> Ints:
    """Groups of earlier and later events, told apart by one more equality; -1 equals nothing."""
    _, found = np.unique(np.concatenate([left, right]), return_inverse=True)
    both = groups.ravel() * (len(found) + 1) + found
    _, numbers = np.unique(both, return_inverse=True)
    known = ~np.isnan(np.concatenate([left, right])) & (groups.ravel() >= 0)
    return np.where(known, numbers, -1).reshape(2, -1)


def _bit(wiring: Wiring, query: int, kind: int) -> int:
    return int(wiring.net.intakes[wiring.net.intake[query, kind], 0])
