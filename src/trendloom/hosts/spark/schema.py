"""Arrow schemas as Spark's, without a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.pandas.types import from_arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


def struct_of(schema: pa.Schema) -> StructType:
    struct: StructType = from_arrow_schema(schema)
    return struct
