"""Work that is stopped from outside: what the caller sees, and what becomes of the work."""

import threading
import time
import warnings
import weakref
from collections.abc import Iterator

import pytest

from interrupting import Interrupted, interrupted_after
from trendloom.engine import stopping
from trendloom.engine.stopping import Work, check_stop, in_caller, on_stop
from trendloom.errors import CancelledError, TrendloomWarning, warn


def test_what_the_work_returns_and_raises_reaches_the_caller() -> None:
    def fail() -> None:
        raise ValueError("of the work")

    assert Work().call(lambda: 42) == 42
    with pytest.raises(ValueError, match="of the work") as caught:
        Work().call(fail)
    assert caught.traceback[-1].name == "fail"


def test_the_work_has_a_thread_of_its_own_only_where_something_can_interrupt_it() -> None:
    def here() -> int:
        return threading.get_ident()

    assert Work().call(here) != here()
    elsewhere: list[bool] = []
    thread = threading.Thread(target=lambda: elsewhere.append(Work().call(here) == here()))
    thread.start()
    thread.join()
    assert elsewhere == [True]


@pytest.mark.parametrize("gently", [True, False])
def test_python_code_is_stopped_whether_or_not_it_looks_at_the_flag(gently: bool) -> None:
    ended = threading.Event()

    def loop() -> None:
        try:
            while True:
                if gently:
                    check_stop()
        finally:
            ended.set()

    with interrupted_after(0.1) as took, pytest.raises(Interrupted):
        Work().call(loop)
    assert took() < 1
    assert ended.wait(0.1)


def test_work_that_cannot_be_stopped_is_not_waited_for() -> None:
    release = threading.Event()
    with interrupted_after(0.1) as took, pytest.raises(Interrupted):
        Work().call(release.wait)
    assert took() < 1
    release.set()


def test_cancelling_from_another_thread() -> None:
    cancel, stopped = threading.Event(), threading.Event()

    def loop() -> None:
        on_stop(stopped.set)
        while True:
            check_stop()

    timer = threading.Timer(0.1, cancel.set)
    timer.start()
    with pytest.raises(CancelledError, match="was cancelled"):
        Work(cancel).call(loop)
    assert stopped.is_set()
    timer.join()
    with pytest.raises(CancelledError):
        Work(cancel).call(lambda: None)


def test_progress_and_warnings_happen_in_the_callers_thread() -> None:
    seen: list[tuple[int, int | None, int]] = []
    work = Work()
    report = work.reporting(lambda done, total: seen.append((done, total, threading.get_ident())))
    assert report is not None
    assert work.reporting(None) is None

    def busy() -> None:
        report(1, 2)
        warn(TrendloomWarning("Odd."))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work.call(busy)
    assert seen == [(1, 2, threading.get_ident())]
    assert [one.filename for one in caught] == [__file__]


def test_an_error_of_progress_reaches_the_caller_through_the_work() -> None:
    def fail(_done: int, _total: int | None) -> None:
        raise ValueError("of the caller")

    work = Work()
    report = work.reporting(fail)
    assert report is not None
    with pytest.raises(ValueError, match="of the caller"):
        work.call(lambda: report(1, None))


def test_an_interrupt_inside_of_progress_stops_the_work() -> None:
    def interrupt(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    ended = threading.Event()
    work = Work()
    report = work.reporting(interrupt)
    assert report is not None

    def busy() -> None:
        try:
            report(1, None)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        work.call(busy)
    assert ended.wait(1)


def test_items_come_one_call_at_a_time_and_closing_reaches_their_source() -> None:
    threads: list[int] = []
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            for k in range(5):
                threads.append(threading.get_ident())
                yield k
        finally:
            closed.append(True)

    assert list(Work().iterate(items())) == [0, 1, 2, 3, 4]
    assert threading.get_ident() not in threads
    some = Work().iterate(items())
    assert next(some) == 0
    some.close()  # type: ignore[attr-defined]
    assert closed == [True, True]


def test_an_item_that_the_caller_dropped_is_gone_while_the_next_one_is_made() -> None:
    class Item:
        pass

    made: list[weakref.ref[Item]] = []
    held: list[int] = []

    def items() -> Iterator[Item]:
        for _ in range(3):
            held.append(sum(one() is not None for one in made))
            item = Item()
            made.append(weakref.ref(item))
            yield item
            del item

    found = Work().iterate(items())
    for _ in range(3):
        next(found)
    assert held == [0, 0, 0]


def test_reading_for_the_work_is_interrupted_at_once() -> None:
    with interrupted_after(0.1) as took, pytest.raises(Interrupted):
        Work().call(lambda: in_caller(lambda: time.sleep(60)))
    assert took() < 1


def test_without_work_nothing_is_ever_stopped() -> None:
    assert stopping.stop_flag()[0] == 0
    check_stop()
    on_stop(lambda: None)
    assert in_caller(lambda: 1) == 1
