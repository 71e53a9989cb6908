"""Hypothesis strategies for WHERE: one conjunct of each class, over the generated attributes.

Those of two rows are templates, which aim at what is looked up by value, or composed (`terms`).
`x` is a small integer, `y` a float in quarters, `k` a short string; all of them may be null, and
`y` may be NaN. Nothing divides by a column: what that gives is the host's business.
"""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from trendloom.language import parse
from trendloom.language.nodes import Condition, Pattern, events_of
from trendloom.testing.results import parts_of
from trendloom.testing.terms import conditions
from trendloom.testing.words import anchors, endings, followers, positive_variables

LOCAL = (
    "{v}.x > 1",
    "{v}.x <= 2",
    "{v}.x <> 0",
    "{v}.x IN (0, 2)",
    "NOT {v}.x IN (1, 3)",
    "{v}.x BETWEEN 0 AND 2",
    "{v}.x IS NULL",
    "NOT {v}.x IS NULL",
    "{v}.y >= 0.5",
    "NOT {v}.y < 1.25",
    "{v}.y = 0.25 OR {v}.x = 1",
    "{v}.x + 1 < 3",
    "{v}.x * 2 - 1 >= {v}.y",
    "{v}.x / 2 > 0.5",
    "{v}.x % 2 = 0",
    "ABS({v}.x) = 1",
    "ROUND({v}.y) = 1",
    "COALESCE({v}.x, 1) = 1",
    "{v}.k = 'u'",
    "{v}.k LIKE 'u%'",
    "UPPER({v}.k) = 'V'",
    "LOWER({v}.k) >= 'u'",
)
ADJACENT = (
    "{v}.x < NEXT({w}).x",
    "{v}.x <= NEXT({w}).x",
    "{v}.x > NEXT({w}).x",
    "{v}.x >= NEXT({w}).x",
    "{v}.x = NEXT({w}).x",
    "{v}.x <> NEXT({w}).x",
    "NEXT({w}).x > {v}.x",
    "{v}.y < NEXT({w}).y",
    "{v}.y + 0.5 >= NEXT({w}).y",
    "{v}.x * 2 <= NEXT({w}).x + 1",
    "{v}.x > NEXT({w}).y",
    "{v}.k = NEXT({w}).k",
    "{v}.k <= NEXT({w}).k",
    "{v}.x + NEXT({w}).x > 1",
    "{v}.x < NEXT({w}).x OR {v}.y > 1",
)
ANCHORED = (
    "{v}.x < {w}.x",
    "{v}.x >= {w}.x",
    "{w}.x <> {v}.x",
    "{w}.x > {v}.x - 1",
    "{v}.y * 2 > {w}.y",
    "{v}.k = {w}.k",
)
LENGTHS = (
    "LENGTH(*) >= 2",
    "LENGTH(*) <= 2",
    "LENGTH(*) = 3",
    "LENGTH(*) > 1",
    "LENGTH(*) BETWEEN 2 AND 3",
)


def condition(text: str, clause: str = "WHERE") -> Condition:
    """A conjunct of WHERE, or all of HAVING, from its text."""
    # The same few texts are drawn again and again, but a tree that is shared could be changed.
    return Condition(_read(text, clause).tree.copy())


@lru_cache(maxsize=10_000)
def _read(text: str, clause: str) -> Condition:
    query = parse(f"RETURN COUNT(*) PATTERN A {clause} {text}")
    found = query.having if clause == "HAVING" else query.where[0]
    assert isinstance(found, Condition)
    return found


def local(pattern: Pattern) -> st.SearchStrategy[Condition]:
    """On one variable, negated ones included."""
    return _filled(LOCAL, [(name, name) for name in _all_variables(pattern)])


def adjacent(pattern: Pattern, *, composed: bool = False) -> st.SearchStrategy[Condition]:
    """On two variables that can stand next to each other."""
    pairs = sorted(pair for part in parts_of(pattern) for pair in followers(part))
    filled = _filled(ADJACENT, pairs)
    return filled | _composed(pairs, "NEXT({})") if composed else filled


def anchored(pattern: Pattern, *, composed: bool = False) -> st.SearchStrategy[Condition]:
    """On an anchor and a variable after it; nothing where the pattern has no anchor."""
    pairs = [
        (one, two)
        for part in parts_of(pattern)
        if not endings((part,))
        for one in positive_variables(part)
        for two in positive_variables(part)
        if one != two and anchors(part, one, two)
    ]
    filled = _filled(ANCHORED, pairs)
    return filled | _composed(pairs, "{}") if composed else filled


def lengths() -> st.SearchStrategy[Condition]:
    """On the length of the trend."""
    return st.sampled_from(LENGTHS).map(condition)


def predicates(
    pattern: Pattern,
    *,
    allow_local: bool = True,
    allow_adjacent: bool = True,
    allow_anchored: bool = True,
    allow_length: bool = True,
    composed: bool = False,
) -> st.SearchStrategy[Condition]:
    """One conjunct of any allowed class; of two rows, also from the whole language if `composed`.

    Composed ones read attributes that events have only if asked (`terms`).
    """
    return st.one_of(
        local(pattern) if allow_local else st.nothing(),
        adjacent(pattern, composed=composed) if allow_adjacent else st.nothing(),
        anchored(pattern, composed=composed) if allow_anchored else st.nothing(),
        lengths() if allow_length else st.nothing(),
    )


def _filled(
    templates: tuple[str, ...], pairs: list[tuple[str, str]]
) -> st.SearchStrategy[Condition]:
    if not pairs:
        return st.nothing()
    return st.builds(
        lambda text, pair: condition(text.format(v=pair[0], w=pair[1])),
        st.sampled_from(templates),
        st.sampled_from(pairs),
    )


def _composed(pairs: list[tuple[str, str]], later: str) -> st.SearchStrategy[Condition]:
    """From the whole expression language, over two rows."""
    if not pairs:
        return st.nothing()
    several = st.sampled_from(pairs)
    texts = several.flatmap(lambda pair: conditions(pair[0], later.format(pair[1])))
    return texts.map(condition)


def _all_variables(pattern: Pattern) -> list[str]:
    return list(dict.fromkeys(event.variable or event.type for event in events_of(pattern)))
