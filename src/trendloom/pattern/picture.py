"""An automaton as names, labels and a Mermaid diagram.

Mermaid's own words (`end`), quotes, `<`, `#` and markdown signs in names and conditions must not
reach its parser: nodes are numbered, and labels are quoted and escaped character by character.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from trendloom.pattern.automaton import DEAD, START

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trendloom.pattern.automaton import Automaton

MAX_EDGES = 300
MAX_TEXT = 40_000
"""Mermaid refuses more than 500 edges or 50,000 characters; and nobody would read them."""
STYLES = {
    "start": "fill:#333,stroke:#333,color:#fff",
    "accept": "stroke-width:2px",
    "kept": "fill:#fde68a,stroke:#b45309,color:#111",
    "dead": "fill:#eee,stroke:#999,color:#666,stroke-dasharray:4",
}
PLAIN = frozenset(" .,:;()[]=+-/'→·≤≥…")

Case = tuple[int, int]
"""(care, want): of the guards in `care` exactly those in `want` hold."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """An automaton and the words for what it only numbers."""

    automaton: Automaton
    guards: Sequence[str] = ()
    """The negated patterns: `C`, `SEQ(C, D)`."""
    conditions: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(earlier variable, later variable) → the condition between consecutive events."""
    kept: Sequence[bool] = ()
    """Per state: whether single events are kept."""
    title: str | None = None
    dead_steps: bool = False
    """Whether steps that lead to no trend matter (skip-till-next-match takes them)."""
    labels: Sequence[str] = ()
    """Per state, instead of the variable's name; lines are parted by a newline."""


@dataclass(frozen=True, slots=True)
class Edge:
    """All steps from one state to another with one variable."""

    source: int
    target: int
    variable: int
    guards: tuple[str, ...]
    """Alternatives; empty if the step is free."""
    condition: str | None


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """A state is called as its variable; several of one variable are `A·1`, `A·2`, …"""
    of_variable: dict[int, list[int]] = {}
    for number, state in enumerate(automaton.states):
        of_variable.setdefault(state.variable, []).append(number)
    return tuple(
        automaton.variables[state.variable]
        + (
            f"·{of_variable[state.variable].index(number) + 1}"
            if len(of_variable[state.variable]) > 1
            else ""
        )
        for number, state in enumerate(automaton.states)
    )


def edges(drawing: Drawing) -> tuple[Edge, ...]:
    """The arrows, those that differ in their guards only made one; START first, then by state."""
    automaton = drawing.automaton
    cases: dict[tuple[int, int, int], list[Case]] = {}
    for arrow in sorted(automaton.arrows, key=lambda a: a.source):
        if arrow.target != DEAD or drawing.dead_steps:
            key = (arrow.source, arrow.target, arrow.variable)
            cases.setdefault(key, []).append((arrow.care, arrow.want))
    return tuple(
        Edge(
            source,
            target,
            variable,
            guard_words(pairs, drawing.guards),
            None
            if source == START
            else drawing.conditions.get((automaton.states[source].variable, variable)),
        )
        for (source, target, variable), pairs in cases.items()
    )


def endings(drawing: Drawing) -> dict[int, tuple[str, ...]]:
    """Accepting state → the guards under which a trend may end there; empty if always."""
    cases: dict[int, list[Case]] = {}
    for accept in drawing.automaton.accepts:
        cases.setdefault(accept.state, []).append((accept.care, accept.want))
    return {state: guard_words(pairs, drawing.guards) for state, pairs in cases.items()}


def guard_words(cases: Iterable[Case], guards: Sequence[str]) -> tuple[str, ...]:
    """`("NOT C",)`: what must hold, one text per alternative; empty if anything may."""
    words = []
    for care, want in _simplified(cases):
        if not care:
            return ()
        parts = [
            f"NOT {guard}" if (want >> number) & 1 else f"{guard} between"
            for number, guard in enumerate(guards)
            if (care >> number) & 1
        ]
        words.append(" and ".join(parts))
    return tuple(words)


def _simplified(cases: Iterable[Case]) -> list[Case]:
    """Two cases that differ in one guard only do not depend on it."""
    left = list(dict.fromkeys(cases))
    while True:
        merge = next(
            (
                (one, two)
                for at, one in enumerate(left)
                for two in left[at + 1 :]
                if one[0] == two[0] and (one[1] ^ two[1]).bit_count() == 1
            ),
            None,
        )
        if merge is None:
            return left
        (care, one_want), (_, two_want) = merge
        free = one_want ^ two_want
        left = [case for case in left if case not in merge]
        left.append((care & ~free, one_want & ~free))


# ── Mermaid ──────────────────────────────────────────────────────────────────────────────────


def to_mermaid(drawings: Sequence[Drawing]) -> str:
    """A flowchart, left to right: states are called as the variable that leads to them, accepting
    ones have a double border and say under which guards, a title is where to start.
    """
    lines = ["flowchart LR"]
    for number, drawing in enumerate(drawings):
        lines += [f"  {line}" for line in _body(drawing, f"p{number}", len(drawings))]
    lines += [
        f"  classDef {name} {style}"
        for name, style in STYLES.items()
        if any(line.endswith(f":::{name}") for line in lines)
    ]
    return "\n".join(lines)


def _body(drawing: Drawing, prefix: str, share: int) -> Iterator[str]:
    names = drawing.labels or state_names(drawing.automaton)
    ends = endings(drawing)
    every = edges(drawing)
    lines = [_edge(drawing, edge, prefix) for edge in every]
    room = accumulate(map(len, lines))
    fits = sum(size <= MAX_TEXT // share for size in room)
    drawn = every[: min(MAX_EDGES // share, fits)]
    shown = {edge.target for edge in drawn} | {edge.source for edge in drawn}
    if drawing.title is None:
        yield f'{prefix}start((" ")):::start'
    else:
        yield f'{prefix}start(["{escaped(drawing.title)}"]):::start'
    for number, name in enumerate(names):
        if number not in shown:
            continue
        label = "<br/>".join(map(escaped, name.split("\n")))
        style = ":::kept" if number < len(drawing.kept) and drawing.kept[number] else ""
        if number not in ends:
            yield f'{prefix}s{number}(("{label}")){style}'
            continue
        if ends[number]:
            # On an arrow to an end of its own it would lie across the labels of loops.
            guards = "<br/>or ".join(map(escaped, ends[number])).replace(" and ", "<br/>and ")
            label += f"<br/>ends if<br/>{guards}"
        yield f'{prefix}s{number}((("{label}"))){style or ":::accept"}'
    if any(edge.target == DEAD for edge in drawn):
        yield f'{prefix}dead["no trend"]:::dead'
    yield from lines[: len(drawn)]
    if len(every) > len(drawn):
        yield f'{prefix}more["… {len(every) - len(drawn)} more arrows"]:::dead'


def _edge(drawing: Drawing, edge: Edge, prefix: str) -> str:
    source = f"{prefix}start" if edge.source == START else f"{prefix}s{edge.source}"
    target = f"{prefix}dead" if edge.target == DEAD else f"{prefix}s{edge.target}"
    words = [" or ".join(edge.guards), edge.condition or ""]
    if edge.target == DEAD:
        words.insert(0, drawing.automaton.variables[edge.variable])
    label = "<br/>".join(escaped(word) for word in words if word)
    return f'{source} -->|"{label}"| {target}' if label else f"{source} --> {target}"


def escaped(text: str) -> str:
    """Everything but letters, digits and harmless signs as a character number."""
    return "".join(
        c if (c.isalnum() and c.isascii()) or c in PLAIN else f"#{ord(c)};" for c in text
    )
