"""The projection of plain columns without DuckDB: views of Arrow's arrays instead of copies.

Most queries only compare the event's type and use attributes as they are. Then a projection needs
no expressions: keys, times and operands are columns already, and the mask is a lookup by type.
Whether a query is like that is known once its columns are; whether a table is, only its rows tell
(nulls, NaN, infinite times). Everything else is left to DuckDB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from trendloom.engine.arrow import filled, from_numpy, to_numpy
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.hosts.scan.bound import Bound
    from trendloom.plan.scan import Scan

_UNITS = {
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP_S": pa.timestamp("s"),
    "TIMESTAMP_MS": pa.timestamp("ms"),
    "TIMESTAMP_NS": pa.timestamp("ns"),
    "BIGINT": pa.int64(),
}
"""Times that are ticks as they are."""
ENDLESS = np.iinfo(np.int64).max
"""And its negative: DuckDB's infinite timestamps."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Which column is which, where every expression is a column."""

    keys: tuple[str, ...]
    time: str
    operands: tuple[str, ...]
    type: str
    bits: dict[str, int]
    """By type: the mask of its events."""
    contract: pa.Schema
    keep_unmatched: bool

    @classmethod
    def of(cls, scan: Scan, bound: Bound) -> Plain | None:
        """None where DuckDB has something to compute."""
        projection, given, contract = bound.projection, bound.given, bound.contract
        keys = [_column(key) for key in projection.keys]
        operands = [_column(operand) for operand in projection.operands]
        names = [f"p{k}" for k in range(len(keys))] + [f"x{k}" for k in range(len(operands))]
        for found, name in zip([*keys, *operands], names, strict=True):
            if found is None or given.field(found).type != contract.field(name).type:
                return None
        time, type_column = bound.axis.column, bound.roles.type_column
        if _UNITS.get(bound.axis.duck_type) != given.field(time).type or projection.tie is not None:
            return None
        if type_column is None or not pa.types.is_string(given.field(type_column).type):
            return None
        if len(scan.words) > 1 or any(letter.condition is not None for letter in scan.letters):
            return None
        bits: dict[str, int] = {}
        for k, letter in enumerate(scan.letters):
            bits[letter.type] = bits.get(letter.type, 0) | 1 << k
        return cls(
            tuple(str(key) for key in keys),
            time,
            tuple(str(operand) for operand in operands),
            type_column,
            bits,
            contract,
            projection.keep_unmatched,
        )

    def project(self, given: pa.Table) -> pa.Table | None:
        """The scan columns; None for a table that is not as plain as its columns are."""
        times = [chunk.view(pa.int64()) for chunk in given.column(self.time).chunks]
        ticks = pa.chunked_array(times, pa.int64())
        plain = [given.column(name) for name in self.keys]
        if ticks.null_count or any(key.null_count for key in plain):
            return None
        operands = [given.column(name) for name in self.operands]
        if any(pa.types.is_dictionary(column.type) for column in (*plain, *operands)):
            return None
        if not (_is_finite(ticks) and all(map(_has_no_nan, operands))):
            return None
        kind = self.contract.field("mask").type
        masks = [self._mask(chunk) for chunk in given.column(self.type).chunks]
        mask = pa.chunked_array(masks, kind)
        table = pa.table([*plain, ticks, mask, *operands], schema=self.contract)
        if self.keep_unmatched or pc.all(pc.not_equal(mask, 0)).as_py() is not False:
            return table
        return table.filter(pc.not_equal(mask, 0))

    def _mask(self, types: pa.Array) -> pa.Array:
        encoded = types if isinstance(types, pa.DictionaryArray) else types.dictionary_encode()
        by_place = np.array(
            [*(self.bits.get(name, 0) for name in encoded.dictionary.to_pylist()), 0], np.uint64
        )
        places = encoded.indices
        if places.null_count:
            places = places.fill_null(len(by_place) - 1)
        width = np.dtype(self.contract.field("mask").type.to_pandas_dtype())
        masks: NDArray[np.uint64] = by_place.astype(width)[to_numpy(places)]
        return from_numpy(masks)


def _column(tree: exp.Expr) -> str | None:
    """The column that an expression is, but for NaN."""
    if isinstance(tree, exp.Nullif) and tree.expression == duck.NAN:
        tree = tree.this
    return tree.name if isinstance(tree, exp.Column) else None


def _is_finite(ticks: pa.ChunkedArray) -> bool:
    ends = pc.min_max(ticks)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is None or (low > -ENDLESS and high < ENDLESS)


def _has_no_nan(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_floating(column.type):
        return True
    # NaN goes through every sum; infinities of both signs are taken for one.
    with np.errstate(invalid="ignore", over="ignore"):
        values = (filled(c, 0.0) for c in column.chunks)
        return not any(np.isnan(np.sum(part)) for part in values)
