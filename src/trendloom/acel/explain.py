"""How a formula is evaluated: what it binds, its automaton, the way it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.acel.check import check
from trendloom.acel.columns import columns_of
from trendloom.acel.compile import automaton_of
from trendloom.acel.computed import computable
from trendloom.acel.demands import demand, letters_of
from trendloom.acel.events import NUMBER
from trendloom.acel.folding import folding_of
from trendloom.acel.marking import only_marks
from trendloom.acel.parser import parse
from trendloom.acel.picture import to_mermaid
from trendloom.acel.plan import names_read, types_of, waits_everywhere
from trendloom.acel.printer import to_text
from trendloom.acel.slots import ordered_by
from trendloom.errors import QueryMeaningError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.acel.acea import Acea
    from trendloom.acel.nodes import Formula


def explain(text: str, format: str = "text") -> str:  # noqa: A002
    """As "text", "json" or "mermaid". Nothing is known of the events' columns here."""
    formula = parse(text)
    # Kinds are a matter of checks; the automaton needs the names only.
    kinds = dict.fromkeys(sorted(names_read(formula)), NUMBER)
    schema = dict.fromkeys(types_of(formula), kinds)
    automaton = automaton_of(formula, schema)
    if format == "mermaid":
        return to_mermaid(automaton)
    told: dict[str, Any] = {
        "formula": to_text(formula),
        "types": list(types_of(formula)),
        "variables": list(check(formula)),
        **_automaton(automaton, kinds),
    }
    folding = folding_of(formula, None)
    if folding is not None and not told["evaluation"].startswith("compiled"):
        core = automaton_of(folding.core, schema)
        if only_marks(core) or ordered_by(core, kinds) is not None:
            told["evaluation"] = "compiled: aggregates are taken of results"
    if told["evaluation"].startswith("registers") and _holds_numbers(formula, automaton, kinds):
        told["evaluation"] = "compiled: runs hold numbers (if what they are made of are numbers)"
    if format == "json":
        return json.dumps(told, indent=2, ensure_ascii=False)
    width = max(map(len, told))
    return "\n".join(f"{name:<{width}}  {_shown(value)}" for name, value in told.items())


def _automaton(automaton: Acea, kinds: Mapping[str, str]) -> dict[str, Any]:
    letters = letters_of(automaton)
    marks = only_marks(automaton)
    ordered = None if marks else ordered_by(automaton, kinds)
    way = "compiled: runs only mark events" if marks else f"registers: {_reason(automaton)}"
    if ordered is not None:
        last = ", ".join(ordered)
        way = f"compiled: runs remember the last {last} (if these are numbers or moments)"
    idle = "left out by the scan" if waits_everywhere(automaton, letters) else "looked at"
    return {
        "states": len(automaton.states),
        "transitions": len(automaton.transitions),
        "letters": len(letters),
        "evaluation": way,
        "events that are no letter": idle,
    }


def _holds_numbers(formula: Formula, automaton: Acea, kinds: Mapping[str, str]) -> bool:
    types = dict.fromkeys(kinds, pa.float64())
    try:
        columns = columns_of(formula, automaton, types)
    except QueryMeaningError:
        return False
    return computable(automaton, letters_of(automaton), columns, types) is not None


def _reason(automaton: Acea) -> str:
    asked = [demand(one) for one in automaton.transitions]
    if any(one is not None and one.guards for one in asked):
        return "a condition depends on several events"
    return "events are made or narrowed"


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
