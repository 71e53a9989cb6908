"""The constants of the benefit model, measured on this machine (and not guessed).

`trendloom calibrate` keeps them in the user's cache directory, under a version and with the name of
the processor. A file of another version, of another processor, or one that cannot be read is never
used: the usual constants are, and who runs or explains a workload is told why.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from trendloom.errors import TrendloomWarning, warn
from trendloom.kernels.burst_choice import Costs

VERSION = 2
VARIABLE = "TRENDLOOM_CALIBRATION"
"""Environment variable: the file to use instead."""
REMEDY = "Measure anew with `trendloom calibrate`."
USUAL = Costs(event=20.0, column=0.0, snapshot=65.0, query=30.0, alone=25.0)
"""Nanoseconds without conditions between events, if nobody has measured."""
USUAL_PAIRS = Costs(event=15.0, column=7.0, snapshot=60.0, query=2500.0, alone=25.0)
"""And with: events are multiplied by the logarithm of their number, queries counted per window."""


class CalibrationWarning(TrendloomWarning):
    """Measured constants are there and cannot be used."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured, when and where."""

    free: Costs
    paired: Costs
    """With conditions inside E+."""
    made: str
    """A date, as text."""
    machine: str

    def as_dict(self) -> dict[str, object]:
        return {
            "version": VERSION,
            "made": self.made,
            "machine": self.machine,
            "free": self.free._asdict(),
            "paired": self.paired._asdict(),
        }


@dataclass(frozen=True, slots=True)
class Known:
    """The constants to decide with, and where they are from."""

    costs: tuple[Costs, Costs]
    origin: str
    trouble: str | None = None
    """Why measured ones are not used, though there is a file."""


def cache_file() -> Path:
    """Where the constants are kept."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trendloom" / "hamlet-costs.json"


def machine() -> str:
    """The processor, as the system calls it: constants of another one are no use."""
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def load(path: Path | None = None) -> Calibration | str | None:
    """What the file holds; None if there is none, or what is wrong with it."""
    try:
        text = (path or cache_file()).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except ValueError:
        return "is not a calibration"
    try:
        kept = json.loads(text)
        if kept["version"] != VERSION:
            return "is from another version of Trendloom"
        free, paired = (_costs(kept[name]) for name in ("free", "paired"))
        found = Calibration(free, paired, str(kept["made"]), str(kept["machine"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return "is not a calibration"
    here = machine()
    return found if found.machine == here else f"is of another machine ({found.machine})"


def _costs(kept: dict[str, float]) -> Costs:
    costs = Costs(*(float(kept[field]) for field in Costs._fields))
    if not all(isfinite(one) and one >= 0 for one in costs):
        raise ValueError("costs are finite and not negative")
    return costs


def known() -> Known:
    """Measured costs, or the usual ones."""
    usual = (USUAL, USUAL_PAIRS)
    match load():
        case Calibration() as found:
            origin = f"calibrated on {found.made} ({found.machine})"
            return Known((found.free, found.paired), origin)
        case None:
            return Known(usual, "default constants; `trendloom calibrate` measures this machine's")
        case reason:
            return Known(usual, "default constants", f"'{cache_file()}' {reason}")


def used() -> tuple[Costs, Costs]:
    """The costs to decide with; warns if measured ones cannot be used."""
    found = known()
    if found.trouble is not None:
        cause = f"{found.trouble}; workloads are shared by default constants."
        warn(CalibrationWarning(cause, remedy=REMEDY))
    return found.costs
