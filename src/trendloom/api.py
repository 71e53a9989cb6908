"""What a user types: `query`, `run`, `aggregate`, `trends`, `matches`."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from trendloom.errors import TrendloomError, collecting_warnings, one_of
from trendloom.language import GroupKey, Query, parse
from trendloom.listed import Matches, Trends
from trendloom.result import Result, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from threading import Event

    import altair

    from trendloom.cet.wanted import Wanted
    from trendloom.engine.stopping import Work
    from trendloom.errors import TrendloomWarning
    from trendloom.hosts.local.host import Outcome
    from trendloom.hosts.local.listing import Listed
    from trendloom.hosts.scan.formulas import Asked
    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan

HOSTS = ("local",)
NUMBERS = ("auto", "exact")


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

    def explain(self, format: str = "text", events: Any = None, **options: Any) -> str:  # noqa: A002
        """What will be kept and what it costs: "text", "json" or "mermaid".

        Without RETURN, and with events and the options of `trends`, also what is expected of these
        events: graphs, the number of trends, the algorithm, where it cuts, and what that holds.
        """
        from trendloom.plan.explain import explain

        if events is None:
            return explain(self.plan, format)
        if not self.plan.lists or format != "text":
            raise TrendloomError(
                "Events are looked at only to explain, as text, how their trends are listed.",
                remedy="Leave events out, or RETURN.",
            )
        found, listed = _listing(self, events, *_parted(options))
        listed.survey()
        return found.explain()

    def picture(
        self, events: Any, *, graphlets: int | None = None, title: str | None = None, **options: Any
    ) -> altair.TopLevelMixin:
        """A chart of how the trends of these events are found: graph, cuts, what each way costs.

        The graph with the most trends among those small enough to be looked at. Options as for
        `trends`. Its cuts are those of the listing, or make so many `graphlets` of about one size.
        """
        load("altair", "trendloom[plot]", "A picture")
        from trendloom.view.graphlets import draw_sketch

        _, listed = _listing(self, events, *_parted(options))
        return draw_sketch(listed.sketch(graphlets), title)

    def __repr__(self) -> str:
        return f"TrendQuery({self.text!r})"


def query(text: str | Query) -> TrendQuery:
    """Parse and check a query. Errors point at the place in the text.

    With RETURN it is for `run` and its likes, without for `trends`.
    """
    from trendloom.plan.planner import plan

    tree = _tree(text)
    return TrendQuery(plan(tree, listing=not tree.returns))


def aggregation(query: str | Query | TrendQuery) -> TrendQuery:
    """`query` for those that aggregate: one without RETURN is refused."""
    from trendloom.plan.planner import plan

    if isinstance(query, TrendQuery) and not query.plan.lists:
        return query
    return TrendQuery(plan(_tree(query)))


def _tree(query: str | Query | TrendQuery) -> Query:
    if isinstance(query, str):
        return parse(query)
    if isinstance(query, TrendQuery):
        return query.tree
    if isinstance(query, Query):
        return query
    raise TrendloomError(
        f"A query is text, not {query.__class__.__name__}.",
        remedy="Pass the query first, then the events.",
    )


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
    date_format: str | None = None,
    hive_partitioning: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    threads: int | None = None,
    memory_limit: str | int | None = None,
    cancel: Event | None = None,
) -> Result:
    """Run a query over events and return its rows.

    `events`: paths or globs (Parquet, CSV, JSON lines), Arrow, pandas or polars frames, DuckDB
    relations, lists of dicts. `time` names the time column; `type` the column of event types, or
    `event_type` the one type of all rows. `tick` is the unit of an integer time column, `tiebreak`
    a column that orders simultaneous events. `numbers="exact"` returns integers of any size.
    `threads` is how many cores may be used at once; default: all of them. `memory_limit` ("2 GB")
    bounds what is held meanwhile; default: what there is. `cancel`, once another thread sets it,
    ends the run with a `CancelledError`. `date_format` says how dates are written in text files
    ("%d/%m/%Y"); with `hive_partitioning`, folders name columns.
    """
    options = {
        "time": time, "type": type, "event_type": event_type, "tick": tick, "tiebreak": tiebreak,
        "numbers": numbers, "host": host, "bad_rows": bad_rows, "progress": progress,
        "threads": threads, "memory_limit": memory_limit, "cancel": cancel,
        "date_format": date_format, "hive_partitioning": hive_partitioning,
    }  # fmt: skip
    return _run(query, events, options)


def _run(
    query: str | Query | TrendQuery,
    events: Any,
    options: dict[str, Any],
    *,
    one_by_one: bool = False,
) -> Result:
    from trendloom.cet.memory import read_limit
    from trendloom.engine.layout import Numbers
    from trendloom.engine.stopping import Work
    from trendloom.hosts.local.host import run_local

    reading, others = _parted(options)
    given = {"numbers": "auto", "host": "local", "threads": None, **others}
    one_of("host", given.pop("host"), HOSTS)
    one_of("numbers", given["numbers"], NUMBERS)
    check_threads(given["threads"])
    given["numbers"] = Numbers(given["numbers"])
    limit = given.pop("memory_limit", None)
    given["memory"] = None if limit is None else read_limit(limit)
    work = Work(given.pop("cancel", None))
    given["progress"] = work.reporting(given.get("progress"))
    with collecting_warnings() as told:
        checked = aggregation(query)
        started = clock.perf_counter()
        outcome = work.call(
            lambda: run_local(checked.plan, events, reading, one_by_one=one_by_one, **given)
        )
        return result_of(checked.plan, outcome, clock.perf_counter() - started, told)


def result_of(
    plan: Plan, outcome: Outcome, elapsed: float, told: Iterable[TrendloomWarning]
) -> Result:
    """A host's outcome, as users have it, and what was told while it was made."""
    visible = [output for output in plan.outputs if not output.hidden]
    return Result(
        outcome.table,
        tuple(o.name for o in visible if isinstance(o.value, GroupKey)),
        tuple(o.name for o in visible if not isinstance(o.value, GroupKey)),
        outcome.events,
        outcome.dropped_rows,
        elapsed,
        outcome.order,
        tuple(told),
    )


def check_threads(threads: int | None) -> None:
    """None is all cores."""
    if threads is not None and threads < 1:
        raise TrendloomError(
            f"A query cannot run on {threads} threads.",
            remedy="Give threads=1 or more, or leave it out to use all cores.",
        )


def aggregate(events: Any, query: str | Query | TrendQuery, **options: Any) -> Any:
    """`run` as a step of a frame: pandas, polars or Spark in, the same out; else Arrow.

    `df.pipe(tl.aggregate, query=…, time=…)`; Spark: `df.transform(tl.aggregate, query=…, time=…)`
    """
    if type(events).__module__.startswith("pyspark.sql."):
        from trendloom.hosts.spark.host import run_spark

        return run_spark(aggregation(query).plan, events, **options)
    result = run(query, events, **options)
    library = events.__class__.__module__.partition(".")[0]
    if library == "pandas":
        return result.to_pandas()
    if library == "polars":
        return result.to_polars()
    return result.to_arrow()


def trends(
    query: str | Query | TrendQuery,
    events: Any,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    memory_limit: str | int | None = None,
    algorithm: str = "auto",
    optimizer: str = "bnb",
    limit: int | None = None,
    after: int | None = None,
    all: bool = False,  # noqa: A002
    longest: int | None = None,
    top: int | None = None,
    by: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    attributes: str | Sequence[str] = (),
    max_results: int | None = None,
    bad_rows: str = "error",
    date_format: str | None = None,
    hive_partitioning: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    cancel: Event | None = None,
) -> Trends:
    """List the complete trends of a query without RETURN: those that no other trend contains.

    `events` and how to read them: as for `run`. The trends come in batches while they are found;
    `limit` stops after so many, `max_results` counts first and refuses more, `after` goes on behind
    the trend of that number. `memory_limit` ("512 MB"; default: a fourth of what there is) bounds
    what is held meanwhile. `algorithm`: "m" (least memory), "t" (most), "h" (between, cut by the
    `optimizer`), or "auto". With `all`, every trend is listed, complete or not, under the query's
    semantics. Of each window and partition: `longest=k` lists the k longest, `top=k` those of the
    largest `by="SUM(S.price)"`, `sample=k` draws k uniformly, with replacement, by `seed`.
    `attributes` of the events are listed too, as a list of structs per trend.
    """
    from trendloom.hosts.scan.reading import Reading

    options = {
        "memory_limit": memory_limit, "algorithm": algorithm, "optimizer": optimizer,
        "limit": limit, "after": after, "all": all, "longest": longest, "top": top, "by": by,
        "sample": sample, "seed": seed, "attributes": attributes,
        "max_results": max_results,
    }  # fmt: skip
    reading = Reading(
        time, type, event_type, tick, tiebreak, bad_rows, date_format, hive_partitioning
    )
    found, _ = _listing(query, events, reading, options, progress, cancel)
    return found


def _listing(
    query: str | Query | TrendQuery,
    events: Any,
    reading: Reading,
    options: dict[str, Any],
    progress: Callable[[int, int | None], None] | None = None,
    cancel: Event | None = None,
) -> tuple[Trends, Listed]:
    """The trends, and what looks at them without listing any."""
    from trendloom.engine.stopping import Work
    from trendloom.hosts.local.listing import list_local

    work = Work(cancel)
    report = work.reporting(progress)
    with collecting_warnings() as told:
        planned, wanted = _wanted(query, options)
        listed = work.call(lambda: list_local(planned, events, wanted, reading, progress=report))
    listed = replace(
        listed,
        batches=work.iterate(listed.batches),
        survey=partial(work.call, listed.survey),
        sketch=partial(_called, work, listed.sketch),
    )
    return Trends(planned, listed.schema, listed.batches, listed.happened, told), listed


def _called(work: Work, job: Callable[..., Any], *given: Any) -> Any:
    return work.call(partial(job, *given))


def listing_of(
    query: str | Query | TrendQuery, options: dict[str, Any]
) -> tuple[Plan, Wanted, Reading]:
    """For hosts that list: the plan, which trends, and how events are read."""
    reading, which = _parted(options)
    return *_wanted(query, which), reading


def _parted(options: dict[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """Options by name: those that say how events are read, and the others."""
    from dataclasses import fields

    from trendloom.hosts.scan.reading import Reading

    names = {one.name for one in fields(Reading)}
    reading = Reading(**{k: v for k, v in options.items() if k in names})
    return reading, {k: v for k, v in options.items() if k not in names}


def _wanted(query: str | Query | TrendQuery, options: dict[str, Any]) -> tuple[Plan, Wanted]:
    from trendloom.cet.wanted import Wanted
    from trendloom.plan.listing import carrying, check_semantics, check_unanchored
    from trendloom.plan.planner import plan

    which = {k: v for k, v in options.items() if k != "all"}
    wanted = Wanted.read(every=options.get("all", False), **which)
    planned = plan(_tree(query), listing=True)
    check_semantics(planned, every=wanted.every)
    if wanted.best is not None or wanted.sample is not None:
        check_unanchored(planned)
    return carrying(planned, wanted.attributes, wanted.by), wanted


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
    date_format: str | None = None,
    hive_partitioning: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    cancel: Event | None = None,
) -> Matches:
    """List the complex events of a formula of the logic ACEL, in batches while they are found.

    `events` and how to read them: as for `run`; events of the same time follow as in the input.
    `partition_by` names attributes on which all events of a result agree. `within` ("10 min", "100
    events") and `slide` make windows as in the trend language; a result is listed in each window
    that has it. Without `slide` every result is listed once, if it is shorter than `within`.
    """
    from trendloom.engine.stopping import Work
    from trendloom.hosts.local.matches import match_local

    options = {
        "time": time, "type": type, "event_type": event_type, "tick": tick, "tiebreak": tiebreak,
        "partition_by": partition_by, "within": within, "slide": slide, "limit": limit,
        "bad_rows": bad_rows, "date_format": date_format, "hive_partitioning": hive_partitioning,
    }  # fmt: skip
    work = Work(cancel)
    report = work.reporting(progress)
    with collecting_warnings() as told:
        asked, reading = formula_of(formula, options)
        listed = work.call(lambda: match_local(asked, events, reading, progress=report))
    return Matches(listed.schema, work.iterate(listed.batches), told)


def formula_of(formula: str, options: dict[str, Any]) -> tuple[Asked, Reading]:
    """For hosts that match: what is asked, and how events are read."""
    from trendloom.hosts.scan.formulas import Asked

    reading, rest = _parted(options)
    partition_by = rest.pop("partition_by", ())
    if isinstance(partition_by, str):
        raise TrendloomError(
            "partition_by is a list of names.", remedy=f"Write partition_by=[{partition_by!r}]."
        )
    return Asked(formula, tuple(partition_by), **rest), reading


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
    Events of one partition that have the same time are refused unless a `tiebreak` orders them.
    """
    options |= {"partition_by": partition_by, "within": within, "slide": slide}
    asked, rest = query_of(formula, returns, options)
    return _run(asked, events, {"time": time, **rest}, one_by_one=True)


def query_of(formula: str, returns: str, options: dict[str, Any]) -> tuple[Query, dict[str, Any]]:
    """The query that aggregates a formula's complex events, and the options that are left."""
    from trendloom.acel.parser import parse as parse_formula
    from trendloom.acel.to_trends import to_query
    from trendloom.acel.windows import read_window

    rest = dict(options)
    partition_by = rest.pop("partition_by", ())
    window = read_window(rest.pop("within", None), rest.pop("slide", None))
    read = parse_formula(formula)
    return to_query(read, formula, returns, partition_by=partition_by, window=window), rest
