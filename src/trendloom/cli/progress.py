"""A progress bar on the standard error, for people who would otherwise wait."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

PATIENCE = 0.5
"""Seconds before a bar appears."""

Report = Callable[[int, int | None], None]


@contextmanager
def progress_bar(
    what: str,
    clock: Callable[[], float] = time.monotonic,
    *,
    unit: Literal["events", "%"] = "events",
) -> Iterator[Report | None]:
    """Takes reports of (events done, total or None); nothing at all off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    started = clock()
    bar: list[tuple[Any, Any]] = []

    def report(done: int, total: int | None) -> None:
        if not bar and clock() - started >= PATIENCE:
            bar.append(_start(what, unit))
        for drawn, task in bar:
            drawn.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        for drawn, _ in bar:
            drawn.stop()


def _start(what: str, unit: str) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    drawn = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(
            "{task.completed:,.0f} events" if unit == "events" else "{task.percentage:.0f} %"
        ),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = drawn.add_task(what, total=None)
    drawn.start()
    return drawn, task
