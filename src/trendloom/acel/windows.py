"""Windows of a search: which starts are of interest at an event, and which windows a result is in.

A complex event is what lies between its start and its end. So one search over a partition finds
those of all windows: a result is in every window that has its start and its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.errors import Place, QueryMeaningError
from trendloom.language.nodes import CountWindow, TimeWindow
from trendloom.language.windows import read_amount, ticks, window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

EARLIEST = -(1 << 62)


def read_window(within: str | None, slide: str | None) -> TimeWindow | CountWindow | None:
    """`within` and `slide` as in WITHIN and SLIDE of the trend language."""
    if within is None:
        if slide is not None:
            raise QueryMeaningError(
                "There is a slide, but no window that slides", text=slide, remedy="Add within."
            )
        return None
    return window(
        read_amount(within),
        None if slide is None else read_amount(slide),
        emit=None,
        text=within if slide is None else slide,
        place=Place(0, len(within if slide is None else slide)),
    )


@dataclass(frozen=True, slots=True)
class Span:
    """A window in keys, which are ticks, or places in a partition (`counted`).

    Without a slide every start opens a window of its own; without `within` all is one window.
    """

    within: int | None = None
    slide: int | None = None
    counted: bool = False

    @classmethod
    def of(
        cls,
        asked: TimeWindow | CountWindow | None,
        nanoseconds: int,
        within: str = "",
        slide: str = "",
    ) -> Span:
        """`nanoseconds` per tick of the time column; `within` and `slide` as they were written."""
        match asked:
            case None:
                return cls()
            case CountWindow(within=size, slide=step):
                return cls(size, step, counted=True)
            case TimeWindow(within=length, slide=every):
                size = ticks(length, nanoseconds, within)
                return cls(size, None if every is None else ticks(every, nanoseconds, slide))

    def earliest(self, key: Ints) -> Ints:
        """The first key of a start with which an event can be in one window."""
        if self.within is None:
            return np.full(len(key), EARLIEST, np.int64)
        if self.slide is None:
            return key - self.within + 1
        return self._first(key) * self.slide

    def _first(self, key: Ints) -> Ints:
        """The first window that an event is in."""
        assert self.within is not None
        assert self.slide is not None
        first = (key - self.within) // self.slide + 1
        return np.maximum(first, 0) if self.counted else first

    def windows(self, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints] | None:
        """Per window of each result: its number, and the bounds; None without windows."""
        if self.within is None:
            return None
        every = np.arange(len(start))
        if self.slide is None:
            return every, start, start + self.within
        low, high = self._first(end), start // self.slide
        many = np.maximum(high - low + 1, 0)
        number = np.repeat(every, many)
        inner = np.arange(len(number)) - np.repeat(np.cumsum(many) - many, many)
        begin = (low[number] + inner) * self.slide
        return number, begin, begin + self.within
