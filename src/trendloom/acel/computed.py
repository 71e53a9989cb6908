"""Automata whose runs hold numbers, as tables that a kernel runs (`kernels.computing`).

Which can: what they assign and ask has programs (`programs`); what they put out are rows, and new
events only with the last event. `computable` says so before an event is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.acel import acea
from trendloom.acel.acea import Acea
from trendloom.acel.columns import ROW
from trendloom.acel.demands import steps_of
from trendloom.acel.marking import label_of, labels_of
from trendloom.acel.programs import NoProgramError, Programs, joined
from trendloom.acel.registers import lean
from trendloom.kernels import exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trendloom.acel.acea import Renaming, Transition
    from trendloom.acel.columns import Column
    from trendloom.acel.demands import Letter, Step
    from trendloom.acel.marking import Label
    from trendloom.acel.programs import Code

    Ints = NDArray[np.int64]

Shown = tuple[str, str]
"""A variable and an attribute of the event that it gets at the end."""


@dataclass(frozen=True)
class Computed:
    """The automaton as numbers; what is left is to say which steps an event's mask allows."""

    labels: list[Label]
    leaving: dict[int, tuple[tuple[Step, tuple[int, ...]], ...]]
    """The steps of each state, and their rows for the kernel."""
    registers: dict[int, tuple[tuple[str, int], ...]]
    """Of each state: names, and where in the slots they begin."""
    programs: Programs
    width: int
    """Slots of a run."""
    shown: tuple[Shown, ...]
    """What is computed for a result, in this order."""
    read: dict[Shown, str]
    """What is an attribute of the last event, as it stands."""
    program: Ints
    guards: Ints
    assigns: Ints


def computable(
    automaton: Acea,
    letters: tuple[Letter, ...],
    columns: Sequence[Column],
    types: Mapping[str, pa.DataType],
) -> Computed | None:
    """None if some of it is not done with numbers alone. `types`: of the attributes."""
    try:
        return _Making(automaton, letters, columns, types).made()
    except NoProgramError:
        return None


class _Making:
    def __init__(
        self,
        automaton: Acea,
        letters: tuple[Letter, ...],
        columns: Sequence[Column],
        types: Mapping[str, pa.DataType],
    ) -> None:
        self._automaton, self._columns = automaton, columns
        self._steps, live = lean(steps_of(automaton, letters))
        self._live = {state: sorted(names) for state, names in live.items()}
        whole = {
            name: pa.types.is_integer(kind)
            for name, kind in types.items()
            if pa.types.is_signed_integer(kind) or pa.types.is_floating(kind)
        }
        self._programs = Programs(whole)
        self._program: list[tuple[int, int]] = []
        self._guards: list[tuple[int, int]] = []
        self._assigns: list[tuple[int, int]] = []

    def made(self) -> Computed:
        self._find_sorts()
        registers, width = self._layout()
        shown, read = self._outputs()
        labels = labels_of(self._automaton)
        leaving: dict[int, tuple[tuple[Step, tuple[int, ...]], ...]] = {}
        for state, steps in self._steps.items():
            slots = dict(registers[state])
            rows = []
            for step in steps:
                one = step.transition
                assigned = dict(one.assigns)
                first_guard = len(self._guards)
                for guard in step.guards:
                    self._add(self._guards, self._programs.guard(guard, assigned, slots))
                first_made = len(self._assigns)
                if one.target == Acea.END:
                    wanted = self._paid(one, shown, slots)
                else:
                    wanted = [()] * width
                    for name, low in registers[one.target]:
                        for k, code in enumerate(self._programs.code(assigned[name], slots)):
                            wanted[low + k] = code
                for code in wanted:
                    self._add(self._assigns, code)
                row = (
                    one.target, labels.index(label_of(one)), first_guard, len(self._guards),
                    first_made, int(step.is_waiting),
                )  # fmt: skip
                rows.append((step, row))
            leaving[state] = tuple(rows)
        return Computed(
            labels, leaving, registers, self._programs, width, shown, read,
            _pairs(self._program), _pairs(self._guards), _pairs(self._assigns),
        )  # fmt: skip

    def _find_sorts(self) -> None:
        """What registers hold, until nothing more is found."""
        sorts, changed = self._programs.sorts, True
        while changed:
            changed = False
            for steps in self._steps.values():
                for step in steps:
                    for name, made in step.transition.assigns:
                        found = self._programs.sort(made)
                        if found is not None and (new := joined(sorts.get(name), found)) != (
                            sorts.get(name)
                        ):
                            sorts[name], changed = new, True

    def _layout(self) -> tuple[dict[int, tuple[tuple[str, int], ...]], int]:
        registers: dict[int, tuple[tuple[str, int], ...]] = {}
        width = 0
        for state, names in self._live.items():
            low, places = 0, []
            for name in names:
                places.append((name, low))
                low += self._programs.sorts[name].width
            registers[state] = tuple(places)
            width = max(width, low)
        return registers, width

    def _outputs(self) -> tuple[tuple[Shown, ...], dict[Shown, str]]:
        """What events at the end are made of; events are told apart by all of it."""
        computed: dict[Shown, None] = {}
        read: dict[Shown, set[str | None]] = {}
        rows = {one.variable for one in self._columns if one.has_rows_only}
        for one in self._automaton.transitions:
            assigned = dict(one.assigns)
            for variable, bag in one.outputs:
                if variable in rows:
                    continue
                if one.target != Acea.END:
                    raise NoProgramError
                (made,) = _one(bag)
                names = {name: assigned[register] for name, register in made.attributes}
                fields = next(c.type.value_type for c in self._columns if c.variable == variable)
                for name in (field.name for field in fields if field.name != ROW):
                    match names.get(name):
                        case acea.Read(source) if source not in self._programs.whole:
                            read.setdefault((variable, name), set()).add(source)
                        case _:
                            computed[variable, name] = None
                            read.setdefault((variable, name), set()).add(None)
        texts = {shown: sources for shown, sources in read.items() if sources != {None}}
        if any(len(sources) > 1 for sources in texts.values()):
            raise NoProgramError
        return (
            tuple(shown for shown in computed if shown not in texts),
            {shown: str(next(iter(sources))) for shown, sources in texts.items()},
        )

    def _paid(
        self, one: Transition, shown: tuple[Shown, ...], slots: Mapping[str, int]
    ) -> list[Code]:
        assigned, bags = dict(one.assigns), dict(one.outputs)
        wanted: list[Code] = []
        for variable, name in shown:
            code: Code = ()
            if variable in bags:
                (made,) = _one(bags[variable])
                register = made.register(name)
                if register is not None:
                    (code,) = self._programs.code(assigned[register], slots)
            wanted.append(code)
        return wanted

    def _add(self, stretches: list[tuple[int, int]], code: Code) -> None:
        if _depth(code) > exact.DEPTH:
            raise NoProgramError
        stretches.append((len(self._program), len(self._program) + len(code)))
        self._program += code


def _one(bag: tuple[Renaming, ...]) -> tuple[Renaming]:
    """Of one origin with the same attributes there is one event, though two registers hold it."""
    made = {(one.origin, frozenset(name for name, _ in one.attributes)): one for one in bag}
    if len(made) > 1:
        raise NoProgramError
    return (next(iter(made.values())),)


def _depth(code: Code) -> int:
    depth = most = 0
    for operation, _ in code:
        depth += 1 if operation <= exact.CONSTANT else -int(operation not in _ONE)
        most = max(most, depth)
    return most


_ONE = (exact.ROUNDED, exact.KNOWN, exact.INSTEAD, exact.NOT, exact.MISSING)
"""What takes one number and leaves one."""


def _pairs(rows: Sequence[tuple[int, int]]) -> Ints:
    return np.array(rows or [(0, 0)], np.int64).reshape(-1, 2)
