"""What is told of a run: a table to read, JSON to keep, charts to show."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.charts import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.harness import Figure, Size

RESULTS = Path(__file__).parent / "results"
HEADINGS = ("claim", "measured", "spread", "bar", "met")
VERDICT = {True: "yes", False: "NO", None: ""}


def table(figures: list[Figure]) -> str:
    """One line per figure."""
    rows = [HEADINGS, *(cells_of(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = []
    for row in rows:
        claim, *rest = row
        cells = [claim.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  " + "  ".join(cells).rstrip())
    lines.insert(1, "  " + "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def cells_of(figure: Figure) -> tuple[str, ...]:
    """One cell per heading."""
    measured = figure.measured
    return (
        figure.claim,
        f"{number(measured.median)} {figure.unit}".strip(),
        f"{number(measured.low)} .. {number(measured.high)}",
        "" if figure.bar is None else f"{figure.bar.sign} {number(figure.bar.value)}",
        VERDICT[figure.met],
    )


def as_json(
    results: Mapping[str, list[Figure]], size: Size, now: datetime, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that was measured, every turn of it, and on what: `machine`, before it began."""
    return {
        "when": now.isoformat(timespec="seconds"),
        "size": size.value,
        "machine": dict(facts),
        "benchmarks": {
            name: [_figure(figure) for figure in figures] for name, figures in results.items()
        },
    }


def _figure(figure: Figure) -> dict[str, Any]:
    measured = figure.measured
    return {
        "claim": figure.claim,
        "unit": figure.unit,
        "median": measured.median,
        "min": measured.low,
        "max": measured.high,
        "turns": list(measured.values),
        "bar": None if figure.bar is None else f"{figure.bar.sign} {figure.bar.value}",
        "met": figure.met,
        "label": figure.label,
        "points": list(figure.points),
    }


def machine() -> dict[str, Any]:
    """What the numbers depend on besides the code, and which code it was."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    packages = ("trendloom", "numpy", "numba", "pyarrow", "duckdb")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "load_before": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except FileNotFoundError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _commit() -> str | None:
    words = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(
            words, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def write_json(found: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def today() -> datetime:
    return datetime.now(UTC)
