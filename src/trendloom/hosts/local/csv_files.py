"""CSV files as their bytes say: one delimiter, one header in the first line, every line a row.

Nothing is guessed from the rows but the delimiter, and that from the header and the lines below it.
DuckDB then reads with the dialect that is found here; where it fails, `fault` says at which line.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import groupby, islice
from typing import IO, TYPE_CHECKING

import duckdb
from sqlglot import exp

from trendloom.errors import InputError, TrendloomError
from trendloom.hosts.local.files import PACKED, is_tsv, unpacked
from trendloom.hosts.local.readers import (
    Typed,
    compression_of,
    describe,
    differ,
    function,
    types_of,
    union,
    unreadable,
)
from trendloom.hosts.local.text_columns import read_columns
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from trendloom.hosts.local.readers import Reader

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LOOKED_AT = 50
"""Lines that must agree on the delimiter."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first lines of a file say about all of them."""

    path: Path
    delimiter: str
    names: tuple[str, ...]
    """Of the columns, in the order of the file; those without a name are numbered."""


def open_csv(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], date_format: str | None
) -> Typed:
    """What reads the files, with the types that all of their values have."""
    heads = {path: read_head(path) for path in paths}
    first = heads[paths[0]]
    _refuse_other_heads(first, heads.values())
    try:
        schema = _csv_schema(connection, heads)
        raw = _csv_reader(heads, dict.fromkeys(schema, "VARCHAR"))
        everything = raw(paths, {}).subquery("files")
        found = read_columns(connection, everything, schema, date_format)
    except duckdb.Error as error:
        for head in heads.values():
            reason = fault(head)
            if reason is not None:
                raise reason from error
        raise unreadable(error) from error
    stated = schema | dict.fromkeys(found.expressions, "VARCHAR")
    return Typed(_csv_reader(heads, stated), list(schema), found.expressions, found.remarks)


def _refuse_other_heads(first: Head, heads: Iterable[Head]) -> None:
    for head in heads:
        if head.delimiter != first.delimiter:
            raise InputError(
                f"The files differ in their delimiter: {DELIMITERS[first.delimiter]} in "
                f"'{first.path}', {DELIMITERS[head.delimiter]} in '{head.path}'.",
                remedy="Read them one by one, or convert them to one form first.",
            )
        for name in (*first.names, *head.names):
            places = ["there" if name in one.names else "missing" for one in (first, head)]
            if "missing" in places:
                raise differ(name, places[0], first.path, places[1], head.path)


def _csv_schema(
    connection: duckdb.DuckDBPyConnection, heads: Mapping[Path, Head]
) -> dict[str, str]:
    """The types that all values of all files have in common."""
    whole = {
        "sample_size": exp.Literal.number(-1),
        "union_by_name": exp.true(),
    }
    types: list[dict[str, str]] = []
    for names, run in _runs(heads, list(heads)):
        stated = _dialect(heads[run[0]]) | whole
        relation = connection.sql(duck.text(function("read_csv", run, stated)))
        found = list(map(str, relation.types))
        if len(found) != len(names):
            raise duckdb.InvalidInputException(f"Expected {len(names)} columns.")
        types.append(dict(zip(names, found, strict=True)))
    if len(types) == 1:
        return types[0]
    nulls = [
        exp.select(
            *[exp.alias_(exp.cast(exp.null(), kind), n, quoted=True) for n, kind in of.items()]
        )
        for of in types
    ]
    return describe(connection, union(nulls))


def _csv_reader(heads: Mapping[Path, Head], types: Mapping[str, str]) -> Reader:
    """Reads files of these heads, each run of files with the same header by one function."""

    def read(paths: Sequence[Path], settings: Mapping[str, exp.Expr]) -> exp.Query:
        parts: list[exp.Query] = []
        for names, run in _runs(heads, paths):
            stated = _dialect(heads[run[0]]) | {
                "auto_detect": exp.false(),
                "columns": types_of({name: types[name] for name in names}),
            }
            parts.append(function("read_csv", run, stated | dict(settings)))
        return union(parts)

    return read


def _runs(
    heads: Mapping[Path, Head], paths: Sequence[Path]
) -> list[tuple[tuple[str, ...], list[Path]]]:
    """Files of one form, columns in the same order, as long as they follow one another."""
    runs = groupby(paths, lambda path: (heads[path].names, PACKED.get(path.suffix.lower())))
    return [(names, list(run)) for (names, _), run in runs]


def _dialect(head: Head) -> dict[str, exp.Expr]:
    quote = exp.Literal.string('"')
    return compression_of([head.path]) | {
        "header": exp.true(),
        "delim": exp.Literal.string(head.delimiter),
        "quote": quote,
        "escape": quote,
        "comment": exp.Literal.string(""),
        "skip": exp.Literal.number(0),
        "strict_mode": exp.true(),
        "null_padding": exp.false(),
        "ignore_errors": exp.false(),
    }


def read_head(path: Path) -> Head:
    """The delimiter and the header of a file; without a header line it is refused."""
    candidates = ["\t"] if is_tsv(path) else list(DELIMITERS)
    found = {one: _records(path, one) for one in candidates}
    delimiter = _delimiter(path, found)
    header = found[delimiter][0] if found[delimiter] else []
    if not any(header):
        raise InputError(
            f"The first line of '{path}' is empty; it must name the columns.",
            remedy="Remove the lines before the header, or add a header.",
        )
    names = [name.strip() for name in header]
    refuse_repeated(name for name in names if name)
    return Head(path, delimiter, tuple(name or f"column{i}" for i, name in enumerate(names)))


def _delimiter(path: Path, found: dict[str, list[list[str]]]) -> str:
    widths = {one: {len(record) for record in records if record} for one, records in found.items()}
    regular = {one: max(width) for one, width in widths.items() if len(width) == 1}
    most = max(regular.values(), default=0)
    best = [one for one, width in regular.items() if width == most]
    if most > 1 and len(best) > 1:
        raise InputError(
            f"Cannot tell the delimiter of '{path}': "
            f"{' and '.join(DELIMITERS[one] for one in best)} both fit its first lines.",
            remedy='Put quotes (") around the values that hold the other one.',
        )
    if most > 1:
        return best[0]
    # Irregular lines are told by whoever reads them all.
    return max(found, key=lambda one: len(found[one][0]) if found[one] else 0)


def _records(path: Path, delimiter: str) -> list[list[str]]:
    """The first lines, up to one that is no CSV with this delimiter."""
    found: list[list[str]] = []
    with _opened(path) as text:
        try:
            for record in islice(csv.reader(text, delimiter=delimiter, strict=True), LOOKED_AT):
                found.append(record)  # noqa: PERF402 - what was read before an error counts
        except UnicodeDecodeError:
            raise _not_text(path) from None
        except csv.Error:
            pass
    return found


def fault(head: Head) -> TrendloomError | None:
    """Why a file is no table of its header's width; None if Python finds nothing wrong with it."""
    width = len(head.names)
    endings: set[str] = set()
    with _opened(head.path) as text:
        lines = _noting(text, endings)
        reader = csv.reader(lines, delimiter=head.delimiter, strict=True)
        try:
            for record in reader:
                if record and len(record) != width and record[width:] != [""]:
                    return InputError(
                        f"Line {reader.line_num} of '{head.path}' has {len(record)} "
                        f"{'field' if len(record) == 1 else 'fields'}, and the header {width}.",
                        remedy=_remedy(head, len(record)),
                    )
        except UnicodeDecodeError:
            return _not_text(head.path)
        except csv.Error as error:
            return InputError(
                f"Line {reader.line_num} of '{head.path}' is no CSV: {error}.",
                remedy='Put double quotes (") around values that hold quotes, and double those.',
            )
    if len(endings) > 1:
        return InputError(
            f"The lines of '{head.path}' end in different ways (CR, LF, CR LF).",
            remedy="Give all lines the same ending, for example with dos2unix.",
        )
    return None


def _remedy(head: Head, width: int) -> str:
    if width > len(head.names) > 1:
        return f'Put quotes (") around values that hold a {DELIMITERS[head.delimiter]}.'
    return "Repair the line. If there are other lines before the header, remove them."


def _not_text(path: Path) -> InputError:
    return InputError(
        f"The file '{path}' is not UTF-8 text.",
        remedy="Convert it, for example: iconv -f latin1 -t utf-8 FILE. "
        "If it is compressed, its name must end in .gz or .zst.",
    )


def _opened(path: Path) -> IO[str]:
    """The text of a file, unpacked, with the line endings that it has."""
    return io.TextIOWrapper(unpacked(path), encoding="utf-8-sig", newline="")


def _noting(text: IO[str], endings: set[str]) -> Iterator[str]:
    for line in text:
        end = line[len(line.rstrip("\r\n")) :]
        if end:
            endings.add(end[-2:] if end.endswith("\r\n") else end[-1])
        yield line
