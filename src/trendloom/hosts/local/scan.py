"""One SQL statement from a source to the sorted batches of `trendloom.plan.scan`.

1. A text source is parsed once, into a table of the columns that are needed.
2. Rows without a time (or tiebreak) are counted: an error, or dropped.
3. Text keys with few values become an ENUM, which sorts several times faster than text.
4. `SELECT keys, ticks, mask, operands … ORDER BY …` is sorted, spilled and streamed by DuckDB.
   Unsorted, the same rows come in the order of the input, and nothing is kept of them.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from trendloom.hosts.local.noticed import Noticed
from trendloom.hosts.local.scanned import Batches
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.failures import failed, without_order
from trendloom.hosts.scan.projection import bind, check_letters, counts, known, present, tie
from trendloom.plan.scan import Kind

if TYPE_CHECKING:
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.reading import Roles
    from trendloom.hosts.scan.type_names import TypeNames
    from trendloom.plan.scan import Scan

ENUM_MIN_ROWS = 200_000
ENUM_MAX_VALUES = 1 << 20
BATCH_ROWS = 1 << 20
_serial = itertools.count()


def scan_batches(
    source: Source,
    scan: Scan,
    roles: Roles,
    *,
    drop: bool = False,
    batch_rows: int = BATCH_ROWS,
    sort: bool = True,
    names: TypeNames | None = None,
) -> Batches:
    """Start a scan. Errors in the query's types are raised here, before anything is sorted.

    Without `sort`, rows come in the order of the input. `drop`: rows that have no place in the
    order are left out, not an error. `names` are held against the types of the events.
    """
    check_letters(scan)
    check_attributes(source, scan.attributes)
    if source.is_empty:
        return _nothing(scan, tied=roles.by_row or roles.tiebreak is not None)
    run = _Run(source, scan, roles, names)
    try:
        return run.start(batch_rows, drop=drop, sort=sort)
    except duckdb.Error as error:
        run.finish()
        reason = failed(error)
        if reason is error:
            raise
        raise reason from error
    except BaseException:
        run.finish()
        raise


class _Run:
    """One scan under way: what it created, so that it can be dropped again."""

    def __init__(self, source: Source, scan: Scan, roles: Roles, names: TypeNames | None) -> None:
        self.connection = source.connection
        self.source = source
        self.scan = scan
        self.roles = roles
        self.names = names
        self.noticed: Noticed | None = None
        self.base = source.name
        self.created: list[tuple[str, str]] = []

    def start(self, batch_rows: int, *, drop: bool, sort: bool) -> Batches:
        if self.source.is_text:
            self.base = self._create("TABLE", "staged", self._needed())
        total, bad = self._count()
        if bad and not drop:
            raise without_order(bad, total, self.roles.axis.column, self.roles.tiebreak)
        if self.names is not None:
            about = self.base, self.source.schema, self.scan, self.roles, self.names
            self.noticed = Noticed(self.connection, *about, total)
        return self._deliver(total, bad, batch_rows, sort)

    def _deliver(self, total: int, bad: int, batch_rows: int, sort: bool) -> Batches:
        tree = self._statement(total, drop=bad > 0, sort=sort)
        reader = self.connection.sql(duck.text(tree)).to_arrow_reader(batch_rows)
        schema: pa.Schema = reader.schema
        return Batches(
            schema,
            [schema.field(f"x{i}").type for i in range(len(self.scan.operands))],
            [schema.field(f"p{i}").type for i in range(len(self.scan.partition))],
            total,
            bad,
            reader,
            self.finish,
            partial(self._deliver, total, bad, batch_rows),
            self.noticed,
        )

    def finish(self) -> None:
        for kind, name in reversed(self.created):
            self.connection.execute(duck.text(exp.Drop(tables=[exp.to_table(name)], kind=kind)))
        self.created.clear()

    def _create(self, kind: str, stem: str, tree: exp.Expr) -> str:
        name = f"{stem}_{next(_serial)}"
        create = exp.Create(this=exp.to_table(name), kind=kind, expression=tree)
        self.connection.execute(duck.text(create))
        self.created.append((kind, name))
        return name

    def _needed(self) -> exp.Select:
        names = dict.fromkeys((*self.roles.columns, *self.scan.attributes))
        return exp.select(*[duck.column(name) for name in names]).from_(self.base)

    def _count(self) -> tuple[int, int]:
        keys, tiebreak = [self.roles.axis.expression], self.roles.tiebreak
        if tiebreak is not None:
            keys.append(tie(tiebreak, self.source.schema[tiebreak]))
        total, good = duck.first_row(self.connection, counts(keys).from_(self.base, copy=False))
        return total, total - good

    def _statement(self, total: int, *, drop: bool, sort: bool) -> exp.Expr:
        bound = bind(self.connection, self.base, self.source.schema, self.scan, self.roles)
        columns = bound.columns
        names = [column.alias for column in columns]
        if sort:
            for column, key in zip(columns, bound.keys, strict=False):
                column.set("this", self._sortable(key.copy(), total))
        numbered = self.scan.input_order or self.scan.row_numbers
        by_row = self.roles.by_row
        if numbered or by_row:
            number = exp.Window(this=exp.Anonymous(this="row_number"))
            columns.append(exp.alias_(number, "line"))
        inner = exp.select(*columns, copy=False).from_(self.base, copy=False)
        kept: list[exp.Expr] = []
        if numbered:
            # The number is of the input, so nothing may be left out before it is given.
            kept = [present(exp.column(name)) for name in names if name.startswith("p")]
            kept += [present(exp.column(n)) for n in ("time", "tie") if drop and n in names]
        else:
            inner = inner.where(*bound.conditions, copy=False)
            if drop:
                inner = inner.where(known(bound.order), copy=False)
        if not self.scan.keep_unmatched:
            kept.append(bound.is_letter)
        order = [name for name in names if name[0] == "p" or name in ("time", "tie")]
        order += ["line"] if numbered or by_row else []
        delivered = [self._delivered(name) for name in names]
        if by_row:
            # Rows that are left out leave the order of the others as it is.
            delivered.append(exp.alias_(exp.column("line", table="rows"), "tie"))
        if self.scan.row_numbers:
            line = exp.Sub(this=exp.column("line", table="rows"), expression=exp.Literal.number(1))
            delivered.append(exp.alias_(line, "row"))
        rows = inner.subquery("rows", copy=False)
        outer = exp.select(*delivered, copy=False).from_(rows, copy=False).where(*kept, copy=False)
        if not sort:
            return outer
        return outer.order_by(*[exp.column(n, table="rows") for n in order], copy=False)

    def _sortable(self, key: exp.Expr, total: int) -> exp.Expr:
        if total < ENUM_MIN_ROWS or not isinstance(key, exp.Column):
            return key
        if self.source.schema[key.name] != "VARCHAR":
            return key
        distinct = exp.Anonymous(this="approx_count_distinct", expressions=[key.copy()])
        (values,) = duck.first_row(self.connection, exp.select(distinct).from_(self.base))
        if not 0 < values <= min(ENUM_MAX_VALUES, total // 8):
            return key
        found = exp.select(key.copy()).distinct().from_(self.base).where(present(key))
        found = found.order_by(key.copy())
        enum = self._create("TYPE", "keys", exp.Anonymous(this="ENUM", expressions=[found]))
        return exp.cast(key, exp.DataType.build(enum, udt=True))

    def _delivered(self, name: str) -> exp.Expr:
        column = exp.column(name, table="rows")
        is_key = name.startswith("p") and any(kind == "TYPE" for kind, _ in self.created)
        if is_key and self.source.schema[self.scan.partition[int(name[1:])]] == "VARCHAR":
            return exp.alias_(exp.cast(column, exp.DataType.Type.VARCHAR), name)
        return column


def _nothing(scan: Scan, *, tied: bool) -> Batches:
    """No rows; the types are what an engine can work with, since nobody knows better."""
    partition = [pa.string() for _ in scan.partition]
    operands = [
        pa.string() if o.kind in (Kind.ANY, Kind.HELD) else pa.int64() for o in scan.operands
    ]
    fields = [(f"p{i}", found) for i, found in enumerate(partition)]
    fields += [("time", pa.int64())] + ([("tie", pa.int64())] if tied else [])
    fields += [("mask", pa.uint8())] + [(f"x{i}", found) for i, found in enumerate(operands)]
    schema = pa.schema(fields)
    reader = pa.RecordBatchReader.from_batches(schema, iter(()))
    nothing = partial(_nothing, scan, tied=tied)
    return Batches(schema, operands, partition, 0, 0, reader, lambda: None, lambda _: nothing())
