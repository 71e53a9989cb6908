"""Events of one partition and one time, where somebody needs them to be in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from trendloom.engine.arrow import to_numpy
from trendloom.engine.chunk import join_batches, make_chunk
from trendloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from trendloom.hosts.scan.times import TimeAxis


def refuse_simultaneous(batches: Iterable[pa.RecordBatch], keys: int, axis: TimeAxis) -> None:
    """Of sorted batches. Formulas order events of one time, trends do not: they would differ."""
    last: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch if last is None else join_batches([last, batch])
        last = batch.slice(batch.num_rows - 1, 1)
        chunk = make_chunk(rows, keys)
        same = np.diff(chunk.time) == 0
        same[chunk.bounds[1:-1] - 1] = False
        if "tie" in rows.schema.names:
            tie = rows.column("tie")
            same &= to_numpy(pc.equal(tie.slice(1), tie.slice(0, len(tie) - 1)))
        if same.any():
            at = axis.to_arrow(rows.column("time").slice(int(np.argmax(same)), 1))[0]
            raise InputError(
                f"Two events of one partition have the same {axis.column}: {at}. A formula takes "
                "one of them for the earlier, trends take neither, so that the numbers would "
                "differ.",
                remedy="Name a column that orders them: tiebreak=… (--tiebreak).",
            )
