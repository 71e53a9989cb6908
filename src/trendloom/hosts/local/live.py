"""Queries over events that come bit by bit: one projection for all, one `Live` of the engine each.

A push is two steps of the engine. Events meet the watermark of the pushes before, so that none is
late because of another one of its push; then the watermark moves, and what is over comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.live import Live, Mode, check_streamable
from trendloom.engine.live.waiting import LAST, times
from trendloom.engine.windows import Windows
from trendloom.errors import InputError, StateError, TrendloomError, WorkloadError
from trendloom.hosts.local.host import empty_table
from trendloom.hosts.local.noticed import Met
from trendloom.hosts.local.simultaneous import tell_ties
from trendloom.hosts.local.tables import in_plain_types
from trendloom.hosts.local.workload import each
from trendloom.hosts.scan.bound import Columns
from trendloom.hosts.scan.clock import Clock
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.failures import without_order
from trendloom.hosts.scan.gaps import tell_gaps
from trendloom.hosts.scan.projection import check_letters
from trendloom.hosts.scan.shared import SharedProjector
from trendloom.hosts.scan.type_names import TypeNames
from trendloom.language import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.engine.layout import Numbers
    from trendloom.engine.setting import Setting
    from trendloom.hosts.local.tables import Types
    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan


@dataclass(frozen=True)
class Terms:
    """What does not change while events come."""

    reading: Reading
    mode: Mode
    numbers: Numbers
    threads: int
    delay: int | None
    """Nanoseconds; None: the watermark moves only as it is told."""


@dataclass(frozen=True)
class Pushed:
    """What came of a push."""

    tables: dict[str, pa.Table]
    """Rows that became final, by query."""
    late: pa.Table
    """Events before the watermark, as they came."""
    events: int = 0
    dropped: int = 0

    def and_(self, more: Pushed) -> Pushed:
        """Both, as of one push. Queries are those of the later one."""
        tables = {
            name: pa.concat_tables([self.tables[name], table]) if name in self.tables else table
            for name, table in more.tables.items()
        }
        late = [table for table in (self.late, more.late) if table.num_columns]
        if len(late) > 1:
            # One push may have wide offsets or dictionaries where the other has none.
            late = [pa.concat_tables(map(in_plain_types, late), promote_options="default")]
        return Pushed(
            tables,
            late[0] if late else NOTHING.late,
            self.events + more.events,
            self.dropped + more.dropped,
        )


NOTHING = Pushed({}, pa.table({}))


@dataclass(frozen=True)
class Bound:
    """The queries over columns whose types are known."""

    clock: Clock
    projectors: tuple[SharedProjector, ...]
    settings: Mapping[str, Setting]

    @classmethod
    def of(cls, plans: Mapping[str, Plan], types: Types, terms: Terms) -> Bound:
        """What misfits the types is told here, of all queries at once."""
        columns = Columns({name: str(kind) for name, kind in types.known.items()})
        clock = Clock(types.schema, terms.reading)
        clock.bind()
        each(plans, lambda plan: check_attributes(columns, plan.scan.attributes))
        projectors = tuple(SharedProjector.each(plans, types.schema, terms.reading))
        settings = {
            name: one.setting(name, terms.numbers, terms.threads)
            for one in projectors
            for name in one.plans
        }
        each(plans, lambda plan: Windows.of(plan, clock.axis.nanoseconds))
        return cls(clock, projectors, settings)

    def project(self, table: pa.Table) -> dict[str, pa.Table]:
        """What each query wants of a table's rows, in the engine's columns."""
        wanted = {name: own for one in self.projectors for name, own in one(table)}
        for name, own in wanted.items():
            self.settings[name].windows.check_range(times(own))
        return wanted


@dataclass(frozen=True)
class Arrived:
    """A table of events, told apart."""

    wanted: dict[str, pa.Table]
    """In the engine's columns, by query."""
    late: pa.Table
    rows: int
    dropped: int
    greatest: int | None
    """The last time of those that are not late."""


@dataclass
class Feeding:
    """The queries, their states, and how far time is."""

    plans: Mapping[str, Plan]
    terms: Terms
    types: Types
    lives: dict[str, Live] = field(default_factory=dict)
    bound: Bound | None = None
    watermark: int | None = None
    greatest: int | None = None
    """The last time that was seen."""
    late_events: int = 0
    owed: Pushed = NOTHING
    """Of a push in which another query failed."""
    failed: dict[str, TrendloomError] = field(default_factory=dict)
    finished: bool = False
    met: Met = field(init=False)
    torn: bool = False
    """Whether a push was left in the middle: some queries have its events, others have not."""

    def __post_init__(self) -> None:
        check_queries(self.plans)
        tell_gaps(self.plans)
        self.met = Met(TypeNames.of(self.plans))
        if self.types.known:
            self._settle(Bound.of(self.plans, self.types, self.terms))

    # ── events ───────────────────────────────────────────────────────────────────────────────

    def push(self, table: pa.Table | None, told: Any = None) -> Pushed:
        """`told`: a time of the caller's, before which no event is expected after this push.

        What is wrong with the events is said before any query has seen one.
        """
        self.check_whole()
        if table is None:
            return self._step(NOTHING, {}, self._later(told))
        table, types = self.types.admit(table, self._read)
        bound = self.bound or Bound.of(self.plans, types, self.terms)
        arrived = self._arrive(table, bound)
        now = self._later(told, arrived.greatest, bound)
        self.types = types
        if self.bound is None:
            self._settle(bound)
        self.greatest = _last(self.greatest, arrived.greatest)
        self.late_events += arrived.late.num_rows
        self.met.see(table, bound.clock.type_column)
        pushed = Pushed({}, arrived.late, arrived.rows, arrived.dropped)
        return self._step(pushed, arrived.wanted, now)

    def finish(self) -> Pushed:
        """No more events: everything that is left."""
        self.check_whole()
        pushed = self._step(NOTHING, {}, LAST)
        self.finished = True
        self.met.end(self.terms.reading.event_type)
        return pushed

    def _arrive(self, table: pa.Table, bound: Bound) -> Arrived:
        for name in self._read:
            if name not in table.schema.names:
                raise InputError(
                    f"The events have no column '{name}', and those before had one.",
                    remedy="Give it to all events, with nulls where there is no value.",
                )
        ticks = bound.clock(table)
        rows, bad = table.num_rows, ticks.null_count
        if bad:
            reading = self.terms.reading
            if not reading.drops:
                raise without_order(bad, rows, reading.time, reading.tiebreak)
            table, ticks = table.filter(ticks.is_valid()), ticks.drop_null()
        late = table.slice(0, 0)
        if self.watermark is not None:
            early = pc.less(ticks, self.watermark)
            if pc.any(early).as_py():
                in_time = pc.invert(early)
                late = table.filter(early)
                table, ticks = table.filter(in_time), ticks.filter(in_time)
        greatest = pc.max(ticks).as_py()
        if self.greatest is None and greatest is not None and self._is_timed:
            bound.clock.axis.warn_of_ticks(greatest)
        return Arrived(bound.project(table), late, rows, bad, greatest)

    @property
    def _is_timed(self) -> bool:
        return any(isinstance(plan.window, TimeWindow) for plan in self.plans.values())

    def _later(
        self, told: Any, greatest: int | None = None, bound: Bound | None = None
    ) -> int | None:
        """The watermark in force after a push."""
        now = self.watermark
        bound = bound or self.bound
        if told is not None:
            now = _last(now, _clock(bound).ticks_of(told))
        greatest = _last(self.greatest, greatest)
        if self.terms.delay is not None and greatest is not None:
            now = _last(now, greatest - self.terms.delay // _clock(bound).axis.nanoseconds)
        return now

    def _step(self, pushed: Pushed, wanted: dict[str, pa.Table], now: int | None) -> Pushed:
        self.torn = True
        ties = {name: live.ties for name, live in self.lives.items()}
        tables: dict[str, pa.Table] = {}
        for name, plan in self.plans.items():
            if self.bound is None:
                tables[name] = empty_table(plan)
                continue
            live = self.lives[name]
            try:
                live.advance(wanted.get(name), self.watermark)
                rows = live.advance(None, now).rows
                tables[name] = dressed(plan, rows, self.bound.clock.axis)
            except TrendloomError as error:
                self.failed[name] = error
        self.watermark, self.torn = now, False
        whole = self.owed.and_(replace(pushed, tables=tables))
        if self.failed:
            self.owed = whole
            raise WorkloadError(self.failed, len(self.plans), ran=True)
        # A caller may take warnings for errors: the rows are then owed.
        self.owed = whole
        self._tell(ties)
        self.owed = NOTHING
        return whole

    def _tell(self, before: Mapping[str, int]) -> None:
        """Events that the watermark has passed now, and that share their time with another one."""
        if self.terms.reading.tiebreak is not None:
            return
        queries: dict[tuple[int, bool], list[str]] = {}
        for name, live in self.lives.items():
            kind = live.ties - before.get(name, 0), bool(self.plans[name].scan.partition)
            queries.setdefault(kind, []).append(name)
        for (count, partitioned), names in queries.items():
            tell_ties(count, names, partitioned=partitioned)

    def check_whole(self) -> None:
        """Refuses to go on where that would give wrong rows."""
        if self.finished:
            raise TrendloomError(
                "There are no more events: finish() was called.",
                remedy="Begin anew with live(), or push before finish().",
            )
        if self.torn:
            raise StateError(
                "A push was interrupted: some queries have its events, and others have not.",
                remedy="Begin anew from the bytes of the last save().",
            )
        for name in self.failed:
            raise TrendloomError(
                f"The query '{name}' failed in an earlier push, and has no state to go on with.",
                remedy=f"Use remove('{name}') or replace('{name}', …): the others go on.",
            )

    # ── queries ──────────────────────────────────────────────────────────────────────────────

    def change(self, plans: Mapping[str, Plan]) -> None:
        """Other queries from now on. Those that are the same objects keep their state."""
        kept = {name for name, plan in plans.items() if plan is self.plans.get(name)}
        check_queries({name: plan for name, plan in plans.items() if name not in kept})
        bound = None if self.bound is None else Bound.of(plans, self.types, self.terms)
        self.plans = plans
        self.met = self.met.of(TypeNames.of(plans))
        self.lives = {name: live for name, live in self.lives.items() if name in kept}
        if bound is not None:
            self._settle(bound)
        self.failed = {name: error for name, error in self.failed.items() if name in kept}
        rows = {name: table for name, table in self.owed.tables.items() if name in kept}
        self.owed = replace(self.owed, tables=rows)

    def _settle(self, bound: Bound) -> None:
        """Queries that have no state yet begin here."""
        self.bound = bound
        for name in self.plans:
            if name not in self.lives:
                self.lives[name] = Live(bound.settings[name], self.terms.mode)
                self.lives[name].advance(None, self.watermark)

    @property
    def _read(self) -> list[str]:
        """Columns that queries read: their types are final."""
        attributes = [name for plan in self.plans.values() for name in plan.scan.attributes]
        order = [] if self.bound is None else self.bound.clock.needed
        return list(dict.fromkeys([*order, *attributes])) if order else []


def check_queries(plans: Mapping[str, Plan]) -> None:
    """Refuses those that have no answer before the input ends."""
    each(plans, check_streamable)
    each(plans, lambda plan: check_letters(plan.scan))


def _clock(bound: Bound | None) -> Clock:
    if bound is None:
        raise InputError(
            "No events have come yet, so that nobody knows how they count time.",
            remedy="Push events first, or state their types with schema=.",
        )
    return bound.clock


def _last(one: int | None, other: int | None) -> int | None:
    return max((point for point in (one, other) if point is not None), default=None)
