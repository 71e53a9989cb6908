"""Aggregates around a formula that only marks events: taken of results, not along the runs.

`PROJECT[…](AGG[Y(…)](φ) FILTER Y[…])` needs registers as it stands. Where φ does not, and where its
results are listed anyway or are few (nothing is repeated with gaps), φ runs compiled, and what is
around it is done with each of its results. Otherwise runs with equal sums are better one run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.acel import nodes
from trendloom.acel.check import check
from trendloom.acel.conditions import BagCondition, Condition, holds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trendloom.acel.events import Schema, Value

Layer = nodes.Aggregation | nodes.Filter


@dataclass(frozen=True)
class Folding:
    """`layers`, from the inside out, around `core`; then only `kept` variables are left."""

    core: nodes.Formula
    layers: tuple[Layer, ...]
    kept: tuple[str, ...]
    loses: bool
    """Whether results may become equal, because a variable is left out."""

    def made(self, values: Sequence[Value]) -> dict[str, dict[str, Value]] | None:
        """The events of AGG, by variable; None if a filter does not hold.

        `values`: of each of the assigns, over one result.
        """
        made: dict[str, dict[str, Value]] = {}
        left = iter(values)
        for layer in self.layers:
            if isinstance(layer, nodes.Aggregation):
                made[layer.variable] = {one.attribute: next(left) for one in layer.assigns}
            else:
                assert not isinstance(layer.condition, BagCondition)
                if not _holds(layer.condition, made[layer.variable]):
                    return None
        return made

    @property
    def assigns(self) -> tuple[nodes.Assign, ...]:
        """Everything that is aggregated."""
        made = (layer for layer in self.layers if isinstance(layer, nodes.Aggregation))
        return tuple(one for layer in made for one in layer.assigns)

    @property
    def makes(self) -> tuple[str, ...]:
        """The variables that hold what AGG makes."""
        return tuple(one.variable for one in self.layers if isinstance(one, nodes.Aggregation))


def _holds(condition: Condition, event: Mapping[str, Value]) -> bool:
    return holds(condition, event.get)


def folding_of(formula: nodes.Formula, schema: Schema | None) -> Folding | None:
    """None if the formula has another shape, or is better run with registers."""
    kept = tuple(check(formula, schema))
    inner = formula.inner if isinstance(formula, nodes.Project) else formula
    layers: list[Layer] = []
    while isinstance(inner, nodes.Aggregation | nodes.Filter):
        layers.append(inner)
        inner = inner.inner
        if isinstance(layers[-1], nodes.Aggregation) and not _goes_on(inner):
            break
    layers.reverse()
    made = [layer.variable for layer in layers if isinstance(layer, nodes.Aggregation)]
    bound = check(inner, schema)
    if not made or len(set(made)) < len(made) or set(made) & set(bound):
        return None
    for layer in layers:
        if isinstance(layer, nodes.Filter):
            if layer.variable not in made or isinstance(layer.condition, BagCondition):
                return None
        elif any(one.variable not in bound for one in layer.assigns):
            return None
    read = {
        one.variable
        for layer in layers
        if isinstance(layer, nodes.Aggregation)
        for one in layer.assigns
    }
    needed = tuple(name for name in bound if name in read or name in kept)
    loses = not set(needed) <= set(kept) or not set(made) <= set(kept)
    if loses and _branches(inner):
        return None
    return Folding(nodes.Project(inner, needed), tuple(layers), kept, loses)


def _goes_on(inner: nodes.Formula) -> bool:
    """Whether another AGG stands inside, perhaps under filters."""
    while isinstance(inner, nodes.Filter):
        inner = inner.inner
    return isinstance(inner, nodes.Aggregation)


def _branches(formula: nodes.Formula, *, inside: bool = False) -> bool:
    """Whether the choice of repeated events makes exponentially many results."""
    match formula:
        case nodes.Iteration():
            return True
        case nodes.Sequence() | nodes.Next() if inside:
            return True
        case nodes.ContiguousIteration(inner):
            return _branches(inner, inside=True)
    return any(_branches(part, inside=inside) for part in nodes.parts(formula))
