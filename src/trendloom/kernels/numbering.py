"""Partitions numbered in the order in which they appear: by a table of all codes in a range, or a
hash table of 64-bit codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.hash import _mixed
from trendloom.kernels.program import Ints

FREE = -1


@kernel
def number_dense(
    codes: Ints, low: int, places: NDArray[np.int32], count: int, number: NDArray[np.int32],
    firsts: Ints,
) -> int:  # fmt: skip
    """Numbers of rows by one code, of which `places` has every one from `low` on.

    Returns how many numbers there are; `firsts` are the rows of new ones.
    """
    known = count
    for row in range(codes.shape[0]):
        found = places[codes[row] - low]
        if found == FREE:
            found = np.int32(count)
            places[codes[row] - low] = found
            firsts[count - known] = row
            count += 1
        number[row] = found
    return count


@kernel
def number_rows(
    fields: Ints, at: int, buckets: NDArray[np.int32], kept: Ints, count: int,
    number: NDArray[np.int32], firsts: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Numbers of rows `at` and on, by all of `fields`, [field, row].

    `kept`, [number, field], are the codes of the numbers, and `firsts` the rows of new ones.
    Returns where it stopped, for want of room, and how many numbers there are.
    """
    mask = np.uint64(buckets.shape[0] - 1)
    width, known = fields.shape[0], count
    room = min(kept.shape[0], buckets.shape[0] // 2)
    for row in range(at, fields.shape[1]):
        bucket = _mixed(np.uint64(fields[0, row]))
        for k in range(1, width):
            bucket = _mixed(bucket ^ np.uint64(fields[k, row]))
        bucket &= mask
        while True:
            found = buckets[bucket]
            if found == FREE:
                if count == room:
                    return row, count
                found = np.int32(count)
                buckets[bucket] = found
                for k in range(width):
                    kept[count, k] = fields[k, row]
                firsts[count - known] = row
                count += 1
                break
            same = True
            for k in range(width):
                same &= kept[found, k] == fields[k, row]
            if same:
                break
            bucket = (bucket + np.uint64(1)) & mask
        number[row] = found
    return fields.shape[1], count


@kernel
def fill_buckets(kept: Ints, count: int, buckets: NDArray[np.int32]) -> None:
    """Known numbers in other, free buckets."""
    mask = np.uint64(buckets.shape[0] - 1)
    for number in range(count):
        bucket = _mixed(np.uint64(kept[number, 0]))
        for k in range(1, kept.shape[1]):
            bucket = _mixed(bucket ^ np.uint64(kept[number, k]))
        bucket &= mask
        while buckets[bucket] != FREE:
            bucket = (bucket + np.uint64(1)) & mask
        buckets[bucket] = np.int32(number)
