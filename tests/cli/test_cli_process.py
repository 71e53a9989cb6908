"""Real processes: exit codes, the two outputs, pipes, signals, files."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_command import COUNT, EXAMPLES, LETTERS, trendloom

from trendloom.cli.stopping import PATIENCE, stopper


def test_rows_to_stdout_and_nothing_else() -> None:
    done = trendloom("run", "-q", COUNT, *LETTERS, "--json")
    assert done.returncode == 0
    assert done.stderr == b""
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"window_start": None, "window_end": None, "COUNT(*)": 43}
    ]


def test_the_standard_input() -> None:
    events = (EXAMPLES / "streams/letters.csv").read_bytes()
    done = trendloom(
        "run",
        "-q",
        COUNT,
        "--input",
        "-",
        "--time",
        "time",
        "--type",
        "type",
        "-f",
        "csv",
        stdin=events,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines() == ['"window_start","window_end","COUNT(*)"', ",,43"]


def test_a_wrong_query_is_a_message_without_a_traceback() -> None:
    done = trendloom("run", "-q", "RETURN COUNT(*) PATERN A+", *LETTERS)
    assert done.returncode == 1
    assert done.stdout == b""
    message = done.stderr.decode()
    assert "Did you mean 'PATTERN'?" in message
    assert "^^^^^^" in message
    assert "Traceback" not in message


def test_wrong_usage() -> None:
    done = trendloom("run", *LETTERS)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Usage: " in done.stderr


def test_an_existing_output_stays(tmp_path: Path) -> None:
    target = tmp_path / "rows.parquet"
    target.write_text("precious")
    refused = trendloom("run", "-q", COUNT, *LETTERS, "--output", str(target))
    assert refused.returncode == 1
    assert b"--overwrite" in refused.stderr
    assert target.read_text() == "precious"

    done = trendloom("run", "-q", COUNT, *LETTERS, "--output", str(target), "--overwrite")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert b"Wrote 1 row to" in done.stderr
    assert pq.read_table(target).column("COUNT(*)").to_pylist() == [43]
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_found_before_the_work_is_done(tmp_path: Path) -> None:
    done = trendloom("run", "-q", COUNT, *LETTERS, "-o", str(tmp_path / "none" / "rows.csv"))
    assert done.returncode == 1
    assert b"There is no directory" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_failed_query_leaves_no_output(tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    done = trendloom("run", "-q", "RETURN SUM(A.none) PATTERN A+", *LETTERS, "-o", str(target))
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_traceback() -> None:
    command = [sys.executable, "-m", "trendloom.cli.main", "generate", "stock", "-n", "200000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'"ts"')
        process.stdout.close()
        message = process.stderr.read()
        assert process.wait(60) == 1
    assert message == b""


def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trendloom.cli.main", "run", "-q", COUNT, "--time", "t"]
    # It waits for events that never come.
    with subprocess.Popen(
        [*command, "--input", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        # A shell lets what it starts in the background ignore the key, and so would our child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        # More than a pipe holds: once it is written, everything is imported and events are read.
        process.stdin.write(b"t,type\n" + b"1,A\n" * 50_000)
        process.stdin.flush()
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()


def test_a_terminal_gets_a_table() -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "trendloom.cli.main", "run", "-q", COUNT, *LETTERS]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    assert process.wait(60) == 0
    os.close(leader)
    text = shown.decode()
    assert "COUNT(*)" in text
    assert "43" in text
    assert "1 row from 8 events in" in text


def test_version_and_help_are_instant() -> None:
    assert trendloom("--version").stdout.startswith(b"trendloom 0.")
    script = (
        "import sys, trendloom.cli.main; "
        "heavy = {'pyarrow', 'duckdb', 'numba', 'lark', 'sqlglot', 'numpy', 'altair', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


# ── the edge of the command line ─────────────────────────────────────────────────────────────────

SCANNED = "RETURN COUNT(*) PATTERN A+ WHERE A.x + NEXT(A).x < 1"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events whose pairs take minutes to look at."""
    path = tmp_path_factory.mktemp("many") / "events.parquet"
    count = 400_000
    draw = np.random.default_rng(1)
    pq.write_table(pa.table({"t": np.arange(count), "x": draw.random(count) * 2}), path)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_kernel_at_once(number: signal.Signals, many: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trendloom.cli.main", "run", "-q", SCANNED, "-i", str(many)]
    process = subprocess.Popen(
        [*command, "-t", "t", "--event-type", "A", "-o", str(tmp_path / "rows.csv")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        # It tells how long it will take, and begins.
        assert process.stderr.readline().startswith(b"Warning: No index serves")
        time.sleep(0.5)
        started = time.monotonic()
        process.send_signal(number)
        assert process.wait(60) == 128 + number
        assert time.monotonic() - started < 4  # one for the kernel, some for a busy machine
        assert process.stdout.read() == b""
        assert process.stderr.read().count(b"\n") == 1  # the remedy
    assert list(tmp_path.iterdir()) == []


def test_the_first_ctrl_c_waits_for_a_batch_and_not_for_long() -> None:
    given = iter(range(3))
    with stopper() as stop:
        batches = stop.until_asked(given)
        assert next(batches) == 0
        signal.raise_signal(signal.SIGINT)
        assert list(batches) == []
    time.sleep(PATIENCE + 0.1)  # it was heeded: nothing interrupts any more
    started = time.monotonic()
    with stopper():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert time.monotonic() - started < PATIENCE + 1


@pytest.mark.parametrize(
    "words",
    [
        ["run", "-q", COUNT, *LETTERS],
        ["run", "-q", COUNT, *LETTERS, "--json"],
        ["run", "-q", COUNT, *LETTERS, "-f", "csv"],
        ["explain", "-q", COUNT],
        ["--help"],
        ["generate", "stock", "-n", "1000"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_a_full_disk_is_told(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "trendloom.cli.main", *words],
            stdout=full, stderr=subprocess.PIPE, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "Error: No space is left on the device.",
        "Free some, or write elsewhere.",
    ]


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = f"{sys.executable} -m trendloom.cli.main generate stock -n 200000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.startswith(b'"ts"')


def test_control_characters_of_paths_and_columns_stay_out_of_the_terminal(tmp_path: Path) -> None:
    strange = "a\x1b[2Jb\nc\u202ed"
    missing = trendloom("run", "-q", COUNT, "-i", str(tmp_path / f"{strange}.csv"), "-t", "t")
    table = tmp_path / "events.parquet"
    pq.write_table(pa.table({"t": [1], "type": ["A"], strange: [strange]}), table)
    unknown = trendloom(
        "run", "-q", "RETURN SUM(A.ab) PATTERN A+", "-i", str(table), "-t", "t", "--type", "type"
    )
    grouped = trendloom(
        "run", "-q", f"RETURN COUNT(*) PATTERN A+ GROUP-BY `{strange}`", "-i", str(table),
        "-t", "t", "--type", "type",
    )  # fmt: skip
    for done in (missing, unknown, grouped):
        for text in (done.stdout, done.stderr):
            assert b"\x1b" not in text
            assert "\u202e" not in text.decode()
    assert missing.returncode == 1
    assert unknown.returncode == 1
    assert r"\x1b[2Jb\nc\u202ed" in missing.stderr.decode()
    assert r"\x1b[2Jb\nc\u202ed" in unknown.stderr.decode()
