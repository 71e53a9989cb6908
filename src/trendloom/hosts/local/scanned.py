"""The batches of one scan on their way to the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import duckdb
import pyarrow as pa

from trendloom.hosts.scan.failures import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.hosts.local.noticed import Noticed
    from trendloom.hosts.local.simultaneous import Ties


@dataclass(slots=True)
class Batches:
    """Batches, sorted or in input order, to be iterated once.

    Close it, or iterate to the end, before the next scan.
    """

    schema: pa.Schema
    operand_types: list[pa.DataType]
    partition_types: list[pa.DataType]
    total_rows: int
    """Rows of the input, matched or not."""
    dropped_rows: int
    """Rows without a time or tiebreak, if they were to be dropped."""
    _reader: pa.RecordBatchReader
    _finish: Callable[[], None]
    _again: Callable[[bool], Batches]
    _noticed: Noticed | None = None
    _ties: Ties | None = None

    def again(self, *, sort: bool) -> Batches:
        """The same rows once more from the first one; nothing else is to be closed."""
        self._finish = lambda: None
        self.close()
        return self._again(sort)

    def holding(self, rows: list[pa.RecordBatch]) -> Batches:
        """The same from now on, of rows that have been read; nothing else is to be closed."""
        finish, self._finish = self._finish, lambda: None
        self.close()
        reader = pa.RecordBatchReader.from_batches(
            rows[0].schema if rows else self.schema, iter(rows)
        )
        return replace(self, _reader=reader, _finish=finish)

    def counting(self, ties: Ties | None) -> Batches:
        """These batches, with ties counted while their sorted rows pass."""
        return replace(self, _ties=ties)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Batches that are not empty; to be closed afterwards."""
        while (batch := self._next()) is not None:
            if batch.num_rows:
                if self._noticed is not None:
                    self._noticed.see(batch)
                if self._ties is not None:
                    self._ties.see(batch)
                yield batch
        if self._noticed is not None:
            self._noticed.end()
        if self._ties is not None:
            self._ties.tell()

    def _next(self) -> pa.RecordBatch | None:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise failed(error) from error

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.rows()
        finally:
            self.close()

    def close(self) -> None:
        finish, self._finish = self._finish, lambda: None
        self._reader.close()
        finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
