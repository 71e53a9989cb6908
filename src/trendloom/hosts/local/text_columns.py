"""What the dates, times and numbers of text files mean: told from all their values, never guessed.

1. Columns whose values look like dates are read once as text.
2. With a `date_format`, every column that it fits is read by it.
3. Dates that begin with the year have one meaning. If some of the times have an offset and others
   none, the others are taken as UTC, with a warning.
4. Of `13/04/2024` the day is known if one value of the column has a part over 12. Otherwise the
   column has no meaning, and a query that reads it is refused.
5. A column of doubles may hold integers that no double is equal to: a query that reads it warns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from trendloom.errors import InputError, TrendloomError, TrendloomWarning
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Remark = TrendloomError | TrendloomWarning

_DIGITS = 15
"""Integers of so many digits are doubles."""
_INTEGER = r"\s*[+-]?\d+\s*"
_DATES = re.compile(r"DATE|TIMESTAMP.*")
_ZONE = r"\s*(Z|[A-Za-z][A-Za-z_/]+|[+-]\d{2}(:?\d{2}){0,2})"
_CLOCK = r"[ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
YEAR_FIRST = rf"\s*(-?infinity|\d{{4,}}[-/]\d{{1,2}}[-/]\d{{1,2}}({_CLOCK}({_ZONE})?)?)\s*"
WITH_OFFSET = rf".*{_CLOCK}{_ZONE}\s*"
NANOSECONDS = r".*:\d{2}[.,]\d{7}.*"
_YEAR_LAST = re.compile(
    r"\s*\d{1,2}(?P<first>[-/.])\d{1,2}(?P<second>[-/.])(?P<year>\d{4}|\d{2})"
    r"(?P<gap>[ T]?)(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)?(?P<fraction>\.\d+)?(?P<half> ?[APap][Mm])?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?\s*"
)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """How columns are read from text where DuckDB's way will not do, and what is said of them."""

    expressions: Mapping[str, exp.Expr]
    """Over columns that are read as text."""
    remarks: Mapping[str, Remark]


def read_columns(
    connection: duckdb.DuckDBPyConnection,
    raw: exp.Expr,
    schema: Mapping[str, str],
    date_format: str | None,
) -> TextColumns:
    """Look at every column that may hold dates or large integers; `raw` reads all as text."""
    may_be = [name for name, kind in schema.items() if _may_be(kind, date_format)]
    firsts = _first_values(connection, raw, may_be)
    asked = {name: _Column(name, schema[name], first) for name, first in firsts.items()}
    looked_at = {
        name: one
        for name, one in asked.items()
        if date_format is not None or one.is_typed or one.looks_dated
    }
    if date_format is not None:
        _check_format(connection, date_format)
    expressions: dict[str, exp.Expr] = {}
    remarks: dict[str, Remark] = {}
    tests = {name: one.tests(date_format) for name, one in looked_at.items()}
    doubles = [name for name, kind in schema.items() if kind == "DOUBLE"]
    asked_of_rows = [test for of in tests.values() for test in of.values()]
    asked_of_rows += [_is_rounded(name) for name in doubles]
    counted = [exp.CountIf(this=test) for test in asked_of_rows]
    # Also without dates: a row that cannot be read is told before anything is done with others.
    rows = exp.Count(this=exp.Star())
    _, *found = duck.first_row(connection, exp.select(rows, *counted).from_(raw))
    values = iter(found)
    for name, one in looked_at.items():
        counts = {test: next(values) for test in tests[name]}
        expression, remark = one.meaning(counts, date_format)
        if expression is not None:
            expressions[name] = expression
        if remark is not None:
            remarks[name] = remark
    for name in doubles:
        rounded = next(values)
        if rounded:
            remarks[name] = _rounded(name, rounded)
    if date_format is not None and not any(
        one.formatted(date_format) == expressions.get(name) for name, one in looked_at.items()
    ):
        raise InputError(
            f"The date format '{date_format}' fits no column.",
            remedy="Write it as the values are, for example %d/%m/%Y %H:%M:%S.",
        )
    return TextColumns(expressions, remarks)


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of a text file, by what DuckDB takes it for and its first value."""

    name: str
    duck_type: str
    first: str

    @property
    def is_typed(self) -> bool:
        return _DATES.fullmatch(self.duck_type) is not None

    @property
    def looks_dated(self) -> bool:
        return bool(re.fullmatch(YEAR_FIRST, self.first) or _YEAR_LAST.fullmatch(self.first))

    @property
    def _text(self) -> exp.Expr:
        return duck.column(self.name)

    def tests(self, date_format: str | None) -> dict[str, exp.Expr]:
        """Conditions on the text of a value, to be counted."""
        found: dict[str, exp.Expr] = {
            "all": exp.Not(this=exp.Is(this=self._text, expression=exp.null()))
        }
        if date_format is not None:
            found["asked"] = self._fits(date_format)
        found["year first"] = self._matches(YEAR_FIRST)
        found["offset"] = self._matches(WITH_OFFSET)
        found["nanoseconds"] = self._matches(NANOSECONDS)
        return found | {pattern: self._fits(pattern) for pattern in self.patterns}

    @property
    def patterns(self) -> list[str]:
        """Formats that the first value may be of, if it does not begin with the year."""
        shape = _YEAR_LAST.fullmatch(self.first)
        if shape is None:
            return []
        year = "%Y" if len(shape["year"]) == 4 else "%y"
        orders = [["%d", "%m", year], ["%m", "%d", year]]
        if year == "%y":
            orders.append([year, "%m", "%d"])
        clock = ""
        if shape["clock"]:
            hour = "%I" if shape["half"] else "%H"
            clock = shape["gap"] + ":".join([hour, "%M", "%S"][: shape["clock"].count(":") + 1])
            clock += ".%f" if shape["fraction"] else ""
            clock += shape["half"][:-2] + "%p" if shape["half"] else ""
            clock += "%z" if shape["zone"] else ""
        return [f"{a}{shape['first']}{b}{shape['second']}{c}{clock}" for a, b, c in orders]

    def meaning(
        self, counts: Mapping[str, int], date_format: str | None
    ) -> tuple[exp.Expr | None, Remark | None]:
        """How the values are read, None: as DuckDB takes them; and what is to be said of it."""
        total = counts["all"]
        if not total:
            return None, None
        if date_format is not None and counts["asked"] == total:
            return self.formatted(date_format), None
        if counts["year first"] == total:
            return self._from_year(counts)
        fitting = [pattern for pattern in self.patterns if counts[pattern] == total]
        if len(fitting) == 1:
            return self.formatted(fitting[0]), None
        if not self.is_typed:
            return None, None  # text that is no date, or not all of it
        return None, self._doubtful(fitting)

    def formatted(self, pattern: str) -> exp.Expr:
        read = exp.Anonymous(this="strptime", expressions=[self._text, _string(pattern)])
        has_clock = re.search(r"%[HIMSfpTXcgGzZns]", pattern) is not None
        return read if has_clock else exp.cast(read, "DATE")

    def _from_year(self, counts: Mapping[str, int]) -> tuple[exp.Expr | None, Remark | None]:
        offset, total = counts["offset"], counts["all"]
        fine = counts["nanoseconds"] > 0
        if not offset:
            # A column of text may be dates that JSON or a longer fraction kept from being told.
            return (self._cast("TIMESTAMP_NS"), None) if fine else (None, None)
        read = self._cast("TIMESTAMPTZ_NS" if fine else "TIMESTAMPTZ")
        if offset == total:
            return (read, None) if fine else (None, None)
        naive = total - offset
        return read, TrendloomWarning(
            f"The column '{self.name}' mixes times with an offset ({offset}) and without "
            f"({naive}); those without are taken as UTC.",
            remedy="Write all times with their offset.",
        )

    def _cast(self, kind: str) -> exp.Expr:
        return exp.cast(self._text, exp.DataType.build(kind, dialect="duckdb", udt=True))

    def _doubtful(self, fitting: list[str]) -> InputError:
        if not fitting:
            return InputError(
                f"The dates of column '{self.name}' (such as '{self.first}') are not all of one "
                "known form.",
                remedy="Say how they are written with date_format= (--date-format).",
            )
        which = " or ".join(fitting)
        return InputError(
            f"The dates of column '{self.name}' (such as '{self.first}') can be read as {which}: "
            "no value tells the day from the month.",
            remedy=f"Say which with date_format='{fitting[0]}' (--date-format '{fitting[0]}').",
        )

    def _matches(self, pattern: str) -> exp.Expr:
        return exp.Anonymous(this="regexp_full_match", expressions=[self._text, _string(pattern)])

    def _fits(self, pattern: str) -> exp.Expr:
        read = exp.Anonymous(this="try_strptime", expressions=[self._text, _string(pattern)])
        return exp.Not(this=exp.Is(this=read, expression=exp.null()))


def _may_be(duck_type: str, date_format: str | None) -> bool:
    if date_format is not None and duck_type in duck.INTEGERS:
        return {"%d", "%m"} <= set(re.findall("%[a-zA-Z]", date_format))
    return duck_type == "VARCHAR" or _DATES.fullmatch(duck_type) is not None


def _is_rounded(name: str) -> exp.Expr:
    """Whether the text is an integer that no double is equal to."""
    text, double = duck.column(name), exp.TryCast(this=duck.column(name), to=_type("DOUBLE"))
    is_long = exp.GT(this=exp.Length(this=text), expression=exp.Literal.number(_DIGITS))
    is_integer = exp.Anonymous(this="regexp_full_match", expressions=[text, _string(_INTEGER)])
    exact = exp.TryCast(this=text, to=_type("HUGEINT"))
    stored = exp.TryCast(this=double, to=_type("HUGEINT"))
    differs = exp.or_(exact.is_(exp.null()), exp.NEQ(this=exact.copy(), expression=stored))
    return exp.and_(is_long, is_integer, differs)


def _rounded(name: str, count: int) -> TrendloomWarning:
    return TrendloomWarning(
        f"The column '{name}' holds fractions or numbers beyond 64 bits, so it is read as doubles: "
        f"{count:,} of its integers cannot be stored exactly.",
        remedy="Write the column as 64-bit integers without fractions, or convert the file to "
        "Parquet with a type that holds all values.",
    )


def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect="duckdb")


def _first_values(
    connection: duckdb.DuckDBPyConnection, raw: exp.Expr, names: Iterable[str]
) -> dict[str, str]:
    """The first value that each column has among the first rows."""
    columns = list(names)
    if not columns:
        return {}
    head = exp.select(*[duck.column(name) for name in columns]).from_(raw).limit(2048)
    rows: list[tuple[Any, ...]] = connection.execute(duck.text(head)).fetchall()
    values = zip(columns, zip(*rows, strict=True), strict=True) if rows else ()
    return {name: next((v for v in column if v is not None), "") for name, column in values}


def _check_format(connection: duckdb.DuckDBPyConnection, pattern: str) -> None:
    if "%" not in pattern:
        raise InputError(
            f"The date format '{pattern}' has no field.",
            remedy="Write fields with %, for example %d/%m/%Y.",
        )
    read = exp.Anonymous(this="try_strptime", expressions=[_string("x"), _string(pattern)])
    try:
        connection.execute(duck.text(exp.select(read)))
    except duckdb.Error as error:
        raise InputError(
            f"The date format '{pattern}' is not known: {duck.first_line(error)}",
            remedy="Write fields as in strptime, for example %d/%m/%Y %H:%M:%S.",
        ) from error


def _string(text: str) -> exp.Expr:
    return exp.Literal.string(text)
