"""Lists trends within a limit and tells the process's high-water mark: a program of its own.

`memory_held.py KIND LIMIT…`: a line of JSON per limit, which should rise, as the mark does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import trendloom as tl

QUERY = "PATTERN Check c+ WHERE c.dst = NEXT(c).src"
LAYERS = 11
WIDE = [f"a{k}" for k in range(30)]


def mark() -> int:
    (line,) = [
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    ]
    return int(line.split()[1]) * 1024


def events(kind: str) -> tuple[pa.Table, str, list[str]]:
    """3^11 trends of 11 events, or windows of few trends: of long events, or out of order."""
    if kind == "shuffled":
        numbers = np.random.default_rng(1).permutation(200_000)
        source = numbers % 50_000
        table = pa.table({"ts": numbers, "src": source, "dst": source + 7})
        return table, f"{QUERY} WITHIN 600 s SLIDE 600 s", []
    if kind == "windows":
        rows = 20_000
        numbers = np.arange(rows)
        text = [f"{k} {'y' * 1_000}" for k in numbers]
        source = numbers % 1_000
        table = pa.table({"ts": numbers, "src": source, "dst": source + 7, "a": text})
        return table, f"{QUERY} WITHIN 600 s SLIDE 300 s", ["a"]
    layer = [k // 3 for k in range(3 * LAYERS)]
    columns: dict[str, Any] = {"ts": layer, "src": layer, "dst": [k + 1 for k in layer]}
    if kind == "wide":
        columns |= {name: [k * 0.5 for k in layer] for name in WIDE}
        return pa.table(columns), QUERY, WIDE
    if kind == "long":
        columns["a"] = [f"{k} {'x' * 50_000}" for k in range(3 * LAYERS)]
        return pa.table(columns), QUERY, ["a"]
    return pa.table(columns), QUERY, []


def main(kind: str, limits: list[str]) -> None:
    reading: dict[str, Any] = {"time": "ts", "event_type": "Check"}
    small = {"ts": [0, 1], "src": [0, 1], "dst": [1, 2]}
    for algorithm in ("m", "h"):
        tl.trends(QUERY, small, algorithm=algorithm, **reading).to_arrow()
    table, query, attributes = events(kind)
    before = mark()
    for limit in limits:
        for algorithm in ("m", "h"):
            found = tl.trends(
                query, table, memory_limit=limit, algorithm=algorithm, attributes=attributes,
                **reading,
            )  # fmt: skip
            trends = sum(batch.num_rows for batch in found)
        told = {"limit": limit, "trends": trends, "held": mark() - before}
        sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
