"""What trends carry of their events besides row numbers: attributes that the caller chose.

A text that many trends share is written once: it goes as a number in a dictionary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine.arrow import from_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk

COLUMN = "attributes"
BYTES = 40
"""Of one attribute of one event of one trend, at most, while a batch is made."""


def struct_of(names: Sequence[str], types: Sequence[pa.DataType]) -> pa.StructType:
    return pa.struct(
        [pa.field(name, _carried(kind)) for name, kind in zip(names, types, strict=True)]
    )


def columns_of(chunk: Chunk, first: int, kind: pa.StructType) -> list[pa.Array]:
    """The attributes of a chunk's events: operands from `first`."""
    columns = []
    for k, field in enumerate(kind):
        column = chunk.operand(first + k)
        if pa.types.is_dictionary(field.type) and not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        columns.append(column.cast(field.type))
    return columns


def structs(
    kind: pa.StructType, columns: Sequence[pa.Array], event: NDArray[np.int64]
) -> pa.StructArray:
    """One per event, in the given order."""
    at = from_numpy(event)
    return pa.StructArray.from_arrays([column.take(at) for column in columns], fields=list(kind))


def _carried(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or pa.types.is_string_view(kind):
        return pa.dictionary(pa.int32(), pa.string())
    return kind
