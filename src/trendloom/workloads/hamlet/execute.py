"""A group of queries over a chunk of joint events: every member's slots, as the engine gives them.

1. Each query's windows become runs; bursts are cut where any of them begins or ends.
2. For every burst the optimizer names who shares it (`bursts`).
3. The kernels make one pass for all queries; without sharing, one pass for each.
4. Queries with a condition inside E+ go through `pairs`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.columns import as_doubles
from trendloom.engine.ends import Moved
from trendloom.engine.inputs import Centre
from trendloom.engine.setting import Setting
from trendloom.engine.windows import Windows
from trendloom.kernels.bursts import EACH, EVENTS, GRAPHLETS, ONCE, fold_bursts
from trendloom.kernels.scaled import RADIX
from trendloom.workloads.hamlet import calibration
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.bursts import Classes, covered, cut, decide
from trendloom.workloads.hamlet.extremes import Extremes
from trendloom.workloads.hamlet.found import as_slots, overlap
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.hamlet.net import wire
from trendloom.workloads.hamlet.pairs import fold_pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.lanes import Extremum
    from trendloom.engine.slots import Slots
    from trendloom.engine.windows import Runs
    from trendloom.kernels.burst_choice import Costs
    from trendloom.workloads.hamlet.joint import Joint
    from trendloom.workloads.hamlet.net import Wiring
    from trendloom.workloads.hamlet.template import Group

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Evaluated:
    """Per member of the group: its runs, and a slot for each; and what sharing did."""

    runs: list[Runs]
    slots: list[Slots]
    metrics: Metrics


@dataclass(frozen=True)
class Sharing:
    """A group whose columns' types are known."""

    group: Group
    operand_types: Sequence[pa.DataType]
    """Of the joint scan."""
    nanoseconds: int
    mode: Mode = Mode.DYNAMIC
    costs: tuple[Costs, Costs] = field(default_factory=calibration.used)
    """Without and with conditions inside E+."""

    @cached_property
    def joint(self) -> Joint:
        return self.group.joint

    @cached_property
    def windows(self) -> list[Windows]:
        return [Windows.of(m.plan, self.nanoseconds) for m in self.group.members]

    @cached_property
    def centres(self) -> dict[int, Centre]:
        """By operand of the joint scan: what the sums of a variance are relative to."""
        return {}

    def own_centres(self, number: int) -> dict[int, Centre]:
        """By operand of the own scan of a member's query."""
        own = enumerate(self.joint.operands[number])
        return {mine: self.centres[joint] for mine, joint in own if joint in self.centres}

    def find_centres(self, chunk: Chunk) -> None:
        """Once an operand has values its centre is fixed, as in the engine."""
        wirings = [wiring for _, wiring in self._lots] + [self.wiring(lot) for lot in self.paired]
        for feed in (feed for wiring in wirings for feed in wiring.feeds if feed.centred):
            if feed.operand is not None and feed.operand not in self.centres:
                centre = Centre.near(as_doubles(chunk.operand(feed.operand), np.nan))
                if centre is not None:
                    self.centres[feed.operand] = centre

    @cached_property
    def paired(self) -> list[tuple[int, ...]]:
        """Members with a condition inside E+, those with the same E+, condition and windows."""
        lots: dict[tuple[object, ...], list[int]] = {}
        for k, member in enumerate(self.group.members):
            if member.paired is not None:
                condition = member.intakes[member.paired].adjacent
                lots.setdefault((member.paired, condition, self.windows[k]), []).append(k)
        return [tuple(lot) for lot in lots.values()]

    @cached_property
    def free(self) -> list[int]:
        """Members without a condition inside E+."""
        return [k for k, m in enumerate(self.group.members) if not m.part.adjacent]

    def setting(self, number: int, partition_types: Sequence[pa.DataType] = ()) -> Setting:
        """The query of a member, as the engine runs it alone."""
        types = self.joint.own_types(number, self.operand_types)
        return Setting(self.group.members[number].plan, types, partition_types, self.nanoseconds)

    def evaluate(
        self, chunk: Chunk, runs: Sequence[Runs] | None = None, *, fresh: int = 0
    ) -> Evaluated:
        """All windows of the chunk, or the given runs of each member; both from nothing.

        Bursts before event `fresh` are not counted: they were, with windows before.
        """
        started = time.perf_counter()
        found = list(runs) if runs is not None else self.runs(chunk)
        slots: list[Slots | None] = [None] * len(found)
        words = np.ascontiguousarray(chunk.mask.astype(np.uint64))
        moved = Moved.of(tuple(self._extremes), chunk, None)
        chunk = chunk if moved is None else moved.chunk
        self.find_centres(chunk)
        metrics = Metrics()
        for lot, wiring in self._lots:
            metrics += self._fold(chunk, words, lot, wiring, found, slots, fresh)
        metrics += fold_pairs_of(self, chunk, words, found, slots)
        done = [one for one in slots if one is not None]
        assert len(done) == len(found), "every member has slots"
        if moved is not None:
            done = [self._moved_back(moved, k, one) for k, one in enumerate(done)]
        metrics = replace(metrics, seconds=time.perf_counter() - started)
        return Evaluated(found, done, metrics)

    @cached_property
    def _extremes(self) -> dict[Extremum, None]:
        """Of all members, by the operands of the joint scan."""
        lots = [*self._lots, *((lot, self.wiring(lot)) for lot in self.paired)]
        return {
            self._of_joint(number, lane): None
            for lot, wiring in lots
            for number, lanes in zip(lot, wiring.extremes, strict=True)
            for lane in lanes
        }

    def _of_joint(self, number: int, lane: Extremum) -> Extremum:
        operands = self.joint.operands[number]
        return lane if lane.operand is None else replace(lane, operand=operands[lane.operand])

    def _moved_back(self, moved: Moved, number: int, slots: Slots) -> Slots:
        keys = {
            lane: moved.key(self._of_joint(number, lane), keys)
            for lane, keys in slots.extremes.items()
        }
        return replace(slots, extremes=keys)

    def runs(self, chunk: Chunk) -> list[Runs]:
        """Per member all windows of the chunk; those with the same windows have the same runs."""
        known: dict[Windows, Runs] = {}
        return [
            known[one] if one in known else known.setdefault(one, one.runs(chunk))
            for one in self.windows
        ]

    @cached_property
    def _lots(self) -> list[tuple[tuple[int, ...], Wiring]]:
        """Members that go through the kernel together."""
        alone = self.mode is Mode.NEVER
        lots = [(k,) for k in self.free] if alone else [tuple(self.free)] if self.free else []
        return [(lot, self.wiring(lot)) for lot in lots]

    @cached_property
    def _wirings(self) -> dict[tuple[int, ...], Wiring]:
        return {}

    def wiring(self, lot: Sequence[int]) -> Wiring:
        """Some members, by their places in the group."""
        places = tuple(lot)
        if places not in self._wirings:
            members = [self.group.members[k] for k in places]
            self._wirings[places] = wire(members, places, self.joint, self.operand_types)
        return self._wirings[places]

    def _fold(
        self,
        chunk: Chunk,
        words: NDArray[np.uint64],
        lot: tuple[int, ...],
        wiring: Wiring,
        runs: list[Runs],
        slots: list[Slots | None],
        fresh: int,
    ) -> Metrics:
        words = words & wiring.letters
        mine = [runs[k] for k in lot]
        by = Classes.of(wiring, [overlap(self.windows[k]) for k in lot])
        pieces = cut(chunk, words, mine, wiring, by)
        x = wiring.inputs(chunk, self.centres)
        # A burst's map is made of plain doubles; larger inputs go event by event, with exponents.
        mode = self.mode if (np.abs(x) < RADIX).all() else Mode.NEVER
        query = np.concatenate([np.full(len(r), k, np.int64) for k, r in enumerate(mine)])
        first = np.searchsorted(pieces.lo, np.concatenate([r.lo for r in mine]))
        last = np.searchsorted(pieces.hi, np.concatenate([r.hi for r in mine]))
        inside = covered(first, last, len(pieces.lo))
        shared, metrics = decide(chunk, pieces, inside, wiring, by, mode, self.costs[0], fresh)
        order = np.argsort(first, kind="stable")
        query, first, last = query[order], first[order], last[order]
        width = 1 + max(len(lanes) for lanes in wiring.lanes)
        out_m = np.zeros((len(query), width))
        out_e = np.zeros((len(query), width), np.int64)
        tally = np.zeros(4, np.int64)
        fold_bursts(
            wiring.net, words, np.ascontiguousarray(chunk.order), x, pieces, shared,
            query, first, last, np.argsort(last, kind="stable"),
            _most_open(first, last),
            max(_most_open(first[query == k], last[query == k]) for k in range(len(lot))),
            out_m, out_e, tally,
        )  # fmt: skip
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        at = 0
        extremes = Extremes(chunk, words, pieces, wiring, self.joint)
        for k, number in enumerate(lot):
            rows = back[at : at + len(mine[k])]
            at += len(mine[k])
            member = self.group.members[number]
            least = extremes.of(k, number, member, first[rows], last[rows])
            slots[number] = as_slots(wiring.lanes[k], out_m[rows], out_e[rows], least)
        return replace(
            metrics,
            snapshots=int(tally[GRAPHLETS] + tally[EVENTS]),
            event_snapshots=int(tally[EVENTS]),
            events_once=int(tally[ONCE]),
            events_per_query=int(tally[EACH]),
        )


def _most_open(first: Ints, last: Ints) -> int:
    """The most runs that are open at one piece; `first` ascends."""
    if not len(first):
        return 1
    ended = np.searchsorted(np.sort(last), first)
    return int((np.arange(1, len(first) + 1) - ended).max())
