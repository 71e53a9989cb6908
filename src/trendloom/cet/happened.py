"""What a listing did, beside what it expected: totals, and the graph with the most trends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trendloom.cet.counting import Count
from trendloom.cet.memory import in_words

if TYPE_CHECKING:
    from trendloom.cet.choosing import Choice
    from trendloom.cet.detection import Kept
    from trendloom.cet.graph import Graph

MOST_PLACES = 12
"""Of a cut, in words."""


@dataclass
class Detected:
    """One graph: how its trends were to be found, and how they were."""

    nodes: int
    edges: int
    trends: Count
    choice: Choice
    kept_paths: int = 0
    kept_bytes: int = 0
    seconds: float = 0.0
    """From the first of its trends to the last, what the caller did meanwhile left out."""
    listed: int = 0

    def kept(self, those: Kept) -> None:
        self.kept_paths, self.kept_bytes = those.paths, those.bytes


@dataclass
class Happened:
    """All graphs of a listing; totals only where nothing is counted (longest, top, sample)."""

    order: str = ""
    """How the events were brought into order, where a host says so."""
    graphs: int = 0
    nodes: int = 0
    edges: int = 0
    trends: Count = field(default_factory=Count)
    listed: int = 0
    algorithms: dict[str, int] = field(default_factory=dict)
    """Algorithm → graphs."""
    most_bytes: int = 0
    """A graph and its kept paths, at most; kept paths are counted beforehand, not estimated."""
    largest: Detected | None = None
    """The graph with the most trends."""

    def add_graph(self, graph: Graph) -> None:
        self.graphs += 1
        self.nodes += len(graph)
        self.edges += graph.edges
        self.most_bytes = max(self.most_bytes, graph.bytes)

    def add_choice(self, graph: Graph, trends: Count, choice: Choice) -> Detected:
        self.trends += trends
        name = choice.algorithm
        self.algorithms[name] = self.algorithms.get(name, 0) + 1
        held = graph.bytes + int(min(choice.estimate.bytes, 2.0**62))
        self.most_bytes = max(self.most_bytes, held)
        found = Detected(len(graph), graph.edges, trends, choice)
        if self.largest is None or trends.log2 > self.largest.trends.log2:
            self.largest = found
        return found

    def lines(self) -> list[str]:
        """For `explain`: label and words per line."""
        told = [f"Order      {self.order}"] if self.order else []
        told += [f"Graphs     {self.graphs:,}: {self.nodes:,} nodes, {self.edges:,} edges"]
        told.append(f"Trends     {self.trends} counted, {self.listed:,} listed")
        used = ", ".join(f"{n.upper()}-CET {k:,}" for n, k in sorted(self.algorithms.items()))
        told.append(f"Algorithm  {used or 'none'}")
        told.append(
            f"Memory     {in_words(self.most_bytes)} for a graph and its kept paths at most"
        )
        if self.largest is not None:
            told += ["", *_largest(self.largest)]
        return told


def _largest(one: Detected) -> list[str]:
    choice, expected = one.choice, one.choice.estimate
    told = [
        f"Largest graph: {one.nodes:,} nodes, {one.edges:,} edges, {one.trends} trends",
        f"  algorithm  {choice.algorithm.upper()}-CET",
    ]
    if choice.bounds is not None:
        places = [f"{place:,}" for place in choice.bounds[1:-1]]
        cut = ", ".join(places[:MOST_PLACES]) or "nowhere"
        more = len(places) - MOST_PLACES
        more_words = f" and {more:,} more" if more > 0 else ""
        told.append(f"  cut        {choice.graphlets:,} graphlets, before nodes {cut}{more_words}")
    ran = one.listed > 0
    rows = [
        ("kept paths", f"{expected.paths:,.0f}", f"{one.kept_paths:,}"),
        ("kept bytes", in_words(expected.bytes), in_words(one.kept_bytes)),
        ("seconds", f"{expected.work:,.3g}", f"{one.seconds:,.3g}"),
        ("trends", str(one.trends), f"{one.listed:,}"),
    ]
    told.append(f"  {'':<10} {'expected':>12}" + (f" {'happened':>12}" if ran else ""))
    return told + [
        f"  {label:<10} {before:>12}" + (f" {after:>12}" if ran else "")
        for label, before, after in rows
    ]
