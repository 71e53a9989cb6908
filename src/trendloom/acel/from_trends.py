"""Trend queries as formulas: one complex event for every trend (SEMANTICS §2–§5).

1. The pattern, without the empty word: SEQ is `;` (contiguous: `:`), repetition is `+` (`:+`).
2. Local conditions stand at their events, `S.a < NEXT(S).a` at the repetition of S.
3. Conditions between two events, and on the length, are filters on what AGG makes of the events.
4. PROJECT leaves the variables of the pattern, so that equal complex events are equal trends.

Partition and window are not part of formulas: they are beside it. Times of one partition differ,
or a tiebreak makes them differ: the logic orders all events, trends do not order simultaneous ones.
What cannot be said is refused with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.depth import bounded
from trendloom.acel.pairs import at_most_once, only_neighbours, repeats_only
from trendloom.acel.printer import to_text
from trendloom.acel.reading_sql import NotSaid, condition_from, term_from
from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language import nodes as t
from trendloom.language.naming import name_variables
from trendloom.plan.conditions import MIRRORED, SYMBOLS, Conditions, Pair, classify

if TYPE_CHECKING:
    from trendloom.errors import Place

MOST_PARTS = 500
"""Operators of a formula: optional parts multiply."""


@dataclass(frozen=True)
class Translation:
    """A formula, and what stands beside it."""

    formula: n.Formula
    partition_by: tuple[str, ...]
    window: t.TimeWindow | t.CountWindow | None
    variables: tuple[str, ...]


@bounded
def translate(query: t.Query) -> Translation:
    """The formula of a query's trends; a QueryMeaningError where the logic cannot say it."""
    query = name_variables(query)
    return _Translator(query).translation()


def as_text(query: t.Query) -> str:
    """The formula, and in comments what stands beside it and how its results are aggregated."""
    made = translate(query)
    lines = ["-- One complex event for every trend."]
    if made.partition_by:
        lines.append(f"-- Partition by {', '.join(made.partition_by)}.")
    if made.window is not None:
        lines.append(f"-- Window: {window_text(made.window)}.")
    lines += [
        f"-- {item.name}: {_folded(item.value)}."
        for item in query.returns
        if isinstance(item.value, t.Aggregate)
    ]
    if query.having is not None:
        lines.append("-- HAVING chooses among the rows that this makes.")
    return "\n".join([*lines, to_text(made.formula)])


def _folded(asked: t.Aggregate) -> str:
    match asked.argument:
        case t.Trends():
            told = "the number of complex events"
        case t.Length():
            told = f"{asked.function.value} of how many events they have"
        case t.Occurrences(variable):
            told = f"the number of events of {variable} in them all"
        case t.Values(variable, attribute):
            told = (
                f"{asked.function.value} of {attribute} over the events of {variable} in them all"
            )
    if asked.distinct:
        told += ", each event once"
    return f"the logarithm of {told}" if asked.log2 else told


def window_text(window: t.TimeWindow | t.CountWindow) -> str:
    """As in the trend language."""
    if isinstance(window, t.CountWindow):
        return f"within {window.within} events, slide {window.slide} events"
    parts = [("within", window.within), ("slide", window.slide)]
    return ", ".join(
        f"{word} {float(span.amount):g} {span.unit.name.lower()}s" for word, span in parts if span
    )


@dataclass
class _Translator:
    query: t.Query
    conditions: Conditions = field(init=False)
    variables: tuple[str, ...] = field(init=False)

    def translation(self) -> Translation:
        query = self.query
        for part in _walk(query.pattern):
            match part:
                case t.Both(place=place):
                    self.refuse("AND asks for pairs of trends, and a result is one", place,
                                "Translate each side with a query of its own.")  # fmt: skip
                case t.Not(place=place):
                    self.refuse("NOT asks that something did not happen, which the logic cannot",
                                place, "Leave it out.")  # fmt: skip
        for key in query.group_by:
            if key.variable is not None:
                self.refuse(
                    f"GROUP-BY {key.variable}.{key.attribute} groups trends by one of their events",
                    key.place,
                    "Group by an attribute of all events.",
                )
        events = list(t.events_of(query.pattern))
        variables = tuple(dict.fromkeys(str(event.variable) for event in events))
        conditions = classify(query, variables, ())
        self.conditions, self.variables = conditions, variables
        if query.semantics is t.Semantics.NEXT:
            formula = self._next_match()
        else:
            found, _ = self._pattern(query.pattern)
            assert found is not None, "a pattern has events"
            formula = found
        formula = self._lengths(self._pairs(formula))
        plain = [key.attribute for key in query.group_by]
        partition = tuple(dict.fromkeys((*plain, *conditions.equivalence)))
        formula = n.Project(formula, variables)
        if sum(1 for _ in n.walk(formula)) > MOST_PARTS:
            raise LimitError(
                f"The formula would have more than {MOST_PARTS} operators.",
                remedy="Use smaller bounds in {m,n}, or fewer optional parts.",
            )
        return Translation(formula, partition, query.window, variables)

    # ── patterns ─────────────────────────────────────────────────────────────────────────────

    def _pattern(self, pattern: t.Pattern) -> tuple[n.Formula | None, bool]:
        """The formula of its words but the empty one, and whether it has that one."""
        match pattern:
            case t.Event():
                return self._event(pattern), False
            case t.Sequence(parts=parts):
                return reduce(self._then, map(self._pattern, parts))
            case t.Either(parts=parts):
                return reduce(_either, map(self._pattern, parts))
            case t.Repeat():
                return self._repeat(pattern)
        raise AssertionError("refused before")

    def _event(self, event: t.Event) -> n.Formula:
        variable = str(event.variable)
        made: n.Formula = n.OneEvent(event.type)
        if variable != event.type:
            made = n.As(made, variable)
            if event.type in self.variables:
                # The type's name is another variable's, which does not hold this event.
                made = n.Project(made, (variable,))
        for tree in self.conditions.local.get(variable, ()):
            made = n.Filter(made, variable, self._condition(tree))
        return made

    def _then(
        self, one: tuple[n.Formula | None, bool], other: tuple[n.Formula | None, bool]
    ) -> tuple[n.Formula | None, bool]:
        (left, left_empty), (right, right_empty) = one, other
        if left is None or right is None:
            return (right if left is None else left), left_empty and right_empty
        made = self._joined(left, right)
        if right_empty:
            made = n.Or(made, left)
        if left_empty:
            made = n.Or(made, right)
        return made, left_empty and right_empty

    def _joined(self, left: n.Formula, right: n.Formula) -> n.Formula:
        contiguous = self.query.semantics is t.Semantics.CONTIGUOUS
        return n.Contiguous(left, right) if contiguous else n.Sequence(left, right)

    def _iterated(self, inner: n.Formula) -> n.Formula:
        contiguous = self.query.semantics is t.Semantics.CONTIGUOUS
        return n.ContiguousIteration(inner) if contiguous else n.Iteration(inner)

    def _repeat(self, pattern: t.Repeat) -> tuple[n.Formula | None, bool]:
        inner, empty = self._pattern(pattern.body)
        if inner is None or pattern.high == 0:
            return None, True
        low = 1 if empty else max(pattern.low, 1)
        if pattern.high is None:
            made = reduce(self._joined, [inner] * (low - 1) + [self._iterated(inner)])
        else:
            counts = range(low, pattern.high + 1)
            if not counts:
                return None, True
            # Nested options, P ; (P ; (P)?)?: as many copies as the bound.
            made = inner
            for _ in counts[1:]:
                made = n.Or(self._joined(inner, made), inner)
            made = reduce(self._joined, [*[inner] * (low - 1), made])
        if isinstance(pattern.body, t.Event):
            made = self._ordered(made, inner, str(pattern.body.variable), low)
        return made, empty or pattern.low == 0

    def _ordered(self, made: n.Formula, once: n.Formula, variable: str, low: int) -> n.Formula:
        """Conditions between neighbours of one variable, which the pattern only repeats."""
        for pair in self.conditions.adjacent:
            if pair.earlier != variable or pair.later != variable:
                continue
            if not repeats_only(self.query.pattern, variable):
                self._no_words(pair)
            shape, attribute = self._shape(pair)
            made = n.Filter(made, variable, on.BagCondition(shape, attribute))
            if shape == "same" and low == 1:
                # One event alone is compared with nothing, even if it lacks the attribute.
                made = n.Or(made, once)
        return made

    def _shape(self, pair: Pair) -> tuple[on.Shape, str]:
        shapes: dict[type[exp.Expr], on.Shape] = {
            exp.LT: "increasing", exp.GT: "decreasing", exp.EQ: "same",
        }  # fmt: skip
        tree = pair.tree
        while isinstance(tree, exp.Paren):
            tree = tree.this
        shape = shapes.get(type(tree))
        if shape is None:
            self._no_words(pair)
        left, right = tree.this, tree.expression
        bare = isinstance(left, exp.Column) and isinstance(right, exp.Column)
        if not bare or left.name != right.name:
            self._no_words(pair)
        if left.args.get("db") is not None:
            mirrored: dict[on.Shape, on.Shape] = {
                "increasing": "decreasing", "decreasing": "increasing", "same": "same",
            }  # fmt: skip
            shape = mirrored[shape]
        return shape, left.name

    def _next_match(self) -> n.Formula:
        """`A : NEXT(B)`: only where every step has one type to go to, and nothing else to ask."""
        parts = self.query.pattern
        events = parts.parts if isinstance(parts, t.Sequence) else (parts,)
        plain = all(isinstance(part, t.Event) for part in events)
        later = {str(part.variable) for part in events[1:] if isinstance(part, t.Event)}
        asked = self.conditions
        if not plain or later & set(asked.local) or asked.adjacent or asked.correlated:
            self.refuse(
                "skip-till-next-match goes to the next event that fits, and NEXT to the next of a "
                "type: they agree only for sequences of events without conditions on later ones",
                t.NOWHERE,
                "Use skip-till-any-match or contiguous.",
            )
        if not self.conditions.lengths.trivial:
            self.refuse(
                "LENGTH(*) decides which event is next under skip-till-next-match",
                t.NOWHERE,
                "Leave it out.",
            )
        made: n.Formula | None = None
        for part in events:
            assert isinstance(part, t.Event)
            one = self._event(part)
            made = one if made is None else n.Contiguous(made, _as_next(one))
        assert made is not None
        return made

    # ── conditions between events ────────────────────────────────────────────────────────────

    def _pairs(self, formula: n.Formula) -> n.Formula:
        pattern = self.query.pattern
        once = at_most_once(pattern)
        for number, pair in enumerate((*self.conditions.adjacent, *self.conditions.correlated)):
            adjacent = number < len(self.conditions.adjacent)
            if pair.earlier == pair.later:
                if not repeats_only(pattern, pair.earlier):
                    self._no_words(pair)
                continue
            both = {pair.earlier, pair.later}
            fits = both <= once
            if adjacent and fits:
                fits = only_neighbours(pattern, pair.earlier, pair.later)
            if fits:
                formula = self._compared(formula, pair, f"pair{number}")
            elif not adjacent and len(both & once) == 1:
                formula = self._anchored(formula, pair, f"pair{number}", *(both & once))
            else:
                self._no_words(pair)
        return formula

    def _compared(self, formula: n.Formula, pair: Pair, made: str) -> n.Formula:
        """Of a single event, MAX is its value; a pair that is not there asks nothing."""
        assigns: dict[str, n.Assign] = {}
        for which in (pair.earlier, pair.later):
            assigns[f"n_{which}"] = n.Assign(f"n_{which}", "COUNT", which, "type")

        def named(column: exp.Column) -> str:
            name = f"{column.table}_{column.name}"
            assigns[name] = n.Assign(name, "MAX", column.table, column.name)
            return name

        condition = self._condition(pair.tree, named)
        for which in (pair.earlier, pair.later):
            absent = on.Comparison("=", on.Attribute(f"n_{which}"), on.Literally(0))
            condition = on.Any(condition, absent)
        return n.Filter(n.Aggregation(formula, made, tuple(assigns.values())), made, condition)

    def _anchored(self, formula: n.Formula, pair: Pair, made: str, anchor: str) -> n.Formula:
        """`A.a * 2 < B.b` for every B: for the least of them, if all of them have the attribute."""
        tree: exp.Expr = pair.tree
        while isinstance(tree, exp.Paren):
            tree = tree.this
        comparator = SYMBOLS.get(type(tree))
        if comparator is None:
            self._no_words(pair)
        one, other = tree.this, tree.expression
        if isinstance(one, exp.Column) and one.table != anchor:
            one, other, comparator = other, one, MIRRORED[comparator]
        if not isinstance(other, exp.Column) or other.table == anchor:
            self._no_words(pair)
        if any(column.table != anchor for column in one.find_all(exp.Column)):
            self._no_words(pair)
        every, attribute = other.table, other.name
        formula = n.Filter(formula, every, on.Not(on.IsNull(on.Attribute(attribute))))
        assigns = {"n": n.Assign("n", "COUNT", every, "type")}

        def named(column: exp.Column) -> str:
            assigns[f"{anchor}_{column.name}"] = n.Assign(
                f"{anchor}_{column.name}", "MAX", anchor, column.name
            )
            return f"{anchor}_{column.name}"

        each: list[on.Condition] = []
        for name, extreme, signs in (("least", "MIN", "<="), ("most", "MAX", ">=")):
            if comparator in (*signs, signs) or comparator == "=":
                assigns[name] = n.Assign(name, extreme, every, attribute)
                side = term_from(one, named)
                each.append(on.Comparison(comparator, side, on.Attribute(name)))  # type: ignore[arg-type]
        absent = on.Comparison("=", on.Attribute("n"), on.Literally(0))
        condition = on.Any(reduce(on.All, each), absent)
        return n.Filter(n.Aggregation(formula, made, tuple(assigns.values())), made, condition)

    def _lengths(self, formula: n.Formula) -> n.Formula:
        bounds = self.conditions.lengths
        if bounds.trivial:
            return formula
        long_enough = on.Comparison(">=", on.Attribute("n"), on.Literally(bounds.low))
        condition: on.Condition = long_enough
        if bounds.high is not None:
            most = on.Comparison("<=", on.Attribute("n"), on.Literally(max(bounds.high, 0)))
            condition = on.All(long_enough, most)
        every = n.As(n.Project(formula, self.variables), "every event")
        counted = n.Aggregation(every, "length", (n.Assign("n", "COUNT", "every event", "type"),))
        return n.Filter(counted, "length", condition)

    def _condition(self, tree: exp.Expr, named: object = None) -> on.Condition:
        try:
            return condition_from(tree, named or (lambda column: column.name))  # type: ignore[arg-type]
        except NotSaid as error:
            self.refuse(
                f"The logic has no words for '{error}'",
                t.NOWHERE,
                "It has comparisons, arithmetic, AND, OR, NOT, IN, BETWEEN and IS NULL.",
            )

    def _no_words(self, pair: Pair) -> NoReturn:
        self.refuse(
            "This compares two events of which one may come several times, or between which others "
            "may lie",
            pair.place,
            "The logic compares V.a < NEXT(V).a, > and = inside of V+, and events that occur once.",
        )

    def refuse(self, cause: str, place: Place, remedy: str) -> NoReturn:
        shown = place if self.query.text and place != t.NOWHERE else None
        raise QueryMeaningError(cause, text=self.query.text, place=shown, remedy=remedy)


def _either(
    one: tuple[n.Formula | None, bool], other: tuple[n.Formula | None, bool]
) -> tuple[n.Formula | None, bool]:
    (left, left_empty), (right, right_empty) = one, other
    made = n.Or(left, right) if left is not None and right is not None else left or right
    return made, left_empty or right_empty


def _as_next(made: n.Formula) -> n.Formula:
    match made:
        case n.OneEvent(word):
            return n.Next(word)
        case n.As(inner, variable):
            return n.As(_as_next(inner), variable)
        case n.Project(inner, variables):
            return n.Project(_as_next(inner), variables)
    raise AssertionError("conditions are refused before")


def _walk(pattern: t.Pattern) -> list[t.Pattern]:
    return [pattern, *(inner for part in t.children(pattern) for inner in _walk(part))]
