"""AND whose two sides can match the same trend: GRETA's inclusion–exclusion.

Pairs of different trends are C₁·C₂ − D·(D+1)/2, where D trends match both sides. D is counted by
one more automaton, the product of the sides' automata over events that are a letter of both.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import Aggregate, Function, Query, Semantics, Trends
from trendloom.pattern.automaton import DEAD, START, Accept, Arrow, Automaton, State
from trendloom.plan.pairs import Code, Constant, Op, PairColumn
from trendloom.plan.plan import Grain, Output, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.plan.scan import Letter

Pair = tuple[int, int]


def plan_overlap(
    query: Query, parts: list[Part], letters: list[Letter], outputs: Sequence[Output]
) -> Part | None:
    """The part that counts the trends of both sides, or None if there can be none."""
    overlapping = [pair for pair in combinations(parts, 2) if _product(*pair, letters) is not None]
    if not overlapping:
        return None
    aggregates = [output.value for output in outputs if isinstance(output.value, Aggregate)]
    if (
        len(parts) != 2
        or query.semantics is Semantics.NEXT
        or any(part.bindings for part in parts)
        or not all(_labels_one_way(part, letters) for part in parts)
        or any(
            value.function is not Function.COUNT or not isinstance(value.argument, Trends)
            for value in aggregates
        )
    ):
        raise QueryMeaningError(
            "The sides of AND can match the same trend; then only COUNT(*) of two sides counts.",
            text=query.text,
            place=query.pattern.place,
            remedy="Use two sides, COUNT(*), any-match or contiguous semantics, no conditions "
            "between distant events, and give every event of a side one possible variable.",
        )
    return _product(*overlapping[0], letters)


def _types(part: Part, letters: list[Letter]) -> list[str]:
    by_name = {letter.variable: letter.type for letter in letters}
    return [by_name[name] for name in part.automaton.variables]


def _product(left: Part, right: Part, letters: list[Letter]) -> Part | None:
    one, two = left.automaton, right.automaton
    types = _types(left, letters), _types(right, letters)
    variables = [
        (a, b)
        for a in range(len(one.variables))
        for b in range(len(two.variables))
        if types[0][a] == types[1][b]
    ]
    number = {pair: n for n, pair in enumerate(variables)}
    shift = len(one.guards)
    states: dict[Pair, int] = {}
    arrows: list[Arrow] = []
    todo: list[Pair] = [(START, START)]
    while todo:
        here = todo.pop()
        for a in (arrow for arrow in one.arrows if arrow.source == here[0]):
            for b in (arrow for arrow in two.arrows if arrow.source == here[1]):
                variable = number.get((a.variable, b.variable))
                if variable is None or DEAD in (a.target, b.target):
                    continue
                there = (a.target, b.target)
                if there not in states:
                    states[there] = len(states)
                    todo.append(there)
                care, want = a.care | b.care << shift, a.want | b.want << shift
                source = START if here == (START, START) else states[here]
                arrows.append(Arrow(source, variable, states[there], care, want))
    accepts = tuple(
        Accept(states[a.state, b.state], a.care | b.care << shift, a.want | b.want << shift)
        for a in one.accepts
        for b in two.accepts
        if (a.state, b.state) in states
    )
    if not accepts:
        return None
    automaton = Automaton(
        variables=tuple(f"{one.variables[a]} & {two.variables[b]}" for a, b in variables),
        states=tuple(
            State(number[one.states[s].variable, two.states[t].variable], (), 0, 0)
            for s, t in states
        ),
        arrows=tuple(arrows),
        accepts=accepts,
        guards=(*one.guards, *two.guards),
        bound=(),
    )
    columns, constants = (*left.columns, *right.columns), (*left.constants, *right.constants)
    adjacent, programs, conditions = _both_predicates(left, right, variables, automaton)
    return Part(
        automaton=automaton,
        bits=(
            *((*left.bits[a], *right.bits[b]) for a, b in variables),
            *left.bits[len(one.variables) :],
            *right.bits[len(two.variables) :],
        ),
        negated=(*left.negated, *right.negated),
        columns=columns,
        constants=constants,
        programs=programs,
        conditions=conditions,
        adjacent=adjacent,
        bindings=(),
        grain=Grain.MIXED if adjacent else Grain.TYPE,
    )


def _both_predicates(
    left: Part, right: Part, variables: list[Pair], automaton: Automaton
) -> tuple[dict[Pair, int], tuple[Code, ...], tuple[str, ...]]:
    """For each step of pairs that occurs, the conjunction of both sides' programs."""
    occurring = {
        (automaton.states[arrow.source].variable, arrow.variable)
        for arrow in automaton.arrows
        if arrow.source != START
    }
    adjacent: dict[Pair, int] = {}
    programs: list[Code] = []
    conditions: list[str] = []
    for m, earlier in enumerate(variables):
        for n, later in enumerate(variables):
            first = left.adjacent.get((earlier[0], later[0]))
            second = right.adjacent.get((earlier[1], later[1]))
            code: Code = () if first is None else left.programs[first]
            if second is not None:
                moved = _moved(right.programs[second], left.columns, left.constants)
                code = (*code, *moved, (Op.AND, 0)) if code else moved
            if code and (m, n) in occurring:
                adjacent[m, n] = len(programs)
                programs.append(code)
                words = [left.conditions[first]] if first is not None else []
                words += [right.conditions[second]] if second is not None else []
                conditions.append(" AND ".join(words))
    return adjacent, tuple(programs), tuple(conditions)


def _moved(code: Code, columns: tuple[PairColumn, ...], constants: tuple[Constant, ...]) -> Code:
    offset = {Op.LEFT: len(columns), Op.RIGHT: len(columns), Op.CONSTANT: len(constants)}
    return tuple((op, argument + offset.get(op, 0)) for op, argument in code)


def _labels_one_way(part: Part, letters: list[Letter]) -> bool:
    """Whether no sequence of types has two words: no two runs differ and both reach an end."""
    automaton, types = part.automaton, _types(part, letters)
    ends = {accept.state for accept in automaton.accepts}
    seen = {(START, START, False)}
    todo = list(seen)
    while todo:
        s, t, differ = todo.pop()
        for a in (arrow for arrow in automaton.arrows if arrow.source == s):
            for b in (arrow for arrow in automaton.arrows if arrow.source == t):
                if types[a.variable] != types[b.variable] or DEAD in (a.target, b.target):
                    continue
                state = (a.target, b.target, differ or a.variable != b.variable)
                if state[2] and a.target in ends and b.target in ends:
                    return False
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
    return True
