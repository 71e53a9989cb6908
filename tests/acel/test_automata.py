"""Automata denote what their formulas denote, on generated formulas and streams."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acel.formulas import SCHEMA, formulas, streams
from trendloom.acel import Formula, Stream, compile_formula, denote, evaluate
from trendloom.acel.acea import Acea, reads


@given(formulas(), st.lists(streams, min_size=4, max_size=4))
@settings(max_examples=800, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_automaton_is_the_definition(formula: Formula, several: list[Stream]) -> None:
    automaton = compile_formula(formula, SCHEMA)
    for over in several:
        assert evaluate(automaton, over) == denote(formula, over)
    check_shape(automaton)


def check_shape(automaton: Acea) -> None:
    """Nothing leads to the start or leaves the end; what leaves the start reads no register."""
    for one in automaton.transitions:
        assert one.target != Acea.START
        assert one.source != Acea.END
        if one.source == Acea.START:
            assert not any(reads(made) for _, made in one.assigns)
