"""From a source's columns to those of `trendloom.plan.scan`, as expressions bound to types.

Nothing is read here. DuckDB says which types the expressions have over a relation; whoever
evaluates them (DuckDB over files or Arrow, Spark over a DataFrame) works with the same trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import InputError, LimitError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.conditions import Binder, fit_any, fit_number, fit_ordered
from trendloom.plan.scan import Kind, Letter, Operand, Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

    from trendloom.hosts.scan.reading import Roles

MAX_LETTERS = 64

_Type = exp.DataType.Type
_MASKS = ((8, _Type.UTINYINT), (16, _Type.USMALLINT), (32, _Type.UINT), (64, _Type.UBIGINT))
_INTEGER_BITS = {
    "TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63,
    "UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32, "UBIGINT": 64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bit:
    """One letter of the mask: the type and the condition that set bit `position`."""

    position: int
    is_type: exp.Expr | None
    """None if every row has the letter's type."""
    condition: exp.Expr | None


@dataclass(frozen=True, slots=True)
class Projection:
    """The expressions of one scan over one relation.

    Trees belong to the projection: whoever builds a statement of them takes copies.
    """

    keys: tuple[exp.Expr, ...]
    """The partition attributes; rows in which one is null are left out."""
    time: exp.Expr
    tie: exp.Expr | None
    letters: int
    bits: tuple[Bit, ...]
    """Letters that no row can be are not among them."""
    operands: tuple[exp.Expr, ...]
    types: exp.Expr | None
    """Whether the row is of a type that the query names; None where all rows are wanted."""
    keep_unmatched: bool
    words: tuple[int, ...] = ()

    @property
    def masks(self) -> list[exp.Expr]:
        """Bit k is set if the row may be letter k; as narrow as the letters allow; by words."""
        masks = []
        first = 0
        for size in self.words or (self.letters,):
            width = next(mask for bits, mask in _MASKS if size <= bits)
            number = partial(_number, width)
            masks.append(self.mask_in(number, range(first, first + size)))
            first += size
        return masks

    def mask_in(
        self, number: Callable[[int], exp.Expr], letters: range = range(MAX_LETTERS)
    ) -> exp.Expr:
        """The mask in numbers of the caller's making, for dialects without unsigned types."""
        mask: exp.Expr | None = None
        for bit in self.bits:
            if bit.position not in letters:
                continue
            value = number(1 << (bit.position - letters.start))
            # CASE inside CASE: a condition is never evaluated on a row of another type.
            for needed in (bit.condition, bit.is_type):
                if needed is not None:
                    chosen = exp.Case(ifs=[exp.If(this=needed.copy(), true=value)])
                    value = chosen.else_(number(0), copy=False)
            mask = value if mask is None else exp.BitwiseOr(this=mask, expression=value)
        return number(0) if mask is None else mask

    @property
    def mask_names(self) -> list[str]:
        return ["mask", *(f"mask{k}" for k in range(1, len(self.words)))]

    @property
    def is_letter(self) -> exp.Expr:
        """Over the mask's words: whether the row is any letter."""
        nothing = exp.Literal.number(0)
        names = self.mask_names
        return exp.or_(*[exp.NEQ(this=exp.column(m), expression=nothing.copy()) for m in names])

    @property
    def order(self) -> list[exp.Expr]:
        """What a row must have to stand in the order: a time, and a tiebreak if one was named."""
        return [self.time] if self.tie is None else [self.time, self.tie]

    @property
    def columns(self) -> list[exp.Expr]:
        """All of them under their names: p0, …, time, tie, mask, x0, …"""
        return [
            *[exp.alias_(key, f"p{i}") for i, key in enumerate(self.keys)],
            exp.alias_(self.time, "time"),
            *([] if self.tie is None else [exp.alias_(self.tie, "tie")]),
            *[
                exp.alias_(mask, name, copy=False)
                for mask, name in zip(self.masks, self.mask_names, strict=True)
            ],
            *[exp.alias_(tree, f"x{i}") for i, tree in enumerate(self.operands)],
        ]

    @property
    def conditions(self) -> list[exp.Expr]:
        """What a row must satisfy before its mask is looked at."""
        kept = [present(key) for key in self.keys]
        return kept if self.types is None else [*kept, self.types.copy()]


def bind(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    schema: dict[str, str],
    scan: Scan,
    roles: Roles,
) -> Projection:
    """The projection over a relation whose columns have been checked; errors name what misfits."""
    binder = Binder(connection, relation, schema)
    keys = tuple(_key(name, schema[name]) for name in scan.partition)
    is_type = type_test(schema, roles)
    bits = [_bit(binder, is_type, k, letter) for k, letter in enumerate(scan.letters)]
    return Projection(
        keys,
        roles.axis.expression,
        None if roles.tiebreak is None else tie(roles.tiebreak, schema[roles.tiebreak]),
        len(scan.letters),
        tuple(bit for bit in bits if bit is not None),
        tuple(_fit(binder, operand) for operand in scan.operands),
        None if scan.keep_unmatched else is_type.any_of(scan.letters),
        scan.keep_unmatched,
        scan.words,
    )


def type_test(schema: dict[str, str], roles: Roles) -> TypeTest:
    """How a row of these columns tells its type."""
    return TypeTest(roles.type_column, schema.get(roles.type_column or "", ""), roles.event_type)


def check_letters(scan: Scan) -> None:
    """A mask, or a word of one, has 64 bits."""
    if max(scan.words, default=len(scan.letters)) > MAX_LETTERS:
        raise LimitError(
            f"The pattern has {len(scan.letters)} variables; at most {MAX_LETTERS} are supported.",
            remedy="Split the query.",
        )


def _number(width: exp.DType, value: int) -> exp.Expr:
    return exp.cast(exp.Literal.number(value), width)


def tie(column: str, duck_type: str) -> exp.Expr:
    """The tiebreak; NaN has no place in an order."""
    tree = duck.column(column)
    return duck.nan_as_null(tree) if duck_type in duck.FLOATS else tree


def present(tree: exp.Expr) -> exp.Expr:
    """Not null."""
    return exp.Not(this=exp.Is(this=tree.copy(), expression=exp.null()))


def known(keys: list[exp.Expr]) -> exp.Expr:
    """None of them null."""
    return exp.and_(*[present(key) for key in keys])


def counts(keys: list[exp.Expr]) -> exp.Select:
    """How many rows there are, and how many of them have all of these keys."""
    # count(column) alone is answered by the statistics of a Parquet file.
    good = keys[0].copy() if len(keys) == 1 else exp.case().when(known(keys), exp.true())
    return exp.select(exp.Count(this=exp.Star()), exp.Count(this=good), copy=False)


def _key(name: str, duck_type: str) -> exp.Expr:
    column = duck.column(name)
    if duck_type in duck.FLOATS:
        # NaN agrees with nothing, not even NaN; -0.0 agrees with 0.0.
        return exp.Add(this=duck.nan_as_null(column), expression=exp.Literal.number(0))
    return fit_any(column, duck_type)


@dataclass(frozen=True, slots=True)
class TypeTest:
    """How a row tells its type: by a column of text or integers, or all rows are of one."""

    column: str | None
    duck_type: str
    event_type: str | None

    def possible(self, letter: Letter) -> bool:
        """Whether there can be a row of the letter's type."""
        if self.column is None:
            return letter.type == self.event_type
        bits = _INTEGER_BITS.get(self.duck_type)
        if bits is None:
            return True
        number = int(letter.type) if letter.type.removeprefix("-").isdecimal() else None
        # The column's integers print in one way: '08' and '+8' are no names of 8.
        low = 0 if self.duck_type.startswith("U") else -(1 << bits)
        return number is not None and str(number) == letter.type and low <= number < 1 << bits

    def of(self, letter: Letter) -> exp.Expr | None:
        """The test of a possible letter's type; None if there is nothing to test."""
        if self.column is None:
            return None
        return exp.EQ(this=self._value(), expression=self._name(letter))

    def any_of(self, letters: tuple[Letter, ...]) -> exp.Expr | None:
        """Implied by the mask, but this much can be pushed into the file."""
        if self.column is None:
            return None
        named = {letter.type: self._name(letter) for letter in letters if self.possible(letter)}
        return exp.In(this=self._value(), expressions=[*named.values()]) if named else exp.false()

    def named(self, kind: str) -> exp.Expr | None:
        """The test of any type by its name; None if no row can be of it."""
        letter = Letter(kind, kind, None)
        if not self.possible(letter):
            return None
        return self.of(letter) or exp.true()

    def value(self) -> exp.Expr:
        """The row's type as text, called `type`; of types that a column says."""
        return exp.alias_(exp.cast(self._value(), _Type.VARCHAR), "type", quoted=True)

    def _name(self, letter: Letter) -> exp.Expr:
        # An integer is compared as one: to print every row's number would cost more than the rest.
        is_number = self.duck_type in _INTEGER_BITS
        return exp.Literal.number(letter.type) if is_number else exp.Literal.string(letter.type)

    def _value(self) -> exp.Expr:
        assert self.column is not None
        column = duck.column(self.column)
        as_it_is = self.duck_type == "VARCHAR" or self.duck_type in _INTEGER_BITS
        return column if as_it_is else exp.cast(column, _Type.VARCHAR)


def _bit(binder: Binder, types: TypeTest, position: int, letter: Letter) -> Bit | None:
    # Checked even if no row can be this letter: an error must not depend on the events.
    condition = None if letter.condition is None else _condition(binder, letter)
    return Bit(position, types.of(letter), condition) if types.possible(letter) else None


def _condition(binder: Binder, letter: Letter) -> exp.Expr:
    assert letter.condition is not None
    reason = f"The condition on {letter.variable}"
    safe = binder.safe(letter.condition, reason)
    found = binder.type_of(safe, letter.condition, reason)
    if found != "BOOLEAN" and not duck.is_null(found):
        raise InputError(
            f"{reason} is not true or false: '{duck.text(letter.condition)}' is {found}.",
            remedy="Compare it with something.",
        )
    return safe


def _fit(binder: Binder, operand: Operand) -> exp.Expr:
    safe = binder.safe(operand.tree, operand.reason)
    found = binder.type_of(safe, operand.tree, operand.reason)
    if operand.kind is Kind.ANY and not duck.compares(found):
        raise InputError(
            f"{operand.reason} compares values of '{duck.text(operand.tree)}', and those of "
            f"{found} cannot be compared between events.",
            remedy="Use another attribute, or convert the column before the query, to a number or "
            "to text.",
        )
    if operand.kind in (Kind.ANY, Kind.HELD):
        return fit_any(safe, found)
    fit = fit_number if operand.kind is Kind.NUMBER else fit_ordered
    fitted = fit(safe, found)
    if fitted is None:
        needed = "a number" if operand.kind is Kind.NUMBER else "a number, a time or a boolean"
        raise InputError(
            f"{operand.reason} needs {needed}, but '{duck.text(operand.tree)}' is {found}.",
            remedy="Use another attribute, or convert the column before the query.",
        )
    return fitted
