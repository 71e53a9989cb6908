"""Files of one format as one SELECT: their own columns, and those that folders name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.local import files
from trendloom.hosts.local.csv_files import open_csv
from trendloom.hosts.local.files import Format
from trendloom.hosts.local.json_files import open_json
from trendloom.hosts.local.readers import (
    Typed,
    describe,
    differ,
    function,
    may_be_renamed,
    readable,
)
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from trendloom.hosts.local.readers import Remark


@dataclass(frozen=True, slots=True)
class Opened:
    """Files as a statement, its columns, and what is to be said of those that are used."""

    tree: exp.Query
    schema: dict[str, str]
    remarks: Mapping[str, Remark]


def open_files(
    connection: duckdb.DuckDBPyConnection,
    paths: list[Path],
    format: Format,  # noqa: A002
    *,
    date_format: str | None = None,
    hive_partitioning: bool = False,
) -> Opened:
    """Files of one format and one set of columns, and those that Hive-style folders name."""
    if format is Format.PARQUET:
        typed = _open_parquet(connection, paths)
    else:
        for path in paths:
            files.check_packed(path)
        open_text = open_csv if format is Format.CSV else open_json
        typed = open_text(connection, paths, date_format)
    values = {path: files.folder_values(path) for path in paths}
    named = dict.fromkeys(key for of in values.values() for key in of)
    other = [key for key in named if key not in typed.columns]
    if not hive_partitioning:
        tree = typed.select(paths)
        hidden = {key: _only_in_folders(key) for key in other}
        return Opened(tree, describe(connection, tree), hidden | dict(typed.remarks))
    _refuse_other_values(connection, typed, values)
    tree = typed.select(paths, {"hive_partitioning": exp.true()} if other else None, other)
    return Opened(tree, describe(connection, tree), typed.remarks)


def _open_parquet(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> Typed:
    def read(some: Sequence[Path], settings: Mapping[str, exp.Expr]) -> exp.Query:
        return function("read_parquet", some, settings)

    first: dict[str, str] = {}
    for path in paths:
        schema = describe(connection, read([path], {}))
        if may_be_renamed(schema):
            import pyarrow.parquet as pq

            refuse_repeated(pq.read_schema(path).names)
        first = first or schema
        for name in dict.fromkeys((*first, *schema)):
            one, two = first.get(name, "missing"), schema.get(name, "missing")
            if one != two:
                raise differ(name, one, paths[0], two, path)
    return Typed(read, list(first))


def _only_in_folders(key: str) -> InputError:
    return InputError(
        f"'{key}' is no column of the files, only a name of their folders ('{key}=…').",
        remedy="Read folders as columns with hive_partitioning=True (--hive-partitioning).",
    )


def _refuse_other_values(
    connection: duckdb.DuckDBPyConnection,
    typed: Typed,
    values: Mapping[Path, Mapping[str, str | None]],
) -> None:
    """A file's own column must say what its folder says: DuckDB would take the folder's word."""
    kinds = describe(connection, typed.select(list(values)))
    for key, kind in kinds.items():
        said: dict[str | None, list[Path]] = {}
        for path, of in values.items():
            if key in of:
                said.setdefault(of[key], []).append(path)
        for value, paths in said.items():
            text = exp.null() if value is None else exp.Literal.string(value)
            same = exp.TryCast(this=text, to=exp.DataType.build(kind, dialect="duckdb", udt=True))
            differs = exp.NullSafeNEQ(this=duck.column(key), expression=same)
            rows = exp.select(exp.Count(this=exp.Star())).from_(typed.select(paths).subquery("own"))
            (wrong,) = _first_row(connection, rows.where(differs))
            if wrong:
                raise InputError(
                    f"The folder '{paths[0].parent}' says {key}={value}, but the column '{key}' "
                    f"of its files says otherwise in {wrong} {'row' if wrong == 1 else 'rows'}.",
                    remedy="Read the files alone, without hive_partitioning, or repair them.",
                )


def _first_row(connection: duckdb.DuckDBPyConnection, tree: exp.Expr) -> tuple[int, ...]:
    row: tuple[int, ...] = readable(lambda: duck.first_row(connection, tree))
    return row
