"""A table of single steps → moves of stretches: cells that take from neighbours go together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.program import grouped
from trendloom.kernels.moves import Moves

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trendloom.kernels.table import Table

    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """A cell takes from others, and from the empty trend if it `begins`."""

    target: int
    sources: tuple[int, ...]
    begins: bool = False
    variable: int = -1
    finished: int | None = None


@dataclass
class CodeMoves:
    """What an event of one code does; the columns of `kernels.moves`."""

    steps: Sequence[Step]
    eaten: Iterable[int] = ()
    direct: bool = False
    add: list[tuple[int, int, int, int]] = field(default_factory=list)
    eat: list[tuple[int, int]] = field(default_factory=list)
    write: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.steps = sorted(self.steps, key=lambda step: step.target)
        place = {step.target: k for k, step in enumerate(self.steps)}
        taken = sorted(
            (turn, step.target, source)
            for step in self.steps
            for turn, source in enumerate(step.sources)
        )
        stretches = _stretches([(turn, target, source) for turn, target, source in taken])
        self.add = [(t, place[t], source, n) for (_, t, source), n in stretches]
        self.eat = [(cell, n) for (_, cell, _), n in _stretches([(0, c, c) for c in self.eaten])]
        goes = [(0, step.target, k) for k, step in enumerate(self.steps)]
        goes += [(1, s.finished, k) for k, s in enumerate(self.steps) if s.finished is not None]
        self.write = [(cell, at, n) for (_, cell, at), n in _stretches(goes)]
        read = {source for step in self.steps for source in step.sources}
        single = not any(turn for turn, _, _ in taken)
        finishing = any(step.finished is not None for step in self.steps)
        self.direct = single and not finishing and not self.eat and not read & place.keys()

    @property
    def begin(self) -> list[tuple[int, int]]:
        return [(step.target, k) for k, step in enumerate(self.steps) if step.begins]


def _stretches(
    rows: Sequence[tuple[int, int, int]],
) -> list[tuple[tuple[int, int, int], int]]:
    """Rows whose last two numbers go up by one each, in a row: the first of them, and how many."""
    found: list[tuple[tuple[int, int, int], int]] = []
    for row in sorted(rows):
        if found:
            (turn, cell, other), n = found[-1]
            if row == (turn, cell + n, other + n):
                found[-1] = found[-1][0], n + 1
                continue
        found.append((row, 1))
    return found


def moves_of(table: Table, var: Ints) -> Moves:
    """`var`: the variable that feeds each lane, -1 for any."""
    codes = [_code(table, code) for code in range(len(table.target))]
    feeds = [
        [
            (place, lane)
            for place, step in enumerate(one.steps)
            for lane in range(1, len(var))
            if var[lane] in (step.variable, -1)
        ]
        for one in codes
    ]
    columns: list[Ints] = []
    for rows, width in (
        ([one.add for one in codes], 4),
        ([one.begin for one in codes], 2),
        (feeds, 2),
        ([one.eat for one in codes], 2),
        ([one.write for one in codes], 3),
    ):
        start, *fields = grouped(rows, width)
        columns += [start, np.ascontiguousarray(np.stack(fields, axis=1))]
    direct = np.array([one.direct and not fed for one, fed in zip(codes, feeds, strict=True)])
    room = np.array([len(one.steps) for one in codes], np.int64)
    single = np.zeros((len(codes), 3), np.int64)
    for code, (one, alone) in enumerate(zip(codes, direct, strict=True)):
        if alone and len(one.add) == 1 and not one.begin:
            ((to, _, from_, n),) = one.add
            single[code] = to, from_, n
    return Moves(direct, single, room, *columns)


def _code(table: Table, code: int) -> CodeMoves:
    zero, sink = table.states + 1, table.states + 2
    steps = []
    for step in range(table.target.shape[1]):
        target = int(table.target[code, step])
        if target == sink:
            continue
        finished = int(table.finished[code, step])
        steps.append(
            Step(
                target,
                tuple(sorted(int(s) for s in table.source[code, step] if s != zero)),
                bool(table.begins[code, step]),
                int(table.variable[code, step]),
                None if finished == sink else finished,
            )
        )
    return CodeMoves(steps, [int(cell) for cell in table.eats[code] if cell != sink])
