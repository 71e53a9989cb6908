"""Hashes of columns, one 64-bit word per row. Part of the state format: see `engine/shards.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Words = NDArray[np.uint64]

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@kernel(inline="always")
def _mixed(word: Any) -> Any:
    """SplitMix64's step and finalizer: a bijection in which every bit depends on all."""
    word += _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def mix(hashes: Words, words: Words) -> None:
    """Adds one more word to every row's hash; the order of words matters."""
    for i in range(hashes.shape[0]):
        hashes[i] = _mixed(hashes[i] ^ words[i])


@kernel
def mix_bytes(data: NDArray[np.uint8], offsets: NDArray[Any]) -> Words:
    """FNV-1a of the bytes between neighbouring offsets."""
    hashes = np.empty(offsets.shape[0] - 1, np.uint64)
    for i in range(hashes.shape[0]):
        h = FNV_OFFSET
        for k in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
            h = (h ^ np.uint64(data[k])) * FNV_PRIME
        hashes[i] = h
    return hashes


@kernel
def mix_wide(words: NDArray[np.int64]) -> Words:
    """One word of integers wider than 64 bits; those that fit 64 bits as they are.

    Row i is `words[i]`, two's complement, the lowest first. Higher words that only repeat the sign
    are left out, so that the hash does not depend on the width.
    """
    hashes = np.empty(words.shape[0], np.uint64)
    for i in range(words.shape[0]):
        last = words.shape[1] - 1
        while last > 0 and words[i, last] == words[i, last - 1] >> np.int64(63):
            last -= 1
        h = np.uint64(words[i, 0])
        for k in range(1, last + 1):
            h = _mixed(h) ^ np.uint64(words[i, k])
        hashes[i] = h
    return hashes


@kernel
def spread(hashes: Words, shards: int, result: NDArray[np.int32]) -> None:
    """The hash's upper half as a fraction of 2^32, times the number of shards."""
    count = np.uint64(shards)
    for i in range(hashes.shape[0]):
        result[i] = np.int32(((hashes[i] >> np.uint64(32)) * count) >> np.uint64(32))
