"""Who shares what, in words and as a Mermaid diagram (HAMLET Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.pattern.picture import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trendloom.workloads.hamlet.template import Group, SharedKleene, Template

STYLE = "fill:#fde68a,stroke:#b45309,color:#111"
FEW = 6
"""Names of queries that are written out."""


def describe(template: Template) -> str:
    """The groups, what each shares, and who goes alone and why."""
    lines = []
    for number, group in enumerate(template.groups, 1):
        lines.append(f"group {number}: {names(group.queries)}")
        by = ", ".join(group.partition)
        lines.append(f"  one pass{f', partitioned by {by}' if by else ''}{_pane(group)}")
        lines += [line for one in group.kleene for line in _shared(one)]
    lines += [f"alone: {names([one.query])} ({one.reason})" for one in template.alone]
    return "\n".join(lines)


def mermaid(template: Template) -> str:
    """Every type once per group; arrows tell whose they are; shared E+ stand out."""
    lines = ["flowchart LR"]
    for number, group in enumerate(template.groups):
        lines += group_lines(group, number)
    for alone in template.alone:
        label = escaped(f"{names([alone.query])}: {alone.reason}")
        lines.append(f'  a{alone.query}["{label}"]')
    return "\n".join(lines)


def group_lines(group: Group, number: int, called: Mapping[int, str] | None = None) -> list[str]:
    """A sub-graph of a flowchart; queries are called as told, or q1, q2, …"""
    shared = {one.type for one in group.kleene}
    types = list(dict.fromkeys(t for one in group.transitions for t in (one.source, one.target)))
    node = {name: f"g{number}n{k}" for k, name in enumerate(types)}
    lines = [f'  subgraph g{number}["{escaped(names(group.queries, called))}"]']
    for name in types:
        label = f'["{escaped(name)}"]' if name is not None else '(("start"))'
        lines.append(f"    {node[name]}{label}")
    for one in group.transitions:
        label = escaped(names(one.queries, called))
        lines.append(f'    {node[one.source]} -->|"{label}"| {node[one.target]}')
    lines += [f"    style {node[name]} {STYLE}" for name in types if name in shared]
    return [*lines, "  end"]


def names(queries: Sequence[int], called: Mapping[int, str] | None = None) -> str:
    """q1, q2, …: as people count; or as they are called."""
    words = [f"q{k + 1}" if called is None else called[k] for k in queries]
    if len(words) > FEW:
        return f"{', '.join(words[: FEW - 2])}, … {words[-1]} ({len(words)} queries)"
    return ", ".join(words)


def _pane(group: Group) -> str:
    if group.pane is None:
        return ""
    seconds = group.pane / 1e9
    return f", panes of {seconds:g} s"


def _shared(one: SharedKleene) -> list[str]:
    inside = f", each event and the next: {one.adjacent}" if one.adjacent else ""
    lines = [f"  shares {one.type}+ among {names(one.queries)}{inside}"]
    if len(one.conditions) > 1:
        for words, queries in one.conditions:
            lines.append(f"    {words or 'no condition'}: {names(queries)}")
    return lines
