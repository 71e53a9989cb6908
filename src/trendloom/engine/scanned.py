"""The scan's columns, as events are kept and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from trendloom.engine.setting import Setting

_MASKS = ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()), (64, pa.uint64()))


def event_schema(setting: Setting, tie: pa.DataType | None) -> pa.Schema:
    """The scan's columns, as they are kept: no dictionaries, the narrowest mask."""
    letters = len(setting.plan.scan.letters)
    fields = [(f"p{k}", plain(kind)) for k, kind in enumerate(setting.partition_types)]
    fields += [("time", pa.int64())] + ([] if tie is None else [("tie", plain(tie))])
    fields += [("mask", next(kind for bits, kind in _MASKS if letters <= bits))]
    fields += [(f"x{k}", plain(kind)) for k, kind in enumerate(setting.operand_types)]
    return pa.schema(fields)


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of a dictionary's values."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
