"""Ctrl-C at a place where what is written is whole."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Item = TypeVar("Item")

PATIENCE = 0.5
"""Seconds that the batch at hand may take, once stopping is asked for."""


class Stopper:
    """Takes the first Ctrl-C as a wish to stop after the batch at hand.

    A second one interrupts, and so does a batch that does not come soon.
    """

    def __init__(self) -> None:
        self.asked = False

    def until_asked(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            yield item
            if self.asked:
                _alarm(0)
                return


@contextmanager
def stopper() -> Iterator[Stopper]:
    """Within it Ctrl-C is only heard."""
    heard = Stopper()

    def listen(_number: int, _frame: FrameType | None) -> None:
        heard.asked = True
        signal.signal(signal.SIGINT, before)
        _alarm(PATIENCE)

    before = signal.signal(signal.SIGINT, listen)
    try:
        yield heard
    finally:
        _alarm(0)
        signal.signal(signal.SIGINT, before)


def _alarm(seconds: float) -> None:
    """Interrupts as Ctrl-C does, after so many seconds; 0: not any more."""
    if not hasattr(signal, "setitimer"):
        return  # Windows: by a second Ctrl-C only
    if seconds:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
