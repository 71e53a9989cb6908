"""An automaton with registers as a Mermaid flowchart.

An arrow says, line by line: what is checked, what is assigned, what is put out. A register that no
later step reads is not shown, only what it is made of, nor is one that keeps its value.
"""

from __future__ import annotations

from dataclasses import dataclass

from trendloom.acel import acea
from trendloom.acel import conditions as on
from trendloom.acel.acea import Acea, Expression, Guard, Renaming, Transition, reads
from trendloom.acel.demands import attributes_of, renamed
from trendloom.acel.printer import condition_text
from trendloom.acel.words import quote
from trendloom.pattern.picture import escaped

MOST_ARROWS = 400
"""Mermaid refuses more than 500 edges; and nobody would read them."""


def to_mermaid(automaton: Acea) -> str:
    """The flowchart, left to right: the start is small, the end has a double border."""
    lines = ["flowchart LR", '  s0((" "))', '  s1((("end")))']
    inner = [state for state in automaton.states if state not in (Acea.START, Acea.END)]
    lines += [f'  s{state}(("{state}"))' for state in inner]
    kept = frozenset().union(
        *(reads(made) for one in automaton.transitions for _, made in one.assigns)
    )
    for one in automaton.transitions[:MOST_ARROWS]:
        label = "<br/>".join(map(escaped, _Label(one, kept).lines()))
        lines.append(f'  s{one.source} -->|"{label}"| s{one.target}')
    if (left := len(automaton.transitions) - MOST_ARROWS) > 0:
        lines.append(f'  more["… {left} more arrows"]')
    return "\n".join(lines)


@dataclass(frozen=True)
class _Label:
    """Of one transition."""

    one: Transition
    kept: frozenset[str]
    """The registers that a later step reads."""

    def lines(self) -> list[str]:
        checks = " and ".join(dict.fromkeys(filter(None, map(self._guard, self.one.guards))))
        assigns = ", ".join(
            f"{name} := {_expression(made)}"
            for name, made in self.one.assigns
            if name in self.kept and made != acea.Register(name)
        )
        outputs = (
            f"{variable} gets {', '.join(map(self._renaming, bag))}"
            for variable, bag in self.one.outputs
        )
        every = (f"if {checks}" if checks else "any event", assigns, *outputs)
        return [part for part in every if part]

    def _value(self, register: str) -> str:
        """What the register holds after the transition, in terms of those before it."""
        return _expression(dict(self.one.assigns)[register])

    def _renaming(self, made: Renaming) -> str:
        values = {name: self._value(register) for name, register in made.attributes}
        if all(value == f"event.{name}" for name, value in values.items()):
            return f"event({', '.join(values)})"
        return "(" + ", ".join(f"{name}: {value}" for name, value in values.items()) + ")"

    def _guard(self, guard: Guard) -> str:
        """Nothing, if it always holds."""
        match guard:
            case acea.Satisfies(condition, made):
                return self._said(condition, made)
            case acea.Alike(left, right):
                one, other = (", ".join(map(self._renaming, bag)) for bag in (left, right))
                return f"{one} is {other}" if one != other else ""
            case acea.Follows(shape, before, now):
                return f"{self._value(before)}, {self._value(now)} {shape}"
            case acea.Every(condition, made, register):
                return f"{self._said(condition, made)} for every one of {self._value(register)}"

    def _said(self, condition: on.Condition, made: Renaming) -> str:
        """The condition in terms of registers and the event; what a row has keeps its name."""
        words = {name: self._value(register) for name, register in made.attributes}
        words |= {one.key: one.key for one in attributes_of(condition) if one.key not in words}
        text = condition_text(renamed(condition, {k: on.Attribute(w) for k, w in words.items()}))
        # Names of registers are no names of attributes: they need no quotes.
        for word in words.values():
            text = text.replace(quote(word), word)
        return text


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
