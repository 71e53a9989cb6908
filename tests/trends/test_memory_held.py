"""Memory limits as the operating system sees them: the process's own high-water mark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trendloom.cet import feed, memory
from trendloom.errors import LimitError

PROGRAM = Path(__file__).with_name("memory_held.py")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the mark")
@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("bare", ["16 MB", "64 MB", "256 MB"]),
        ("wide", ["64 MB", "128 MB"]),
        ("long", ["64 MB"]),
        # A sort of long rows has at least 192 MB for itself.
        ("windows", ["224 MB"]),
        ("shuffled", ["64 MB"]),
    ],
)
def test_what_is_held(kind: str, limits: list[str]) -> None:
    """3^11 trends, with 30 attributes or long texts, or windows over long or shuffled events."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), kind, *limits], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(limits)
    for one in told:
        assert one["held"] <= memory.read_limit(one["limit"]), told
        assert one["trends"] == 3**11 or kind in ("windows", "shuffled")


def test_events_of_open_windows_count() -> None:
    import pyarrow as pa

    from trendloom.engine.windows import Windows
    from trendloom.language import parse
    from trendloom.plan.planner import plan

    batch = pa.record_batch(
        {"time": list(range(1_000)), "mask": [1] * 1_000, "x0": ["y" * 1_000] * 1_000}
    )
    windows = Windows.of(plan(parse("PATTERN A+"), listing=True), 1)
    waiting = feed.Feed(windows, 0, 4 << 20)
    assert waiting.push(batch) is None
    with pytest.raises(LimitError, match=r"2,000 events of windows that are not over take 1\.9 MB"):
        waiting.push(batch)
