"""What reads files with DuckDB, everything that it would guess or skip said to it.

Names are escaped, so that a name is one file. Types are found from all rows, once, and stated from
then on: beyond a sample, DuckDB rounds 1.5 to 2 and drops offsets of times without a word.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.local import files
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.failures import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from trendloom.errors import TrendloomError, TrendloomWarning

    Reader = Callable[[Sequence[Path], Mapping[str, exp.Expr]], exp.Query]
    Remark = TrendloomError | TrendloomWarning

_RENAMED = re.compile(r"(.+)_\d+")


@dataclass(frozen=True, slots=True)
class Typed:
    """What reads any of the files, with further settings, and what becomes of its columns."""

    read: Reader
    columns: Sequence[str]
    expressions: Mapping[str, exp.Expr] = field(default_factory=dict)
    remarks: Mapping[str, Remark] = field(default_factory=dict)

    def select(
        self,
        paths: Sequence[Path],
        settings: Mapping[str, exp.Expr] | None = None,
        also: Iterable[str] = (),
    ) -> exp.Select:
        named = dict.fromkeys((*self.columns, *also))
        columns = [exp.alias_(self._column(name), name, quoted=True) for name in named]
        return exp.select(*columns).from_(self.read(paths, settings or {}).subquery("files"))

    def _column(self, name: str) -> exp.Expr:
        return self.expressions.get(name, duck.column(name)).copy()


def readable(read: Callable[[], Any]) -> Any:
    """What DuckDB cannot read, as an error of ours."""
    try:
        return read()
    except duckdb.OutOfMemoryException as error:
        raise failed(error) from error
    except duckdb.Error as error:
        raise unreadable(error) from error


def unreadable(error: Exception) -> InputError:
    """The words for a file that DuckDB cannot read."""
    return InputError(
        f"The events cannot be read: {duck.first_line(error)}",
        remedy="Check that the file is whole and of the format its name says.",
    )


def describe(connection: duckdb.DuckDBPyConnection, tree: exp.Expr) -> dict[str, str]:
    """The columns of a statement, and their DuckDB types."""
    relation = readable(lambda: connection.sql(duck.text(tree)))
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def function(name: str, paths: Sequence[Path], settings: Mapping[str, exp.Expr]) -> exp.Select:
    # DuckDB takes every name for a glob.
    names = exp.array(*[exp.Literal.string(glob.escape(str(path))) for path in paths])
    given = {"hive_partitioning": exp.false()} | dict(settings)
    stated = [exp.EQ(this=exp.to_identifier(k), expression=v.copy()) for k, v in given.items()]
    return exp.select("*").from_(exp.Anonymous(this=name, expressions=[names, *stated]))


def compression_of(paths: Sequence[Path]) -> dict[str, exp.Expr]:
    """Said by the names, since DuckDB reads a name up to a `?` only; unless the files differ."""
    found = {files.PACKED.get(path.suffix.lower(), "none") for path in paths}
    return {"compression": exp.Literal.string(found.pop())} if len(found) == 1 else {}


def types_of(columns: Mapping[str, str]) -> exp.Expr:
    """`{'name': 'TYPE'}`, as DuckDB takes the columns of a file."""
    pairs = [(exp.Literal.string(n), exp.Literal.string(kind)) for n, kind in columns.items()]
    return exp.Struct(expressions=[exp.PropertyEQ(this=n, expression=k) for n, k in pairs])


def may_be_renamed(columns: Iterable[str]) -> bool:
    """DuckDB adds a number to a name that occurs twice, also where only upper case differs."""
    folded = [name.casefold() for name in columns]
    found = (_RENAMED.fullmatch(name) for name in folded)
    return any(match is not None and match[1] in folded for match in found)


def differ(name: str, one: str, path: Path, two: str, other: Path) -> InputError:
    return InputError(
        f"The files differ in column '{name}': {one} in '{path}', {two} in '{other}'.",
        remedy="Name files of one schema, or convert them to one first.",
    )


def union(parts: Sequence[exp.Query]) -> exp.Query:
    whole, *others = parts
    for other in others:
        whole = exp.union(whole, other, distinct=False, copy=False)
        whole.set("by_name", True)
    return whole
