"""One shard of a stream: events in any order and a watermark in, finished rows out.

A watermark W says that every event still to come has a time of W or later. So

1. an event that comes with an earlier time is late: it is handed back, and not used;
2. the order of the events before W is final, and they can be looked at;
3. a window that ends at W or before is over, and its row comes out.

A shard holds many partitions, always all of a group. What it keeps is vectors, vectors with entries
by value, or events; the rows are the same, and the same as those of a batch over all events that
were not late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from trendloom.engine import wire
from trendloom.engine.arrow import from_numpy
from trendloom.engine.live import state
from trendloom.engine.live.entries import Entries, can_keep_entries
from trendloom.engine.live.events import Events
from trendloom.engine.live.mode import Mode, check_streamable, may_lose_trends
from trendloom.engine.live.numbered import Numbered
from trendloom.engine.live.sheet import Sheet
from trendloom.engine.live.vectors import Vectors
from trendloom.engine.live.waiting import FIRST, fitted, times
from trendloom.engine.run import find_centres
from trendloom.engine.scanned import event_schema
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.engine.setting import Setting


@dataclass(frozen=True)
class Step:
    """What came of one step."""

    rows: pa.Table
    """As `Run.finish` gives them."""
    late: pa.Table
    """Late events, as they came."""
    events: int
    """How many were used or wait, without the late ones."""

    @property
    def late_events(self) -> int:
        return int(self.late.num_rows)

    @property
    def matches(self) -> int:
        """How many rows came out."""
        return int(self.rows.num_rows)


class Live:
    """Give it events and the watermark with `advance`; rest with `save`, go on with `restore`."""

    def __init__(
        self, setting: Setting, mode: Mode = Mode.APPEND, *, keep_events: bool = False
    ) -> None:
        """`keep_events`: even where vectors would do."""
        check_streamable(setting.plan)
        self.setting = setting
        self.mode = mode
        self.watermark: int | None = None
        self.events = 0
        self.late_events = 0
        self.rows = 0
        self._evaluators = setting.evaluators()
        # A vector does not tell whether its window has been shown with trends before.
        forgets = mode is Mode.UPDATE and may_lose_trends(setting.plan)
        folds = all(evaluator.folds for evaluator in self._evaluators)
        strategy = setting.windows.strategy
        sliding = strategy is WindowStrategy.SLIDING
        kind: type[Vectors | Events | Numbered] = Events
        if sliding and not (forgets or keep_events):
            if folds:
                kind = Vectors
            elif mode is Mode.UPDATE and can_keep_entries(setting, self._evaluators):
                kind = Entries
        if strategy is WindowStrategy.COUNTED:
            kind = Numbered
        self._keeper = kind(setting, self._evaluators, mode)
        self._no_rows: pa.Table | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept: a new object would go on as well."""
        return self._keeper.is_empty

    @property
    def ties(self) -> int:
        """Events behind the watermark that share their time with another one of their partition."""
        return self._keeper.ties

    @property
    def deadline(self) -> int | None:
        """The least watermark at which a row may come out, or must be looked for; None: never."""
        return self._keeper.deadline(FIRST if self.watermark is None else self.watermark)

    def advance(self, events: pa.Table | None, watermark: int | None) -> Step:
        """The next events, in any order, and the watermark in force for them, in ticks."""
        before = FIRST if self.watermark is None else self.watermark
        now = before if watermark is None else max(before, watermark)
        used, late = 0, event_schema(self.setting, None).empty_table()
        if events is not None:
            used, late = self._take(events, now)
        rows = self._keeper.move(before, now) if now > before else None
        if now > FIRST:
            self.watermark = now
        if self.is_empty:
            for evaluator in self._evaluators:
                evaluator.centres.clear()
        step = Step(self._nothing() if rows is None else rows, late, used)
        self.events += used
        self.late_events += step.late_events
        self.rows += step.matches
        return step

    def _take(self, events: pa.Table, now: int) -> tuple[int, pa.Table]:
        """Lets events wait; how many, and the late ones."""
        wanted = fitted(self.setting, events)
        time = times(wanted)
        late = time < now
        if late.any():
            wanted = wanted.filter(from_numpy(~late))
            time = time[~late]
        self.setting.windows.check_range(time)
        if len(time):
            wanted = wanted.combine_chunks()
            find_centres(self._evaluators, wanted.to_batches()[0])
            self._keeper.waiting.add(wanted)
        return len(time), events.filter(from_numpy(late))

    def _nothing(self) -> pa.Table:
        if self._no_rows is None:
            sheet = Sheet(self.setting, self._evaluators)
            self._no_rows = sheet.table(sheet.rows())
        return self._no_rows

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    def save(self) -> bytes:
        """Everything that `restore` needs."""
        facts = {
            **self._identity(),
            "watermark": self.watermark,
            "events": self.events,
            "late": self.late_events,
            "rows": self.rows,
            "centres": state.centres_out(self._evaluators),
        }
        return state.write(facts, self._keeper.tables())

    @classmethod
    def restore(cls, setting: Setting, mode: Mode, data: bytes) -> Self:
        """Goes on where `save` was. A StateError if the bytes are not of this query."""
        facts, tables = state.read(data)
        # Events mean the same in every version, also in one that keeps vectors for the query.
        live = cls(setting, mode, keep_events=facts["keeps"] == Events.NAME)
        with wire.reading():
            state.check(facts, live._identity())
            live.watermark = facts["watermark"]
            live.events, live.late_events, live.rows = facts["events"], facts["late"], facts["rows"]
            state.centres_in(live._evaluators, facts["centres"])
            live._keeper.load(tables, FIRST if live.watermark is None else live.watermark)
        return live

    def _identity(self) -> dict[str, object]:
        keeper = self._keeper
        return state.identity(self.setting, self.mode, keeper.NAME, keeper.shape)
