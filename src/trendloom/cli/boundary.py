"""The edge of the command line: whatever ends a command becomes a message and an exit code.

| ended by | exit code | on the standard error |
|---|---|---|
| an error of ours, the system's or DuckDB's | 1 | what, and what to do |
| a reader that closed the pipe | 1 | nothing |
| Ctrl-C | 130 | nothing |
| SIGTERM | 143 | nothing |
| a bug | 1 | that it is one, and how to report it |

Nothing of this imports what the command has not imported.
"""

from __future__ import annotations

import atexit
import errno
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from trendloom.errors import TrendloomError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

TRACEBACK = "TRENDLOOM_TRACEBACK"
"""Environment variable: anything but nothing shows where an error was raised."""
FAILED, INTERRUPTED, TERMINATED = 1, 128 + signal.SIGINT, 128 + signal.SIGTERM


class Terminated(BaseException):
    """SIGTERM, on its way up through what has to be closed."""


@contextmanager
def boundary() -> Iterator[None]:
    """Within it nothing ends in a traceback; `SystemExit` is how it always ends in failure."""
    try:
        with _terminating():
            try:
                yield
            finally:
                # A full disk shows here, and not when nobody can say it any more.
                sys.stdout.flush()
    except SystemExit as left:
        if left.code == INTERRUPTED:
            _leave_running_work(INTERRUPTED)
        raise
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    except Terminated:
        _leave(TERMINATED)
    except BaseException as error:
        if os.environ.get(TRACEBACK):
            import traceback

            traceback.print_exception(error)
        if not is_closed_pipe(error):
            tell(in_words(error))
        _leave(FAILED)


def tell(text: str) -> None:
    """To the standard error, if anybody still listens there."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"Error: {text}\n")
        sys.stderr.flush()


def in_words(error: BaseException) -> str:
    """What a person can do something with."""
    library = type(error).__module__.partition(".")[0]
    told = printable(str(error).strip().partition("\n")[0])
    if isinstance(error, TrendloomError):
        return str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return (
            f"Memory ran out{f': {told}' if told else ''}.\nUse a shorter WITHIN, partition by an "
            "attribute ([attribute]), or run it where more memory is free."
        )
    if isinstance(error, RecursionError):
        return "The query or its input is nested too deeply.\nWrite it with fewer brackets."
    if library in ("duckdb", "_duckdb"):
        return f"DuckDB cannot go on: {told}"
    if isinstance(error, OSError):
        about = "" if error.filename is None else f" '{printable(str(error.filename))}'"
        if error.errno == errno.ENOSPC:
            return f"No space is left on the device{about}.\nFree some, or write elsewhere."
        return f"{error.strerror or told}{about and ':'}{about}."
    kind = f"{type(error).__name__}: {told}" if told else type(error).__name__
    return (
        f"This is a bug in Trendloom ({kind}).\nPlease report it with the query, the command, and "
        f"what is shown when it is run again with {TRACEBACK}=1."
    )


def is_closed_pipe(error: BaseException) -> bool:
    """Whoever read our output has enough of it, as `head` does."""
    return isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ESHUTDOWN)


def _leave(code: int) -> None:
    # What is left in the buffer of a full disk or a closed pipe would fail again at the end.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    _leave_running_work(code)
    raise SystemExit(code) from None


def _leave_running_work(code: int) -> None:
    """At once, if work was stopped that does not end: a compiler or a system call that waits."""
    running = [one for one in threading.enumerate() if one.name == "trendloom" and one.is_alive()]
    if running:
        atexit._run_exitfuncs()  # removes temporary directories
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


@contextmanager
def _terminating() -> Iterator[None]:
    """SIGTERM is raised where the main thread is, if it would otherwise just end the process."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def terminate(*_: object) -> None:
        # Some send it twice, to the process and to its group.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
