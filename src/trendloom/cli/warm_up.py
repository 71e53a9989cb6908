"""`trendloom warm-up`: compile the kernels now rather than in the first query."""

import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

import typer

from trendloom.cli.progress import progress_bar
from trendloom.errors import TrendloomWarning

QUERIES = (
    "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+",
    "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+ SEMANTICS next WITHIN 2 s SLIDE 1 s",
    "RETURN MIN(A.x), MAX(LENGTH(*)) PATTERN (SEQ(A+, B))+",
    "RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(B).x",
    "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) WHERE A.x < NEXT(B).x",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x",
    "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x",
    "RETURN COUNT(*) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x",
    "RETURN COUNT(*), SUM(A.x) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS next WHERE A.x < NEXT(B).x",
    "RETURN COUNT(*) PATTERN A+ WITHIN 2 s",
    "RETURN COUNT(*) PATTERN A+ WITHIN 2 EVENTS SLIDE 1 EVENTS",
)
OVERLAPPING = (
    "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) WITHIN 300 s SLIDE 1 s",
    "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) SEMANTICS next WITHIN 300 s SLIDE 1 s",
    "RETURN MIN(A.x), MAX(LENGTH(*)) PATTERN SEQ(A+, B) WITHIN 300 s SLIDE 1 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 300 s",
    "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 300 s SLIDE 10 s",
    "RETURN COUNT(*), SUM(A.x) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 300 s SLIDE 10 s",
)
"""Windows that hold enough of the many events for maps to pay."""
PAIRED = "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x <= NEXT(A).x AND A.x + 1 > NEXT(A).x"
"""Two comparisons, of which few events are not ranked."""
SHARDED = (
    "RETURN x, COUNT(*), VARIANCE(A.x) PATTERN SEQ(A+, B) GROUP-BY x WITHIN 2 s SLIDE 1 s",
    "RETURN k, COUNT(*), MAX(A.x) PATTERN SEQ(A, B) GROUP-BY k WITHIN 2 s SLIDE 1 s",
    "RETURN x, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY x WITHIN 8 s SLIDE 8 s",
    "RETURN k, COUNT(*) PATTERN SEQ(A, B) GROUP-BY k WITHIN 8 s SLIDE 8 s",
)
LISTED = (
    "PATTERN SEQ(A{1,2}, NOT B, A+)",
    "PATTERN A+ WHERE A.x < NEXT(A).x",
    "PATTERN A+ WHERE A.x = NEXT(A).x",
)
CUT = "PATTERN A+ WHERE A.x < NEXT(A).x"
"""Listed in so little memory that the graph is cut."""
MATCHED = (
    "A ; B",
    "A+ FILTER A[increasing(x)]",
    "PROJECT[Y](AGG[Y(s = SUM(A.x))](A+))",
)
SHARED = (
    "RETURN COUNT(*), SUM(A.x), MIN(A.x) PATTERN SEQ({}, A+) WITHIN 4 s SLIDE 4 s",
    "RETURN COUNT(*) PATTERN SEQ({}, A+) WHERE A.x <= NEXT(A).x WITHIN 4 s SLIDE 4 s",
    "RETURN COUNT(*) PATTERN SEQ({}, A, D)",
    "RETURN COUNT(*) PATTERN SEQ({}, A+, D)",
)
"""Of workloads: bursts that two queries share, then infixes, counted in integers and in doubles."""
UPDATED = "RETURN COUNT(*), SUM(A.x) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 8 s SLIDE 8 s"
EVENTS = [
    {"time": t, "type": kind, "x": t % 2, "k": kind}
    for t, kind in [(3, "A"), (1, "A"), (2, "B"), (4, "B")]
]
BURSTS = [{"time": t, "type": "BC"[t % 16] if t % 16 < 2 else "A", "x": t % 2} for t in range(48)]
LAYERS = [{"time": t // 3, "type": "A", "x": t // 3} for t in range(30)]
MANY_EVENTS = [{"time": t, "type": "AB"[t % 2], "x": t % 2} for t in range(400)]


def warm_up() -> None:
    """Compile the kernels, once per installation; queries after that start at once.

    The compiled code is kept beside the package, or in the user's cache if that is read-only.
    """
    started = time.perf_counter()
    # Compiling holds the interpreter's lock, so cores are used by processes. Long ones go first.
    work = [
        *((_run_many, query) for query in (*OVERLAPPING, PAIRED)),
        *((_run, query) for query in QUERIES),
        *((_as_workers_do, query) for query in SHARDED),
        *((_list, query) for query in LISTED),
        (_cut, CUT),
        *((_match, formula) for formula in MATCHED),
        *((_share, query) for query in SHARED),
        (_update, UPDATED),
    ]
    from trendloom.engine.machine import usable_cores

    fresh = get_context("spawn")
    with (
        progress_bar("Compiling", unit="%") as report,
        ProcessPoolExecutor(
            max_workers=usable_cores(), mp_context=fresh, initializer=_be_quiet
        ) as pool,
    ):
        waiting = [pool.submit(prepare, query) for prepare, query in work]
        for done, finished in enumerate(as_completed(waiting), 1):
            finished.result()
            if report is not None:
                report(done, len(work))
    typer.echo(f"Kernels ready after {time.perf_counter() - started:.1f} s.")


def _be_quiet() -> None:
    """The events have ties, and lack types, so that all kernels are met."""
    warnings.simplefilter("ignore", TrendloomWarning)


def _run(query: str, events: list[dict[str, Any]] = EVENTS) -> None:
    from trendloom.api import run

    run(query, events, time="time", type="type")


def _run_many(query: str) -> None:
    _run(query, MANY_EVENTS)


def _list(query: str) -> None:
    from trendloom.api import trends

    for algorithm in ("m", "h"):
        trends(query, EVENTS, time="time", type="type", algorithm=algorithm).rows()


def _cut(query: str) -> None:
    from trendloom.api import trends

    trends(query, LAYERS, time="time", type="type", algorithm="h", memory_limit="1 MB").to_arrow()


def _match(formula: str) -> None:
    from trendloom.api import matches

    matches(formula, EVENTS, time="time", type="type").rows()


def _share(query: str) -> None:
    from trendloom.several import workload

    for mode in ("always", "dynamic"):
        workload([query.format(start) for start in "BC"]).run(
            BURSTS, time="time", type="type", mode=mode
        )


def _update(query: str) -> None:
    from trendloom.several import workload

    live = workload([query]).live(time="time", type="type", mode="update", watermark="0 s")
    for at in range(0, len(MANY_EVENTS), 100):
        live.push(MANY_EVENTS[at : at + 100])


def _as_workers_do(text: str) -> None:
    """Sort, shards, maps and a stream's vectors: what a Spark worker would compile otherwise."""
    import pyarrow as pa

    from trendloom.api import query
    from trendloom.engine.live.live import Live
    from trendloom.engine.maps import make_maps
    from trendloom.engine.product import Product
    from trendloom.engine.setting import Setting
    from trendloom.engine.shards import shard_numbers, split
    from trendloom.engine.sort import sort_events
    from trendloom.engine.strewn import reduce_events
    from trendloom.hosts.scan.project import Projector
    from trendloom.hosts.scan.reading import Reading

    plan = query(text).plan
    table = pa.Table.from_pylist(EVENTS)
    projector = Projector(plan.scan, table.schema, Reading("time", "type"))
    scan = projector(table).table
    types = projector.operand_types, projector.partition_types
    setting = Setting(plan, *types, projector.axis.nanoseconds)
    split(scan, shard_numbers([scan.column("p0")], 2), 2)
    product = Product(setting)
    product.add(make_maps(setting, sort_events(scan, 1)))
    product.add(reduce_events(setting, scan.sort_by("time")))
    product.finish()
    live = Live(setting)
    live.advance(scan, None)
    live.advance(None, 100)
