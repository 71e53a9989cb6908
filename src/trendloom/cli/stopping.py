"""Ctrl-C at a place where what is written is whole."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Item = TypeVar("Item")


class Stopper:
    """Takes the first Ctrl-C as a wish to stop after the batch at hand; a second one interrupts."""

    def __init__(self) -> None:
        self.asked = False

    def until_asked(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            yield item
            if self.asked:
                return


@contextmanager
def stopper() -> Iterator[Stopper]:
    """Within it Ctrl-C is only heard."""
    heard = Stopper()

    def listen(_number: int, _frame: FrameType | None) -> None:
        heard.asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, listen)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)
