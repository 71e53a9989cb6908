"""The bursts of a chunk, and who shares each of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels.burst_choice import choose_all
from trendloom.kernels.burst_net import BIT
from trendloom.kernels.burst_pieces import cut_pieces
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.hamlet.trace import MOST, Trace, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.kernels.burst_choice import Costs
    from trendloom.kernels.burst_pieces import Pieces
    from trendloom.workloads.hamlet.net import Wiring

    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Classes:
    """Per type the letters that sharing queries have, and how many queries have each."""

    sharing: Words
    common: NDArray[np.int64]
    weight: NDArray[np.float64]
    every: NDArray[np.float64]
    """Per type: the sum of its letters' weights."""
    queries: NDArray[np.int64]
    """Per letter."""

    @classmethod
    def of(cls, wiring: Wiring, overlap: Sequence[float]) -> Classes:
        """`overlap`: of each query, how many windows are open at once; each is one more to feed."""
        net = wiring.net
        weight = np.zeros(64)
        count = np.zeros(64, np.int64)
        sharing = np.zeros(len(wiring.types), np.uint64)
        common = np.zeros(len(wiring.types), np.int64)
        for kind in range(len(wiring.types)):
            queries = np.flatnonzero(net.intake[:, kind] >= 0)
            if len(queries) < 2:
                continue
            for query in queries:
                bit = int(net.intakes[net.intake[query, kind], BIT])
                weight[bit] += overlap[int(query)]
                count[bit] += 1
                sharing[kind] |= np.uint64(1 << bit)
            bits = [b for b in range(64) if int(sharing[kind]) >> b & 1]
            common[kind] = max(bits, key=lambda b: weight[b])
        every = [sum(weight[b] for b in range(64) if int(letters) >> b & 1) for letters in sharing]
        return cls(sharing, common, weight, np.array(every, np.float64), count)

    def counted(self, letters: Words) -> NDArray[np.int64]:
        """How many queries have any of the letters, set by set."""
        found = np.zeros(len(letters), np.int64)
        for bit in np.flatnonzero(self.queries):
            found += (letters >> np.uint64(bit) & np.uint64(1)).astype(np.int64) * self.queries[bit]
        return found


def cut(chunk: Chunk, words: Words, runs: Sequence[Runs], wiring: Wiring, by: Classes) -> Pieces:
    """Bursts inside panes: none crosses the bound of a window of any query."""
    cuts = np.zeros(len(chunk) + 1, np.bool_)
    cuts[chunk.bounds] = True
    for one in runs:
        cuts[one.lo] = True
        cuts[one.hi] = True
    order = np.ascontiguousarray(chunk.order, np.int64)
    return cut_pieces(words, order, cuts, wiring.type_of_bit, by.sharing, by.common)


def covered(first: Ints, last: Ints, pieces: int) -> NDArray[np.bool_]:
    """Which pieces are in a run: the others wait for the end of their windows."""
    steps = np.bincount(first, minlength=pieces + 1) - np.bincount(last + 1, minlength=pieces + 1)
    inside: NDArray[np.bool_] = np.cumsum(steps)[:pieces] > 0
    return inside


def decide(
    chunk: Chunk,
    pieces: Pieces,
    inside: NDArray[np.bool_],
    wiring: Wiring,
    by: Classes,
    mode: Mode,
    costs: Costs,
    fresh: int = 0,
) -> tuple[Words, Metrics]:
    """Per piece the letters whose queries share it; those in no window wait, undecided.

    Events before `fresh` were counted when the windows before were evaluated.
    """
    could = np.zeros(len(pieces.lo), np.uint64)
    kind = np.where(inside, pieces.kind, -1)
    typed = kind >= 0
    could[typed] = by.sharing[kind[typed]]
    started = time.perf_counter()
    match mode:
        case Mode.DYNAMIC:
            chosen = choose_all(
                costs, pieces.lo, pieces.hi, kind, pieces.differ, pieces.snapshots,
                pieces.row, pieces.unique, by.sharing, by.every, by.weight,
            )  # fmt: skip
        case Mode.ALWAYS:
            chosen = could
        case Mode.NEVER:
            chosen = np.zeros_like(could)
    elapsed = time.perf_counter() - started
    told = np.flatnonzero((could != 0) & (pieces.hi > fresh))
    lo, hi = np.maximum(pieces.lo[told], fresh), pieces.hi[told]
    kind, could, mine = kind[told], could[told], chosen[told]
    split = merged = 0
    for one in np.unique(kind):
        left, joined = changes(mine[kind == one])
        split, merged = split + left, merged + joined
    types = [wiring.types[one] for one in kind[:MOST]]
    return chosen, Metrics(
        bursts=len(told),
        shared=int((mine != 0).sum()),
        partly_shared=int(((mine != 0) & (mine != could)).sum()),
        split=split,
        merged=merged,
        decision_seconds=elapsed,
        trace=traced(chunk, lo, hi, types, could, mine, by),
    )


def traced(
    chunk: Chunk, lo: Ints, hi: Ints, types: Sequence[str], could: Words, chosen: Words, by: Classes
) -> Trace:
    """Bursts (or windows) of events `lo : hi`."""
    some = slice(0, MOST)
    lo_, hi_ = lo[some], hi[some]
    columns = [chunk.time[lo_], chunk.time[hi_ - 1], hi_ - lo_]
    columns += [by.counted(could[some]), by.counted(chosen[some])]
    return Trace(table(types, np.array(columns, np.int64)), len(lo) - len(lo_))


def changes(chosen: Words) -> tuple[int, int]:
    """Classes that left and that joined, from one burst to the next."""
    split = int(np.bitwise_count(chosen[:-1] & ~chosen[1:]).sum())
    return split, int(np.bitwise_count(chosen[1:] & ~chosen[:-1]).sum())
