"""Conditions over two events → small postfix programs.

Whatever reads only one of the two rows is left to the host, as a column (an operand); only what
mixes both rows becomes instructions. `X.a op NEXT(Y).b` is then three instructions, whatever
arithmetic stands on either side, and that is the form an index can serve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, auto
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import QueryMeaningError
from trendloom.language.expressions import reference_of, references, to_sql
from trendloom.plan.scan import Kind, Operand

if TYPE_CHECKING:
    from trendloom.plan.conditions import Pair

MAX_DEPTH = 60
"""Values that a program may have waiting; the kernels have room for a few more."""
MAX_STEPS = 600


class Op(Enum):
    """Instructions; LEFT and RIGHT push a column of the earlier and the later event."""

    LEFT = auto()
    RIGHT = auto()
    CONSTANT = auto()
    LT = auto()
    LE = auto()
    GT = auto()
    GE = auto()
    EQ = auto()
    NE = auto()
    AND = auto()
    OR = auto()
    NOT = auto()
    PLUS = auto()
    MINUS = auto()
    TIMES = auto()
    DIVIDE = auto()
    MODULO = auto()
    NEGATE = auto()
    ABS = auto()
    ROUND = auto()
    IS_NULL = auto()
    COALESCE = auto()


COMPARISONS: dict[type[exp.Expr], Op] = {
    exp.LT: Op.LT, exp.LTE: Op.LE, exp.GT: Op.GT, exp.GTE: Op.GE, exp.EQ: Op.EQ, exp.NEQ: Op.NE,
}  # fmt: skip
ARITHMETIC: dict[type[exp.Expr], Op] = {
    exp.Add: Op.PLUS, exp.Sub: Op.MINUS, exp.Mul: Op.TIMES, exp.Div: Op.DIVIDE, exp.Mod: Op.MODULO,
}  # fmt: skip
FLIPPED = {Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE, Op.EQ: Op.EQ, Op.NE: Op.NE}

LEAVES = frozenset({Op.LEFT, Op.RIGHT, Op.CONSTANT})
UNARY = frozenset({Op.NOT, Op.NEGATE, Op.ABS, Op.ROUND, Op.IS_NULL})

Code = tuple[tuple[Op, int], ...]
Constant = int | Decimal | float | bool | str | date | datetime | None
"""As written: whole numbers and decimals are exact, `1e3` is a double."""


def conjuncts_of(code: Code) -> list[Code]:
    """The programs that AND joins to this one, from left to right."""
    stack: list[tuple[Code, list[Code]]] = []
    for step in code:
        op, _ = step
        if op in LEAVES:
            whole: Code = (step,)
            parts = [whole]
        elif op in UNARY:
            whole = (*stack.pop()[0], step)
            parts = [whole]
        else:
            (right, right_parts), (left, left_parts) = stack.pop(), stack.pop()
            whole = (*left, *right, step)
            parts = left_parts + right_parts if op is Op.AND else [whole]
        stack.append((whole, parts))
    ((_, found),) = stack
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """Column `left` of the earlier event, `op`, column `right` of the later one."""

    op: Op
    left: int
    right: int


def comparison_of(code: Code) -> Comparison | None:
    """`X.a op NEXT(Y).b`, if the program is that and nothing else: what an index can serve."""
    match code:
        case ((Op.LEFT, left), (Op.RIGHT, right), (op, _)) if op in FLIPPED:
            return Comparison(op, left, right)
    return None


@dataclass(frozen=True, slots=True)
class PairColumn:
    """An operand as a column of numbers. With a partner, both are encoded so that they compare."""

    operand: int
    partner: int | None = None


@dataclass(slots=True)
class Operands:
    """The operands that a query's parts ask the host for, each once."""

    items: list[Operand] = field(default_factory=list)

    def add(self, tree: exp.Expression, kind: Kind, reason: str) -> int:
        bare = tree.copy()
        for column in list(bare.find_all(exp.Column)):
            plain = exp.column(column.name, quoted=True)
            if column is bare:
                bare = plain
            else:
                column.replace(plain)
        for number, item in enumerate(self.items):
            if item.tree == bare and item.kind == kind:
                return number
        self.items.append(Operand(bare, kind, reason))
        return len(self.items) - 1


@dataclass(slots=True)
class PairPrograms:
    """All programs of one part of the query, with their shared columns and constants."""

    operands: Operands
    text: str
    columns: list[PairColumn] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    programs: list[Code] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """Per program: the query's words."""

    def add(self, pairs: list[Pair]) -> int:
        """The conjunction of the pairs as one program; returns its number."""
        code: list[tuple[Op, int]] = []
        for pair in pairs:
            more = _Compiler(self, pair).compile(pair.tree)
            code = [*code, *more, (Op.AND, 0)] if code else more
        if len(code) > MAX_STEPS or _depth(code) > MAX_DEPTH:
            raise QueryMeaningError(
                "The condition between two events is too large.",
                text=self.text,
                place=pairs[0].place,
                remedy="Split the query, or compute parts of it as attributes beforehand.",
            )
        self.programs.append(tuple(code))
        self.conditions.append(" AND ".join(to_sql(pair.tree) for pair in pairs))
        return len(self.programs) - 1

    def column(self, column: PairColumn) -> int:
        if column not in self.columns:
            self.columns.append(column)
        return self.columns.index(column)

    def constant(self, value: Constant) -> int:
        self.constants.append(value)
        return len(self.constants) - 1


class _Compiler:
    """One condition. A sub-tree's side is LEFT, RIGHT, CONSTANT (neither row) or None (both)."""

    def __init__(self, programs: PairPrograms, pair: Pair) -> None:
        self.programs = programs
        self.pair = pair
        self.is_adjacent = any(reference.next for reference in references(pair.tree))
        self.reason = to_sql(pair.tree)

    def compile(self, tree: exp.Expr) -> list[tuple[Op, int]]:
        tree = tree.unnest()
        side = self._side(tree)
        if side is Op.CONSTANT and isinstance(
            tree, exp.Literal | exp.Boolean | exp.Null | exp.Cast
        ):
            return [self._constant(tree)]
        if side in (Op.LEFT, Op.RIGHT):
            assert side is not None
            return [self._load(tree, side)]
        if type(tree) in COMPARISONS:
            return self._comparison(COMPARISONS[type(tree)], tree.this, tree.expression)
        match tree:
            case exp.And() | exp.Or():
                op = Op.AND if isinstance(tree, exp.And) else Op.OR
                return [*self.compile(tree.left), *self.compile(tree.right), (op, 0)]
            case exp.Not():
                return [*self.compile(tree.this), (Op.NOT, 0)]
            case exp.Neg():
                return [*self.compile(tree.this), (Op.NEGATE, 0)]
            case exp.Abs():
                return [*self.compile(tree.this), (Op.ABS, 0)]
            case exp.Round() if tree.args.get("decimals") is None:
                return [*self.compile(tree.this), (Op.ROUND, 0)]
            case exp.Coalesce():
                code = self.compile(tree.this)
                for other in tree.expressions:
                    code += [*self.compile(other), (Op.COALESCE, 0)]
                return code
            case exp.Is() if isinstance(tree.expression, exp.Null):
                return [*self.compile(tree.this), (Op.IS_NULL, 0)]
            case exp.Between():
                low = self._comparison(Op.GE, tree.this, tree.args["low"])
                high = self._comparison(Op.LE, tree.this, tree.args["high"])
                return [*low, *high, (Op.AND, 0)]
            case exp.In() if tree.expressions:
                code = self._comparison(Op.EQ, tree.this, tree.expressions[0])
                for other in tree.expressions[1:]:
                    code += [*self._comparison(Op.EQ, tree.this, other), (Op.OR, 0)]
                return code
        if type(tree) in ARITHMETIC:
            op = ARITHMETIC[type(tree)]
            return [*self.compile(tree.this), *self.compile(tree.expression), (op, 0)]
        raise self._unsupported(tree)

    def _comparison(self, op: Op, left: exp.Expr, right: exp.Expr) -> list[tuple[Op, int]]:
        left, right = left.unnest(), right.unnest()
        sides = self._side(left), self._side(right)
        if sides == (Op.RIGHT, Op.LEFT):
            op, left, right, sides = FLIPPED[op], right, left, (Op.LEFT, Op.RIGHT)
        if sides == (Op.LEFT, Op.RIGHT):
            # Of any type, as long as both have the same: encoded together.
            first, second = self._operand(left), self._operand(right)
            columns = self.programs.column
            return [
                (Op.LEFT, columns(PairColumn(first, second))),
                (Op.RIGHT, columns(PairColumn(second, first))),
                (op, 0),
            ]
        side = sides[0] if sides[0] is not Op.CONSTANT else sides[1]
        if side in (Op.LEFT, Op.RIGHT) and Op.CONSTANT in sides:
            # A comparison within one row, reached through BETWEEN or IN.
            whole = {value: key for key, value in COMPARISONS.items()}[op]
            return [self._load(whole(this=left.copy(), expression=right.copy()), side)]
        return [*self.compile(left), *self.compile(right), (op, 0)]

    def _side(self, tree: exp.Expr) -> Op | None:
        """Which row the tree reads. With NEXT, that tells; without, the variable does."""
        found = set()
        for column in tree.find_all(exp.Column):
            reference = reference_of(column)
            later = reference.next if self.is_adjacent else reference.variable == self.pair.later
            found.add(Op.RIGHT if later else Op.LEFT)
        if not found:
            return Op.CONSTANT
        return found.pop() if len(found) == 1 else None

    def _load(self, tree: exp.Expr, side: Op) -> tuple[Op, int]:
        return (side, self.programs.column(PairColumn(self._operand(tree))))

    def _operand(self, tree: exp.Expr) -> int:
        assert isinstance(tree, exp.Expression)
        return self.programs.operands.add(tree, Kind.ANY, self.reason)

    def _constant(self, tree: exp.Expr) -> tuple[Op, int]:
        value: Constant
        match tree:
            case exp.Literal():
                value = tree.name if tree.is_string else _number(tree.name)
            case exp.Boolean():
                value = bool(tree.this)
            case exp.Null():
                value = None
            case exp.Cast(this=exp.Literal()):
                is_date = tree.is_type(exp.DType.DATE)
                try:
                    value = (date if is_date else datetime).fromisoformat(tree.this.name)
                except ValueError:
                    raise self._unsupported(tree) from None
            case _:
                raise self._unsupported(tree)
        return (Op.CONSTANT, self.programs.constant(value))

    def _unsupported(self, tree: exp.Expr) -> QueryMeaningError:
        return QueryMeaningError(
            f"'{to_sql(tree)}' mixes two events in a way that is not supported.",
            text=self.programs.text,
            place=self.pair.place,
            remedy="Between two events: comparisons, + - * / %, AND OR NOT, IN, BETWEEN, IS NULL, "
            "ABS, ROUND, COALESCE of numbers. Functions of one event are free.",
        )


def _number(text: str) -> int | Decimal | float:
    if text.isdigit():
        return int(text)
    return float(text) if "e" in text.lower() else Decimal(text)


def _depth(code: list[tuple[Op, int]]) -> int:
    """How many values wait at most."""
    waiting = most = 0
    for op, _ in code:
        waiting += 1 if op in LEAVES else 0 if op in UNARY else -1
        most = max(most, waiting)
    return most
