"""JSON files: every event an object, one per line or all of them in an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.local.readers import (
    Typed,
    compression_of,
    function,
    may_be_renamed,
    readable,
    types_of,
)
from trendloom.hosts.local.text_columns import read_columns
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from trendloom.hosts.local.readers import Reader

_ALL = 1 << 40


def open_json(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], date_format: str | None
) -> Typed:
    """What reads the files, with the types that all of their values have."""

    def reader(types: Mapping[str, str]) -> Reader:
        def read(some: Sequence[Path], settings: Mapping[str, exp.Expr]) -> exp.Query:
            stated = {"records": exp.Literal.string("true"), "columns": types_of(types)}
            return function("read_json", some, compression_of(some) | stated | dict(settings))

        return read

    settings = {
        "records": exp.Literal.string("true"),
        "union_by_name": exp.true(),
        "sample_size": exp.Literal.number(-1),
        "maximum_sample_files": exp.Literal.number(_ALL),
        "map_inference_threshold": exp.Literal.number(-1),
    }
    tree = function("read_json", paths, compression_of(paths) | settings)
    schema: dict[str, str] = readable(lambda: _json_schema(connection, tree, paths))
    if not schema:
        return Typed(reader({"json": "JSON"}), ["json"])
    if may_be_renamed(schema):
        refuse_repeated(readable(lambda: _json_keys(connection, paths)))
    everything = reader(dict.fromkeys(schema, "VARCHAR"))(paths, {}).subquery("files")
    found = readable(lambda: read_columns(connection, everything, schema, date_format))
    mixed = {name: _mixed(name) for name, kind in schema.items() if kind == "JSON"}
    stated = schema | dict.fromkeys(found.expressions, "VARCHAR")
    return Typed(reader(stated), list(schema), found.expressions, {**found.remarks, **mixed})


def _json_schema(
    connection: duckdb.DuckDBPyConnection, tree: exp.Expr, paths: Sequence[Path]
) -> dict[str, str]:
    """The types that all values of all files have in common; none without any value."""
    try:
        relation = connection.sql(duck.text(tree))
    except duckdb.BinderException:
        if all(_are_objects(connection, path) for path in paths):
            return {}
        raise
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def _are_objects(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Whether a file has no value at all; values that are no objects are refused."""
    kind = exp.Anonymous(this="json_type", expressions=[exp.column("json")])
    number = exp.Window(this=exp.Anonymous(this="row_number"))
    values = _objects([path])
    rows = exp.select(exp.alias_(kind, "kind"), exp.alias_(number, "number"))
    rows = rows.from_(values.subquery("files"))
    other = exp.NEQ(this=exp.column("kind"), expression=exp.Literal.string("OBJECT"))
    found = exp.select("kind", "number").from_(rows.subquery("values"))
    wrong = connection.execute(duck.text(found.where(other).limit(1))).fetchall()
    if wrong:
        ((kind_found, place),) = wrong
        raise InputError(
            f"Value {place} of '{path}' is no object ({kind_found}).",
            remedy="Write every event as an object: one per line, or all in one array.",
        )
    if connection.execute(duck.text(found.limit(1))).fetchall():
        raise InputError(
            f"The objects of '{path}' have no fields, or one without a name.",
            remedy="Give every field a name.",
        )
    return True


def _objects(paths: Sequence[Path]) -> exp.Select:
    settings = {"format": exp.Literal.string("auto")}
    return function("read_json_objects", paths, compression_of(paths) | settings)


def _json_keys(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> list[str]:
    """The names of all fields, as they are written."""
    keys = exp.Anonymous(this="json_keys", expressions=[exp.column("json")])
    values = _objects(paths)
    tree = exp.select(exp.Anonymous(this="unnest", expressions=[keys])).distinct()
    rows = connection.execute(duck.text(tree.from_(values.subquery("files")))).fetchall()
    return sorted(name for (name,) in rows)


def _mixed(name: str) -> InputError:
    return InputError(
        f"The field '{name}' has values of different types.",
        remedy="Give it values of one type, or another name where they mean something else.",
    )
