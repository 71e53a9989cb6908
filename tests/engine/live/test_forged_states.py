"""Ten thousand forged states: each is refused with a StateError, or goes on without a crash."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = 5_000


@pytest.mark.parametrize("seed", [17, 18])
def test_forged_states_are_refused_or_go_on_and_nothing_escapes(seed: int, tmp_path: Path) -> None:
    """In a process of their own, where a segmentation fault is a failure and not the end."""
    at_hand = tmp_path / "case"
    run = subprocess.run(
        [sys.executable, str(HERE / "forged_states.py"), str(seed), "0", str(CASES), str(at_hand)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, f"case {at_hand.read_text()}: {run.stderr[-3000:]}"
    summary = json.loads(run.stdout)
    assert not summary["escapes"], "\n".join(summary["escapes"])
    told = summary["told"]
    assert told["refused"] + told["accepted"] + told["same"] == CASES
    assert told["refused"] > CASES / 2
    assert told["accepted"] > CASES / 10, "forgeries that are all refused test no kernel"
