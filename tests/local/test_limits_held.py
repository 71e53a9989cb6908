"""Limits of `run` as the operating system sees them: the process's own high-water mark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trendloom.cet.memory import read_limit

PROGRAM = Path(__file__).with_name("limits_held.py")
RISING = "PATTERN A+ WHERE A.x < NEXT(A).x"
CASES = [
    ("RETURN COUNT(*) PATTERN A+", 1_000_000, "64 MB", "auto"),
    (f"RETURN COUNT(*), SUM(A.y), MAX(A.y) {RISING}", 200_000, "96 MB", "auto"),
    (f"RETURN SUM(A.y) {RISING} AND A.y < NEXT(A).y", 50_000, "32 MB", "auto"),
    ("RETURN COUNT(*), SUM(A.y) PATTERN A+ WHERE A.x + NEXT(A).x < 0.1", 12_000, "16 MB", "auto"),
    ("RETURN COUNT(*) PATTERN A+ WHERE A.x + NEXT(A).x < 0.1", 8_000, "24 MB", "exact"),
    ("RETURN COUNT(DISTINCT A) PATTERN A+ WHERE A.x + NEXT(A).x < 0.1", 8_000, "24 MB", "auto"),
]  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the mark")
def test_what_runs_hold() -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps(CASES)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(CASES)
    for one, case in zip(told, CASES, strict=True):
        assert one["held"] <= read_limit(one["limit"]), (case, one)
