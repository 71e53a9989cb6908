"""What is generated is valid, is small, and is the same after printing and parsing."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from trendloom.language import (
    Both,
    CountWindow,
    Event,
    Not,
    Repeat,
    Semantics,
    Sequence,
    TimeWindow,
    children,
    name_variables,
    parse,
    to_text,
)
from trendloom.testing import naive, same_rows
from trendloom.testing.strategies import cases, patterns, queries, windows
from trendloom.testing.words import endings

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def nodes(pattern):
    yield pattern
    for child in children(pattern):
        yield from nodes(child)


@relaxed
@given(patterns())
def test_guards_stand_where_they_may(pattern):
    for node in nodes(pattern):
        if isinstance(node, Sequence):
            assert any(not isinstance(part, Not) for part in node.parts)
        else:
            assert not any(isinstance(child, Not) for child in children(node))
        if isinstance(node, Not):
            assert not endings((node.body,))
            assert not any(isinstance(inner, Not) for inner in nodes(node.body))


@relaxed
@given(queries())
def test_queries_survive_printing(query):
    assert name_variables(parse(to_text(query))) == query


@relaxed
@given(cases(timestamps=None))
def test_cases_hold_what_the_oracle_says(case):
    rows = naive(to_text(case.query), case.events, tiebreak=case.tiebreak)
    assert same_rows(case.expected, rows, keys=case.keys) is None


@relaxed
@given(
    queries(
        semantics=(Semantics.NEXT,),
        window_kinds=("time",),
        allow_negation=False,
        allow_local=False,
        allow_adjacent=False,
        allow_anchored=False,
        allow_length=False,
        allow_equivalence=False,
        allow_group_by=False,
        allow_aggregates=False,
        allow_having=False,
        allow_conjunction=False,
    )
)
def test_knobs_take_features_away(query):
    assert query.semantics is Semantics.NEXT
    assert isinstance(query.window, TimeWindow)
    assert query.window.slide is not None
    assert (query.where, query.group_by, query.having, len(query.returns)) == ((), (), None, 1)
    assert not any(isinstance(node, Not | Both) for node in nodes(query.pattern))


def test_corners_are_reached():
    def nested_kleene(pattern):
        return any(isinstance(n, Repeat) and isinstance(n.body, Repeat) for n in nodes(pattern))

    def shared_name(pattern):
        names = [node.variable for node in nodes(pattern) if isinstance(node, Event)]
        return len(set(names)) < len(names)

    seek = settings(max_examples=2000, deadline=None, database=None, phases=[Phase.generate])
    find(patterns(), nested_kleene, settings=seek)
    find(patterns(), shared_name, settings=seek)
    find(patterns(), lambda p: any(isinstance(n, Not) for n in nodes(p)), settings=seek)
    find(windows(), lambda window: isinstance(window, CountWindow), settings=seek)
    find(cases(), lambda case: len(case.expected) > 2, settings=seek)


@relaxed
@given(st.data())
def test_a_pattern_can_be_given(data):
    pattern = Repeat(Event("A", "A"), 1, None)
    assert data.draw(queries(pattern=st.just(pattern))).pattern == pattern
