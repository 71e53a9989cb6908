"""What a query must be for its trends to be listed rather than aggregated (SEMANTICS §7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.errors import QueryMeaningError, TrendloomError, did_you_mean
from trendloom.language.nodes import Both, Equivalence, Semantics, TimeWindow
from trendloom.plan.scan import Kind, Operand

if TYPE_CHECKING:
    from trendloom.language.nodes import Query
    from trendloom.plan.plan import Plan

COLUMNS = ("window_start", "window_end", "trend", "length", "events", "variables", "attributes")
"""Of every listing; the partition's attributes stand behind the window."""


def check_listing(query: Query) -> None:
    """Refuses what speaks of aggregates, or of more than single trends."""
    if query.returns:
        raise QueryMeaningError(
            "RETURN aggregates trends; this lists them.",
            text=query.text,
            place=query.returns[0].value.place,
            remedy="Leave RETURN out, or aggregate with tl.run (trendloom run).",
        )
    if query.having is not None:
        raise QueryMeaningError(
            "HAVING filters rows of aggregates; this lists trends.",
            text=query.text,
            place=query.having.place,
            remedy="Put conditions on events into WHERE, among them LENGTH(*).",
        )
    if isinstance(query.pattern, Both):
        raise QueryMeaningError(
            "The results of AND are pairs of trends, which are only counted.",
            text=query.text,
            place=query.pattern.place,
            remedy="List the trends of each side with a query of its own.",
        )
    if isinstance(query.window, TimeWindow) and query.window.slide is None:
        raise QueryMeaningError(
            "WITHIN without SLIDE is for aggregates that change; it does not say which window a "
            "trend is listed in.",
            text=query.text,
            place=query.window.place,
            remedy="Add SLIDE; SLIDE as long as WITHIN gives windows side by side.",
        )
    for key in query.group_by:
        if key.variable is not None:
            raise QueryMeaningError(
                f"GROUP-BY {key.variable}.{key.attribute} groups aggregates; this lists trends.",
                text=query.text,
                place=key.place,
                remedy=f"For all events to agree on it write [{key.attribute}] in WHERE.",
            )
    agreed = [key.attribute for key in query.group_by]
    for condition in query.where:
        if isinstance(condition, Equivalence):
            agreed += condition.attributes
    for attribute in agreed:
        if attribute in COLUMNS:
            raise QueryMeaningError(
                f"'{attribute}' is a column of every listing.",
                text=query.text,
                remedy="Rename the attribute of the events.",
            )


def check_semantics(plan: Plan, *, every: bool) -> None:
    """Complete trends are those of skip-till-any-match (SEMANTICS §7)."""
    if not every and plan.semantics is not Semantics.ANY:
        raise QueryMeaningError(
            f"Complete trends are defined under skip-till-any-match, not {plan.semantics.value}.",
            text=plan.query.text,
            remedy="Leave SEMANTICS out, or list every trend: all=True (--all).",
        )


def check_unanchored(plan: Plan) -> None:
    """For what is found without building all trends."""
    if plan.parts[0].bindings:
        raise QueryMeaningError(
            "The best trends, and samples, are not available for conditions between events that "
            "do not follow one another.",
            text=plan.query.text,
            remedy="Compare consecutive events (NEXT), or list all trends.",
        )


def carrying(plan: Plan, attributes: tuple[str, ...], by: tuple[str, str] | None) -> Plan:
    """The plan with the columns that its trends carry, and last the one that `by` sums."""
    if attributes:
        operands = [
            Operand(
                exp.column(exp.to_identifier(name, quoted=True)), Kind.HELD, f"attributes: {name}"
            )
            for name in attributes
        ]
        scan = replace(plan.scan, operands=(*plan.scan.operands, *operands))
        plan = replace(plan, scan=scan)
    return plan if by is None else with_sum(plan, *by)


def with_sum(plan: Plan, variable: str, attribute: str) -> Plan:
    """The plan with the column that decides which trends are best, as the last of its operands."""
    variables = plan.parts[0].automaton.variables
    if variable not in variables:
        raise TrendloomError(
            f"Unknown variable '{variable}' in by.", remedy=did_you_mean(variable, variables)
        )
    column = exp.column(exp.to_identifier(attribute, quoted=True))
    summed = Operand(column, Kind.NUMBER, f"SUM({variable}.{attribute})")
    scan = replace(plan.scan, operands=(*plan.scan.operands, summed))
    return replace(plan, scan=scan)
