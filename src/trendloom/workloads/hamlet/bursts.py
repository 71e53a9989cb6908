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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.kernels.burst_choice import Costs
    from trendloom.kernels.burst_pieces import Pieces
    from trendloom.workloads.hamlet.net import Wiring

    Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Classes:
    """Per type the letters that sharing queries have, and how many queries have each."""

    sharing: Words
    common: NDArray[np.int64]
    weight: NDArray[np.float64]
    every: NDArray[np.float64]
    """Per type: the sum of its letters' weights."""

    @classmethod
    def of(cls, wiring: Wiring, overlap: Sequence[float]) -> Classes:
        """`overlap`: of each query, how many windows are open at once; each is one more to feed."""
        net = wiring.net
        weight = np.zeros(64)
        sharing = np.zeros(len(wiring.types), np.uint64)
        common = np.zeros(len(wiring.types), np.int64)
        for kind in range(len(wiring.types)):
            queries = np.flatnonzero(net.intake[:, kind] >= 0)
            if len(queries) < 2:
                continue
            for query in queries:
                bit = int(net.intakes[net.intake[query, kind], BIT])
                weight[bit] += overlap[int(query)]
                sharing[kind] |= np.uint64(1 << bit)
            bits = [b for b in range(64) if int(sharing[kind]) >> b & 1]
            common[kind] = max(bits, key=lambda b: weight[b])
        every = [sum(weight[b] for b in range(64) if int(letters) >> b & 1) for letters in sharing]
        return cls(sharing, common, weight, np.array(every, np.float64))


def cut(chunk: Chunk, words: Words, runs: Sequence[Runs], wiring: Wiring, by: Classes) -> Pieces:
    """Bursts inside panes: none crosses the bound of a window of any query."""
    cuts = np.zeros(len(chunk) + 1, np.bool_)
    cuts[chunk.bounds] = True
    for one in runs:
        cuts[one.lo] = True
        cuts[one.hi] = True
    order = np.ascontiguousarray(chunk.order, np.int64)
    return cut_pieces(words, order, cuts, wiring.type_of_bit, by.sharing, by.common)


def decide(pieces: Pieces, by: Classes, mode: Mode, costs: Costs) -> tuple[Words, Metrics]:
    """Per piece the letters whose queries share it."""
    could = np.zeros(len(pieces.lo), np.uint64)
    typed = pieces.kind >= 0
    could[typed] = by.sharing[pieces.kind[typed]]
    started = time.perf_counter()
    match mode:
        case Mode.DYNAMIC:
            chosen = choose_all(
                costs, pieces.lo, pieces.hi, pieces.kind, pieces.differ, pieces.snapshots,
                pieces.row, pieces.unique, by.sharing, by.every, by.weight,
            )  # fmt: skip
        case Mode.ALWAYS:
            chosen = could
        case Mode.NEVER:
            chosen = np.zeros_like(could)
    elapsed = time.perf_counter() - started
    split = merged = 0
    for kind in np.unique(pieces.kind[could != 0]):
        left, joined = changes(chosen[pieces.kind == kind])
        split, merged = split + left, merged + joined
    return chosen, Metrics(
        bursts=int((could != 0).sum()),
        shared=int((chosen != 0).sum()),
        partly_shared=int(((chosen != 0) & (chosen != could)).sum()),
        split=split,
        merged=merged,
        decision_seconds=elapsed,
    )


def changes(chosen: Words) -> tuple[int, int]:
    """Classes that left and that joined, from one burst to the next."""
    split = int(np.bitwise_count(chosen[:-1] & ~chosen[1:]).sum())
    return split, int(np.bitwise_count(chosen[1:] & ~chosen[:-1]).sum())
