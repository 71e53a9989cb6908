"""The report, as Markdown: every claim with its newest figures, its bar and its chart.

A claim that misses its bar says by how much, and why where its benchmark knows: a module may hold
`CAUSES`, from the beginning of a claim to the reason.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import charts
from benchmarks.history import newest
from benchmarks.report import HEADINGS, RESULTS, cells_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from benchmarks.harness import Figure
    from benchmarks.history import Measured

REPORT = Path(__file__).parent / "REPORT.md"
INTRODUCTION = """\
# Measured

Written by `python -m benchmarks --report` from the files in `results/`, one of each run: of every
benchmark the newest run at full size counts. [README.md](README.md) says how to run them.

- Contenders take turns within one run (A B A B …), after turns that do not count. A ratio is taken
  turn by turn; *measured* is the median of the turns, *spread* the least and the greatest,
  *before* the median of the last run before that one.
- *Load* is the machine's load average before the run: what others did with its cores meanwhile.
"""


def write(names: Sequence[str], results: Path = RESULTS, path: Path = REPORT) -> list[str]:
    """Renders what was measured, in the order of `names`; returns those that never were."""
    found = newest(results)
    known = {name: found[name] for name in names if name in found}
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in known}
    for name, measured in known.items():
        if measured.can_draw:
            charts.save(modules[name].draw(measured.figures), results / name)
    sections = [_section(name, modules[name], known[name], results, path) for name in known]
    absent = [name for name in names if name not in known]
    parts = [INTRODUCTION, _overview(known, absent), _machines(known), *sections]
    path.write_text("\n".join(parts))
    return absent


def _overview(known: Mapping[str, Measured], absent: Sequence[str]) -> str:
    lines = ["## Overview", "", "| benchmark | bars met | when | size | load | commit |"]
    lines.append("|---|---|---|---|---|---|")
    for name, measured in known.items():
        bars = [figure.met for figure in measured.figures if figure.bar is not None]
        met = f"{sum(map(bool, bars))} of {len(bars)}" if bars else "no bar"
        cells = [f"[{name}](#{name})", met, measured.when[:16].replace("T", " ")]
        machine = measured.machine
        cells += [measured.size.value, f"{machine['load_before']:.1f}", machine["commit"] or "?"]
        lines.append(_line(cells))
    lines += ["", *([f"Not measured yet: {', '.join(absent)}.", ""] if absent else [])]
    return "\n".join(lines)


def _machines(known: Mapping[str, Measured]) -> str:
    """Each machine with its versions once, and what ran there if there are several."""
    where: dict[str, list[str]] = {}
    for name, measured in known.items():
        machine = measured.machine
        packages = ", ".join(f"{package} {at}" for package, at in machine["packages"].items())
        told = (
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB;"
            f" {machine['system']}; Python {machine['python']}, {packages}"
        )
        where.setdefault(told, []).append(name)
    one = len(where) == 1
    lines = [f"- {told}" + ("" if one else f": {', '.join(on)}") for told, on in where.items()]
    return "\n".join(["## Machine", "", *lines, ""])


def _section(name: str, module: ModuleType, measured: Measured, results: Path, report: Path) -> str:
    assert module.__doc__ is not None
    lines = [f"## {name}", "", module.__doc__.strip(), ""]
    lines += [_line([*HEADINGS[:3], "before", *HEADINGS[3:]]), "|---|--:|--:|--:|--:|---|"]
    causes: dict[str, str] = getattr(module, "CAUSES", {})
    for figure in measured.figures:
        claim, median, spread, bar, _ = cells_of(figure)
        earlier = measured.before.get(figure.claim)
        before = "" if earlier is None else charts.number(earlier)
        lines.append(_line([claim, median, spread, before, bar, verdict(figure, causes)]))
    chart = (results / name).with_suffix(".svg")
    if chart.exists():
        lines += ["", f"![{name}]({_beside(chart, report)})"]
    return "\n".join([*lines, ""])


def verdict(figure: Figure, causes: Mapping[str, str]) -> str:
    """Met, or by how much missed and why."""
    if figure.bar is None:
        return ""
    if figure.met:
        return "yes"
    by = figure.bar.missed_by(figure.measured)
    reasons = [why for claim, why in causes.items() if figure.claim.startswith(claim)]
    return f"**no**, by {charts.number(by)} ×" + "".join(f": {why}" for why in reasons[:1])


def _beside(chart: Path, report: Path) -> str:
    return chart.resolve().relative_to(report.resolve().parent).as_posix()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
