"""Who shares what, in words and as a Mermaid diagram (HAMLET Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.pattern.picture import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        shared = {one.type for one in group.kleene}
        types = list(
            dict.fromkeys(t for one in group.transitions for t in (one.source, one.target))
        )
        node = {name: f"g{number}n{k}" for k, name in enumerate(types)}
        lines.append(f'  subgraph g{number}["{escaped(names(group.queries))}"]')
        for name in types:
            label = escaped(name) if name is not None else "start"
            lines.append(f'    {node[name]}["{label}"]' if name else f'    {node[name]}(("start"))')
        for one in group.transitions:
            label = escaped(names(one.queries))
            lines.append(f'    {node[one.source]} -->|"{label}"| {node[one.target]}')
        lines += [f"    style {node[name]} {STYLE}" for name in types if name in shared]
        lines.append("  end")
    for alone in template.alone:
        label = escaped(f"{names([alone.query])}: {alone.reason}")
        lines.append(f'  a{alone.query}["{label}"]')
    return "\n".join(lines)


def names(queries: Sequence[int]) -> str:
    """q1, q2, …: as people count."""
    if len(queries) > FEW:
        first = ", ".join(f"q{k + 1}" for k in queries[: FEW - 2])
        return f"{first}, … q{queries[-1] + 1} ({len(queries)} queries)"
    return ", ".join(f"q{k + 1}" for k in queries)


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
