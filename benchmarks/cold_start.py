"""The first answer of a new process comes in less than two seconds.

Kernels are compiled once per installation and then read from disk, as byte code is: the turn that
does not count fills both caches.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import charts
from benchmarks.fresh import environment
from benchmarks.harness import Figure, Size, at_most, take_turns

if TYPE_CHECKING:
    import altair as alt

QUERY = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"
EVENTS = "time,type\n1,A\n2,B\n3,A\n4,A\n5,B\n"
LIMIT = 2.0


def run(size: Size) -> list[Figure]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "small.csv"
        path.write_text(EVENTS)
        ask = f"from trendloom import run; run({QUERY!r}, {str(path)!r}, time='time', type='type')"
        command = ["run", "-q", QUERY, "--input", str(path), "--time", "time", "--type", "type"]
        programs = {
            "command line, first result": ["-m", "trendloom.cli.main", *command],
            "Python, first result": ["-c", ask],
            "import trendloom.api": ["-c", "import trendloom.api"],
            "import trendloom": ["-c", "import trendloom"],
            "Python alone": ["-c", "pass"],
        }
        contenders = {name: partial(_start, words) for name, words in programs.items()}
        seconds = take_turns(contenders, size.turns, warm_up=size is not Size.TINY)
    return [
        Figure(name, samples, "s", at_most(LIMIT) if "result" in name else None, name)
        for name, samples in seconds.items()
    ]


def _start(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment())


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Cold start",
        subtitle="A new process, from start to end; the line is the bar",
        axis="seconds",
        rule=LIMIT,
    )
