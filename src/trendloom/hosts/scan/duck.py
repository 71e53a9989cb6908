"""The private DuckDB that reads, sorts and spills; and the few words of SQL that all of it shares.

SQL is built as sqlglot trees only, so that names and values of the caller are always quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.engine.machine import usable_cores, usable_memory
from trendloom.engine.stopping import on_stop

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

SHARE = 0.8
"""Of the memory that there is, what a scan takes before it spills, unless the caller says less."""
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT", "GEOMETRY")
FLOATS = frozenset({"FLOAT", "DOUBLE"})
NAN = exp.cast(exp.Literal.string("NaN"), exp.DataType.Type.DOUBLE)
INTEGERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
    | {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
)


def connect(
    spill: Path | None = None, memory_limit: str | None = None
) -> duckdb.DuckDBPyConnection:
    """An in-memory database of our own: nobody else's settings, tables or open results."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": usable_cores(),
        "memory_limit": memory_limit or f"{int(SHARE * usable_memory()) >> 20}MiB",
        "preserve_insertion_order": True,
        # A typo in a path must not end in a download of an extension.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if spill is not None:
        settings["temp_directory"] = str(spill)
    connection = duckdb.connect(config=settings)
    # Not a start-up option; results must not depend on the zone of the machine.
    connection.execute("SET TimeZone = 'UTC'")
    on_stop(connection.interrupt)
    return connection


def use_threads(connection: duckdb.DuckDBPyConnection, count: int) -> None:
    """Instead of one per core."""
    connection.execute(f"SET threads = {int(count)}")


def text(tree: exp.Expr) -> str:
    """The statement; comments of the query stay in the query."""
    return tree.sql(dialect="duckdb", comments=False)


def column(name: str) -> exp.Column:
    """A column by its exact name, whatever characters are in it."""
    return exp.column(exp.to_identifier(name, quoted=True))


def nan_as_null(tree: exp.Expr) -> exp.Expr:
    """For a float; see `conditions` for why."""
    if isinstance(tree, exp.Nullif) and tree.expression == NAN:
        return tree
    return exp.Nullif(this=tree, expression=NAN.copy())


def first_row(connection: duckdb.DuckDBPyConnection, tree: exp.Expr) -> tuple[int, ...]:
    """The one row of a statement that counts."""
    # fetchone() would leave the result open, and the connection busy with it.
    (row,) = connection.execute(text(tree)).fetchall()
    return tuple(int(value or 0) for value in row)


def is_number(duck_type: str) -> bool:
    """A boolean is not a number."""
    return duck_type in INTEGERS or duck_type in FLOATS or duck_type.startswith("DECIMAL")


def is_text(duck_type: str) -> bool:
    """Text, or an enumeration of texts."""
    return duck_type == "VARCHAR" or duck_type.startswith("ENUM")


def is_nested(duck_type: str) -> bool:
    """A value that is made of others."""
    return duck_type.endswith("]") or duck_type.startswith(_NESTED)


def compares(duck_type: str) -> bool:
    """Whether the engine can compare values of two events."""
    return not is_nested(duck_type) and duck_type != "INTERVAL"


def is_null(duck_type: str) -> bool:
    """The type of a column that holds nothing but nulls and was never given a type."""
    return duck_type.strip('"') == "NULL"


def first_line(error: Exception) -> str:
    """DuckDB's own words without its kind of error, the candidates and the generated SQL."""
    line = str(error).strip().split("\n", 1)[0]
    kind, separator, rest = line.partition(": ")
    return rest if separator and kind.endswith("Error") else line
