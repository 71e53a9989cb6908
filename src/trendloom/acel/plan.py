"""A formula made ready for a table of events: automaton, scan, and the columns of its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.acel import nodes
from trendloom.acel.check import check
from trendloom.acel.columns import Column, columns_of
from trendloom.acel.compile import compile_formula
from trendloom.acel.computed import Computed, computable
from trendloom.acel.conditions import BagCondition
from trendloom.acel.demands import attributes_of, letters_of, steps_of
from trendloom.acel.depth import bounded
from trendloom.acel.events import NUMBER, TEXT, TYPE
from trendloom.acel.folding import Folding, folding_of
from trendloom.acel.marking import only_marks
from trendloom.acel.parser import parse
from trendloom.acel.slots import ordered_by
from trendloom.acel.sql import column, condition_of, text_column
from trendloom.errors import QueryMeaningError
from trendloom.plan.scan import Kind, Letter, Operand, Scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trendloom.acel.acea import Acea
    from trendloom.acel.columns import Types
    from trendloom.acel.demands import Letter as Asked
    from trendloom.acel.events import Schema
    from trendloom.acel.nodes import Formula

FIRST_COLUMNS = ("window_start", "window_end")
PLACES = ("start", "end")
"""Of every result; partition attributes stand between, variables behind."""


@dataclass(frozen=True)
class MatchPlan:
    """Everything that is decided before an event is seen."""

    formula: Formula
    automaton: Acea
    letters: tuple[Asked, ...]
    scan: Scan
    attributes: tuple[str, ...]
    """What the operands of the scan are called in events, in their order."""
    columns: tuple[Column, ...]
    marks_only: bool
    """Whether the kernel runs it; else it needs registers."""
    ordered: tuple[str, ...] | None = None
    """The attributes whose order decides beside the marks, if that is all: another kernel."""
    folding: Folding | None = None
    """What is done with its results, if the automaton is that of a part of the formula."""
    computed: Computed | None = None
    """The automaton as a third kernel runs it: its registers hold numbers."""


@bounded
def read_formula(text: str, kinds: Mapping[str, str]) -> tuple[Formula, Schema]:
    """The formula over a table with columns of these kinds: every type may have all of them.

    The schema has only what the formula reads, so that nothing else is carried along.
    """
    formula = parse(text)
    types = types_of(formula)
    check(formula, dict.fromkeys(types, kinds), text=text)
    read = names_read(formula)
    if _shows_attributes(formula):
        read = frozenset(kinds)
    needed = {name: kind for name, kind in kinds.items() if name in read}
    return formula, dict.fromkeys(types, needed)


def _shows_attributes(formula: Formula) -> bool:
    """Whether a variable may hold events of the stream that are not shown as rows alone."""
    others, made = [], []
    for part in nodes.walk(formula):
        match part:
            case nodes.ProjectAttributes():
                return True
            case nodes.OneEvent(name) | nodes.Next(name):
                others.append(name)
            case nodes.As(inner, name):
                if any(isinstance(one, nodes.Aggregation) for one in nodes.walk(inner)):
                    return True
                others.append(name)
            case nodes.Aggregation(variable=name):
                made.append(name)
    return len(set(made)) < len(made) or bool(set(made) & set(others))


def types_of(formula: Formula) -> tuple[str, ...]:
    """The event types that the formula names."""
    leaves = (nodes.OneEvent, nodes.Next)
    return tuple(sorted({p.type for p in nodes.walk(formula) if isinstance(p, leaves)}))


def names_read(formula: Formula) -> frozenset[str]:
    """Every attribute that the formula names."""
    found: set[str] = set()
    for part in nodes.walk(formula):
        match part:
            case nodes.Filter(condition=BagCondition(attribute=name)):
                found.add(name)
            case nodes.Filter(condition=condition) | nodes.PairFilter(condition=condition):
                found.update(one.name for one in attributes_of(condition))  # type: ignore[arg-type]
            case nodes.ProjectAttributes(attributes=names):
                found.update(names)
            case nodes.Aggregation(assigns=assigns):
                found.update(assign.source for assign in assigns)
    return frozenset(found)


@bounded
def match_plan(
    formula: Formula,
    schema: Schema,
    *,
    text: str,
    partition: Sequence[str] = (),
    type_column: str | None,
    types: Types,
    counted: bool = False,
) -> MatchPlan:
    """`types`: of the columns, as results show them; `counted`: all events must be seen."""
    automaton = compile_formula(formula, schema)
    kinds = next(iter(schema.values()))
    made = columns_of(formula, automaton, {name: types[name] for name in kinds})
    marks, ordered = _kernel(automaton, made, kinds)
    folding = None if marks or ordered else folding_of(formula, schema)
    if folding is not None:
        core = compile_formula(folding.core, schema)
        plain = columns_of(folding.core, core, {name: types[name] for name in kinds})
        core_marks, ordered = _kernel(core, plain, kinds)
        if core_marks or ordered:
            automaton = core
        else:
            folding = None
    letters = letters_of(automaton)
    for one in made:
        if one.variable in (*FIRST_COLUMNS, *PLACES, *partition):
            raise QueryMeaningError(
                f"'{one.variable}' is the name of another column of the result",
                text=text,
                remedy="Hold the events in a variable of another name: AS, and PROJECT.",
            )
    read = {} if marks else {name: (column(name), kind) for name, kind in kinds.items()}
    if not marks and type_column is not None:
        read[TYPE] = (text_column(type_column), TEXT)
    operands = [
        Operand(tree, Kind.NUMBER if kind == NUMBER else Kind.ANY, f"'{name}'")
        for name, (tree, kind) in read.items()
    ]
    scan = Scan(
        tuple(
            Letter(str(letter.type), str(letter.type), condition_of(letter)) for letter in letters
        ),
        tuple(partition),
        tuple(operands),
        keep_unmatched=counted or not waits_everywhere(automaton, letters),
        input_order=True,
        row_numbers=True,
    )
    computed = None
    if not (marks or ordered or folding):
        computed = computable(automaton, letters, made, {name: types[name] for name in kinds})
    return MatchPlan(
        formula, automaton, letters, scan, tuple(read), made, marks, ordered, folding, computed
    )


def _kernel(
    automaton: Acea, columns: tuple[Column, ...], kinds: Mapping[str, str]
) -> tuple[bool, tuple[str, ...] | None]:
    """Whether it only marks; and, if not, the attributes whose order decides, if nothing else."""
    if not all(one.has_rows_only for one in columns):
        return False, None
    if only_marks(automaton):
        return True, None
    return False, ordered_by(automaton, kinds)


def waits_everywhere(automaton: Acea, letters: tuple[Asked, ...]) -> bool:
    """Whether an event that is no letter changes nothing, wherever runs are."""
    for state, leaving in steps_of(automaton, letters).items():
        fitting = [step for step in leaving if step.fits(0)]
        if state in (automaton.START, automaton.END):
            if fitting:
                return False
        elif not fitting or not all(step.is_waiting for step in fitting):
            return False
    return True
