"""An automaton with registers as a Mermaid flowchart.

An arrow says, line by line: what is checked, what is assigned, what is put out.
"""

from __future__ import annotations

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Expression, Guard, Renaming, Transition
from trendloom.acel.printer import condition_text
from trendloom.pattern.picture import escaped

MOST_ARROWS = 400
"""Mermaid refuses more than 500 edges; and nobody would read them."""


def to_mermaid(automaton: Acea) -> str:
    """The flowchart, left to right: the start is small, the end has a double border."""
    lines = ["flowchart LR", '  s0((" "))', '  s1((("end")))']
    inner = [state for state in automaton.states if state not in (Acea.START, Acea.END)]
    lines += [f'  s{state}(("{state}"))' for state in inner]
    for one in automaton.transitions[:MOST_ARROWS]:
        label = "<br/>".join(map(escaped, _label(one)))
        lines.append(f'  s{one.source} -->|"{label}"| s{one.target}')
    if (left := len(automaton.transitions) - MOST_ARROWS) > 0:
        lines.append(f'  more["… {left} more arrows"]')
    return "\n".join(lines)


def _label(one: Transition) -> list[str]:
    checks = " and ".join(map(_guard, one.guards))
    assigns = ", ".join(f"{name} := {_expression(made)}" for name, made in one.assigns)
    outputs = (f"{variable} gets {', '.join(map(_renaming, bag))}" for variable, bag in one.outputs)
    return [part for part in (f"if {checks}" if checks else "any event", assigns, *outputs) if part]


def _renaming(made: Renaming) -> str:
    return "(" + ", ".join(f"{name}: {register}" for name, register in made.attributes) + ")"


def _guard(guard: Guard) -> str:
    match guard:
        case acea.Satisfies(condition, made):
            return f"{_renaming(made)} has {condition_text(condition)}"
        case acea.Alike(left, right):
            return f"{', '.join(map(_renaming, left))} is {', '.join(map(_renaming, right))}"
        case acea.Follows(shape, before, now):
            return f"{before}, {now} {shape}"
        case acea.Every(condition, made, register, names):
            rows = f"every ({', '.join(names)}) of {register}"
            return f"{_renaming(made)} with {rows} has {condition_text(condition)}"


def _expression(made: Expression) -> str:
    match made:
        case acea.Read(attribute):
            return f"event.{attribute}"
        case acea.Register(name):
            return name
        case acea.Identity(name):
            return f"{name}()"
        case acea.Lift(_, inner):
            return _expression(inner)
        case acea.Combine(name, left, right):
            return f"{name}({_expression(left)}, {_expression(right)})"
        case acea.Finish(_, inner):
            return f"value of {_expression(inner)}"
        case acea.Gather(values):
            return "{" + ", ".join(map(_expression, values)) + "}"
        case acea.Collect(before, rows):
            added = (f"({', '.join(map(_expression, row))})" for row in rows)
            return " and ".join([*([] if before is None else [before]), *added]) or "no rows"
