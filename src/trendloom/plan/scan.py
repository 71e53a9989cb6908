"""What a host must deliver: the contract between a plan and where events come from.

A host turns its source into Arrow batches with exactly these columns:

`p0`, `p1`, …   the partition attributes, in `Scan.partition` order, in their own types, never null
`time`          int64 ticks of the source's resolution
`tie`           the tiebreak column in its own type (only if the caller named one)
`mask`          uint64, bit k is set if the event may be letter k: type and local predicate hold
`mask1`, …      further words of the mask, for the letters of many queries (only with `Scan.words`)
`row`           int64, the row's number in the input, from 0 (only with `Scan.row_numbers`)
`x0`, `x1`, …   the operands, nullable, in `Scan.operands` order, typed as `Operand.kind` says

Rows are sorted by (partition, time, tie); with `Scan.input_order`, then as in the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


class Kind(Enum):
    """How an operand arrives."""

    NUMBER = "number"
    """int64 for integer types, double for floats and decimals; anything else is a user's error."""
    ORDERED = "ordered"
    """As NUMBER; dates, timestamps, booleans and uint64 in their own types (MIN, MAX)."""
    ANY = "any"
    """In its own type, if values of it compare (comparisons between events, grouping)."""
    HELD = "held"
    """In its own type, whatever it is: nobody compares it (COUNT, attributes in listings)."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A column that the host computes from one row. The tree's columns are bare attributes."""

    tree: exp.Expression
    kind: Kind
    reason: str
    """What asks for it, in the query's words: named when its type does not fit."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One variable of the pattern: an event type and a condition on the row."""

    variable: str
    type: str
    condition: exp.Expression | None
    """Over bare attributes; null counts as false."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Everything a host needs to know of a query."""

    letters: tuple[Letter, ...]
    partition: tuple[str, ...]
    """Grouping attributes first, so that one group's partitions are neighbours."""
    operands: tuple[Operand, ...]
    keep_unmatched: bool
    """Whether rows that are no letter must be delivered (contiguity, count windows)."""
    input_order: bool
    """Whether ties must keep the order of the input (count windows)."""
    row_numbers: bool = False
    """Whether `row` is asked for (the trends themselves); only the local host has it."""
    words: tuple[int, ...] = ()
    """How many letters, in their order, each word of the mask has; (): one word has all."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute the query reads, in first-use order."""
        seen = dict.fromkeys(self.partition)
        for tree in [letter.condition for letter in self.letters] + [o.tree for o in self.operands]:
            if tree is not None:
                from sqlglot import exp

                seen.update(dict.fromkeys(column.name for column in tree.find_all(exp.Column)))
        return tuple(seen)
