"""The constants of the benefit model, measured on this machine (and not guessed).

They are kept in the user's cache directory, under a version: a file of another version, or one that
cannot be read, is measured anew; where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from trendloom.kernels.burst_choice import Costs

VERSION = 1
USUAL = Costs(event=20.0, column=0.0, snapshot=65.0, query=30.0, alone=25.0)
"""Nanoseconds without conditions between events, if nobody has measured."""
USUAL_PAIRS = Costs(event=15.0, column=7.0, snapshot=60.0, query=2500.0, alone=25.0)
"""And with: events are multiplied by the logarithm of their number, queries counted per window."""


def cache_file() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trendloom" / "hamlet-costs.json"


def load(path: Path | None = None) -> tuple[Costs, Costs] | None:
    """The costs that were measured here, without and with conditions between events."""
    try:
        kept = json.loads((path or cache_file()).read_text())
        if kept["version"] != VERSION:
            return None
        free, paired = (
            Costs(*(float(kept[name][field]) for field in Costs._fields))
            for name in ("free", "paired")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return free, paired


def save(free: Costs, paired: Costs, path: Path | None = None) -> None:
    target = path or cache_file()
    kept = {"version": VERSION, "free": free._asdict(), "paired": paired._asdict()}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(kept, indent=2) + "\n")
    except OSError:
        return


def known() -> tuple[Costs, Costs]:
    """Measured costs, or the usual ones."""
    return load() or (USUAL, USUAL_PAIRS)
