"""Events of a family as codes of its table: which letters an event is, as one small number.

Up to 16 letters a table gives the code of every mask. Beyond, codes are given as masks turn up, and
the automaton's table grows with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.arrow import from_numpy, read_only, to_numpy
from trendloom.engine.program import compile_table
from trendloom.errors import LimitError
from trendloom.kernels.program import NEXT
from trendloom.workloads.family import ANY
from trendloom.workloads.moves import moves_of
from trendloom.workloads.scan import WORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.kernels.moves import Moves
    from trendloom.kernels.table import Table
    from trendloom.workloads.merging import Merged

MOST_CODES = 1 << 16


@dataclass
class Codes:
    """Masks of the family's letters → codes; code 0 is an event that is no letter."""

    merged: Merged
    types: Sequence[str]
    """Of the family's letters."""
    known: dict[int, int] = field(default_factory=lambda: {0: 0})
    """mask → code"""
    _ready: NDArray[Any] | None = None
    _table: Table | None = None
    _moves: dict[tuple[int, ...], Moves] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.types) > WORD:
            return
        for letters in _of_one_type(self.types):
            for subset in range(1, 1 << len(letters)):
                mask = sum(1 << letter for k, letter in enumerate(letters) if subset >> k & 1)
                self.known.setdefault(mask, len(self.known))
        width = np.uint8 if len(self.known) <= 256 else np.uint16
        self._ready = np.zeros(1 << len(self.types), width)
        for mask, code in self.known.items():
            self._ready[mask] = code

    @property
    def grows(self) -> bool:
        """Whether there are too many masks to give each a code beforehand."""
        return self._ready is None

    def of(self, masks: NDArray[Any]) -> NDArray[Any]:
        """As kernels take them: of 8 or 16 bits, read-only."""
        if self._ready is not None:
            return read_only(self._ready[masks])
        encoded = from_numpy(masks).dictionary_encode()
        found = to_numpy(encoded.dictionary).tolist()
        size = len(self.known)
        codes = [self.known.setdefault(mask, len(self.known)) for mask in found]
        if len(self.known) > MOST_CODES:
            raise LimitError(
                f"Events differ in more than {MOST_CODES:,} ways to the queries that share work.",
                remedy="Run the workload with mode='never', or split it.",
            )
        if len(self.known) > size:
            self._table = None
            self._moves = {}
        return read_only(np.array(codes, np.uint16)[to_numpy(encoded.indices)])

    @property
    def table(self) -> Table:
        """What an event of each code known so far does."""
        if self._table is None:
            letters = self.merged.letters
            masks = [
                self.merged.mask(frozenset(x for k, x in enumerate(letters) if mask >> k & 1))
                for mask in self.known
            ]
            self._table = _finishing(compile_table(self.merged.folding, ANY, masks), self.merged)
        return self._table

    def moves(self, var: NDArray[np.int64]) -> Moves:
        """The same by stretches of cells; `var`: the variable that feeds each lane."""
        key = tuple(int(one) for one in var)
        if key not in self._moves:
            self._moves[key] = moves_of(self.table, var)
        return self._moves[key]


def _finishing(table: Table, merged: Merged) -> Table:
    """Steps that end trends add them up where they are read, whatever the table's semantics."""
    if not merged.finished:
        return table
    for cell, total in merged.finished.items():
        table.finished[table.target == cell] = total
    return table._replace(semantics=NEXT)


def _of_one_type(types: Sequence[str]) -> list[list[int]]:
    """The letters of each type: an event has one."""
    by_type: dict[str, list[int]] = {}
    for letter, name in enumerate(types):
        by_type.setdefault(name, []).append(letter)
    return list(by_type.values())
