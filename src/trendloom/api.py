"""What a user types: `query`, `run`, `aggregate`, `trends`, `matches`."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trendloom.errors import TrendloomError, one_of
from trendloom.language import GroupKey, Query, parse
from trendloom.listed import Matches, Trends
from trendloom.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trendloom.plan.plan import Plan

HOSTS = ("local",)
NUMBERS = ("auto", "exact")
BAD_ROWS = ("error", "drop")


@dataclass(frozen=True, repr=False)
class TrendQuery:
    """A checked query: it parses, its variables exist, its pattern has a plan."""

    plan: Plan

    @property
    def text(self) -> str:
        return self.plan.query.text

    @property
    def tree(self) -> Query:
        """The syntax tree, with every variable named."""
        return self.plan.query

    def explain(self, format: str = "text") -> str:  # noqa: A002
        """What will be kept and what it costs: "text", "json" or "mermaid"."""
        from trendloom.plan.explain import explain

        return explain(self.plan, format)

    def __repr__(self) -> str:
        return f"TrendQuery({self.text!r})"


def query(text: str | Query) -> TrendQuery:
    """Parse and check a query. Errors point at the place in the text."""
    from trendloom.plan.planner import plan

    if not isinstance(text, str | Query):
        raise TrendloomError(
            f"A query is text, not {text.__class__.__name__}.",
            remedy="Pass the query first, then the events.",
        )
    return TrendQuery(plan(parse(text) if isinstance(text, str) else text))


def run(
    query: str | Query | TrendQuery,
    events: Any,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    numbers: str = "auto",
    host: str = "local",
    bad_rows: str = "error",
    progress: Callable[[int, int | None], None] | None = None,
    threads: int | None = None,
) -> Result:
    """Run a query over events and return its rows.

    `events`: paths or globs (Parquet, CSV, JSON lines), Arrow, pandas or polars frames, DuckDB
    relations, lists of dicts. `time` names the time column; `type` the column of event types, or
    `event_type` the one type of all rows. `tick` is the unit of an integer time column, `tiebreak`
    a column that orders simultaneous events. `numbers="exact"` returns integers of any size.
    `threads` is how many cores may be used at once; default: all of them.
    """
    from trendloom.engine.layout import Numbers
    from trendloom.hosts.local.host import run_local

    one_of("host", host, HOSTS)
    one_of("numbers", numbers, NUMBERS)
    one_of("bad_rows", bad_rows, BAD_ROWS)
    if threads is not None and threads < 1:
        raise TrendloomError(
            f"A query cannot run on {threads} threads.",
            remedy="Give threads=1 or more, or leave it out to use all cores.",
        )
    checked = query if isinstance(query, TrendQuery) else _query(query)
    started = clock.perf_counter()
    outcome = run_local(
        checked.plan,
        events,
        time=time,
        type=type,
        event_type=event_type,
        tick=tick,
        tiebreak=tiebreak,
        numbers=Numbers(numbers),
        bad_rows="drop" if bad_rows == "drop" else "error",
        progress=progress,
        threads=threads,
    )
    visible = [output for output in checked.plan.outputs if not output.hidden]
    return Result(
        outcome.table,
        tuple(o.name for o in visible if isinstance(o.value, GroupKey)),
        tuple(o.name for o in visible if not isinstance(o.value, GroupKey)),
        outcome.events,
        outcome.dropped_rows,
        clock.perf_counter() - started,
    )


def aggregate(events: Any, query: str | Query | TrendQuery, **options: Any) -> Any:
    """`run` as a step of a frame: pandas, polars or Spark in, the same out; else Arrow.

    `df.pipe(tl.aggregate, query=…, time=…)`; Spark: `df.transform(tl.aggregate, query=…, time=…)`
    """
    if type(events).__module__.startswith("pyspark.sql."):
        from trendloom.hosts.spark.host import run_spark

        checked = query if isinstance(query, TrendQuery) else _query(query)
        return run_spark(checked.plan, events, **options)
    result = run(query, events, **options)
    library = events.__class__.__module__.partition(".")[0]
    if library == "pandas":
        return result.to_pandas()
    if library == "polars":
        return result.to_polars()
    return result.to_arrow()


def trends(
    query: str | Query,
    events: Any,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    memory_limit: str | int | None = None,
    algorithm: str = "auto",
    limit: int | None = None,
    all: bool = False,  # noqa: A002
    best: int | None = None,
    by: str = "length",
    sample: int | None = None,
    seed: int = 0,
    bad_rows: str = "error",
    progress: Callable[[int, int | None], None] | None = None,
) -> Trends:
    """List the complete trends of a query without RETURN: those that no other trend contains.

    `events` and how to read them: as for `run`. The trends come in batches while they are found;
    `limit` stops after so many. `memory_limit` ("512 MB"; default: a fourth of the machine's)
    bounds what is held meanwhile. `algorithm`: "m" (least memory), "t" (most), "h" (between), or
    "auto". With `all`, every trend is listed, complete or not, under the query's semantics.
    Of each window and partition: `best=k` lists the k longest, with `by="S.price"` those of the
    largest SUM(S.price); `sample=k` draws k uniformly, with replacement, by `seed`.
    """
    from trendloom.cet.wanted import Wanted
    from trendloom.hosts.local.listing import list_local
    from trendloom.plan.listing import check_semantics, check_unanchored, with_sum
    from trendloom.plan.planner import plan

    one_of("bad_rows", bad_rows, BAD_ROWS)
    if not isinstance(query, str | Query):
        raise TrendloomError(
            f"A query is text, not {query.__class__.__name__}.",
            remedy="Pass the query first, then the events.",
        )
    wanted = Wanted.read(
        every=all,
        algorithm=algorithm,
        limit=limit,
        memory_limit=memory_limit,
        best=best,
        by=by,
        sample=sample,
        seed=seed,
    )
    planned = plan(parse(query) if isinstance(query, str) else query, listing=True)
    check_semantics(planned, every=all)
    if wanted.best is not None or wanted.sample is not None:
        check_unanchored(planned)
    if wanted.by is not None:
        planned = with_sum(planned, *wanted.by)
    listed = list_local(
        planned,
        events,
        wanted,
        time=time,
        type=type,
        event_type=event_type,
        tick=tick,
        tiebreak=tiebreak,
        bad_rows="drop" if bad_rows == "drop" else "error",
        progress=progress,
    )
    return Trends(listed.schema, listed.batches)


def matches(
    formula: str,
    events: Any,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    partition_by: Sequence[str] = (),
    within: str | None = None,
    slide: str | None = None,
    limit: int | None = None,
    bad_rows: str = "error",
    progress: Callable[[int, int | None], None] | None = None,
) -> Matches:
    """List the complex events of a formula of the logic ACEL, in batches while they are found.

    `events` and how to read them: as for `run`; events of the same time follow as in the input.
    `partition_by` names attributes on which all events of a result agree. `within` ("10 min", "100
    events") and `slide` make windows as in the trend language; a result is listed in each window
    that has it. Without `slide` every result is listed once, if it is shorter than `within`.
    """
    from trendloom.hosts.local.matches import match_local

    one_of("bad_rows", bad_rows, BAD_ROWS)
    if isinstance(partition_by, str):
        raise TrendloomError(
            "partition_by is a list of names.", remedy=f"Write partition_by=[{partition_by!r}]."
        )
    listed = match_local(
        formula,
        events,
        time=time,
        type=type,
        event_type=event_type,
        tick=tick,
        tiebreak=tiebreak,
        partition_by=partition_by,
        within=within,
        slide=slide,
        limit=limit,
        bad_rows="drop" if bad_rows == "drop" else "error",
        progress=progress,
    )
    return Matches(listed.schema, listed.batches)


def aggregate_matches(
    formula: str,
    returns: str,
    events: Any,
    *,
    time: str,
    partition_by: Sequence[str] = (),
    within: str | None = None,
    slide: str | None = None,
    **options: Any,
) -> Result:
    """Aggregate the complex events of a formula, without finding each: "COUNT(*), SUM(X.price)".

    For formulas of which every complex event is a trend (docs/acel.md); others are refused.
    Events of one partition must differ in time, or a `tiebreak` must tell them apart.
    """
    from trendloom.acel.parser import parse as parse_formula
    from trendloom.acel.to_trends import to_query
    from trendloom.acel.windows import read_window

    asked = to_query(
        parse_formula(formula),
        formula,
        returns,
        partition_by=partition_by,
        window=read_window(within, slide),
    )
    return run(asked, events, time=time, **options)


_query = query
