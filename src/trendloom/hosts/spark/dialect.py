"""Bound expressions in Spark's words, so that Spark computes what DuckDB would.

The two agree on most of SQL, but not on types: which of two types a comparison is made in, what a
quotient is, when a literal becomes a date. So DuckDB's answer is asked for every node, and written
down as a cast wherever Spark could come to another. Literals that need a conversion are converted
by DuckDB. Nothing depends on settings of the session, its time zone or how it reads backslashes;
only overflow of integers is noticed in ANSI mode alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.failures import failed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_Type = exp.DataType.Type
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_ZONED = "TIMESTAMP WITH TIME ZONE"
_SPARK = {
    "BOOLEAN": _Type.BOOLEAN,
    "TINYINT": _Type.TINYINT,
    "SMALLINT": _Type.SMALLINT,
    "INTEGER": _Type.INT,
    "BIGINT": _Type.BIGINT,
    "FLOAT": _Type.FLOAT,
    "DOUBLE": _Type.DOUBLE,
    "VARCHAR": _Type.VARCHAR,
    "DATE": _Type.DATE,
    "TIMESTAMP": _Type.TIMESTAMPNTZ,
    _ZONED: _Type.TIMESTAMPLTZ,
}
"""Types that are cast to. Decimals and intervals of both systems agree by themselves."""
_WIDE = {"TINYINT": "BIGINT", "SMALLINT": "BIGINT", "INTEGER": "BIGINT"}
"""Computed in: DuckDB rearranges sums, and overflows in fewer places than it could."""
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 20}
_PLAIN = re.compile(r"[^\\'\"$\x00-\x1f\x7f]*")


class Spark:
    """Spells expressions over one relation, whose types DuckDB knows."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, relation: str, collated: Iterable[str] = ()
    ) -> None:
        self._connection = connection
        self._relation = relation
        self._collated = frozenset(collated)
        self._types: dict[str, str] = {}

    def spell(self, tree: exp.Expr) -> exp.Expr:
        """The same expression for Spark."""
        self._learn(tree)
        return self._spell(tree)

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """The same for what must be true or false; a bare null is neither in Spark."""
        self._learn(tree)
        return self._as(tree, "BOOLEAN")

    # ── types ────────────────────────────────────────────────────────────────────────────────

    def _learn(self, tree: exp.Expr) -> None:
        """Ask for the types of all parts at once: each question costs more than its answer."""
        parts: dict[str, exp.Expr] = {}
        for node in tree.walk():
            if not isinstance(node, exp.Identifier | exp.DataType):
                parts.setdefault(duck.text(node), node)
        asked = [node.copy() for text, node in parts.items() if text not in self._types]
        if asked:
            self._types.update(zip(map(duck.text, asked), self._bind(asked), strict=True))

    def _bind(self, trees: Sequence[exp.Expr]) -> list[str]:
        select = exp.select(*[tree.copy() for tree in trees]).from_(self._relation)
        return [str(found) for found in self._connection.sql(duck.text(select)).types]

    def _type(self, tree: exp.Expr) -> str:
        text = duck.text(tree)
        if text not in self._types:
            (self._types[text],) = self._bind([tree])
        return self._types[text]

    def _common(self, trees: Sequence[exp.Expr]) -> str:
        """The type that DuckDB compares these in."""
        try:
            return self._type(exp.Coalesce(this=trees[0], expressions=list(trees[1:])).copy())
        except duckdb.BinderException:
            # Text equals a number if it reads as one; only then are the two mixed.
            return self._common([tree for tree in trees if self._type(tree) != "VARCHAR"])

    # ── spelling ─────────────────────────────────────────────────────────────────────────────

    def _spell(self, tree: exp.Expr) -> exp.Expr:
        match tree:
            case exp.Column():
                return self._column(tree)
            case exp.Literal():
                return _text(tree.this) if tree.is_string else self._number(tree)
            case exp.Neg() if isinstance(tree.this, exp.Literal):
                # One literal to both, which matters where only the negative number has room.
                return exp.Neg(this=self._spell(tree.this))
            case exp.Cast():
                return self._as(tree.this, self._type(tree))
            case exp.Div():
                return self._quotient(tree)
            case exp.Round():
                return self._round(tree)
            case exp.Like():
                return exp.Like(
                    this=self._spell(tree.this), expression=self._pattern(tree.expression)
                )
            case exp.Add() | exp.Sub() if self._type(tree) == "DATE":
                return self._shifted(tree)
            case exp.Sub() if self._type(tree.this) in _MOMENTS:
                return self._difference(tree)
            case exp.Add() | exp.Sub() if self._type(tree) == _ZONED:
                raise InputError(
                    f"'{duck.text(tree)}' moves a time in a zone; Spark has another idea of days.",
                    remedy="Convert the column to TIMESTAMP_NTZ before the query.",
                )
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Neg() | exp.Abs():
                return self._with(tree, _WIDE.get(self._type(tree), self._type(tree)))
            case exp.Mod():
                return self._with(tree, self._type(tree))
            case exp.And() | exp.Or() | exp.Not():
                return self._with(tree, "BOOLEAN")
            case exp.Is() if isinstance(tree.expression, exp.Boolean):
                return exp.Is(
                    this=self._as(tree.this, "BOOLEAN"), expression=tree.expression.copy()
                )
            case exp.Coalesce():
                return self._with(tree, self._type(tree))
        if isinstance(tree, _COMPARISONS):
            common = self._common(list(tree.iter_expressions()))
            spelled = self._with(tree, common)
            return spelled if common in _SPARK else self._in_decimals(tree, spelled)
        return self._with(tree, None)

    def _in_decimals(self, tree: exp.Expr, spelled: exp.Expr) -> exp.Expr:
        """Integers cast by us: where Spark does it, even null is less than a very large literal."""
        parts = zip(list(tree.iter_expressions()), list(spelled.iter_expressions()), strict=True)
        for part, copy in parts:
            digits = _DIGITS.get(self._type(part))
            if digits is not None and not isinstance(part.unnest(), exp.Literal):
                hole = exp.Placeholder()
                copy.replace(hole)
                hole.replace(exp.cast(copy, exp.DataType.build(f"DECIMAL({digits}, 0)")))
        return spelled

    def _with(self, tree: exp.Expr, duck_type: str | None) -> exp.Expr:
        """The node over its spelled parts, all of them in one type."""
        spelled = type(tree)()
        for name, value in tree.args.items():
            if isinstance(value, list):
                spelled.set(name, [self._as(part, duck_type) for part in value])
            elif isinstance(value, exp.Expr):
                spelled.set(name, self._as(value, duck_type))
            else:
                spelled.set(name, value)
        return spelled

    def _as(self, tree: exp.Expr, wanted: str | None) -> exp.Expr:
        """Spelled, in the type that is wanted."""
        found = self._type(tree)
        target = None if wanted is None else _SPARK.get(wanted)
        if wanted is None or found == wanted or target is None:
            return self._spell(tree)
        bare = tree.unnest()
        if isinstance(bare, exp.Literal) and (bare.is_string or wanted in duck.FLOATS):
            return self._literal(bare, wanted)
        if isinstance(bare, exp.Cast) and isinstance(bare.this, exp.Literal):
            return self._literal(bare, wanted)
        spelled = self._spell(tree)
        if wanted == _ZONED:
            return _zoned(spelled if found == "TIMESTAMP" else exp.cast(spelled, _NAIVE))
        return exp.cast(spelled, target)

    def _column(self, tree: exp.Column) -> exp.Expr:
        column = duck.column(tree.name)
        if tree.name not in self._collated:
            return column
        binary = exp.Collate(this=column, expression=exp.Var(this="UTF8_BINARY"))
        return exp.Paren(this=binary)

    def _number(self, tree: exp.Literal) -> exp.Expr:
        # More digits than a decimal has; with an exponent both take it for a double.
        if self._type(tree) in ("DOUBLE", "BIGNUM") and "e" not in tree.name.lower():
            return exp.cast(exp.Literal.string(tree.name), _Type.DOUBLE)
        return tree.copy()

    def _literal(self, tree: exp.Expr, duck_type: str) -> exp.Expr:
        """A constant as DuckDB converts it."""
        value = exp.cast(tree.copy(), exp.DataType.build(duck_type, dialect="duckdb"))
        if duck_type == _ZONED:
            value = exp.cast(value, _Type.TIMESTAMP)
        try:
            select = exp.select(exp.cast(value, _Type.VARCHAR))
            ((text,),) = self._connection.execute(duck.text(select)).fetchall()
        except duckdb.Error as error:
            raise failed(error) from error
        if duck_type == _ZONED:
            text += "+00:00"
        return exp.cast(exp.Literal.string(text), _SPARK[duck_type])

    def _quotient(self, tree: exp.Div) -> exp.Expr:
        found = self._type(tree)
        if found not in duck.FLOATS:
            return self._with(tree, None)
        quotient = exp.Div(
            this=self._as(tree.this, "DOUBLE"), expression=self._as(tree.expression, "DOUBLE")
        )
        # Rounded twice, but a double has more than twice the digits of a float: no difference.
        return exp.cast(quotient, _Type.FLOAT) if found == "FLOAT" else quotient

    def _shifted(self, tree: exp.Add | exp.Sub) -> exp.Expr:
        """A date and a number of days, which Spark wants as a plain integer."""
        days = (
            self._spell(part)
            if self._type(part) == "DATE"
            else exp.cast(self._spell(part), _Type.INT)
            for part in (tree.this, tree.expression)
        )
        return type(tree)(this=next(days), expression=next(days))

    def _difference(self, tree: exp.Sub) -> exp.Expr:
        if self._type(tree.expression) not in _MOMENTS:
            return self._with(tree, None)
        common = self._common([tree.this, tree.expression])
        one, two = (self._as(part, common) for part in (tree.this, tree.expression))
        if common == "DATE":
            days = exp.Anonymous(this="DATEDIFF", expressions=[one, two])
            return exp.cast(days, _Type.BIGINT)
        if common == "TIMESTAMP":
            return exp.Sub(this=one, expression=two)
        # Spark would count the days between them in the session's zone.
        since = exp.Sub(this=_micros(one), expression=_micros(two))
        exact = exp.cast(since, exp.DataType.build("DECIMAL(20, 0)"))
        ratio = exp.Div(this=exact, expression=exp.Literal.number(1_000_000))
        seconds = exp.cast(ratio, exp.DataType.build("DECIMAL(18, 6)"))
        zero = [exp.Literal.number(0) for _ in range(3)]
        return exp.Anonymous(this="MAKE_DT_INTERVAL", expressions=[*zero, seconds])

    def _round(self, tree: exp.Round) -> exp.Expr:
        found, digits = self._type(tree), tree.args.get("decimals")
        if digits is None:
            return exp.Round(this=self._as(tree.this, found))
        number = digits.this if isinstance(digits, exp.Neg) else digits
        if not isinstance(number, exp.Literal) or not number.name.isdigit():
            raise InputError(
                f"'{duck.text(tree)}' rounds to a number of decimals that is no constant.",
                remedy="Write the number of decimals, as in ROUND(x, 2).",
            )
        if found not in duck.FLOATS:
            return exp.Round(this=self._spell(tree.this), decimals=digits.copy())
        return self._round_float(tree.this, int(number.name), digits is not number, found)

    def _round_float(self, tree: exp.Expr, digits: int, left: bool, found: str) -> exp.Expr:
        """Scaled, rounded and scaled back; Spark alone would round the printed decimals."""
        value = self._as(tree, "DOUBLE")
        scale = exp.cast(exp.Literal.string(f"1e{digits}"), _Type.DOUBLE)
        into, back = (exp.Div, exp.Mul) if left else (exp.Mul, exp.Div)
        rounded = exp.Round(this=into(this=exp.paren(value), expression=scale.copy()))
        result: exp.Expr = back(this=rounded, expression=scale)
        # Infinities stay, and so does what has no room for decimals; 0 is all that is left of a
        # number that is rounded far to the left of its point.
        safe = exp.case().when(_is_no_number(value), value.copy())
        instead: exp.Expr = exp.cast(exp.Literal.number(0), _Type.DOUBLE) if left else value.copy()
        result = safe.when(_is_no_number(result), instead).else_(result)
        return exp.cast(result, _Type.FLOAT) if found == "FLOAT" else result

    def _pattern(self, tree: exp.Expr) -> exp.Expr:
        r"""In Spark's patterns a backslash escapes; here it stands for itself."""
        if isinstance(tree, exp.Literal):
            return _text(tree.this.replace("\\", "\\\\"))
        one, two = _text("\\"), _text("\\\\")
        return exp.Anonymous(this="REPLACE", expressions=[self._spell(tree), one, two])


_NAIVE = _Type.TIMESTAMPNTZ
_MOMENTS = ("DATE", "TIMESTAMP", _ZONED)


def text(tree: exp.Expr) -> str:
    """The expression as Spark reads it."""
    return tree.sql(dialect="spark", comments=False)


def _text(value: str) -> exp.Expr:
    """A string, as bytes where a session's settings might read something else into it."""
    if _PLAIN.fullmatch(value):
        return exp.Literal.string(value)
    return exp.cast(exp.HexString(this=value.encode().hex()), _Type.VARCHAR)


def _is_no_number(tree: exp.Expr) -> exp.Expr:
    words = [exp.Literal.string(word) for word in ("NaN", "Infinity", "-Infinity")]
    odd = [exp.cast(word, _Type.DOUBLE) for word in words]
    return exp.In(this=exp.paren(tree.copy()), expressions=odd)


def _zoned(naive: exp.Expr) -> exp.Expr:
    """A time without a zone as one in UTC; a cast would take the session's zone."""
    printed = [exp.cast(naive, _Type.VARCHAR), exp.Literal.string("+00:00")]
    return exp.cast(exp.Anonymous(this="CONCAT", expressions=printed), _Type.TIMESTAMPLTZ)


def _micros(zoned: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="UNIX_MICROS", expressions=[zoned])
