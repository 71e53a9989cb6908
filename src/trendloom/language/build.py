"""lark's parse tree → the syntax tree of nodes.py.

One method per rule of grammar.lark, children first. What the grammar cannot say (a clause twice,
an unknown function or unit) is refused here, at its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lark import Token, v_args

from trendloom.errors import Place, did_you_mean
from trendloom.language import windows
from trendloom.language.aggregates import aggregate, function_named
from trendloom.language.collect import Name, WordCollector, place_of, spot_of, without_angles
from trendloom.language.nodes import (
    Aggregate,
    Argument,
    Both,
    Condition,
    Either,
    Equivalence,
    Event,
    GroupKey,
    Item,
    Length,
    Not,
    Occurrences,
    Pattern,
    Query,
    Repeat,
    Semantics,
    Sequence,
    Trends,
    Values,
)
from trendloom.language.sql import (
    Index,
    having_condition,
    where_conditions,
)

if TYPE_CHECKING:
    from lark.tree import Meta

_SEMANTICS = {
    "any": Semantics.ANY,
    "next": Semantics.NEXT,
    "cont": Semantics.CONTIGUOUS,
    **{semantics.value: semantics for semantics in Semantics},
}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause by its name, with what it says."""

    name: str
    place: Place
    content: object


@dataclass(frozen=True, slots=True)
class Calling:
    """`FUNCTION([DISTINCT] argument)` as written; `inner` is None for `*`."""

    function: Token
    distinct: bool
    inner: GroupKey | Calling | None
    place: Place


@v_args(meta=True)
class Builder(WordCollector):
    """Builds the Query of one text."""

    # ── the query and its clauses ────────────────────────────────────────────────────────────

    def start(self, _: Meta, clauses: list[Clause]) -> Query:
        found: dict[str, object] = {}
        for clause in clauses:
            if clause.name in found:
                raise self.refuse(
                    f"{clause.name} stands twice",
                    clause.place,
                    "Each clause may stand once; AGG is another word for RETURN."
                    if clause.name == "RETURN"
                    else "Each clause may stand once.",
                )
            found[clause.name] = clause.content
        if "PATTERN" not in found:
            raise self.refuse(
                "The query has no PATTERN",
                clauses[0].place if clauses else Place(0, 1),
                "Say what to match, as in PATTERN SEQ(A a, B b+).",
            )
        return Query(text=self.text, **{_FIELDS[name]: said for name, said in found.items()})  # type: ignore[arg-type]

    def pattern_clause(self, _: Meta, parts: list[Token | Pattern]) -> Clause:
        keyword, pattern = parts
        assert isinstance(keyword, Token)
        return Clause("PATTERN", spot_of(keyword), pattern)

    def return_clause(self, _: Meta, parts: list[Token | Item]) -> Clause:
        keyword, *items = parts
        assert isinstance(keyword, Token)
        return Clause("RETURN", spot_of(keyword), tuple(items))

    def agg_clause(self, _: Meta, parts: list[Token | Item]) -> Clause:
        """A-Seq's AGG is RETURN, and its bare COUNT is COUNT(*)."""
        keyword, *items = parts
        assert isinstance(keyword, Token)
        return Clause("RETURN", spot_of(keyword), tuple(map(self._agg_item, items)))

    def _agg_item(self, item: Token | Item) -> Item:
        assert isinstance(item, Item)
        key = item.value
        if isinstance(key, Aggregate) or key.variable is not None:
            return item
        function = function_named(key.attribute, text=self.text, place=key.place)
        counted = aggregate(
            function, Trends(), distinct=False, log2=False, text=self.text, place=key.place
        )
        return replace(item, value=counted, text="COUNT(*)")

    def semantics_clause(self, _: Meta, parts: list[Token]) -> Clause:
        keyword, mode = parts
        semantics = _SEMANTICS.get(mode.lower())
        if semantics is None:
            raise self.refuse(
                f"There is no semantics '{mode}'", spot_of(mode), did_you_mean(mode, _SEMANTICS)
            )
        return Clause("SEMANTICS", spot_of(keyword), semantics)

    def where_clause(self, _: Meta, parts: list[object]) -> Clause:
        keyword, disjunction = parts
        assert isinstance(keyword, Token)
        assert isinstance(disjunction, list)
        found: list[Equivalence | Condition] = []
        for part in self.conjuncts(without_angles(disjunction)):
            if isinstance(part, Equivalence):
                found.append(part)
            else:
                found.extend(where_conditions(part, self.text))
        return Clause("WHERE", spot_of(keyword), tuple(found))

    def having_clause(self, _: Meta, parts: list[object]) -> Clause:
        keyword, disjunction = parts
        assert isinstance(keyword, Token)
        assert isinstance(disjunction, list)
        for part in disjunction:
            if isinstance(part, Equivalence):
                raise self.refuse(
                    "An equivalence has no meaning in HAVING", part.place, "Move it to WHERE."
                )
        words = [word for part in disjunction for word in part]
        return Clause("HAVING", spot_of(keyword), having_condition(words, self.text))

    def group_clause(self, _: Meta, parts: list[Token | GroupKey]) -> Clause:
        keyword, *keys = parts
        assert isinstance(keyword, Token)
        return Clause("GROUP-BY", spot_of(keyword), tuple(keys))

    def within_clause(self, meta: Meta, parts: list[object]) -> Clause:
        keyword, within, *rest = parts
        assert isinstance(keyword, Token)
        assert isinstance(within, windows.Amount)
        slide = next((part for part in rest if isinstance(part, windows.Amount)), None)
        emit = next((part for part in rest if isinstance(part, Place)), None)
        window = windows.window(within, slide, emit=emit, text=self.text, place=place_of(meta))
        return Clause("WITHIN", spot_of(keyword), window)

    # ── patterns ─────────────────────────────────────────────────────────────────────────────

    def pattern_list(self, meta: Meta, parts: list[Pattern]) -> Pattern:
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts), place_of(meta))

    def sequence(self, meta: Meta, parts: list[Pattern]) -> Pattern:
        return Sequence(tuple(parts), place_of(meta))

    def either(self, meta: Meta, parts: list[Pattern | Token]) -> Pattern:
        return Either(_patterns(parts), place_of(meta))

    def both(self, meta: Meta, parts: list[Pattern | Token]) -> Pattern:
        return Both(_patterns(parts), place_of(meta))

    def negation(self, meta: Meta, parts: list[Pattern]) -> Pattern:
        return Not(parts[0], place_of(meta))

    def repeat(self, meta: Meta, parts: list[object]) -> Pattern:
        body, quantifiers = parts
        assert isinstance(body, Pattern)
        assert isinstance(quantifiers, list)
        return self._repeated(body, [quantifiers], place_of(meta))

    def event(self, meta: Meta, parts: list[object]) -> Pattern:
        names = [part for part in parts if isinstance(part, Name)]
        place = Place(names[0].place.start, names[-1].place.end)
        variable = names[1].text if len(names) > 1 else None
        quantifiers = [part for part in parts if isinstance(part, list)]
        return self._repeated(Event(names[0].text, variable, place), quantifiers, place_of(meta))

    def variable(self, _: Meta, parts: list[Name]) -> Name:
        return parts[0]

    def quantifiers(self, _: Meta, parts: list[object]) -> list[tuple[int, int | None]]:
        limits = {"+": (1, None), "*": (0, None), "?": (0, 1)}
        return [limits[part] if isinstance(part, Token) else part for part in parts]  # type: ignore[misc]

    def count(self, meta: Meta, parts: list[Token]) -> tuple[int, int | None]:
        numbers = [part for part in parts if part.type == "NUMBER"]
        for number in numbers:
            if not number.isdecimal():
                raise self.refuse(
                    f"{number} is not a whole number of repetitions", spot_of(number), _COUNTS
                )
        low = int(numbers[0])
        high = int(numbers[-1]) if len(numbers) == 2 or len(parts) == 1 else None
        if high is not None and low > high:
            raise self.refuse(
                f"At least {low} and at most {high} repetitions exclude each other",
                place_of(meta),
                f"Write {{{high},{low}}}.",
            )
        if high == 0:
            raise self.refuse("Zero repetitions match nothing", place_of(meta), _COUNTS)
        return low, high

    def _repeated(
        self, body: Pattern, groups: list[list[tuple[int, int | None]]], place: Place
    ) -> Pattern:
        for low, high in (limits for group in groups for limits in group):
            body = Repeat(body, low, high, place)
        return body

    # ── RETURN and GROUP-BY ──────────────────────────────────────────────────────────────────

    def item(self, _: Meta, parts: list[Calling | GroupKey | Name]) -> Item:
        said, *alias = parts
        assert not isinstance(said, Name)
        value = self._aggregate(said) if isinstance(said, Calling) else said
        name = alias[0].text if alias and isinstance(alias[0], Name) else None
        return Item(value, name, self.text[said.place.start : said.place.end].strip())

    def call(self, meta: Meta, parts: list[Token | GroupKey | Calling]) -> Calling:
        function, *rest = parts
        assert isinstance(function, Token)
        distinct = isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        inner = rest[-1]
        return Calling(
            function, distinct, None if isinstance(inner, Token) else inner, place_of(meta)
        )

    def key(self, meta: Meta, parts: list[Name | Index]) -> GroupKey:
        names = [part for part in parts if isinstance(part, Name)]
        for part in parts:
            if isinstance(part, Index):
                raise self.refuse(
                    "An index has a meaning in WHERE only",
                    place_of(meta),
                    f"Write {names[0].text}.{names[-1].text}.",
                )
        variable = names[0].text if len(names) == 2 else None
        return GroupKey(names[-1].text, variable, place_of(meta))

    def _aggregate(self, call: Calling, *, log2: bool = False) -> Aggregate:
        word = call.function.upper()
        if word == "LOG2" and not log2 and isinstance(call.inner, Calling):
            return replace(self._aggregate(call.inner, log2=True), place=call.place)
        if word in ("LOG2", "LENGTH"):
            right = "LOG2(COUNT(*))" if word == "LOG2" else "MIN(LENGTH(*))"
            raise self.refuse(
                f"{word} cannot stand like this", call.place, f"Write it as in {right}."
            )
        function = function_named(call.function, text=self.text, place=spot_of(call.function))
        return aggregate(
            function,
            self._argument(call.inner),
            distinct=call.distinct,
            log2=log2,
            text=self.text,
            place=call.place,
        )

    def _argument(self, inner: GroupKey | Calling | None) -> Argument:
        match inner:
            case None:
                return Trends()
            case Calling(function=function, inner=None, distinct=False) if (
                function.upper() == "LENGTH"
            ):
                return Length()
            case Calling():
                raise self.refuse(
                    f"{inner.function.upper()}(…) cannot be aggregated",
                    inner.place,
                    "Aggregate *, VARIABLE, VARIABLE.attribute or LENGTH(*).",
                )
            case GroupKey(variable=None):
                return Occurrences(inner.attribute, inner.place)
            case GroupKey(variable=str(variable)):
                return Values(variable, inner.attribute, inner.place)
        raise AssertionError(inner)

    # ── WITHIN ───────────────────────────────────────────────────────────────────────────────

    def amount(self, meta: Meta, parts: list[Token]) -> windows.Amount:
        number = "".join(part for part in parts if part.type != "NAME")
        unit = next((part for part in parts if part.type == "NAME"), None)
        return windows.amount(
            number,
            unit,
            text=self.text,
            place=place_of(meta),
            unit_place=place_of(meta) if unit is None else spot_of(unit),
        )

    def slide(self, _: Meta, parts: list[windows.Amount]) -> windows.Amount:
        return parts[0]

    def emit(self, meta: Meta, _: list[Token]) -> Place:
        return place_of(meta)


def _patterns(parts: list[Pattern | Token]) -> tuple[Pattern, ...]:
    """Without the words AND and OR between them."""
    return tuple(part for part in parts if not isinstance(part, Token))


_COUNTS = "Write {n}, {m,n} or {m,} with whole numbers, the last one at least 1."
_FIELDS = {
    "PATTERN": "pattern",
    "RETURN": "returns",
    "SEMANTICS": "semantics",
    "WHERE": "where",
    "GROUP-BY": "group_by",
    "HAVING": "having",
    "WITHIN": "window",
}
