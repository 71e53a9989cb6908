"""Many queries at once: `workload`."""

from __future__ import annotations

import time as clock
from collections.abc import ItemsView, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from trendloom.api import NUMBERS, TrendQuery, check_threads, query, result_of
from trendloom.errors import (
    InputError,
    TrendloomError,
    WorkloadError,
    collecting_warnings,
    did_you_mean,
    one_of,
)
from trendloom.language import Query
from trendloom.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    import pyarrow as pa

    from trendloom.errors import TrendloomWarning
    from trendloom.live import LiveWorkload
    from trendloom.workloads.sharing import Sharing

Asked: TypeAlias = "str | Query | TrendQuery"


@dataclass(frozen=True, repr=False)
class Workload:
    """Checked queries by name, to be run in one pass over the events.

    It never changes: `add`, `replace` and `remove` give a new one, whose other queries are the
    same objects and are not checked again.
    """

    queries: Mapping[str, TrendQuery]
    _shared: dict[str, Sharing] = field(default_factory=dict, init=False, compare=False)
    """By mode: decided once, whatever the number of runs."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", MappingProxyType(dict(self.queries)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, name: str) -> TrendQuery:
        return self.queries[self._known(name)]

    def items(self) -> ItemsView[str, TrendQuery]:
        """Names and queries: `trendloom.spark.run` takes a workload as it takes a mapping."""
        return self.queries.items()

    def __repr__(self) -> str:
        return f"Workload({', '.join(self.names)})"

    def add(self, name: str, asked: Asked) -> Workload:
        """With one more query."""
        if name in self.queries:
            raise TrendloomError(
                f"There is a query '{name}' already.",
                remedy="Give it another name, or use replace().",
            )
        return Workload({**self.queries, **_checked({_name(name): asked})})

    def replace(self, name: str, asked: Asked) -> Workload:
        """With another query under a known name, in the same place."""
        return Workload({**self.queries, **_checked({self._known(name): asked})})

    def remove(self, name: str) -> Workload:
        """Without one query."""
        gone = self._known(name)
        if len(self) == 1:
            raise TrendloomError(
                "The last query of a workload cannot be removed.", remedy="Use replace()."
            )
        return Workload({k: one for k, one in self.queries.items() if k != gone})

    def run(
        self,
        events: Any,
        *,
        time: str,
        type: str | None = None,  # noqa: A002
        event_type: str | None = None,
        tick: str = "s",
        tiebreak: str | None = None,
        numbers: str = "auto",
        bad_rows: str = "error",
        date_format: str | None = None,
        hive_partitioning: bool = False,
        mode: str = "dynamic",
        progress: Callable[[int, int | None], None] | None = None,
        threads: int | None = None,
        cancel: Event | None = None,
    ) -> Results:
        """The rows that each query has alone, in one pass over the events.

        All but `mode` as for `trendloom.run`. Queries with common prefixes are run as one, and
        those with a common Kleene sub-pattern share its bursts, where that is cheaper ("dynamic"),
        wherever they can ("always"), or not ("never").
        """
        from trendloom.engine.layout import Numbers
        from trendloom.engine.stopping import Work
        from trendloom.hosts.local.workload import run_workload
        from trendloom.hosts.scan.reading import Reading

        one_of("numbers", numbers, NUMBERS)
        reading = Reading(
            time, type, event_type, tick, tiebreak, bad_rows, date_format, hive_partitioning
        )
        check_threads(threads)
        started = clock.perf_counter()
        work = Work(cancel)
        with collecting_warnings() as told:
            outcomes, metrics = work.call(
                lambda: run_workload(
                    self._sharing(mode),
                    events,
                    reading,
                    numbers=Numbers(numbers),
                    progress=work.reporting(progress),
                    threads=threads,
                )
            )
        elapsed = clock.perf_counter() - started
        some = next(iter(outcomes.values()))
        ordered = {
            name: result_of(one.plan, outcomes[name], elapsed, warnings_of(name, told))
            for name, one in self.queries.items()
        }
        counts = some.events, some.dropped_rows, elapsed
        return Results(ordered, *counts, metrics, warnings=tuple(told))

    def live(
        self,
        *,
        time: str,
        type: str | None = None,  # noqa: A002
        event_type: str | None = None,
        tick: str = "s",
        tiebreak: str | None = None,
        watermark: str | None = None,
        mode: str = "append",
        schema: pa.Schema | None = None,
        numbers: str = "auto",
        bad_rows: str = "error",
        date_format: str | None = None,
        hive_partitioning: bool = False,
        threads: int | None = None,
        state: bytes | None = None,
        state_key: bytes | str | None = None,
    ) -> LiveWorkload:
        """The queries over events that come bit by bit: push them, take the rows that are final.

        `watermark`: how long after a later event one may still come ("2 minutes"); without it, rows
        come as each push is told, and at the end. `mode`: a window's row once, when it is over
        ("append"), or whenever it may have changed ("update"). `schema`: the types of the columns;
        by default those of the first events. `state`: what `save` gave, to go on from there.
        `state_key`: signs what `save` gives, and admits only states that it has signed. All others
        as for `run`.
        """
        from trendloom.engine.layout import Numbers
        from trendloom.engine.live import Mode
        from trendloom.engine.machine import usable_cores
        from trendloom.engine.signing import key_bytes
        from trendloom.hosts.local.live import Feeding, Terms
        from trendloom.hosts.local.live_state import read
        from trendloom.hosts.local.tables import Types
        from trendloom.hosts.scan.reading import Reading
        from trendloom.live import LiveWorkload, read_delay

        one_of("numbers", numbers, NUMBERS)
        one_of("mode", mode, [one.value for one in Mode])
        check_threads(threads)
        terms = Terms(
            Reading(
                time, type, event_type, tick, tiebreak, bad_rows, date_format, hive_partitioning
            ),
            Mode(mode),
            Numbers(numbers),
            usable_cores() if threads is None else threads,
            read_delay(watermark),
        )
        plans = {name: one.plan for name, one in self.queries.items()}
        types = Types.of(schema)
        key = key_bytes(state_key)
        if state is None:
            feeding = Feeding(plans, terms, types)
        else:
            feeding = read(state, plans, terms, types, key)
        return LiveWorkload(self, feeding, key)

    def explain(self, format: str = "text", *, mode: str = "dynamic") -> str:  # noqa: A002
        """Who shares what with whom, and why others do not: "text", "json" or "mermaid"."""
        from trendloom.workloads.explain import explain

        return explain(self._sharing(mode), format)

    def _sharing(self, mode: str) -> Sharing:
        from trendloom.workloads.sharing import MODES, share

        one_of("mode", mode, MODES)
        if mode not in self._shared:
            plans = {name: one.plan for name, one in self.queries.items()}
            self._shared[mode] = share(plans, mode)
        return self._shared[mode]

    def _known(self, name: str) -> str:
        if name not in self.queries:
            raise TrendloomError(
                f"There is no query '{name}'.", remedy=did_you_mean(str(name), self.queries)
            )
        return name


def warnings_of(name: str, told: Iterable[TrendloomWarning]) -> list[TrendloomWarning]:
    """Those that are about one query of a workload, or about all of them."""
    return [one for one in told if not one.queries or name in one.queries]


def workload(queries: Mapping[str, Asked] | Iterable[Asked] | str | Path) -> Workload:
    """Check many queries, all of them, before any is run.

    `queries`: a mapping from names; a list, whose queries are q1, q2, …; or the path of a folder,
    whose `.tq` files are named by their stems. Errors of all queries are raised at once.
    """
    if isinstance(queries, Workload):
        return queries
    if isinstance(queries, str | Path):
        return Workload(_from_folder(queries))
    if isinstance(queries, Query | TrendQuery) or not isinstance(queries, Iterable):
        raise TrendloomError(
            f"A workload is a list, a mapping or a folder, not {queries.__class__.__name__}.",
            remedy="For a single query use run().",
        )
    if isinstance(queries, Mapping):
        named = {_name(name): asked for name, asked in queries.items()}
    else:
        named = {f"q{number}": asked for number, asked in enumerate(queries, 1)}
    if not named:
        raise TrendloomError("The workload has no queries.", remedy="Give it at least one.")
    return Workload(_checked(named))


def _from_folder(folder: str | Path) -> dict[str, TrendQuery]:
    from trendloom.workloads.reading import read_folder, read_text

    files = read_folder(folder)
    texts: dict[str, str] = {}
    wrong: dict[str, TrendloomError] = {}
    for name, file in files.items():
        try:
            texts[name] = read_text(file)
        except InputError as error:
            wrong[str(file)] = error
    checked, errors = _check(texts)
    wrong |= {str(files[name]): error for name, error in errors.items()}
    if wrong:
        raise WorkloadError(dict(sorted(wrong.items())), len(files))
    return checked


def _checked(queries: Mapping[str, Asked]) -> dict[str, TrendQuery]:
    checked, wrong = _check(queries)
    if wrong:
        raise WorkloadError(wrong, len(queries))
    return checked


def _check(
    queries: Mapping[str, Asked],
) -> tuple[dict[str, TrendQuery], dict[str, TrendloomError]]:
    checked: dict[str, TrendQuery] = {}
    wrong: dict[str, TrendloomError] = {}
    for name, asked in queries.items():
        try:
            checked[name] = asked if isinstance(asked, TrendQuery) else query(asked)
        except TrendloomError as error:
            wrong[name] = error
    return checked, wrong


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise TrendloomError(
            f"A query's name is text, not {name!r}.", remedy="Use letters, for example 'rises'."
        )
    return name
