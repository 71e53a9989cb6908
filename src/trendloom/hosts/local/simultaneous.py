"""Events of one partition and one time: nothing orders them, unless the caller does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.chunk import join_batches, make_chunk
from trendloom.errors import InputError, TieWarning, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.hosts.scan.times import TimeAxis


def tell_ties(count: int, queries: Sequence[str] = (), *, partitioned: bool) -> None:
    """Warns of events that share their time with another one, if there are any."""
    if count:
        of = " of their partition" if partitioned else ""
        warn(
            TieWarning(
                f"{count:,} events that the pattern can use share their time with another one{of}, "
                "so that none of them comes before the other.",
                remedy="If they have an order, name the column that tells it with tiebreak= "
                "(--tiebreak), or take that of the rows: tiebreak='row' (--tiebreak @row).",
                queries=queries,
            )
        )


class Ties:
    """Show it sorted batches: it counts the events that share their time with another one.

    For listings; whatever aggregates has counted them by itself.
    """

    def __init__(self, keys: int) -> None:
        self._keys = keys
        self._last: pa.RecordBatch | None = None
        self._last_is_tied = False
        self._told = False
        self.count = 0

    def see(self, batch: pa.RecordBatch) -> None:
        """The next rows, at least one."""
        rows, same = pairs(self._last, batch, self._keys)
        tied = np.zeros(rows.num_rows, np.bool_)
        tied[1:] |= same
        tied[:-1] |= same
        self.count += int(np.count_nonzero(tied)) - int(self._last_is_tied and tied[0])
        self._last = batch.slice(batch.num_rows - 1, 1)
        self._last_is_tied = bool(tied[-1])

    def tell(self) -> None:
        """There are no more rows: warns, once."""
        if not self._told and self._last is not None and "tie" not in self._last.schema.names:
            tell_ties(self.count, partitioned=self._keys > 0)
        self._told = True


def refuse_simultaneous(batches: Iterable[pa.RecordBatch], keys: int, axis: TimeAxis) -> None:
    """Of sorted batches. Formulas order events of one time, trends do not: they would differ."""
    last: pa.RecordBatch | None = None
    for batch in batches:
        rows, same = pairs(last, batch, keys)
        last = batch.slice(batch.num_rows - 1, 1)
        if same.any():
            at = axis.to_arrow(rows.column("time").slice(int(np.argmax(same)), 1))[0]
            raise InputError(
                f"Two events of one partition have the same {axis.column}: {at}. A formula takes "
                "one of them for the earlier, trends take neither, so that the numbers would "
                "differ.",
                remedy="Name a column that orders them with tiebreak= (--tiebreak), or take the "
                "order of the rows: tiebreak='row' (--tiebreak @row).",
            )


def pairs(
    last: pa.RecordBatch | None, batch: pa.RecordBatch, keys: int
) -> tuple[pa.RecordBatch, NDArray[np.bool_]]:
    """The rows, with the last one before them, and whether rows i and i + 1 are simultaneous."""
    rows = batch if last is None else join_batches([last, batch])
    chunk = make_chunk(rows, keys)
    same = chunk.order[1:] == chunk.order[:-1]
    same[chunk.bounds[1:-1] - 1] = False
    return rows, same
