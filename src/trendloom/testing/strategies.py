"""Hypothesis strategies for whole test cases: a query, events, and what the oracle answers.

    @given(cases(semantics=(Semantics.NEXT,), allow_negation=False))
    def test_engine(case):
        assert same_rows(case.expected, run(case.query, case.events), keys=case.keys) is None

Everything is valid by construction and small enough to enumerate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import strategies as st

from trendloom.errors import LimitError
from trendloom.language.nodes import (
    Aggregate,
    Both,
    CountWindow,
    Duration,
    Equivalence,
    Function,
    GroupKey,
    Item,
    Length,
    Occurrences,
    Pattern,
    Query,
    Semantics,
    TimeWindow,
    Trends,
    Unit,
    Values,
    events_of,
)
from trendloom.testing.compare import group_columns
from trendloom.testing.oracle import answer
from trendloom.testing.predicates import adjacent, condition, predicates
from trendloom.testing.results import parts_of
from trendloom.testing.shapes import TYPES, choice, conjunctions, one_in, patterns
from trendloom.testing.terms import VALUES, attributes_of
from trendloom.testing.words import endings, followers, overlap, positive_variables, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trendloom.testing.records import Row

__all__ = [
    "Case",
    "aggregates",
    "cases",
    "conjunctions",
    "patterns",
    "predicates",
    "queries",
    "streams",
    "windows",
]

TIEBREAK = "rank"
START = datetime(2024, 1, 1)
ALL_WINDOWS = ("none", "time", "change", "count")
_COUNT = Aggregate(Function.COUNT, Trends())

Window = TimeWindow | CountWindow | None


@dataclass(frozen=True, slots=True)
class Case:
    """A query over events (columns `time`, `type`, and `rank` as tiebreak if so), and its rows."""

    query: Query
    events: list[Row]
    tiebreak: str | None
    expected: list[Row]
    trends: int = 0
    """How many there are, all windows together: a test of cases without any shows nothing."""

    @property
    def keys(self) -> tuple[str, ...]:
        return group_columns(self.query)


# ── events ───────────────────────────────────────────────────────────────────────────────────


@st.composite
def streams(
    draw: st.DrawFn,
    *,
    types: tuple[str, ...] = TYPES,
    max_size: int = 9,
    tiebreak: bool = False,
    timestamps: bool = False,
    planted: tuple[str, ...] = (),
    attributes: tuple[str, ...] = (),
) -> list[Row]:
    """Events in the order of their times, with many ties.

    The types of `planted` come in this order among the others, as far as there is room.

    Attributes: `x` int, `y` float in quarters (or NaN), `k` str, `g` int, all nullable, and those
    of `terms` that are asked for; with `tiebreak` also an int `rank`, which orders some of the
    simultaneous events.
    """
    time = draw(st.integers(-4, 4))
    events: list[Row] = []
    # Drawn by hand: hypothesis likes short lists, and short streams have no trends.
    sizes = [size for size in (0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9) if size <= max_size]
    if planted:
        sizes = [size for size in sizes if size > len(planted)] or [max_size]
    size, left = draw(choice(*sizes)), list(planted)
    at_once = draw(choice(True, False))
    for place in range(size):
        # The fewer events are left, the more of them have to be the planted ones.
        must = at_once or len(left) >= size - place
        is_planted = bool(left) and (must or draw(choice(True, False)))
        event: Row = {
            "type": left.pop(0) if is_planted else draw(choice(*types)),
            "time": START + timedelta(seconds=time) if timestamps else time,
            "x": draw(choice(0, 1, 1, 2, 2, 3, -1, None)),
            "y": draw(choice(0.0, 0.25, 1.0, 1.25, 2.5, -0.75, None, math.nan)),
            "k": "u" if is_planted else draw(choice("u", "u", "u", "u", "v", "v", None)),
            "g": 1 if is_planted else draw(choice(1, 1, 1, 1, 2, 2, None)),
        }
        event.update({name: draw(choice(*VALUES[name])) for name in attributes})
        if tiebreak:
            event[TIEBREAK] = draw(st.integers(0, 2))
        events.append(event)
        time += draw(choice(1, 1, 1, 1, 2) if is_planted else choice(1, 1, 1, 0, 0, 2, 5))
    return events


# ── clauses ──────────────────────────────────────────────────────────────────────────────────


@st.composite
def windows(draw: st.DrawFn, *, kinds: tuple[str, ...] = ALL_WINDOWS) -> Window:
    """`none`; `time`, tumbling or sliding; `change`: WITHIN alone; `count`: of events."""
    kind = draw(choice(*kinds))
    within = draw(choice(1, 2, 3, 4, 5, 6, 8, 8, 10, 10, 12, 12))
    slide = draw(st.one_of(st.just(within), st.integers(1, within)))
    if kind == "time":
        return TimeWindow(_seconds(within), _seconds(slide))
    if kind == "change":
        return TimeWindow(_seconds(within))
    return CountWindow(within, slide) if kind == "count" else None


def _seconds(amount: int) -> Duration:
    return Duration(Fraction(amount), Unit.SECOND)


@st.composite
def aggregates(
    draw: st.DrawFn,
    pattern: Pattern,
    *,
    functions: tuple[Function, ...] = tuple(Function),
    allow_distinct: bool = True,
) -> Aggregate:
    """One aggregate over the trends, over their lengths or over a variable."""
    of_lengths = [one for one in (Function.MIN, Function.MAX, Function.AVG) if one in functions]
    kinds = ["length"] * bool(of_lengths) + ["values"] * 2
    if Function.COUNT in functions:
        kinds = ["trends", *kinds[:-2], "events", "values", "values", "log2"]
    kind = draw(choice(*kinds))
    if kind == "trends":
        return _COUNT
    if kind == "length":
        return Aggregate(draw(choice(*of_lengths)), Length())
    variable = draw(choice(*positive_variables(pattern)))
    distinct = allow_distinct and draw(one_in(4))
    if kind == "events":
        return Aggregate(Function.COUNT, Occurrences(variable), distinct)
    if kind == "log2":
        counted: Trends | Occurrences = Occurrences(variable)
        return Aggregate(Function.COUNT, Trends() if distinct else counted, log2=True)
    function = draw(choice(*functions))
    return Aggregate(function, Values(variable, draw(choice("x", "y"))), distinct)


@st.composite
def _groupings(draw: st.DrawFn, pattern: Pattern) -> tuple[GroupKey, ...]:
    plain = draw(choice((), (), ("g",), ("k",), ("k", "g")))
    keys = tuple(GroupKey(attribute) for attribute in plain)
    # Which group of V a trend of the other part belongs to is not worth a random test.
    if not isinstance(pattern, Both) and draw(one_in(4)):
        variable = draw(choice(*positive_variables(pattern)))
        keys = (*keys, GroupKey(draw(choice("g", "x")), variable))
    return keys


def _item(key: GroupKey) -> Item:
    text = key.attribute if key.variable is None else f"{key.variable}.{key.attribute}"
    return Item(key, text=text)


# ── queries ──────────────────────────────────────────────────────────────────────────────────


@st.composite
def queries(
    draw: st.DrawFn,
    *,
    pattern: st.SearchStrategy[Pattern] | None = None,
    semantics: tuple[Semantics, ...] = tuple(Semantics),
    window_kinds: tuple[str, ...] = ALL_WINDOWS,
    functions: tuple[Function, ...] = tuple(Function),
    allow_negation: bool = True,
    allow_local: bool = True,
    allow_adjacent: bool = True,
    allow_anchored: bool = True,
    allow_length: bool = True,
    allow_equivalence: bool = True,
    allow_group_by: bool = True,
    allow_aggregates: bool = True,
    allow_distinct: bool = True,
    allow_having: bool = True,
    allow_conjunction: bool = True,
    need_adjacent: bool = False,
    composed: bool = False,
) -> Query:
    """A query that is valid by the definitions; each knob takes one feature away.

    `functions`: those of its aggregates. HAVING may name others. `need_adjacent`: there is a
    condition between consecutive events, which most queries would not have. `composed`: conditions
    of two rows come from the whole expression language, too, and read the attributes of `terms`.
    """
    if pattern is None:
        if allow_conjunction and draw(one_in(8)):
            pattern = conjunctions(allow_negation=allow_negation)
        else:
            pattern = patterns(allow_negation=allow_negation)
    body = draw(pattern.filter(_has_neighbours) if need_adjacent else pattern)
    mode = draw(choice(*semantics))
    is_overlapping = _is_overlapping(body)
    if is_overlapping and mode is Semantics.NEXT:
        mode = Semantics.ANY if Semantics.ANY in semantics else Semantics.CONTIGUOUS
    conditions = predicates(
        body,
        allow_local=allow_local,
        allow_adjacent=allow_adjacent,
        allow_anchored=allow_anchored,
        allow_length=allow_length,
        composed=composed,
    )
    where: list[Any] = []
    if allow_local or allow_adjacent or allow_length:
        where = draw(st.lists(conditions, max_size=draw(choice(0, 1, 1, 2))))
    if need_adjacent:
        where.append(draw(adjacent(body, composed=composed)))
    if allow_equivalence and draw(one_in(4)):
        where.append(Equivalence(draw(choice(("k",), ("k", "g")))))
    keys = draw(_groupings(body)) if allow_group_by else ()
    wanted = [_COUNT]
    if allow_aggregates and not is_overlapping:
        extra = aggregates(body, functions=functions, allow_distinct=allow_distinct)
        several = st.lists(extra, min_size=1, max_size=3)
        counts = Function.COUNT in functions
        wanted = draw(st.one_of(st.just([_COUNT]), several) if counts else several)
    items = [Item(one, alias=f"r{number}") for number, one in enumerate(wanted)]
    having = None
    if allow_having and draw(one_in(6)):
        choices = ["COUNT(*) > 1", "COUNT(*) BETWEEN 1 AND 3"]
        choices += ["r0 >= 1"] if wanted[0] == _COUNT else []
        choices += ["g = 1"] if GroupKey("g") in keys else []
        if allow_aggregates and not is_overlapping:
            variable = positive_variables(body)[0]
            choices += [f"SUM({variable}.x) > 0", f"NOT MAX({variable}.x) IS NULL"]
        having = condition(draw(choice(*choices)), "HAVING")
    return Query(
        pattern=body,
        returns=(*(_item(key) for key in keys), *items),
        semantics=mode,
        where=tuple(where),
        group_by=keys,
        having=having,
        window=draw(windows(kinds=window_kinds)),
    )


def _has_neighbours(pattern: Pattern) -> bool:
    return any(map(followers, parts_of(pattern)))


def _is_overlapping(pattern: Pattern) -> bool:
    return isinstance(pattern, Both) and any(
        overlap(one, two)
        for number, one in enumerate(pattern.parts)
        for two in pattern.parts[:number]
    )


@st.composite
def cases(
    draw: st.DrawFn,
    /,
    *,
    query: st.SearchStrategy[Query] | None = None,
    timestamps: bool | None = False,
    allow_tiebreak: bool = True,
    max_size: int = 9,
    limit: int = 400,
    **knobs: Any,
) -> Case:
    """A query, events and the rows that the oracle gives.

    The query comes from `query`, else from `queries` with these knobs. Where there are more than
    `limit` trends the last events are cut off, half by half.
    """
    asked = draw(queries(**{"composed": True, **knobs}) if query is None else query)
    tiebreak = TIEBREAK if allow_tiebreak and draw(one_in(4)) else None
    is_datetime = draw(choice(False, True)) if timestamps is None else timestamps
    size = min(max_size, 6) if isinstance(asked.pattern, Both) else max_size

    def find(events: list[Row]) -> Case:
        found = answer(asked, events, time="time", type="type", tiebreak=tiebreak, limit=limit)
        return Case(asked, events, tiebreak, found.rows, found.trends)

    def found(case: Case) -> int:
        return case.trends if case.expected else 0

    return draw(
        productive([asked], find, found, size, tiebreak=bool(tiebreak), timestamps=is_datetime)
    )


Found = TypeVar("Found")
TRIES = 12
"""Streams drawn for one query until there is enough to find."""


@st.composite
def productive(
    draw: st.DrawFn,
    /,
    queries: Sequence[Query],
    find: Callable[[list[Row]], Found],
    found: Callable[[Found], int],
    size: int,
    **options: bool,
) -> Found:
    """What `find` returns for drawn events: most have trends of one of the queries, some none.

    `found` counts what is worth comparing. Where `find` passes its limit the last events are cut
    off, half by half. Of streams that give too little the best is kept: some queries match nothing.
    """
    enough = draw(choice(5, 5, 5, 5, 1, 0))
    best: Found | None = None
    for _ in range(TRIES):
        # Mostly events that the pattern names: the others only ever break something.
        pattern = draw(st.sampled_from(queries)).pattern
        named = tuple(event.type for event in events_of(pattern)) * 3
        planted = () if draw(one_in(6)) else draw(words(pattern))
        events = draw(
            streams(
                types=(*named, *TYPES),
                max_size=size,
                planted=planted,
                attributes=attributes_of(*queries),
                **options,
            )
        )
        while True:
            try:
                made = find(events)
                break
            except LimitError:
                events = events[: len(events) // 2]
        if best is None or found(made) > found(best):
            best = made
        if found(best) >= enough:
            break
    assert best is not None
    return best


@st.composite
def words(draw: st.DrawFn, pattern: Pattern, most: int = 6) -> tuple[str, ...]:
    """The types of a word of the pattern, or of the beginning of one; of `AND`, part by part."""
    spelled: list[str] = []
    for part in parts_of(pattern):
        rest: tuple[Pattern, ...] = (part,)
        while steps(rest) and len(spelled) < most:
            if spelled and endings(rest) and draw(one_in(4)):
                break
            step = draw(st.sampled_from(steps(rest)))
            spelled.append(step.letter.type)
            rest = step.rest
    return tuple(spelled)
