"""Runs under limits: how far each raised the process's high-water mark, as JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import trendloom as tl


def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def main(cases: list[tuple[str, int, str, str]]) -> None:
    draw = np.random.default_rng(1)
    for text, count, limit, numbers in cases:
        table = pa.table({"t": np.arange(count), "x": draw.random(count), "y": draw.random(count)})
        options = {"time": "t", "event_type": "A", "memory_limit": limit, "numbers": numbers}
        tl.run(text, table.slice(0, 100), **options)  # type: ignore[arg-type]
        before = status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        tl.run(text, table, **options)  # type: ignore[arg-type]
        sys.stdout.write(json.dumps({"held": status("VmHWM") - before, "limit": limit}) + "\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
