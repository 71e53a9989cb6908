"""Conditions between two events as the kernels run them, once the types of their columns are known.

Every part of a condition is true or false, text, a double, or **exact**: whole numbers, decimals as
whole numbers of their last digit, dates as days, moments and differences of moments as seconds with
decimals. As in SQL, whatever a double takes part in is a double, and so is every quotient.

Doubles hold whole numbers up to 2 to the 53rd without loss. How large those of a condition can get
is told from the largest ones in its columns: below that bound it is computed in doubles, and above
it in 128 bits (`kernels.wide`). The result is the same, so that every chunk may decide for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import filled
from trendloom.engine.columns import EXACT_DOUBLE, as_doubles, pair_columns, rank_of, valid
from trendloom.engine.program import grouped
from trendloom.engine.scanned import plain
from trendloom.engine.sort import decimal_words
from trendloom.engine.stopping import stop_flag
from trendloom.errors import InputError, NumberError
from trendloom.kernels import predicates as opcodes
from trendloom.plan.pairs import FLIPPED, UNARY, Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.plan.pairs import Constant
    from trendloom.plan.plan import Part

    Floats = NDArray[np.float64]
    Steps = list[tuple[str, Any]]

MOST = (1 << 127) - 1
"""The largest number of 128 bits; its opposite is the smallest, as one below that is null."""
DAY = 86_400
UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
EPOCH = datetime(1970, 1, 1)


class Family(Enum):
    """What a part of a condition is, in words of a message."""

    NULL = "null"
    BOOLEAN = "true or false"
    TEXT = "text"
    DOUBLE = "a number"
    NUMBER = "a whole number or decimal"
    DATE = "a date"
    MOMENT = "a time"
    SPAN = "a difference of times"
    RANK = "a place in an order"
    """Of a value that is compared with nothing but another column's."""


EXACT = (Family.NUMBER, Family.DATE, Family.MOMENT, Family.SPAN)
NUMBERS = (Family.NUMBER, Family.DOUBLE)
MOMENTS = (Family.DATE, Family.MOMENT)
SIGNS = {Op.PLUS: "+", Op.MINUS: "-", Op.TIMES: "*", Op.DIVIDE: "/", Op.MODULO: "%"}


@dataclass(slots=True)
class _Value:
    """A part of a condition: `steps` compute it times ten to the `scale`, at most `bound`."""

    family: Family
    steps: Steps
    scale: int = 0
    bound: int = 0
    written: str | None = None
    """A text as it stands in the query."""

    @property
    def is_constant(self) -> bool:
        return len(self.steps) == 1 and self.steps[0][0] == "EXACT_CONSTANT"


def family_of(kind: pa.DataType) -> tuple[Family, int] | None:
    """What values of the type are, and with how many decimals; None if nothing can be computed."""
    kind = plain(kind)
    if pa.types.is_null(kind):
        return Family.NULL, 0
    if pa.types.is_boolean(kind):
        return Family.BOOLEAN, 0
    if pa.types.is_floating(kind):
        return Family.DOUBLE, 0
    if pa.types.is_integer(kind):
        return Family.NUMBER, 0
    if pa.types.is_decimal(kind):
        return Family.NUMBER, kind.scale
    if pa.types.is_date(kind):
        return Family.DATE, 0
    if pa.types.is_timestamp(kind):
        return Family.MOMENT, UNITS[kind.unit]
    if pa.types.is_duration(kind):
        return Family.SPAN, UNITS[kind.unit]
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return (Family.TEXT, 0) if is_text else None


def predicates_of(part: Part, chunk: Chunk) -> opcodes.Predicates:
    """The part's conditions over the chunk's columns.

    Columns of comparisons stand in `column` under the numbers that they have in the part.
    """
    leaves = _Leaves(part, chunk)
    typed = [_Typing(part, leaves, number).compile() for number in range(len(part.programs))]
    is_wide = any(one.needs_wide for one in typed)
    constants: list[float] = []
    words: list[int] = []
    programs = []
    for one in typed:
        steps = one.steps if is_wide else [s for step in one.steps for s in _narrow(*step)]
        programs.append([_encoded(name, about, constants, words) for name, about in steps])
    start, op, argument = grouped(programs, 2)
    depth = opcodes.STACK_DEPTH
    return opcodes.Predicates(
        start=start,
        code=np.ascontiguousarray(np.stack([op, argument], axis=1)),
        constant=np.array(constants, np.float64),
        column=leaves.doubles(exact=not is_wide),
        block=np.empty((depth, opcodes.BLOCK)),
        wide_constant=_words_of(words),
        wide_column=leaves.words() if is_wide else np.zeros((0, 0, 2), np.uint64),
        wide_block=np.empty((depth if is_wide else 0, opcodes.BLOCK, 2), np.uint64),
        event=np.zeros(1, np.int64),
        stop=stop_flag(),
    )


def _narrow(name: str, about: float) -> list[tuple[str, float]]:
    """An exact step on doubles."""
    if name == "EXACT_DOUBLE":
        return [("CONSTANT", 10.0**about), ("DIVIDE", 0)] if about else []
    return [(name.removeprefix("EXACT_"), about)]


def _encoded(name: str, about: float, constants: list[float], words: list[int]) -> tuple[int, int]:
    opcode = int(getattr(opcodes, name.replace("EXACT_", "WIDE_")))
    if name in ("EXACT_CONSTANT", "EXACT_ROUND"):
        words.append(int(about))
        return opcode, len(words) - 1
    if name in ("CONSTANT", "EXACT_DOUBLE"):
        constants.append(float(about) if name == "CONSTANT" else 10.0**about)
        return opcode, len(constants) - 1
    return opcode, int(about)


def _words_of(numbers: Sequence[int]) -> NDArray[np.uint64]:
    mask = (1 << 64) - 1
    pairs = [(number & mask, number >> 64 & mask) for number in numbers]
    return np.array(pairs, np.uint64).reshape(len(pairs), 2)


# ── columns ──────────────────────────────────────────────────────────────────────────────────


class _Leaves:
    """The columns of a part's conditions, in a chunk."""

    def __init__(self, part: Part, chunk: Chunk) -> None:
        self.part = part
        self.chunk = chunk
        self.arrays: list[pa.Array] = [chunk.operand(one.operand) for one in part.columns]
        self.singles = [k for k, one in enumerate(part.columns) if one.partner is None]
        self.families = {k: self._family(self.arrays[k]) for k in self.singles}
        self.texts = self._texts()

    def value(self, number: int, side: Op) -> _Value | None:
        """A column, as a leaf; None if nothing can be computed with it."""
        name = side.name
        if self.part.columns[number].partner is not None:
            return _Value(Family.RANK, [(name, number)])
        found = self.families[number]
        if found is None:
            return None
        family, scale = found
        if family not in EXACT:
            return _Value(family, [(name, number)])
        bound = _bound(self.arrays[number])
        return _Value(family, [(f"EXACT_{name}", number)], scale, bound)

    def doubles(self, *, exact: bool) -> Floats:
        """Of all columns that are, or may be, doubles; null is not a number."""
        columns = pair_columns(self.part, self.chunk)
        for number in self.singles:
            found = self.families[number]
            if found is None or found[0] is Family.NULL:
                continue
            if found[0] is Family.TEXT:
                columns[number] = self.texts[number]
            elif found[0] not in EXACT:
                columns[number] = as_doubles(self.arrays[number], np.nan)
            elif exact:
                low, _ = _exact_words(self.arrays[number])
                known = valid(self.arrays[number])
                columns[number] = np.where(known, low.astype(np.float64), np.nan)
        return columns

    def words(self) -> NDArray[np.uint64]:
        """Of the exact columns."""
        columns = np.zeros((len(self.part.columns), len(self.chunk), 2), np.uint64)
        columns[:, :, 1] = np.uint64(1 << 63)
        for number in self.singles:
            found = self.families[number]
            if found is not None and found[0] in EXACT:
                low, high = _exact_words(self.arrays[number])
                known = valid(self.arrays[number])
                columns[number, known, 0] = low.view(np.uint64)[known]
                columns[number, known, 1] = high.view(np.uint64)[known]
        return columns

    def _family(self, column: pa.Array) -> tuple[Family, int] | None:
        # A column without values may be of a type that nobody gave it.
        return (Family.NULL, 0) if column.null_count == len(column) else family_of(column.type)

    def _texts(self) -> dict[int | str, Any]:
        """Column → places of its texts in the order of all texts; constant → its place."""
        columns = [k for k in self.singles if self.families[k] == (Family.TEXT, 0)]
        constants = [value for value in self.part.constants if isinstance(value, str)]
        if not columns and not constants:
            return {}
        size = len(self.chunk)
        arrays = [_text(self.arrays[k]) for k in columns]
        ranks = rank_of(pa.concat_arrays([*arrays, pa.array(constants, pa.large_string())]))
        found: dict[int | str, Any] = {
            k: ranks[at * size : (at + 1) * size] for at, k in enumerate(columns)
        }
        found.update(zip(constants, ranks[len(columns) * size :].tolist(), strict=True))
        return found


def _text(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    return column.cast(pa.large_string())


def _whole(column: pa.Array) -> pa.Array:
    """Integers and decimals as they are, times as their numbers."""
    if pa.types.is_date(column.type):
        return column.cast(pa.date32()).cast(pa.int32())
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        return column.cast(pa.int64())
    return column


def _bound(column: pa.Array) -> int:
    column = _whole(column)
    ends = pc.min_max(column)
    values = [value for value in (ends["min"].as_py(), ends["max"].as_py()) if value is not None]
    if pa.types.is_decimal(column.type):
        values = [_unscaled(value) for value in values]
    return max((abs(value) for value in values), default=0)


def _unscaled(value: Decimal) -> int:
    # Arithmetic of decimals would round to the digits of the context.
    return int("".join(map(str, value.as_tuple().digits)))


def _exact_words(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The low and the high word of an exact column; any for null."""
    column = _whole(column)
    if pa.types.is_decimal(column.type):
        low, high, *_ = decimal_words(column)
        return low, high
    if pa.types.is_uint64(column.type):
        unsigned: NDArray[np.uint64] = filled(column, 0)
        return unsigned.view(np.int64), np.zeros(len(unsigned), np.int64)
    whole = filled(column, 0).astype(np.int64)
    return whole, whole >> 63


# ── types ────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Typing:
    """One condition: postfix steps with their types."""

    part: Part
    leaves: _Leaves
    number: int
    steps: Steps = field(default_factory=list)
    peak: int = 0
    needs_wide: bool = False

    def compile(self) -> _Typing:
        """Steps named EXACT are of exact numbers, however these are stored."""
        stack: list[_Value] = []
        for op, about in self.part.programs[self.number]:
            if op is Op.CONSTANT:
                stack.append(self._constant(self.part.constants[about]))
            elif op in (Op.LEFT, Op.RIGHT):
                leaf = self.leaves.value(about, op)
                if leaf is None:
                    kind = self.leaves.arrays[about].type
                    raise self._refused(
                        f"reads a value of type {kind}, which it cannot compute with"
                    )
                stack.append(leaf)
            elif op in UNARY:
                stack.append(self._of_one(op, stack.pop()))
            else:
                right, left = stack.pop(), stack.pop()
                stack.append(self._of_two(op, left, right))
            self.peak = max(self.peak, stack[-1].bound)
        (whole,) = stack
        if whole.family not in (Family.BOOLEAN, Family.NULL):
            raise self._refused(f"is {whole.family.value}, neither true nor false")
        if self.peak > MOST:
            raise NumberError(
                f"The condition '{self.part.conditions[self.number]}' may compute numbers beyond "
                "128 bits.",
                remedy="Make its products smaller, or convert an attribute of it to a double.",
            )
        self.steps = whole.steps
        self.needs_wide |= self.peak > EXACT_DOUBLE
        return self

    def _constant(self, value: Constant) -> _Value:
        match value:
            case None:
                return _Value(Family.NULL, [("CONSTANT", np.nan)])
            case bool():
                return _Value(Family.BOOLEAN, [("CONSTANT", float(value))])
            case str():
                place = [("CONSTANT", self.leaves.texts[value])]
                return _Value(Family.TEXT, place, written=value)
            case float():
                return _Value(Family.DOUBLE, [("CONSTANT", value)])
            case datetime():
                return _exact(Family.MOMENT, _microseconds(value), 6)
            case date():
                return _exact(Family.DATE, value.toordinal() - EPOCH.toordinal(), 0)
            case int():
                return _exact(Family.NUMBER, value, 0)
            case Decimal():
                return _exact(Family.NUMBER, _unscaled(value), -int(value.as_tuple().exponent))

    def _of_one(self, op: Op, a: _Value) -> _Value:
        if op is Op.IS_NULL:
            name = "EXACT_IS_NULL" if a.family in EXACT else "IS_NULL"
            return _Value(Family.BOOLEAN, [*a.steps, (name, 0)])
        if a.family is Family.NULL:
            return a
        if op is Op.NOT:
            self._need(a, (Family.BOOLEAN,), "NOT")
            return _Value(Family.BOOLEAN, [*a.steps, ("NOT", 0)])
        fitting = NUMBERS if op is Op.ROUND else (*NUMBERS, Family.SPAN)
        self._need(a, fitting, "-" if op is Op.NEGATE else op.name)
        if a.family is Family.DOUBLE:
            return _Value(Family.DOUBLE, [*a.steps, (op.name, 0)])
        if op is not Op.ROUND:
            return _Value(a.family, [*a.steps, (f"EXACT_{op.name}", 0)], a.scale, a.bound)
        if a.scale <= 0:
            return a
        unit = 10**a.scale
        self.peak = max(self.peak, 2 * unit)
        self.needs_wide = True
        return _Value(Family.NUMBER, [*a.steps, ("EXACT_ROUND", unit)], 0, a.bound // unit + 1)

    def _of_two(self, op: Op, a: _Value, b: _Value) -> _Value:
        if op in (Op.AND, Op.OR):
            for one in (a, b):
                self._need(one, (Family.BOOLEAN, Family.NULL), op.name)
            return _Value(Family.BOOLEAN, [*a.steps, *b.steps, (op.name, 0)])
        if op in FLIPPED or op is Op.COALESCE:
            return self._alike(op, *self._common(op, a, b))
        if Family.NULL in (a.family, b.family):
            return _Value(Family.NULL, [("CONSTANT", np.nan)])
        if op is Op.DIVIDE:
            for one in (a, b):
                self._need(one, NUMBERS, "/")
            return self._alike(op, _double(a), _double(b))
        return self._arithmetic(op, a, b)

    def _arithmetic(self, op: Op, a: _Value, b: _Value) -> _Value:
        families = (a.family, b.family)
        if op in (Op.PLUS, Op.MINUS) and Family.DATE in families and Family.NUMBER in families:
            whole = a if a.family is Family.NUMBER else b
            if whole.scale <= 0 and (op is Op.PLUS or whole is b):
                found = self._alike(op, a, b)
                return _Value(Family.DATE, found.steps, 0, found.bound)
        if op is Op.MINUS and families == (Family.DATE, Family.DATE):
            days = self._alike(op, a, b)
            return _Value(Family.NUMBER, days.steps, 0, days.bound)
        if op is Op.MINUS and all(family in MOMENTS for family in families):
            span = self._alike(op, *self._common(op, a, b))
            return _Value(Family.SPAN, span.steps, span.scale, span.bound)
        if op in (Op.PLUS, Op.MINUS) and families[0] in MOMENTS and families[1] is Family.SPAN:
            moment = self._alike(op, *self._scaled(self._moment(a), b))
            return _Value(Family.MOMENT, moment.steps, moment.scale, moment.bound)
        if op in (Op.PLUS, Op.MINUS) and families == (Family.SPAN, Family.SPAN):
            return self._alike(op, *self._scaled(a, b))
        if op is Op.TIMES and set(families) == {Family.SPAN, Family.NUMBER}:
            product = self._alike(op, a, b)
            return _Value(Family.SPAN, product.steps, product.scale, product.bound)
        if not all(family in NUMBERS for family in families):
            raise self._refused(f"computes {a.family.value} {SIGNS[op]} {b.family.value}")
        if Family.DOUBLE in families:
            return self._alike(op, _double(a), _double(b))
        if op is Op.TIMES:
            return self._alike(op, a, b)
        return self._alike(op, *self._scaled(a, b))

    def _common(self, op: Op, a: _Value, b: _Value) -> tuple[_Value, _Value]:
        """Both in one type, in which they compare."""
        a, b = self._as_moment(a, b), self._as_moment(b, a)
        families = (a.family, b.family)
        if Family.NULL in families:
            return self._null_like(a, b), self._null_like(b, a)
        if a.family is b.family:
            return self._scaled(a, b) if a.family in EXACT else (a, b)
        if all(family in NUMBERS for family in families):
            return _double(a), _double(b)
        if all(family in MOMENTS for family in families):
            return self._scaled(self._moment(a), self._moment(b))
        told = "takes the first of" if op is Op.COALESCE else "compares"
        raise self._refused(f"{told} {a.family.value} and {b.family.value}")

    def _alike(self, op: Op, a: _Value, b: _Value) -> _Value:
        """The instruction on two operands of one kind."""
        is_exact = a.family in EXACT
        name = f"EXACT_{op.name}" if is_exact else op.name
        steps = [*a.steps, *b.steps, (name, 0)]
        if op in FLIPPED:
            return _Value(Family.BOOLEAN, steps)
        if op is Op.TIMES:
            return _Value(a.family, steps, a.scale + b.scale, a.bound * b.bound)
        total = a.bound + b.bound if op in (Op.PLUS, Op.MINUS) else max(a.bound, b.bound)
        return _Value(a.family, steps, a.scale, total)

    def _scaled(self, a: _Value, b: _Value) -> tuple[_Value, _Value]:
        """Both with the decimals of the one that has more."""
        scale = max(a.scale, b.scale)
        return self._times(a, 10 ** (scale - a.scale), scale), self._times(
            b, 10 ** (scale - b.scale), scale
        )

    def _times(self, value: _Value, factor: int, scale: int) -> _Value:
        bound = value.bound * factor
        self.peak = max(self.peak, bound, factor)
        if factor == 1:
            return value
        if value.is_constant:
            steps = [("EXACT_CONSTANT", value.steps[0][1] * factor)]
        else:
            steps = [*value.steps, ("EXACT_CONSTANT", factor), ("EXACT_TIMES", 0)]
        return _Value(value.family, steps, scale, bound)

    def _moment(self, value: _Value) -> _Value:
        if value.family is Family.MOMENT:
            return value
        seconds = self._times(value, DAY, 0)
        return _Value(Family.MOMENT, seconds.steps, 0, seconds.bound)

    def _as_moment(self, text: _Value, other: _Value) -> _Value:
        """A text that is written in the query reads as a time beside one."""
        if text.written is None or other.family not in MOMENTS:
            return text
        try:
            return self._constant(datetime.fromisoformat(text.written))
        except ValueError:
            raise self._refused(f"compares {other.family.value} with '{text.written}'") from None

    def _null_like(self, value: _Value, other: _Value) -> _Value:
        """Null in the form that the other side has."""
        if value.family is not Family.NULL:
            return value
        if other.family not in EXACT:
            return _Value(other.family, value.steps)
        # Nothing modulo nothing is null.
        nothing: Steps = [("EXACT_CONSTANT", 0), ("EXACT_CONSTANT", 0), ("EXACT_MODULO", 0)]
        return _Value(other.family, nothing, other.scale)

    def _need(self, value: _Value, families: tuple[Family, ...], name: str) -> None:
        if value.family not in families:
            raise self._refused(f"applies {name} to {value.family.value}")

    def _refused(self, cause: str) -> InputError:
        return InputError(
            f"The condition '{self.part.conditions[self.number]}' {cause}.",
            remedy="Compare and compute values of one type; convert an attribute before the query.",
        )


def _exact(family: Family, value: int, scale: int) -> _Value:
    return _Value(family, [("EXACT_CONSTANT", value)], scale, abs(value))


def _double(value: _Value) -> _Value:
    if value.family is Family.DOUBLE:
        return value
    return _Value(Family.DOUBLE, [*value.steps, ("EXACT_DOUBLE", value.scale)])


def _microseconds(moment: datetime) -> int:
    if moment.tzinfo is not None:
        moment = (moment - moment.utcoffset()).replace(tzinfo=None)  # type: ignore[operator]
    passed = moment - EPOCH
    return (passed.days * DAY + passed.seconds) * 1_000_000 + passed.microseconds
