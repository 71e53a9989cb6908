"""Bound variables: one run per value of an anchor or of a grouping attribute."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import filled, from_numpy
from trendloom.errors import LimitError
from trendloom.kernels.program import Work
from trendloom.plan.plan import BindingKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]

MAX_RUNS = 20_000_000


@dataclass(frozen=True)
class Spread:
    """The runs to make. Slot i is what run `run[i]` gives for one choice of grouping values."""

    work: Work
    run: Ints
    groups: tuple[pa.Array, ...]
    """Per grouping binding: the slots' values, null for trends without the variable."""
    codes: Ints
    """[binding, event]: the number of the event's grouping value, -1 for null."""


def spread(part: Part, chunk: Chunk, runs: Runs, masks: NDArray[np.uint64]) -> Spread:
    codes, dictionaries = _encode(part, chunk)
    if not part.bindings:
        every = np.arange(len(runs))
        nothing = np.zeros((len(runs), 0), np.int64)
        return Spread(Work(runs.lo, runs.hi, every, nothing), every, (), codes)
    bindings = part.bindings
    bits = [np.uint64(1 << part.automaton.variables.index(b.variable)) for b in bindings]
    groups = [b for b, binding in enumerate(bindings) if binding.kind is BindingKind.GROUP]
    anchors = [b for b, binding in enumerate(bindings) if binding.kind is BindingKind.ANCHOR]
    work: list[tuple[int, int, int]] = []
    bound: list[list[int]] = []
    slots: list[tuple[int, tuple[int, ...]]] = []
    for run in range(len(runs)):
        lo, hi = int(runs.lo[run]), int(runs.hi[run])
        here = [np.flatnonzero(masks[lo:hi] & bit) + lo for bit in bits]
        present = [np.unique(codes[b][here[b]]) for b in groups]
        values = [
            [int(k) for k in found if k >= 0] + [-1] * bindings[b].optional
            for b, found in zip(groups, present, strict=True)
        ]
        for chosen in product(*values):
            slots.append((run, chosen))
            # Runs of one slot are neighbours: their results are added up.
            for events in product(*(here[b].tolist() for b in anchors)):
                work.append((lo, hi, len(slots) - 1))
                fixed = dict(zip([*groups, *anchors], [*chosen, *events], strict=True))
                bound.append([fixed[b] for b in range(len(bindings))])
            if len(work) > MAX_RUNS:
                raise LimitError(
                    f"More than {MAX_RUNS:,} combinations of anchors and grouping values.",
                    remedy="Use a shorter window, or fewer conditions between distant events.",
                )
    table = np.array(work, np.int64).reshape(len(work), 3)
    lo_, hi_, slot = (np.ascontiguousarray(table[:, k]) for k in range(3))
    chosen_table = np.array([c for _, c in slots], np.int64).reshape(len(slots), len(groups))
    return Spread(
        Work(lo_, hi_, slot, np.array(bound, np.int64).reshape(len(work), len(bindings))),
        np.array([run for run, _ in slots], np.int64),
        tuple(_decode(dictionaries[b], chosen_table[:, k]) for k, b in enumerate(groups)),
        codes,
    )


def _encode(part: Part, chunk: Chunk) -> tuple[Ints, dict[int, pa.Array]]:
    codes = np.full((len(part.bindings), len(chunk)), -1, np.int64)
    dictionaries: dict[int, pa.Array] = {}
    for b, binding in enumerate(part.bindings):
        if binding.operand is not None:
            column = chunk.operand(binding.operand)
            if not isinstance(column, pa.DictionaryArray):
                column = column.dictionary_encode()
            codes[b] = filled(column.indices, -1)
            dictionaries[b] = column.dictionary
    return codes, dictionaries


def _decode(dictionary: pa.Array, codes: Ints) -> pa.Array:
    return dictionary.take(from_numpy(codes, codes < 0))
