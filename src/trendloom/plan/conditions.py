"""WHERE, sorted by what each condition looks at (SEMANTICS §4; COGRA §3.2).

A condition reads one variable (local), two consecutive events (adjacent, the later under NEXT), an
event that occurs once and every event of another variable (anchored), or the trend's length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import Place, QueryMeaningError, did_you_mean
from trendloom.language.expressions import place_of, references
from trendloom.language.nodes import Condition, Equivalence, Query
from trendloom.pattern.automaton import LengthBounds

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_MENTIONS = 200
"""Attributes that all conditions between two events name, together."""

SUPPORTED = (
    "Supported: V.a (one variable), X.a op NEXT(Y).b (consecutive events), A.a op B.b where A "
    "occurs exactly once and before B, LENGTH(*) op n, and [a, b]."
)

SYMBOLS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.GTE: ">=", exp.GT: ">", exp.LTE: "<=", exp.LT: "<",
}  # fmt: skip
MIRRORED = {"=": "=", ">=": "<=", ">": "<", "<=": ">=", "<": ">"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A condition over two events: the earlier one's variable, the later one's, the expression."""

    earlier: str
    later: str
    tree: exp.Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Conditions:
    """A query's WHERE, classified."""

    equivalence: tuple[str, ...]
    local: dict[str, tuple[exp.Expression, ...]]
    adjacent: tuple[Pair, ...]
    correlated: tuple[Pair, ...]
    """Two variables without NEXT, as written; which one is the anchor the automaton tells."""
    lengths: LengthBounds


def classify(query: Query, positive: Iterable[str], negated: Iterable[str]) -> Conditions:
    """Sorts the conjuncts; raises at the place of one that has no meaning."""
    return _Classifier(query, tuple(positive), tuple(negated)).classify()


class _Classifier:
    def __init__(self, query: Query, positive: tuple[str, ...], negated: tuple[str, ...]) -> None:
        self.query = query
        self.positive = positive
        self.negated = negated
        self.local: dict[str, list[exp.Expression]] = {}
        self.adjacent: list[Pair] = []
        self.correlated: list[Pair] = []
        self.lengths = LengthBounds()
        self.mentions = 0

    def classify(self) -> Conditions:
        equivalence: list[str] = []
        for part in self.query.where:
            match part:
                case Equivalence(attributes=attributes):
                    equivalence.extend(attributes)
                case Condition(tree=tree, place=place):
                    self._sort(tree, place)
        return Conditions(
            tuple(dict.fromkeys(equivalence)),
            {variable: tuple(trees) for variable, trees in self.local.items()},
            tuple(self.adjacent),
            tuple(self.correlated),
            self.lengths,
        )

    def _sort(self, tree: exp.Expression, place: Place) -> None:
        if any(isinstance(node, exp.Length) for node in tree.walk()):
            self.lengths = _narrow(self.lengths, tree, self.query.text, place)
            return
        plain: list[str] = []
        under_next: list[str] = []
        for reference in references(tree):
            if reference.variable is None:
                raise self._error(
                    f"'{reference.attribute}' has no variable.", tree, place, "Write V.attribute."
                )
            self._check_known(reference.variable, tree, place)
            (under_next if reference.next else plain).append(reference.variable)
        earlier, later = list(dict.fromkeys(plain)), list(dict.fromkeys(under_next))
        guards = [v for v in (*earlier, *later) if v not in self.positive]
        if len(earlier) + len(later) > 1:
            self._count_mentions(tree, place)
        match earlier, later:
            case [variable], []:
                self.local.setdefault(variable, []).append(tree)
            case _ if guards:
                raise self._error(
                    f"The negated variable '{guards[0]}' cannot be compared with another event.",
                    tree,
                    place,
                    "A negated variable takes local conditions only.",
                )
            case [first], [second]:
                self.adjacent.append(Pair(first, second, tree, place))
            case [first, second], []:
                self.correlated.append(Pair(first, second, tree, place))
            case [], []:
                raise self._error("The condition names no variable.", tree, place, SUPPORTED)
            case _:
                raise self._error(
                    "The condition mixes variables in a way that is not supported.",
                    tree,
                    place,
                    SUPPORTED,
                )

    def _count_mentions(self, tree: exp.Expression, place: Place) -> None:
        self.mentions += sum(1 for _ in tree.find_all(exp.Column))
        if self.mentions > MAX_MENTIONS:
            raise self._error(
                f"The conditions between two events name more than {MAX_MENTIONS} attributes.",
                tree,
                place,
                "Split the query, or compute parts of them as attributes beforehand.",
            )

    def _check_known(self, variable: str, tree: exp.Expression, place: Place) -> None:
        known = (*self.positive, *self.negated)
        if variable not in known:
            raise self._error(
                f"Unknown variable '{variable}'.", tree, place, did_you_mean(variable, known)
            )

    def _error(
        self, cause: str, tree: exp.Expression, place: Place, remedy: str
    ) -> QueryMeaningError:
        return QueryMeaningError(
            cause, text=self.query.text, place=place_of(tree) or place, remedy=remedy
        )


def _narrow(bounds: LengthBounds, tree: exp.Expression, text: str, place: Place) -> LengthBounds:
    low, high = _interval(tree)
    if low is None and high is None:
        raise QueryMeaningError(
            "This use of LENGTH(*) is not supported.",
            text=text,
            place=place,
            remedy="Compare it with a whole number: LENGTH(*) >= 3, = 3, <= 3, BETWEEN 2 AND 5.",
        )
    low = max(bounds.low, low if low is not None else 1)
    if bounds.high is not None:
        high = bounds.high if high is None else min(high, bounds.high)
    return LengthBounds(low, high)


def _interval(tree: exp.Expression) -> tuple[int | None, int | None]:
    """(lowest, highest) length that the condition allows; (None, None) if it is of another form."""
    whole = tree.unnest()
    if isinstance(whole, exp.Between) and _is_length(whole.this):
        return _whole(whole.args["low"]), _whole(whole.args["high"])
    symbol = SYMBOLS.get(type(whole))
    if symbol is None or not isinstance(whole, exp.Binary):
        return None, None
    left, right = whole.left.unnest(), whole.right.unnest()
    if _is_length(right):
        left, right, symbol = right, left, MIRRORED[symbol]
    number = _whole(right)
    if not _is_length(left) or number is None:
        return None, None
    allowed: dict[str, tuple[int | None, int | None]] = {
        "=": (number, number),
        ">=": (number, None),
        ">": (number + 1, None),
        "<=": (None, number),
        "<": (None, number - 1),
    }
    return allowed[symbol]


def _is_length(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Length) and isinstance(tree.this, exp.Star)


def _whole(tree: exp.Expr) -> int | None:
    negative = isinstance(tree, exp.Neg)
    literal = tree.this if negative else tree
    if not isinstance(literal, exp.Literal) or literal.is_string or not literal.name.isdigit():
        return None
    return -int(literal.name) if negative else int(literal.name)
