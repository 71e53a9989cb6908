"""Stable sorting by integer codes: least significant digit first, one 64-bit word per row.

A word holds the row's number in its low bits and, above, a piece of its key. Sorting moves words
and nothing else; the columns follow once, at the end.

1. `lay` puts a piece of a column's codes into every word, at the row that the word names.
2. `radix` sorts words by those bits. It is stable, so earlier pieces stay in order underneath.
3. `strip` leaves the row numbers, for the next piece or as the final order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

DIGIT = 11
"""Bits per pass at most: 2,048 counters and open cache lines still fit the first-level caches."""


@kernel
def descend(codes: Ints, descends: NDArray[np.bool_]) -> int:
    """Puts a more significant column before those compared so far.

    `descends[i]` says whether row i belongs before row i - 1; returns how many do.
    """
    count = 0
    for i in range(1, codes.shape[0]):
        less = (codes[i] < codes[i - 1]) | ((codes[i] == codes[i - 1]) & descends[i])
        descends[i] = less
        count += less
    return count


@kernel
def lay(
    words: Words, codes: Ints, low: int, skip: int, width: int, place: int, index_bits: int
) -> None:
    """Bits `skip : skip + width` of codes - low, to bit `place` of the words."""
    rows = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    kept = ~np.uint64(0) >> np.uint64(64 - width)
    least, skipped, up = np.int64(low), np.uint64(skip), np.uint64(place)
    for i in range(words.shape[0]):
        code = np.uint64(codes[words[i] & rows] - least)
        words[i] |= ((code >> skipped) & kept) << up


@kernel
def radix(words: Words, first: int, bits: int) -> Words:
    """The words in the order of the bits `first : first + bits`; the input is overwritten."""
    passes = (bits + DIGIT - 1) // DIGIT
    width = (bits + passes - 1) // passes
    buckets = 1 << width
    kept = np.uint64(buckets - 1)
    starts = np.zeros((passes, buckets), np.int64)
    for i in range(words.shape[0]):
        rest = words[i] >> np.uint64(first)
        for k in range(passes):
            starts[k, rest & kept] += 1
            rest >>= np.uint64(width)
    other = np.empty_like(words)
    for k in range(passes):
        before = 0
        start = starts[k]
        alone = False
        for bucket in range(buckets):
            here = start[bucket]
            alone |= here == words.shape[0]
            start[bucket] = before
            before += here
        if alone:
            continue
        shift = np.uint64(first + k * width)
        for i in range(words.shape[0]):
            word = words[i]
            bucket = (word >> shift) & kept
            other[start[bucket]] = word
            start[bucket] += 1
        words, other = other, words
    return words


@kernel
def strip(words: Words, index_bits: int) -> None:
    rows = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    for i in range(words.shape[0]):
        words[i] &= rows


@kernel
def by_bucket(bucket: NDArray[np.int32], buckets: int) -> tuple[Words, Ints]:
    """Row numbers bucket by bucket, in input order within; and each bucket's first place."""
    bounds = np.zeros(buckets + 1, np.int64)
    for i in range(bucket.shape[0]):
        bounds[bucket[i] + 1] += 1
    for k in range(buckets):
        bounds[k + 1] += bounds[k]
    place = bounds[:-1].copy()
    order = np.empty(bucket.shape[0], np.uint64)
    for i in range(bucket.shape[0]):
        order[place[bucket[i]]] = i
        place[bucket[i]] += 1
    return order, bounds
