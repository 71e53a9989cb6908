"""Rows of one column in order, and their places, by sorting words rather than rows.

A word is a value's leading bits above its row's number, so plain integers are sorted, which numpy
does more than twice as fast as it sorts rows by value. Rows whose values differ only in the bits
that found no room are put in order afterwards; they are few unless values are many and close.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.ranks import LESS, Ranks

Words = NDArray[np.uint64]
TOP = np.uint64(1 << 63)
ALL_BITS = np.uint64((1 << 64) - 1)


@kernel
def to_words(key: NDArray[np.float64], descending: bool) -> tuple[Words, int, int]:
    """The words, the bits of the row number in them, and how many bits of the values are left out.

    No value is NaN.
    """
    rows = key.shape[0]
    row_bits = 1
    while (1 << row_bits) < rows:
        row_bits += 1
    words = np.empty(rows, np.uint64)
    low, high = ALL_BITS, np.uint64(0)
    # Adding 0 makes one zero of two.
    bits = (key + 0.0).view(np.uint64)
    for i in range(rows):
        word = bits[i]
        word = ~word if word & TOP else word | TOP
        word = ~word if descending else word
        words[i] = word
        low = min(low, word)
        high = max(high, word)
    shift = 0
    while rows > 0 and ((high - low) >> np.uint64(shift)) >> np.uint64(64 - row_bits):
        shift += 1
    for i in range(rows):
        value = (words[i] - low) >> np.uint64(shift)
        words[i] = (value << np.uint64(row_bits)) | np.uint64(i)
    return words, row_bits, shift


@kernel
def place_words(
    words: Words,
    row_bits: int,
    shift: int,
    key: NDArray[np.float64],
    descending: bool,
    which: int,
    events: NDArray[np.int64],
    ranks: Ranks,
    ranking: int,
) -> None:
    """Writes the places of events that are both sides of a comparison, from sorted words."""
    left, right = ranks.left[ranking], ranks.right[ranking]
    rows = words.shape[0]
    number = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    up = np.uint64(row_bits)
    ranks.lefts[ranking] = rows
    ranks.size[ranking, 0] = rows
    every = rows == left.shape[0]
    at = 0
    while at < rows:
        value = words[at] >> up
        end = at + 1
        while end < rows and words[end] >> up == value:
            end += 1
        if shift > 0 and end - at > 1:
            here = np.empty(end - at, np.int64)
            keys = np.empty(end - at)
            for k in range(at, end):
                here[k - at] = words[k] & number
                keys[k - at] = key[here[k - at]]
            inner = np.argsort(-keys) if descending else np.argsort(keys)
            for k in range(at, end):
                words[k] = np.uint64(here[inner[k - at]])
        first = at
        while first < end:
            beyond = end
            if shift > 0 and end - at > 1:
                beyond = first + 1
                while beyond < end and key[words[beyond] & number] == key[words[first] & number]:
                    beyond += 1
            reach = first if which == LESS else beyond
            for k in range(first, beyond):
                row = np.int64(words[k] & number)
                event = row if every else events[row]
                left[event] = k
                right[event] = reach
            first = beyond
        at = end


@kernel
def order_words(
    words: Words, row_bits: int, shift: int, key: NDArray[np.float64], descending: bool
) -> NDArray[np.int32]:
    """The rows of sorted words, equal values in the order of rows."""
    rows = words.shape[0]
    number = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    up = np.uint64(row_bits)
    found = np.empty(rows, np.int32)
    for k in range(rows):
        found[k] = np.int32(words[k] & number)
    at = 0
    while shift > 0 and at < rows:
        end = at + 1
        while end < rows and words[end] >> up == words[at] >> up:
            end += 1
        if end - at > 1:
            here = found[at:end].copy()
            keys = key[here]
            inner = np.argsort(-keys if descending else keys, kind="mergesort")
            for k in range(at, end):
                found[k] = here[inner[k - at]]
        at = end
    return found
