"""Events that are already in memory, as something that DuckDB can scan more than once.

Optional libraries are recognised by the name of their module: asking must not import them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from trendloom.errors import InputError

SUPPORTED = (
    "Give a path, a glob, a list of paths, an open binary file, a pyarrow Table, RecordBatch, "
    "RecordBatchReader or Dataset, a pandas or polars frame, a DuckDB relation, "
    "a list of dicts or a dict of lists."
)


def column_names(scannable: Any) -> list[str]:
    """As the caller gave them, before DuckDB makes them unique."""
    if hasattr(scannable, "collect_schema"):
        return list(scannable.collect_schema().names())
    return list(scannable.schema.names)


def to_scannable(events: object) -> tuple[Any, bool]:
    """Something to register, and whether it can be scanned only once."""
    library = type(events).__module__.partition(".")[0]
    if isinstance(events, pa.RecordBatchReader):
        return events, True
    if isinstance(events, pa.RecordBatch):
        return pa.Table.from_batches([events]), False
    if library == "pyarrow" and hasattr(events, "schema"):
        return events, False
    if library == "pandas" and hasattr(events, "columns"):
        return _guard(lambda: pa.Table.from_pandas(events, preserve_index=False)), False
    if library == "polars" and hasattr(events, "collect_schema"):
        return events, False
    if library in ("duckdb", "_duckdb") and hasattr(events, "to_arrow_reader"):
        # It lives in the caller's connection, which may be in use when we would scan it again.
        return events.to_arrow_reader(), True
    if isinstance(events, Mapping):
        return _guard(lambda: pa.table({str(name): list(v) for name, v in events.items()})), False
    if isinstance(events, Sequence) and all(isinstance(row, Mapping) for row in events):
        # pyarrow alone would take the columns from the first row only.
        names = dict.fromkeys(str(name) for row in events for name in row)
        return _guard(lambda: pa.table({n: [row.get(n) for row in events] for n in names})), False
    raise InputError(f"Events of type {type(events).__name__} are not supported.", remedy=SUPPORTED)


def _guard(convert: Any) -> Any:
    try:
        return convert()
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"The events do not fit columns of one type each: {error}",
            remedy="Give every column values of one type, and columns of one length.",
        ) from error
