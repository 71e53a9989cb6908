"""Query → plan: one visible list of stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import LimitError, QueryMeaningError, did_you_mean
from trendloom.language.naming import name_variables
from trendloom.language.nodes import (
    Aggregate,
    CountWindow,
    Function,
    GroupKey,
    Occurrences,
    Pattern,
    Query,
    Semantics,
    Values,
)
from trendloom.pattern.automaton import DEAD, START, Automaton, build_automaton
from trendloom.plan.conditions import Conditions, Pair, classify
from trendloom.plan.listing import check_listing
from trendloom.plan.outputs import plan_outputs
from trendloom.plan.overlap import plan_overlap
from trendloom.plan.pairs import Operands, PairPrograms
from trendloom.plan.plan import (
    Binding,
    BindingKind,
    Check,
    Grain,
    Output,
    Part,
    Plan,
    WindowStrategy,
)
from trendloom.plan.scan import Kind, Letter, Scan
from trendloom.plan.shape import check_shape, conjuncts_of, negated_events, positive_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trendloom.language.nodes import Event

MAX_GUARDS = 32
MAX_BANDS = 256
SUMMED = {Function.SUM, Function.AVG, Function.VARIANCE, Function.STDDEV}
ORDERED = {Function.MIN, Function.MAX}


def plan(query: Query, *, listing: bool = False) -> Plan:
    """Decides everything that can be decided without data: of rows, or of the trends themselves."""
    query = name_variables(query)
    if listing:
        check_listing(query)
    check_shape(query.pattern, query.text)
    conditions = classify(
        query,
        (event.variable or "" for event in positive_events(query.pattern)),
        (event.variable or "" for event in negated_events(query.pattern)),
    )
    operands = Operands()
    letters: list[Letter] = []
    parts: list[Part] = []
    for pattern in conjuncts_of(query.pattern):
        parts.append(_plan_part(query, pattern, conditions, operands, len(letters)))
        letters += _letters(parts[-1], pattern, conditions)
    _check_conditions_used(query, conditions, parts)
    outputs: tuple[Output, ...] = ()
    having = None
    if not listing:
        outputs, having = plan_outputs(query, [set(part.automaton.variables) for part in parts])
    operand_of = _aggregate_operands([o.value for o in outputs], operands)
    overlap = plan_overlap(query, parts, letters, outputs)
    contiguous = query.semantics is Semantics.CONTIGUOUS
    counted = isinstance(query.window, CountWindow)
    return Plan(
        query=query,
        scan=Scan(
            letters=tuple(letters),
            partition=_partition(query, conditions),
            operands=tuple(operands.items),
            keep_unmatched=contiguous or counted,
            input_order=counted,
            row_numbers=listing,
        ),
        parts=tuple(parts),
        overlap=overlap,
        semantics=query.semantics,
        window=query.window,
        strategy=_strategy(query),
        group_by=query.group_by,
        outputs=outputs,
        having=having,
        operand_of=operand_of,
        exponential=query.semantics is Semantics.ANY and any(p.automaton.cyclic for p in parts),
    )


def _strategy(query: Query) -> WindowStrategy:
    if query.window is None:
        return WindowStrategy.WHOLE
    if isinstance(query.window, CountWindow):
        return WindowStrategy.COUNTED
    return WindowStrategy.CHANGES if query.window.slide is None else WindowStrategy.SLIDING


def _partition(query: Query, conditions: Conditions) -> tuple[str, ...]:
    plain = [key.attribute for key in query.group_by if key.variable is None]
    return tuple(dict.fromkeys([*plain, *conditions.equivalence]))


# ── parts ────────────────────────────────────────────────────────────────────────────────────


def _plan_part(
    query: Query, pattern: Pattern, conditions: Conditions, operands: Operands, first_letter: int
) -> Part:
    positive = _types(positive_events(pattern))
    negated = tuple(_types(negated_events(pattern)))
    programs = PairPrograms(operands, query.text)
    correlated = [p for p in conditions.correlated if {p.earlier, p.later} <= set(positive)]
    whole = build_automaton(pattern)
    if not whole.states:
        raise QueryMeaningError(
            "The pattern can only match the empty trend.",
            text=query.text,
            place=pattern.place,
            remedy="Give it at least one event type outside of NOT.",
        )
    bare = build_automaton(pattern, lengths=conditions.lengths)
    adjacent = [p for p in conditions.adjacent if {p.earlier, p.later} <= set(positive)]
    for pair in adjacent:
        _check_consecutive(whole, pair, query.text)
    anchored: dict[str, list[Pair]] = {}
    for pair in correlated:
        pair = with_anchor(pair, pattern, query.text)
        if _always_adjacent(bare, pair):
            adjacent.append(pair)
        else:
            anchored.setdefault(pair.earlier, []).append(pair)
    groups = [
        (number, key)
        for number, key in enumerate(query.group_by)
        if key.variable is not None and key.variable in positive
    ]
    bound = (*anchored, *(key.variable or "" for _, key in groups))
    automaton = build_automaton(pattern, lengths=conditions.lengths, bound=bound) if bound else bare
    if len(automaton.guards) > MAX_GUARDS or _bands(automaton) > MAX_BANDS:
        raise LimitError(
            f"The pattern has more than {MAX_GUARDS} guards, or guards of more than {MAX_BANDS} "
            "positions.",
            remedy="Split the query.",
        )
    bindings = [
        Binding(
            BindingKind.ANCHOR,
            anchor,
            tuple(Check(pair.later, programs.add([pair])) for pair in pairs),
        )
        for anchor, pairs in anchored.items()
    ] + [_group_binding(automaton, number, key, operands) for number, key in groups]
    index = {name: number for number, name in enumerate(automaton.variables)}
    by_step: dict[tuple[int, int], list[Pair]] = {}
    for pair in adjacent:
        by_step.setdefault((index[pair.earlier], index[pair.later]), []).append(pair)
    used = {step: pairs for step, pairs in by_step.items() if step in _steps(automaton)}
    numbered = {step: programs.add(pairs) for step, pairs in used.items()}
    return Part(
        automaton=automaton,
        bits=tuple((first_letter + k,) for k in range(len(automaton.variables) + len(negated))),
        negated=negated,
        columns=tuple(programs.columns),
        constants=tuple(programs.constants),
        programs=tuple(programs.programs),
        conditions=tuple(programs.conditions),
        adjacent=numbered,
        bindings=tuple(bindings),
        grain=_grain(query.semantics, automaton, bool(numbered)),
    )


def _group_binding(automaton: Automaton, number: int, key: GroupKey, operands: Operands) -> Binding:
    assert key.variable is not None
    bit = automaton.bound.index(key.variable)
    operand = operands.add(exp.column(key.attribute), Kind.ANY, f"GROUP-BY {key.attribute}")
    optional = any(
        not (automaton.states[accept.state].bound >> bit) & 1 for accept in automaton.accepts
    )
    return Binding(BindingKind.GROUP, key.variable, (), operand, number, optional)


def _types(events: Iterable[Event]) -> dict[str, str]:
    return {event.variable or "": event.type for event in events}


def _bands(automaton: Automaton) -> int:
    return 1 + sum(len(guard.labels) for guard in automaton.guards)


def _steps(automaton: Automaton) -> set[tuple[int, int]]:
    """The pairs of variables that can be consecutive."""
    return {
        (automaton.states[arrow.source].variable, arrow.variable)
        for arrow in automaton.arrows
        if arrow.source != START
    }


def _grain(semantics: Semantics, automaton: Automaton, has_predicates: bool) -> Grain:
    """One counter suffices if every event moves all partial trends on: one state, or contiguity
    with one variable per type cannot be told apart from it (COGRA Theorem 6.1, where it holds)."""
    if has_predicates:
        return Grain.MIXED
    if semantics is not Semantics.ANY and len(automaton.states) == 1:
        return Grain.PATTERN
    return Grain.TYPE


def _letters(part: Part, pattern: Pattern, conditions: Conditions) -> list[Letter]:
    types = _types(positive_events(pattern)) | _types(negated_events(pattern))
    return [
        Letter(name, types[name], _bare_conjunction(conditions.local.get(name, ())))
        for name in (*part.automaton.variables, *part.negated)
    ]


def _bare_conjunction(trees: Iterable[exp.Expression]) -> exp.Expression | None:
    whole: exp.Expression | None = None
    for tree in trees:
        bare = exp.Paren(this=tree.copy())
        for column in list(bare.find_all(exp.Column)):
            column.replace(exp.column(column.name, quoted=True))
        whole = bare if whole is None else exp.And(this=whole, expression=bare)
    return whole.this if isinstance(whole, exp.Paren) else whole


# ── correlated conditions ────────────────────────────────────────────────────────────────────


def with_anchor(pair: Pair, pattern: Pattern, text: str) -> Pair:
    """The pair with its anchor as the earlier one."""
    for anchor, other in ((pair.earlier, pair.later), (pair.later, pair.earlier)):
        if _is_anchor(build_automaton(pattern, bound=(anchor,)), anchor, other):
            return Pair(anchor, other, pair.tree, pair.place)
    raise QueryMeaningError(
        f"Neither '{pair.earlier}' nor '{pair.later}' occurs exactly once in every trend and "
        "before the other, so it is not clear which events the condition compares.",
        text=text,
        place=pair.place,
        remedy=f"For consecutive events write NEXT({pair.later}); for all events of a trend to "
        "agree on an attribute write [attribute].",
    )


def _is_anchor(automaton: Automaton, anchor: str, other: str) -> bool:
    """Bound bit 0 tells whether the anchor has occurred."""
    if anchor not in automaton.variables or other not in automaton.variables:
        return False
    here, there = automaton.variables.index(anchor), automaton.variables.index(other)
    seen = {START: False} | {n: bool(s.bound & 1) for n, s in enumerate(automaton.states)}
    live = [arrow for arrow in automaton.arrows if arrow.target != DEAD]
    return (
        all(seen[accept.state] for accept in automaton.accepts)
        and not any(seen[a.source] for a in live if a.variable == here)
        and all(seen[a.source] for a in live if a.variable == there)
    )


def _always_adjacent(automaton: Automaton, pair: Pair) -> bool:
    """Whether every `later` directly follows the anchor: then the condition is an adjacent one."""
    later = automaton.variables.index(pair.later)
    anchor = automaton.variables.index(pair.earlier)
    return all(
        arrow.source != START and automaton.states[arrow.source].variable == anchor
        for arrow in automaton.arrows
        if arrow.variable == later
    )


def _check_conditions_used(query: Query, conditions: Conditions, parts: list[Part]) -> None:
    """Conditions and groupings must stay within one side of AND and name variables that exist."""
    for pair in (*conditions.adjacent, *conditions.correlated):
        if not any({pair.earlier, pair.later} <= set(p.automaton.variables) for p in parts):
            raise QueryMeaningError(
                "The condition compares events of different sides of AND.",
                text=query.text,
                place=pair.place,
                remedy="Trends of the two sides are paired freely; compare within one side.",
            )
    known = [name for part in parts for name in part.automaton.variables]
    for key in query.group_by:
        if key.variable is not None and key.variable not in known:
            raise QueryMeaningError(
                f"Unknown variable '{key.variable}' in GROUP-BY.",
                text=query.text,
                place=key.place,
                remedy=did_you_mean(key.variable, known),
            )


def _check_consecutive(automaton: Automaton, pair: Pair, text: str) -> None:
    names = automaton.variables
    steps = {(names[a], names[b]) for a, b in _steps(automaton)}
    if (pair.earlier, pair.later) not in steps:
        raise QueryMeaningError(
            f"'{pair.later}' never directly follows '{pair.earlier}' in this pattern, so the "
            "condition would never apply.",
            text=text,
            place=pair.place,
            remedy="Consecutive here: " + ", ".join(sorted(f"{a} → {b}" for a, b in steps)) + ".",
        )


# ── aggregates ───────────────────────────────────────────────────────────────────────────────


def _aggregate_operands(
    values: list[Aggregate | GroupKey], operands: Operands
) -> dict[tuple[str, str, str], int]:
    found: dict[tuple[str, str, str], int] = {}
    for value in values:
        if not isinstance(value, Aggregate) or isinstance(value.argument, Occurrences):
            continue
        if isinstance(value.argument, Values):
            variable, attribute = value.argument.variable, value.argument.attribute
            kind = operand_kind(value.function)
            reason = f"{value.function.value}({variable}.{attribute})"
            found[variable, attribute, kind.name] = operands.add(
                exp.column(attribute), kind, reason
            )
    return found


def operand_kind(function: Function) -> Kind:
    """What type of column an aggregate can take."""
    if function in SUMMED:
        return Kind.NUMBER
    return Kind.ORDERED if function in ORDERED else Kind.HELD
