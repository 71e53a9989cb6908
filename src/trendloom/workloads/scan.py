"""One scan for several queries of the same partitioning: every letter and operand once.

The mask has as many words as the letters need, `WORD` letters each. A small table per word turns it
into whatever a query wants to know of an event (`lens.py`): its own mask, or the code of a merged
automaton.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trendloom.plan.scan import Kind, Letter, Operand, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trendloom.plan.plan import Plan

WORD = 16
"""Letters of a word: a table over all its values still fits a near cache."""

LetterKey = tuple[str, str | None]
"""Type and condition: whoever has the same is the same letter."""
OperandKey = tuple[str, Kind]


@dataclass(frozen=True)
class SharedScan:
    """What the host delivers, and where each letter and operand is in it."""

    scan: Scan
    bits: dict[LetterKey, int]
    """Position among all letters."""
    operands: dict[OperandKey, int]

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> SharedScan:
        """`plans` agree on the partition attributes."""
        letters: dict[LetterKey, Letter] = {}
        operands: dict[OperandKey, Operand] = {}
        for name, plan in plans.items():
            for letter in plan.scan.letters:
                told = replace(letter, variable=f"{letter.variable} of query '{name}'")
                letters.setdefault(letter_key(letter), told)
            for operand in plan.scan.operands:
                told_by = replace(operand, reason=f"{operand.reason} of query '{name}'")
                operands.setdefault(operand_key(operand), told_by)
        scans = [plan.scan for plan in plans.values()]
        # Letters of one type together, so that a query needs few words.
        order = sorted(letters, key=lambda key: key[0])
        scan = Scan(
            letters=tuple(letters[key] for key in order),
            partition=scans[0].partition,
            operands=tuple(operands.values()),
            keep_unmatched=any(scan.keep_unmatched for scan in scans),
            input_order=any(scan.input_order for scan in scans),
            words=tuple(len(order[k : k + WORD]) for k in range(0, len(order), WORD)),
        )
        return cls(
            scan,
            {key: bit for bit, key in enumerate(order)},
            {key: number for number, key in enumerate(operands)},
        )

    def letters_of(self, plan: Plan) -> tuple[int, ...]:
        """The shared letter of each letter of a plan's scan."""
        return tuple(self.bits[letter_key(letter)] for letter in plan.scan.letters)

    def operands_of(self, plan: Plan) -> tuple[int, ...]:
        return tuple(self.operands[operand_key(operand)] for operand in plan.scan.operands)


def letter_key(letter: Letter) -> LetterKey:
    return letter.type, None if letter.condition is None else letter.condition.sql()


def letters_of(plans: Iterable[Plan]) -> set[LetterKey]:
    return {letter_key(letter) for plan in plans for letter in plan.scan.letters}


def operand_key(operand: Operand) -> OperandKey:
    return operand.tree.sql(), operand.kind
