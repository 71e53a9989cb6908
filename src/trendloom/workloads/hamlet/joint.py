"""One scan for queries with the same partitioning: each distinct letter and operand once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import read_only
from trendloom.engine.chunk import Chunk
from trendloom.plan.scan import Scan
from trendloom.workloads.scan import letter_key, operand_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.plan.plan import Plan
    from trendloom.plan.scan import Letter, Operand
    from trendloom.workloads.scan import LetterKey, OperandKey

MAX_LETTERS = 64
"""Bits of a mask."""


@dataclass(frozen=True)
class Joint:
    """A scan of all queries, and where in it each query finds its own letters and operands."""

    scan: Scan
    letters: tuple[tuple[int, ...], ...]
    operands: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Joint:
        letters: dict[LetterKey, Letter] = {}
        operands: dict[OperandKey, Operand] = {}
        mine: list[tuple[int, ...]] = []
        uses: list[tuple[int, ...]] = []
        for plan in plans:
            for letter in plan.scan.letters:
                letters.setdefault(letter_key(letter), letter)
            for operand in plan.scan.operands:
                operands.setdefault(operand_key(operand), operand)
            known, at = list(letters), list(operands)
            mine.append(tuple(known.index(letter_key(one)) for one in plan.scan.letters))
            uses.append(tuple(at.index(operand_key(one)) for one in plan.scan.operands))
        scan = Scan(
            tuple(letters.values()),
            plans[0].scan.partition,
            tuple(operands.values()),
            keep_unmatched=False,
            input_order=False,
        )
        return cls(scan, tuple(mine), tuple(uses))

    def own_types(self, query: int, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """The types of a query's own operands."""
        return [types[number] for number in self.operands[query]]

    def own_chunk(self, query: int, chunk: Chunk) -> Chunk:
        """The events as the query's own scan would deliver them, and those of others besides."""
        mask = np.zeros(len(chunk), np.uint64)
        whole = chunk.mask.astype(np.uint64)
        for k, letter in enumerate(self.letters[query]):
            mask |= ((whole >> np.uint64(letter)) & np.uint64(1)) << np.uint64(k)
        names = [*(f"p{k}" for k in range(chunk.keys)), "time"]
        arrays = [chunk.batch.column(name) for name in names]
        if "tie" in chunk.batch.schema.names:
            names.append("tie")
            arrays.append(chunk.batch.column("tie"))
        names.append("mask")
        arrays.append(pa.Array.from_buffers(pa.uint64(), len(mask), [None, pa.py_buffer(mask)]))
        for k, number in enumerate(self.operands[query]):
            names.append(f"x{k}")
            arrays.append(chunk.operand(number))
        batch = pa.RecordBatch.from_arrays(arrays, names)
        return Chunk(batch, chunk.keys, chunk.time, chunk.order, read_only(mask), chunk.bounds)
