"""Arrow columns as numpy arrays, and back.

Arrow's own `to_numpy`, `array` and `scalar` (and so `fill_null` with a value, or a comparison with
one) import pandas wherever it is installed: a third of every cold start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 4: pa.uint32(), 8: pa.uint64()}


def to_numpy(column: pa.Array) -> NDArray[Any]:
    """Numbers and booleans without nulls; numbers are not copied."""
    assert column.null_count == 0, "nulls are filled before"
    values = column.buffers()[1]
    size, skipped = len(column), column.offset
    if values is None or size == 0:
        kind = np.bool_ if pa.types.is_boolean(column.type) else column.type.to_pandas_dtype()
        return np.zeros(0, kind)
    if pa.types.is_boolean(column.type):
        packed = np.frombuffer(values, np.uint8)
        bits = np.unpackbits(packed, count=skipped + size, bitorder="little")
        return bits[skipped:].astype(np.bool_)
    kind = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(values, kind, count=size, offset=skipped * kind.itemsize)


def filled(column: pa.Array, missing: float | bool) -> NDArray[Any]:
    """Numbers or booleans, with `missing` for null."""
    if column.null_count == 0:
        return to_numpy(column)
    known = to_numpy(column.is_valid())
    if column.buffers()[1] is None:
        return np.full(len(column), missing, np.dtype(column.type.to_pandas_dtype()))
    bare = [None, column.buffers()[1]]
    values = to_numpy(pa.Array.from_buffers(column.type, len(column), bare, offset=column.offset))
    return np.where(known, values, values.dtype.type(missing))


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, not to be written.

    To numba that is a type of its own, and a kernel is compiled once per type: what comes from
    Arrow is read-only at times, so what kernels only read always is.
    """
    view = values.view()
    view.flags.writeable = False
    return view


def from_numpy(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """int64, float64, bool or unsigned integers; null where `missing`."""
    validity = None if missing is None else _packed(~missing)
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(values), [validity, _packed(values)])
    if values.dtype.kind == "u":
        kind = _UNSIGNED[values.dtype.itemsize]
    else:
        kind = {"i": pa.int64(), "f": pa.float64()}[values.dtype.kind]
        assert values.dtype.itemsize == 8, values.dtype
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [validity, data])


def _packed(bits: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(bits, bitorder="little"))
