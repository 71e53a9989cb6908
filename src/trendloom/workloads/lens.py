"""One query's view of the shared batches: its own columns under its own names, nothing copied.

Only the mask is computed anew, by a table per word of the shared one; rows that the query would not
have been sent are left out, so that it sees what it sees alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.plan.plan import Plan
    from trendloom.plan.scan import Scan
    from trendloom.workloads.scan import SharedScan

WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)


@dataclass(frozen=True)
class Lens:
    """From batches of `shared` to those of one query, or of queries that are run as one."""

    shared: Scan
    letters: tuple[int, ...]
    """The shared letters that are bits 0, 1, … here."""
    operands: tuple[int, ...]
    """The shared operands that are x0, x1, … here."""
    keep_unmatched: bool

    @classmethod
    def of(cls, shared: SharedScan, plan: Plan) -> Lens:
        """Of one query."""
        letters, operands = shared.letters_of(plan), shared.operands_of(plan)
        return cls(shared.scan, letters, operands, plan.scan.keep_unmatched)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        mask = self.masks(batch)
        return self.with_mask(batch, mask)

    def with_mask(self, batch: pa.RecordBatch, mask: NDArray[Any]) -> pa.RecordBatch:
        """The query's columns, with a mask of the caller's making; 0: no letter of the query."""
        names = [f"p{k}" for k in range(len(self.shared.partition))] + ["time"]
        names += ["tie"] if "tie" in batch.schema.names else []
        columns = [batch.column(name) for name in names] + [from_numpy(mask)]
        columns += [batch.column(f"x{k}") for k in self.operands]
        names += ["mask", *(f"x{k}" for k in range(len(self.operands)))]
        own = pa.RecordBatch.from_arrays(columns, names)
        if self.keep_unmatched or not self.shared.letters:
            return own
        wanted = mask != 0
        return own if wanted.all() else own.filter(from_numpy(wanted))

    def masks(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """As a scan of these letters alone would have them."""
        if self._is_whole:
            return to_numpy(batch.column("mask"))
        own: NDArray[Any] | None = None
        for word, table in self.tables.items():
            found = table[to_numpy(batch.column(word))]
            own = found if own is None else own | found
        return np.zeros(batch.num_rows, np.uint8) if own is None else own

    @cached_property
    def _is_whole(self) -> bool:
        one_word = len(self.shared.words) == 1
        return one_word and self.letters == tuple(range(len(self.shared.letters)))

    @cached_property
    def tables(self) -> dict[str, NDArray[Any]]:
        """Per word that has letters of the query: the query's bits for every value."""
        width = next(w for w in WIDTHS if len(self.letters) <= np.iinfo(w).bits)
        tables: dict[str, NDArray[Any]] = {}
        first = 0
        for number, size in enumerate(self.shared.words):
            values = np.arange(1 << size, dtype=np.uint64)
            table = np.zeros(1 << size, np.uint64)
            for bit, letter in enumerate(self.letters):
                if first <= letter < first + size:
                    has = values >> np.uint64(letter - first) & np.uint64(1)
                    table |= has << np.uint64(bit)
            if table.any():
                tables["mask" if number == 0 else f"mask{number}"] = table.astype(width)
            first += size
        return tables
