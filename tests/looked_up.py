"""Queries with conditions between consecutive events that are looked up by value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from against_oracle import plan_of
from trendloom.plan.lookups import are_paired, lookups
from trendloom.testing.predicates import condition, local
from trendloom.testing.strategies import patterns, queries
from trendloom.testing.words import followers

if TYPE_CHECKING:
    from trendloom.language import Semantics
    from trendloom.language.nodes import Query

NUMBERS = (
    ("{v}.x", "NEXT({w}).x"),
    ("{v}.y", "NEXT({w}).y"),
    ("{v}.x * 2", "NEXT({w}).x + 1"),
    ("{v}.x", "NEXT({w}).y"),
)
TEXTS = (
    ("{v}.k", "NEXT({w}).k"),
    ("UPPER({v}.k)", "UPPER(NEXT({w}).k)"),
)
SIDES = (*NUMBERS, *TEXTS)
OPERATORS = ("<", "<=", ">", ">=", "=", "<>")
UNEQUAL = ("<", "<=", ">", ">=", "<>")
ONE = ((OPERATORS,), (OPERATORS,), (("=",),), (OPERATORS, ("=",)))
"""Of a step: the operators of each of its conditions."""
TWO = ((UNEQUAL, UNEQUAL), (UNEQUAL, UNEQUAL), (UNEQUAL, UNEQUAL, ("=",)), *ONE[1:])


@st.composite
def looked_up(
    draw: st.DrawFn,
    semantics: Semantics,
    shapes: tuple[tuple[tuple[str, ...], ...], ...] = ONE,
    sides: tuple[tuple[str, str], ...] = SIDES,
    **knobs: Any,
) -> Query:
    """One to three steps of the pattern, each with conditions of one of the shapes."""
    pattern = draw(patterns(allow_negation=False).filter(followers))
    asked = draw(
        queries(
            pattern=st.just(pattern),
            semantics=(semantics,),
            allow_negation=False,
            allow_adjacent=False,
            allow_anchored=False,
            allow_distinct=False,
            **knobs,
        )
    )
    steps = draw(
        st.lists(st.sampled_from(sorted(followers(pattern))), unique=True, min_size=1, max_size=3)
    )
    texts = []
    for v, w in steps:
        for operators in draw(st.sampled_from(shapes)):
            left, right = draw(st.sampled_from(sides))
            op = draw(st.sampled_from(operators))
            texts.append(f"{left} {op} {right}".format(v=v, w=w))
    conditions = [condition(text) for text in texts]
    if draw(st.integers(0, 3)) == 3:
        conditions.append(draw(local(pattern)))
    return replace(asked, where=(*asked.where, *conditions))


def is_looked_up(asked: Query) -> bool:
    """Not bound by GROUP-BY V.attr, and a condition is left after LENGTH has cut steps off."""
    plan = plan_of(asked)
    return plan is not None and all(
        lookups(part, plan.semantics) is not None for part in plan.parts
    )


def is_paired(asked: Query) -> bool:
    """Looked up, and by two comparisons on one step."""
    plan = plan_of(asked)
    found = [None] if plan is None else [lookups(part, plan.semantics) for part in plan.parts]
    return None not in found and any(one is not None and are_paired(one) for one in found)
