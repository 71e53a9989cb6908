"""`explain` of a workload, in words, as an object or as a picture."""

from __future__ import annotations

import json
from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING

from trendloom.errors import one_of
from trendloom.pattern.automaton import Accept, Automaton, State
from trendloom.pattern.picture import Drawing, to_mermaid
from trendloom.plan.explaining.local import order_words
from trendloom.workloads.facts import cell_names, gather
from trendloom.workloads.hamlet.picture import group_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.workloads.facts import BurstFacts, FamilyFacts, GroupFacts, WorkloadFacts
    from trendloom.workloads.family import Family
    from trendloom.workloads.sharing import Sharing

FORMATS = ("text", "json", "mermaid")
WIDTH = 100


def explain(sharing: Sharing, format: str = "text") -> str:  # noqa: A002
    """Who shares what ("text", "json"), or the merged automata ("mermaid")."""
    one_of("format", format, FORMATS)
    if format == "mermaid":
        return _picture(sharing)
    facts = gather(sharing)
    if format == "json":
        return json.dumps(asdict(facts), indent=2, ensure_ascii=False)
    return _text(facts)


def _text(facts: WorkloadFacts) -> str:
    together = sum(
        sum(len(family.queries) for family in group.families)
        + sum(len(bursts.queries) for bursts in group.bursts)
        for group in facts.groups
    )
    scans, queries = len(facts.groups), len(facts.queries)
    paragraphs = [
        [
            f"Workload   {_some(queries, 'query')}, {_some(scans, 'scan')} of the events",
            f"Sharing    {_summary(together)} (mode {facts.mode})",
        ],
        *(list(_group(number, group)) for number, group in enumerate(facts.groups, 1)),
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _summary(together: int) -> str:
    if not together:
        return "no query shares its aggregation with another"
    return f"{_some(together, 'query')} share their aggregation with others"


def _group(number: int, group: GroupFacts) -> Iterator[str]:
    by = ", ".join(group.partition_by) or "nothing"
    yield f"Scan {number}, partitioned by {by}: {', '.join(group.queries)}"
    yield f"  events      {order_words(group.order)}"
    for what, here, apart in (
        ("conditions", group.conditions, group.conditions_alone),
        ("attributes", group.operands, group.operands_alone),
    ):
        if apart:
            rest = f"({apart} if each query had its own scan)"
            yield f"  {what}  {here} evaluated once per row {rest}"
    for family in group.families:
        yield from _family(family)
    for bursts in group.bursts:
        yield from _bursts(bursts)
    for alone in group.alone:
        yield f"  alone       {alone.query}: {alone.because}"
        if alone.no_bursts is not None:
            yield f"              it shares no bursts: {alone.no_bursts}"


def _family(family: FamilyFacts) -> Iterator[str]:
    yield f"  together    {', '.join(family.queries)}"
    yield (
        f"              {_some(family.cells, 'cell')} instead of {family.cells_alone},"
        f" {_some(family.steps, 'step')} per event, {_some(family.lanes, 'number')} per cell;"
    )
    yield (f"              about {family.cost:.0f} instead of {family.cost_alone:.0f} ns per row")
    by_queries: dict[tuple[str, ...], list[str]] = {}
    for cell in family.shared:
        by_queries.setdefault(cell.queries, []).append(cell.name)
    for queries, names in by_queries.items():
        words = f"{', '.join(names)} shared by {', '.join(queries)}"
        yield from wrap(words, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16)

    for chop in family.chopped:
        words = f"{', '.join(chop.infix)} chopped out of {', '.join(chop.queries)}"
        words += f", connected to {_some(chop.connections, 'beginning')}, moved as one"
        yield from wrap(words, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16)


def _bursts(bursts: BurstFacts) -> Iterator[str]:
    yield f"  in bursts   {', '.join(bursts.queries)}"
    for one in bursts.kleene:
        words = f"{one.type}+ shared by {', '.join(one.queries)}"
        if one.between is not None:
            words += f", each event and the next: {one.between}"
        yield from wrap(words, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16)
        for each in one.conditions if len(one.conditions) > 1 else ():
            words = f"{each.condition or 'no condition'}: {', '.join(each.queries)}"
            yield from wrap(words, WIDTH, initial_indent=" " * 16, subsequent_indent=" " * 18)
    for step in bursts.steps:
        words = f"{step.source or 'start'} → {step.target}: {', '.join(step.queries)}"
        yield from wrap(words, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16)
    told = "every burst that can be"
    if bursts.constants is not None:
        told = f"decided burst by burst; {bursts.constants}"
    yield from wrap(told, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16)


def _some(count: int, thing: str) -> str:
    many = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{count:,} {thing if count == 1 else many}"


def _picture(sharing: Sharing) -> str:
    drawings = [_drawing(family) for group in sharing.groups for family in group.families]
    merged: list[str] = []
    for group in sharing.groups:
        for bursts in group.bursts:
            merged += group_lines(bursts.template, len(merged), bursts.called)
        for name, plan in group.alone.items():
            drawings += [Drawing(part.automaton, title=name) for part in plan.parts]
    return "\n".join([to_mermaid(drawings), *merged])


def _drawing(family: Family) -> Drawing:
    """The merged automaton: what several queries share is filled, ends name their queries."""
    merged, queries = family.merged, list(family.plans)
    cells = len(merged.sharers)
    names = cell_names(family)
    ends: dict[int, list[str]] = {}
    for m, member in enumerate(family.members):
        for cell in member.folding.accepts:
            ends.setdefault(merged.blocks[m][cell], []).append(queries[m])
    labels = [
        name + (f"\nends {', '.join(ends[cell])}" if cell in ends else "")
        for cell, name in enumerate(names)
    ]
    automaton = Automaton(
        tuple(names),
        tuple(State(cell, (cell,), 0, 0) for cell in range(cells)),
        tuple(arrow for arrow in merged.folding.arrows if arrow.target < cells),
        tuple(Accept(cell, 0, 0) for cell in ends),
        (),
        (),
    )
    shared = [len(members) > 1 for members in merged.sharers]
    return Drawing(automaton, kept=shared, title=", ".join(queries), labels=labels)
