"""The edge of the command line: what each kind of error says, and with which exit code it ends."""

import errno
from collections.abc import Callable

import duckdb
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from trendloom.cli import check
from trendloom.cli.main import app
from trendloom.errors import InputError, LimitError, QueryError, TrendloomWarning, WorkloadError

STRANGE = "a\x1b[2Jb\nc\u202ed<script>"
HARMLESS = r"a\x1b[2Jb\nc\u202ed<script>"


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError("No.", remedy="Do."), 1, "Error: No.\nDo.\n"),
        (OSError(errno.EACCES, "Permission denied", "/x"), 1, "Error: Permission denied: '/x'.\n"),
        (OSError("odd"), 1, "Error: odd.\n"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), 1, "Error: No space is left on"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),
        (duckdb.IOException("IO Error: torn\nand more"), 1, "Error: DuckDB cannot go on: IO Error"),
        (duckdb.OutOfMemoryException("much"), 1, "Error: Memory ran out: much."),
        (MemoryError(), 1, "Error: Memory ran out."),
        (pa.ArrowMemoryError("malloc of 1"), 1, "Error: Memory ran out: malloc of 1."),
        (RecursionError("maximum"), 1, "Error: The query or its input is nested too deeply."),
        (KeyError(STRANGE), 1, "Error: This is a bug in Trendloom (KeyError: "),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, BaseException) else None,
)
@pytest.mark.parametrize("shown", [False, True])
def test_every_error_is_a_message_and_a_code(
    error: BaseException,
    code: int,
    words: str,
    shown: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRENDLOOM_TRACEBACK", "1" if shown else "")
    monkeypatch.setattr("trendloom.cli.options.read_query", failing(error))
    monkeypatch.setattr(check, "read_query", failing(error))
    done = CliRunner().invoke(app, ["check", "-q", "PATTERN A"])
    assert done.exit_code == code
    assert words in done.stderr
    assert "\x1b" not in done.stderr.replace("Traceback", "")
    traced = "Traceback" in done.stderr
    assert traced == (shown and code == 1 and not isinstance(error, BrokenPipeError))
    if not shown:
        assert done.stderr.startswith(words)
        assert bool(done.stderr) == bool(words)


def test_a_bug_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "read_query", failing(KeyError("x")))
    done = CliRunner().invoke(app, ["check", "-q", "PATTERN A"])
    assert done.stderr == (
        "Error: This is a bug in Trendloom (KeyError: 'x').\nPlease report it with the query, the "
        "command, and what is shown when it is run again with TRENDLOOM_TRACEBACK=1.\n"
    )


def test_messages_escape_what_comes_from_data() -> None:
    named = f"There is no column '{STRANGE}'."
    told = f"There is no column '{HARMLESS}'."
    assert str(LimitError(named)) == told
    assert str(InputError(named, remedy=named)) == f"{told}\n{told}"
    assert str(TrendloomWarning(named, remedy=named)) == f"{told}\n{told}"
    assert str(QueryError(named, text="")) == told
    several = WorkloadError({STRANGE: InputError(named)}, 2)
    assert str(several) == f"1 of 2 queries is wrong; nothing was run.\n{HARMLESS}: {told}"
    # The caret stays under its place.
    from trendloom.errors import Place

    shown = str(QueryError("Odd.", text="a\x1bb\u202ec", place=Place(4, 5)))
    assert shown == "Odd. (line 1, column 5)\n  a�b�c\n      ^"
