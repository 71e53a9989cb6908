"""What is the same for every batch, chunk and task: a plan whose columns' types are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trendloom.engine.evaluate import Evaluator
from trendloom.engine.harvest import Harvest
from trendloom.engine.layout import Numbers, lay_out
from trendloom.engine.scanned import plain
from trendloom.engine.windows import Windows
from trendloom.plan.plan import BindingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.plan.plan import Part, Plan


@dataclass(frozen=True)
class Setting:
    """A plan over columns of certain types, in the numbers that the caller asked for."""

    plan: Plan
    operand_types: Sequence[pa.DataType]
    partition_types: Sequence[pa.DataType]
    nanoseconds: int
    """Per tick of the time column."""
    numbers: Numbers = Numbers.AUTO
    threads: int = 1
    """That the kernels may use at once. A Spark task has one core."""

    @cached_property
    def windows(self) -> Windows:
        return Windows.of(self.plan, self.nanoseconds)

    @property
    def group_types(self) -> list[pa.DataType]:
        """Of the GROUP-BY attributes that partition."""
        return [plain(kind) for kind in self.partition_types[: self.plan.plain_groups]]

    def harvests(self) -> list[Harvest]:
        """One per part, still empty."""
        bindings = len(self.plan.group_variables)
        return [Harvest(bindings, self.value_types(part)) for part in self.plan.all_parts]

    def value_types(self, part: Part) -> list[pa.DataType]:
        """Of the part's grouping variables."""
        return [
            plain(self.operand_types[binding.operand])
            for binding in part.bindings
            if binding.kind is BindingKind.GROUP and binding.operand is not None
        ]

    def evaluators(self) -> list[Evaluator]:
        """One per part, each with centres of its own."""
        plan = self.plan
        types = tuple(letter.type for letter in plan.scan.letters)
        operands = tuple(self.operand_types)
        return [
            Evaluator(
                part,
                plan.folding(part) or plan.stepping(part),
                lay_out(plan, operands, self.numbers, part),
                plan.semantics,
                types,
                operands,
                {},
                self.threads,
            )
            for part in plan.all_parts
        ]
