"""`trendloom warm-up`: compile the kernels now rather than in the first query."""

import time

import typer

QUERIES = (
    "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+",
    "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+ SEMANTICS next WITHIN 2 s SLIDE 1 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(B).x",
)
EVENTS = [{"time": t, "type": kind, "x": t} for t, kind in enumerate("AAB")]


def warm_up() -> None:
    """Compile the kernels, once per installation; queries after that start at once.

    The compiled code is kept beside the package, or in the user's cache if that is read-only.
    """
    from trendloom.api import run

    started = time.perf_counter()
    for query in QUERIES:
        run(query, EVENTS, time="time", type="type")
    typer.echo(f"Kernels ready after {time.perf_counter() - started:.1f} s.")
