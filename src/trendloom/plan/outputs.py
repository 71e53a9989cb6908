"""RETURN and HAVING → result columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import QueryMeaningError, did_you_mean
from trendloom.language.expressions import having_aggregates, place_of, reference_of
from trendloom.language.nodes import (
    Aggregate,
    Function,
    GroupKey,
    Length,
    Occurrences,
    Query,
    Trends,
    Values,
)
from trendloom.plan.plan import Output
from trendloom.plan.shape import negated_events

if TYPE_CHECKING:
    from collections.abc import Sequence

RESERVED = ("window_start", "window_end")


def plan_outputs(
    query: Query, variables: Sequence[set[str]]
) -> tuple[tuple[Output, ...], exp.Expression | None]:
    """The columns in RETURN order, hidden ones for HAVING behind, and HAVING over their names."""
    if not query.returns:
        raise QueryMeaningError(
            "The query has no RETURN clause.",
            text=query.text,
            remedy="Say what to aggregate, for example RETURN COUNT(*). The trends themselves are "
            "listed by tl.trends (trendloom trends).",
        )
    outputs: list[Output] = []
    for item in query.returns:
        match item.value:
            case GroupKey() as key:
                outputs.append(Output(item.name, _grouped(query, key)))
            case Aggregate() as aggregate:
                _check_aggregate(query, aggregate, variables)
                outputs.append(Output(item.name, aggregate))
        if outputs[-1].name in RESERVED:
            raise QueryMeaningError(
                f"'{outputs[-1].name}' is a column of every result.",
                text=query.text,
                place=item.value.place,
                remedy="Choose another alias.",
            )
        if outputs[-1].name in [o.name for o in outputs[:-1]]:
            raise QueryMeaningError(
                f"Two result columns are called '{outputs[-1].name}'.",
                text=query.text,
                place=item.value.place,
                remedy="Give one an alias with AS.",
            )
    having, hidden = _having(query, outputs, variables)
    return (*outputs, *hidden), having


def _grouped(query: Query, key: GroupKey) -> GroupKey:
    candidates = [
        candidate
        for candidate in query.group_by
        if candidate.attribute == key.attribute and key.variable in (None, candidate.variable)
    ]
    exact = [candidate for candidate in candidates if candidate.variable == key.variable]
    if len(exact or candidates) == 1:
        return (exact or candidates)[0]
    if candidates:
        raise QueryMeaningError(
            f"'{key.attribute}' is in GROUP-BY more than once.",
            text=query.text,
            place=key.place,
            remedy="Write " + " or ".join(f"{c.variable}.{c.attribute}" for c in candidates) + ".",
        )
    raise QueryMeaningError(
        f"'{key.attribute}' is neither an aggregate nor in GROUP-BY.",
        text=query.text,
        place=key.place,
        remedy=f"Add GROUP-BY {key.attribute}, or aggregate it.",
    )


def _check_aggregate(query: Query, aggregate: Aggregate, variables: Sequence[set[str]]) -> None:
    known = set().union(*variables)
    argument = aggregate.argument
    if isinstance(argument, Occurrences | Values) and argument.variable not in known:
        if argument.variable in [event.variable for event in negated_events(query.pattern)]:
            raise QueryMeaningError(
                f"'{argument.variable}' is negated, so no trend has one.",
                text=query.text,
                place=argument.place,
                remedy="Aggregate another variable.",
            )
        raise QueryMeaningError(
            f"Unknown variable '{argument.variable}' in RETURN or HAVING.",
            text=query.text,
            place=argument.place,
            remedy=did_you_mean(argument.variable, known),
        )
    meaningful = {
        Trends: {Function.COUNT},
        Occurrences: {Function.COUNT},
        Length: {Function.MIN, Function.MAX, Function.AVG},
    }.get(type(argument), set(Function))
    logged = aggregate.log2 and (aggregate.function is not Function.COUNT or aggregate.distinct)
    odd = aggregate.distinct and isinstance(argument, Trends | Length)
    if aggregate.function not in meaningful or logged or odd:
        raise QueryMeaningError(
            f"This use of {aggregate.function.value} is not supported.",
            text=query.text,
            place=aggregate.place,
            remedy="Supported: COUNT(*), COUNT(V), COUNT(DISTINCT V), SUM MIN MAX AVG VARIANCE "
            "STDDEV COUNT ([DISTINCT] V.attr), MIN MAX AVG (LENGTH(*)), LOG2(COUNT(*)), "
            "LOG2(COUNT(V)).",
        )


def _having(
    query: Query, outputs: list[Output], variables: Sequence[set[str]]
) -> tuple[exp.Expression | None, list[Output]]:
    if query.having is None:
        return None, []
    tree = exp.Paren(this=query.having.tree.copy())
    hidden: list[Output] = []
    for node, aggregate in having_aggregates(tree):
        _check_aggregate(query, aggregate, variables)
        known = next((o for o in (*outputs, *hidden) if o.value == aggregate), None)
        if known is None:
            known = Output(f"having {len(hidden)}", aggregate, hidden=True)
            hidden.append(known)
        node.replace(exp.column(known.name, quoted=True))
    names = {o.name for o in (*outputs, *hidden)}
    for column in list(tree.find_all(exp.Column)):
        reference = reference_of(column)
        if reference.variable is None and reference.attribute in names:
            continue
        key = next(
            (
                k
                for k in query.group_by
                if k.attribute == reference.attribute and reference.variable in (None, k.variable)
            ),
            None,
        )
        if key is None:
            visible = [o.name for o in outputs] + [k.attribute for k in query.group_by]
            raise QueryMeaningError(
                f"HAVING does not know '{reference.attribute}'.",
                text=query.text,
                place=place_of(column) or query.having.place,
                remedy=did_you_mean(reference.attribute, visible),
            )
        known = next((o for o in (*outputs, *hidden) if o.value == key), None)
        if known is None:
            known = Output(f"having {len(hidden)}", key, hidden=True)
            hidden.append(known)
        column.replace(exp.column(known.name, quoted=True))
    inner = tree.this
    assert isinstance(inner, exp.Expression)
    return inner, hidden
