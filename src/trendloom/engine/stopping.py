"""Work that can be stopped: it runs in a thread of its own, while the caller's thread waits.

Signals reach only Python code of the main thread, and a kernel may go on for minutes without any.
So the caller waits, and where it is interrupted (Ctrl-C, a signal handler that raises) or its
`cancel` is set, it stops the work:

1. A flag is set that the loops of long kernels read (`Predicates.stop`), and what registered
   itself with `on_stop`, as DuckDB does, is told.
2. Python code that is still at it after a moment gets `Stopped` raised inside of it.
3. What then still runs, a short kernel or a compiler, is not waited for.

Progress and warnings of the work happen in the caller's thread (`in_caller`).
"""

from __future__ import annotations

import ctypes
import threading
import time
from contextlib import suppress
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from trendloom.errors import CancelledError, issue_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    T = TypeVar("T")
    Progress = Callable[[int, int | None], None]

POLL = 0.05
"""Seconds between looks at `cancel`."""
GENTLY, AT_MOST = 0.25, 0.75
"""Seconds until `Stopped` is raised inside of the work, and until it is left to itself."""
_NEVER: NDArray[np.int64] = np.zeros(1, np.int64)


class Stopped(BaseException):
    """Ends work that nobody waits for. No `Exception`: nothing on the way may hold it up."""


class _Request(NamedTuple):
    """Something that the caller's thread is to do for the work."""

    do: Callable[[], Any]
    reply: SimpleQueue[tuple[Any, BaseException | None]]


class Work:
    """One run, listing or workload: what it does between `call` and its end can be stopped."""

    def __init__(self, cancel: threading.Event | None = None) -> None:
        self.flag = np.zeros(1, np.int64)
        self._cancel = cancel
        self._hooks: list[Callable[[], object]] = []
        self._inbox: SimpleQueue[_Request | None] = SimpleQueue()
        self._worker: threading.Thread | None = None

    def call(self, job: Callable[[], T]) -> T:
        """What the job returns or raises. In this thread if nothing could interrupt it here."""
        self._refuse_cancelled()
        main = threading.current_thread() is threading.main_thread()
        context = copy_context()
        context.run(_current.set, self)
        if self._cancel is None and not main:
            return context.run(job)
        outcome: list[T] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                outcome.append(context.run(job))
            except BaseException as error:
                failure.append(error)
            finally:
                self._inbox.put(None)

        context.run(issue_warning.set, self._in_caller)
        self._inbox = SimpleQueue()
        # A daemon: work that is left to itself must not keep the process alive.
        self._worker = threading.Thread(target=work, name="trendloom", daemon=True)
        try:
            self._worker.start()
            while (request := self._next()) is not None:
                _answer(request)
            # Its last act is told; whoever looks for running work must not find it.
            self._worker.join()
        except BaseException:
            self._stop()
            raise
        finally:
            self._worker = None
        if failure:
            raise failure.pop()
        return outcome.pop()

    def iterate(self, items: Iterator[T]) -> Iterator[T]:
        """The items, each made by `call`; whoever stops early closes the iterator they come of."""
        end = object()
        try:
            while (item := self.call(lambda: next(items, end))) is not end:
                yield item  # type: ignore[misc]
                # Not held while the next one is made; and what its thread took for it goes back at
                # once: Arrow's allocator keeps memory of threads that are gone for others of them.
                item = None
                pa.default_memory_pool().release_unused()
        finally:
            close = getattr(items, "close", None)
            # After an interrupt the work may still be inside of it, and closes it itself.
            with suppress(ValueError):
                if close is not None:
                    close()

    def reporting(self, progress: Progress | None) -> Progress | None:
        """Progress as the work may tell it: from whichever thread, it happens in the caller's."""
        if progress is None:
            return None
        return lambda done, total: self._in_caller(lambda: progress(done, total))

    def _next(self) -> _Request | None:
        while self._cancel is not None:
            with suppress(Empty):
                return self._inbox.get(timeout=POLL)
            self._refuse_cancelled()
        return self._inbox.get()

    def _refuse_cancelled(self) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise CancelledError("The run was cancelled.")

    def _in_caller(self, do: Callable[[], T]) -> T:
        """Does something in the thread that waits, while the work waits for it."""
        if self.flag[0]:
            raise Stopped
        if threading.current_thread() is not self._worker:
            return do()
        reply: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._inbox.put(_Request(do, reply))
        result, error = reply.get()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def _stop(self) -> None:
        self.flag[0] = 1
        for hook in self._hooks:
            with suppress(Exception):  # closed in the meantime, or about to be
                hook()
        started = time.monotonic()
        told = False
        while (passed := time.monotonic() - started) < AT_MOST:
            with suppress(Empty):
                left = (AT_MOST if told else GENTLY) - passed
                request = self._inbox.get(timeout=max(left, 0.0))
                if request is None:
                    return
                request.reply.put((None, Stopped()))
                continue
            if not told and self._worker is not None and self._worker.ident is not None:
                told = True
                thread = ctypes.c_ulong(self._worker.ident)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(Stopped))


_current: ContextVar[Work | None] = ContextVar("work", default=None)


def stop_flag() -> NDArray[np.int64]:
    """For kernels: not zero once the work at hand is to stop."""
    work = _current.get()
    return _NEVER if work is None else work.flag


def check_stop() -> None:
    """Raises if the work is to stop: after a kernel that may have stopped half-way."""
    if stop_flag()[0]:
        raise Stopped


def on_stop(hook: Callable[[], object]) -> None:
    """Calls the hook, from another thread, if the work at hand is to stop."""
    work = _current.get()
    if work is not None:
        work._hooks.append(hook)


def in_caller(do: Callable[[], T]) -> T:
    """Does something in the thread that waits for the work: reading its files, telling progress."""
    work = _current.get()
    return do() if work is None else work._in_caller(do)


def _answer(request: _Request) -> None:
    try:
        request.reply.put((request.do(), None))
    except Exception as error:
        request.reply.put((None, error))
    except BaseException:
        request.reply.put((None, Stopped()))
        raise
