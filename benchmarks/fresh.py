"""Work in a process of its own, whose start and peak of memory are those of the work alone."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.events import CACHE

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]


def peak_of(function: Callable[..., object], *arguments: str | int) -> int:
    """Bytes that a new process had in memory at most while it ran `function(*arguments)`."""
    call = json.dumps([function.__module__, function.__qualname__, *arguments])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", call],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{function.__qualname__}{arguments} failed:\n{done.stderr}")
    return int(done.stdout.splitlines()[-1])


def environment() -> dict[str, str]:
    """As on a user's machine, where byte code is kept; here outside of the repository."""
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return usual | {"PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")}


def _peak() -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        import resource

        # In bytes on macOS. Not used on Linux, where a process starts with its parent's maximum.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _main(call: str) -> None:
    module, name, *arguments = json.loads(call)
    function: Any = getattr(importlib.import_module(module), name)
    function(*arguments)
    print(_peak())


if __name__ == "__main__":
    _main(sys.argv[1])
