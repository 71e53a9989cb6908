"""The command line as a shell sees it."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
LETTERS = ("--input", str(EXAMPLES / "streams/letters.csv"), "--time", "time", "--type", "type")
COUNT = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"


def trendloom(
    *words: str, stdin: bytes | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "trendloom.cli.main", *words],
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        cwd=cwd,
        timeout=120,
        check=False,
    )
