"""`python -m benchmarks [names …] [--quick] [--json PATH]`, `python -m benchmarks --report`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import charts, rendered, report
from benchmarks.harness import Size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness import Figure

NAMES = (
    "type_grain_count",
    "two_states",
    "memory_flat",
    "end_to_end",
    "two_step",
    "cold_start",
    "real_data",
    "lookups",
    "live_updates",
    "adjacent_pairs",
    "windows",
    "exact_integers",
    "contiguous_steps",
    "cogra_figures",
    "threads",
    "workload_prefixes",
    "workload_chop",
    "complete_trends",
    "workload_bursts",
    "workload_real",
    "workload_memory",
    "hamlet_figures",
    "acel_evaluation",
)
ON_SPARK = ("spark_batch", "spark_stream")
"""Asked for by name: they need the extra and Java."""
PEERS = ("against_peers",)
"""Asked for by name: they need an environment of their own, which `make bench-peers` makes."""
REPORTED = NAMES + ON_SPARK + PEERS


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every bar is met, or the size says nothing about them; 1: some bar is missed."""
    asked = _parse(arguments)
    if asked.report:
        _render()
        return 0
    size = Size.QUICK if asked.quick else Size.TINY if asked.tiny else Size.FULL
    now = report.today()
    json_path = asked.json or report.RESULTS / f"{now:%Y-%m-%dT%H%M%S}.json"
    facts = report.machine()
    print(
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB,"
        f" load {facts['load_before']:.1f} before; size: {size.value}"
    )
    results: dict[str, list[Figure]] = {}
    for name in asked.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{name}: {module.__doc__.splitlines()[0]}", flush=True)
        started = time.perf_counter()
        results[name] = module.run(size)
        print(report.table(results[name]))
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
        charts.save(module.draw(results[name]), json_path.parent / name)
        # Whatever stops a run of an hour, the figures so far are kept.
        report.write_json(report.as_json(results, size, now, facts), json_path)
    print(f"\nWrote {json_path} and charts beside it.")
    if not asked.names and not asked.json and size is Size.FULL:
        _render()
    missed = [
        f"{n}: {f.claim}" for n, figures in results.items() for f in figures if f.met is False
    ]
    if missed and size is not Size.TINY:
        print("Missed: " + "; ".join(missed))
        return 1
    return 0


def _render() -> None:
    absent = rendered.write(REPORTED)
    print(f"Wrote {rendered.REPORT}.")
    if absent:
        print(f"Never measured, so not in it: {', '.join(absent)}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join(REPORTED)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {known}")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="fewer events, fewer turns")
    sizes.add_argument("--tiny", action="store_true", help="only show that everything runs")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where the results go")
    parser.add_argument(
        "--report", action="store_true", help="measure nothing: write REPORT.md from the results"
    )
    asked = parser.parse_args(arguments)
    # Not `choices`: argparse would refuse the empty list with them.
    for name in asked.names:
        if name not in REPORTED:
            parser.error(f"no benchmark '{name}'; there are: {known}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
