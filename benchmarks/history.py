"""What was measured before: one JSON file per run, and of each benchmark the run that counts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Bar, Figure, Samples, Size

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measured:
    """One benchmark's figures, and when, at which size and on which machine they were taken."""

    when: str
    size: Size
    machine: dict[str, Any]
    figures: list[Figure]
    can_draw: bool
    """Whether the file holds what a chart needs; those of before labels were kept do not."""
    before: dict[str, float] = field(default_factory=dict)
    """Medians of the same claims in the last run before it, of the same size."""


def newest(directory: Path) -> dict[str, Measured]:
    """Of each benchmark the newest run at full size, else the newest quick one; no tiny one."""
    counts: dict[str, Measured] = {}
    for path in sorted(directory.glob("*.json")):
        found = json.loads(path.read_text())
        size = Size(found["size"])
        if size is Size.TINY:
            continue
        for name, figures in found["benchmarks"].items():
            before = counts.get(name)
            if before is None or _order(size, found["when"]) >= _order(before.size, before.when):
                counts[name] = Measured(
                    found["when"],
                    size,
                    found["machine"],
                    [_figure(figure) for figure in figures],
                    all("label" in figure for figure in figures),
                    _medians(before) if before is not None and before.size is size else {},
                )
    return counts


def _medians(measured: Measured) -> dict[str, float]:
    return {figure.claim: figure.measured.median for figure in measured.figures}


def _order(size: Size, when: str) -> tuple[bool, str]:
    return size is Size.FULL, when


def _figure(found: dict[str, Any]) -> Figure:
    bar = None
    if found["bar"] is not None:
        sign, value = found["bar"].split()
        bar = Bar(sign, float(value))
    return Figure(
        found["claim"],
        Samples(tuple(found["turns"])),
        found["unit"],
        bar,
        found.get("label", ""),
        tuple(found["points"]),
    )
