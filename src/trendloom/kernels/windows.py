"""Which events each window of each partition holds: runs `lo : hi` of sorted events.

`bounds` are the partitions' first rows and, at the end, the number of rows. Only windows that hold
an event are made, so gaps in time cost nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Ints = NDArray[np.int64]
Runs = tuple[Ints, Ints, Ints, Ints]
"""lo, hi, number of the partition, and the window's number (or its end, for `changes`)."""


@kernel
def _grown(rows: Ints) -> Ints:
    wider = np.empty((2 * rows.shape[0], 4), np.int64)
    wider[: rows.shape[0]] = rows
    return wider


@kernel
def _columns(rows: Ints, n: int) -> Runs:
    return (
        rows[:n, 0].copy(),
        rows[:n, 1].copy(),
        rows[:n, 2].copy(),
        rows[:n, 3].copy(),
    )


@kernel
def sliding(time: Ints, bounds: Ints, within: int, slide: int, most: int) -> Runs:
    """Windows [k·slide, k·slide + within) aligned to 0; stops after `most` of them."""
    rows = np.empty((max(16, bounds.shape[0]), 4), np.int64)
    n = 0
    for partition in range(bounds.shape[0] - 1):
        lo, end = bounds[partition], bounds[partition + 1]
        if lo == end:
            continue
        hi = lo
        k = (time[lo] - within) // slide + 1
        while lo < end and n < most:
            start = k * slide
            stop = start + within
            while lo < end and time[lo] < start:
                lo += 1
            if lo == end:
                break
            if time[lo] >= stop:
                k = (time[lo] - within) // slide + 1
                continue
            hi = max(hi, lo)
            while hi < end and time[hi] < stop:
                hi += 1
            if n == rows.shape[0]:
                rows = _grown(rows)
            rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = lo, hi, partition, k
            n += 1
            k += 1
    return _columns(rows, n)


@kernel
def counted(bounds: Ints, within: int, slide: int) -> Runs:
    """Windows of `within` events, every `slide` events."""
    rows = np.empty((max(16, bounds.shape[0]), 4), np.int64)
    n = 0
    for partition in range(bounds.shape[0] - 1):
        first, end = bounds[partition], bounds[partition + 1]
        k = 0
        while first + k * slide < end:
            lo = first + k * slide
            if n == rows.shape[0]:
                rows = _grown(rows)
            rows[n, 0], rows[n, 1] = lo, min(lo + within, end)
            rows[n, 2], rows[n, 3] = partition, k
            n += 1
            k += 1
    return _columns(rows, n)


@kernel
def changes(time: Ints, bounds: Ints, within: int) -> Runs:
    """Windows (t - within, t] that end where an event arrives or expires; may be empty."""
    rows = np.empty((max(16, 2 * time.shape[0]), 4), np.int64)
    n = 0
    for partition in range(bounds.shape[0] - 1):
        lo, end = bounds[partition], bounds[partition + 1]
        hi = lo
        while lo < end:
            # The next time point at which an event arrives (hi) or the oldest one expires (lo).
            now = time[lo] + within
            if hi < end and time[hi] < now:
                now = time[hi]
            while hi < end and time[hi] <= now:
                hi += 1
            while lo < end and time[lo] <= now - within:
                lo += 1
            rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = lo, hi, partition, now
            n += 1
    return _columns(rows, n)
