"""What is the same for every batch, chunk and task: a plan whose columns' types are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trendloom.engine.evaluate import Evaluator
from trendloom.engine.layout import Numbers, lay_out
from trendloom.engine.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.plan.plan import Plan


@dataclass(frozen=True)
class Setting:
    """A plan over columns of certain types, in the numbers that the caller asked for."""

    plan: Plan
    operand_types: Sequence[pa.DataType]
    partition_types: Sequence[pa.DataType]
    nanoseconds: int
    """Per tick of the time column."""
    numbers: Numbers = Numbers.AUTO

    @cached_property
    def windows(self) -> Windows:
        return Windows.of(self.plan, self.nanoseconds)

    def evaluators(self) -> list[Evaluator]:
        """One per part, each with centres of its own."""
        plan = self.plan
        types = tuple(letter.type for letter in plan.scan.letters)
        operands = tuple(self.operand_types)
        return [
            Evaluator(
                part,
                lay_out(plan, operands, self.numbers, part),
                plan.semantics,
                types,
                operands,
                {},
            )
            for part in plan.all_parts
        ]
