"""A plan: everything that is decided about a query before an event is seen. Immutable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.pattern.folding import fold_guards

if TYPE_CHECKING:
    from sqlglot import exp

    from trendloom.language.nodes import (
        Aggregate,
        CountWindow,
        GroupKey,
        Query,
        TimeWindow,
    )
    from trendloom.pattern.automaton import Automaton
    from trendloom.pattern.folding import Folding
    from trendloom.plan.pairs import Code, Constant, PairColumn
    from trendloom.plan.scan import Scan


class Grain(Enum):
    """What is kept per partition and window (COGRA Table 5)."""

    PATTERN = "pattern"
    """One counter: the planner proved that at most one state holds partial trends."""
    TYPE = "type"
    """One aggregate per automaton state."""
    MIXED = "mixed"
    """Single events for states that a predicate looks back at, one aggregate for the others."""


class WindowStrategy(Enum):
    """How windows are computed."""

    WHOLE = "one window over the whole input"
    SLIDING = "one run per window"
    COUNTED = "one run per window of events"
    CHANGES = "one run per time point at which an event arrives or expires"


class BindingKind(Enum):
    """Why a variable gets a run per value."""

    ANCHOR = "anchor"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Check:
    """An anchored predicate: program number `program` holds between the anchor and `variable`."""

    variable: str
    program: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable whose value is fixed per run: an anchor event, or a grouping value."""

    kind: BindingKind
    variable: str
    checks: tuple[Check, ...] = ()
    operand: int | None = None
    """The grouping attribute."""
    key: int | None = None
    """Its number in GROUP-BY."""
    optional: bool = False
    """Whether trends without the variable exist; they form the null group."""


@dataclass(frozen=True, slots=True)
class Part:
    """One pattern of single trends: the whole pattern, or one side of AND."""

    automaton: Automaton
    bits: tuple[tuple[int, ...], ...]
    """Per letter (positive variables in automaton order, then negated ones): the bits of the scan's
    mask that an event must have all. One bit each, but for the trends of both sides of an AND."""
    negated: tuple[str, ...]
    columns: tuple[PairColumn, ...]
    constants: tuple[Constant, ...]
    programs: tuple[Code, ...]
    conditions: tuple[str, ...]
    """Per program: the query's words."""
    adjacent: dict[tuple[int, int], int]
    """(earlier variable, later variable) → program, by automaton variable numbers."""
    bindings: tuple[Binding, ...]
    grain: Grain

    @property
    def event_grained(self) -> tuple[bool, ...]:
        """Per state: whether an arrow out of it has a predicate."""
        automaton = self.automaton
        looked_at = {
            arrow.source
            for arrow in automaton.arrows
            if arrow.source >= 0
            and (automaton.states[arrow.source].variable, arrow.variable) in self.adjacent
        }
        return tuple(state in looked_at for state in range(len(automaton.states)))


@dataclass(frozen=True, slots=True)
class Output:
    """A result column. Hidden ones serve HAVING only."""

    name: str
    value: Aggregate | GroupKey
    hidden: bool = False


@dataclass(frozen=True)
class Plan:
    """What a host scans, what the engine keeps, what comes out."""

    query: Query
    """With every variable named."""
    scan: Scan
    parts: tuple[Part, ...]
    overlap: Part | None
    """For AND whose sides can match the same trend: the trends of both."""
    semantics: Semantics
    window: TimeWindow | CountWindow | None
    strategy: WindowStrategy
    group_by: tuple[GroupKey, ...]
    outputs: tuple[Output, ...]
    having: exp.Expression | None
    """Over the names of `outputs`."""
    operand_of: dict[tuple[str, str, str], int]
    """(variable, attribute, kind name) → operand, for the aggregates."""
    exponential: bool
    """Whether the number of trends can be exponential in the events (COGRA Table 4)."""

    @property
    def lists(self) -> bool:
        """Whether it is of the trends themselves, not of aggregates over them."""
        return self.scan.row_numbers

    @property
    def plain_groups(self) -> int:
        """How many leading partition attributes are GROUP-BY attributes."""
        return sum(key.variable is None for key in self.group_by)

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The parts, and behind them the one that counts their overlap."""
        return self.parts if self.overlap is None else (*self.parts, self.overlap)

    @property
    def group_variables(self) -> list[int]:
        """Places in GROUP-BY of attributes of variables."""
        return [k for k, key in enumerate(self.group_by) if key.variable is not None]

    def folding(self, part: Part) -> Folding | None:
        """The fast path's view of a part; None where it does not apply: it needs type grain,
        nothing bound, and guards that clearing can express."""
        if part.adjacent or part.bindings:
            return None
        anew = self.strategy is not WindowStrategy.CHANGES
        return fold_guards(
            part.automaton, part.negated, self.semantics, leading=anew, trailing=anew
        )

    def stepping(self, part: Part) -> Folding | None:
        """The fast path's view of a part with conditions between neighbours, where these can be
        told from the rows (contiguous); the arrows name the conditions' programs."""
        contiguous = self.semantics is Semantics.CONTIGUOUS
        if not contiguous or not part.adjacent or part.bindings:
            return None
        fast = fold_guards(
            part.automaton, part.negated, self.semantics, leading=True, trailing=False
        )
        if fast is None:
            return None
        # Contiguous states have one cell each: cells are numbered as states are, armed ones last.
        adjacent = {
            (number, later): condition
            for number, state in enumerate(part.automaton.states)
            for (earlier, later), condition in part.adjacent.items()
            if state.variable == earlier
        }
        asks = (adjacent.get((a.source, a.variable), -1) for a in fast.arrows)
        return replace(fast, asks=tuple(asks))

    def part_of(self, variable: str) -> int:
        """The part whose trends hold the variable."""
        return next(i for i, p in enumerate(self.parts) if variable in p.automaton.variables)
