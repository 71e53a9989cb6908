"""Compiled kernels on disk: right when many processes write them, and when a callee changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float64")
INNER = """
from trendloom.kernels.compiled import kernel

@kernel
def raised(value):
    return value + 1
"""
OUTER = """
from trendloom.kernels.compiled import kernel
from pack.inner import raised

@kernel
def total(values):
    found = 0.0
    for value in values:
        found += raised(value)
    return found
"""
CALL = """
import sys, time
import numpy as np
from pack.outer import total
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
found = {total(np.ones(3, dtype)) for dtype in sys.argv[2:]}
print(*found, sum(total.stats.cache_hits.values()))
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    home = tmp_path / "pack"
    home.mkdir()
    for name, text in {"__init__": "", "inner": INNER, "outer": OUTER}.items():
        (home / f"{name}.py").write_text(text)
    return home


def start(pack: Path, when: float, *types: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(pack.parent), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(pack.parent / "cache")}
    command = [sys.executable, "-c", CALL, str(when), *types]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str]) -> list[float]:
    """The totals, then how many signatures were found on disk."""
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return [float(word) for word in out.split()]


def test_processes_that_compile_at_once_keep_each_other_s_code(pack: Path) -> None:
    at_once = time.time() + 4
    started = [start(pack, at_once, one) for one in TYPES]
    assert [told(one)[0] for one in started] == [6.0] * len(TYPES)
    assert told(start(pack, 0, *TYPES)) == [6.0, len(TYPES)]


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(pack: Path) -> None:
    assert told(start(pack, 0, "int64")) == [6.0, 0]
    assert told(start(pack, 0, "int64")) == [6.0, 1]
    inner = pack / "inner.py"
    inner.write_text(INNER.replace("+ 1", "+ 3"))
    later = inner.stat().st_mtime + 10
    os.utime(inner, (later, later))
    assert told(start(pack, 0, "int64")) == [12.0, 0]
