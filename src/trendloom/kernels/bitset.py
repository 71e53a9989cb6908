"""Sets of places that know their next member: bits, and bits that tell which words have any.

Level 0 has a bit per place, the level above one per word below that is not empty, up to a level of
one word. Adding, removing and finding the next member touch at most one word per level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Words = NDArray[np.uint64]

MAGIC = 0x03F79D71B4CB0A89


def _positions() -> NDArray[np.int64]:
    """Multiplied by a single bit, MAGIC has that bit's number in its upper six bits, looked up."""
    table = np.zeros(64, np.int64)
    for bit in range(64):
        table[(MAGIC << bit & (1 << 64) - 1) >> 58] = bit
    return table


POSITION = _positions()


@kernel
def lowest(word: np.uint64) -> int:
    """The number of the lowest bit of a word that is not 0."""
    alone = word & (~word + np.uint64(1))
    return POSITION[(alone * np.uint64(MAGIC)) >> np.uint64(58)]


@kernel
def words_needed(size: int) -> int:
    words = 0
    while True:
        size = (size + 63) >> 6
        words += max(size, 1)
        if size <= 1:
            return words


@kernel
def insert(words: Words, base: int, size: int, at: int) -> None:
    while True:
        word = base + (at >> 6)
        was = words[word]
        words[word] = was | (np.uint64(1) << np.uint64(at & 63))
        size = (size + 63) >> 6
        if was != np.uint64(0) or size <= 1:
            return
        base += size
        at >>= 6


@kernel
def remove(words: Words, base: int, size: int, at: int) -> None:
    while True:
        word = base + (at >> 6)
        words[word] &= ~(np.uint64(1) << np.uint64(at & 63))
        size = (size + 63) >> 6
        if words[word] != np.uint64(0) or size <= 1:
            return
        base += size
        at >>= 6


@kernel
def following(words: Words, base: int, size: int, at: int) -> int:
    """The first member at a place or behind it; the size, if there is none."""
    if at >= size:
        return size
    here = words[base + (at >> 6)] >> np.uint64(at & 63)
    if here != np.uint64(0):
        return at + lowest(here)
    # Up until a word has a later member, then down to the first place below it.
    first, wide, level = base, size, 0
    place = at
    while True:
        wide = (wide + 63) >> 6
        if wide <= 1:
            return size
        first += wide
        place = (place >> 6) + 1
        level += 1
        if place < wide:
            rest = words[first + (place >> 6)] >> np.uint64(place & 63)
            if rest != np.uint64(0):
                place += lowest(rest)
                break
        else:
            # Past the end of this level: nothing further up can have more.
            return size
    while level > 0:
        level -= 1
        wide = size
        first = base
        for _ in range(level):
            wide = (wide + 63) >> 6
            first += wide
        place = (place << 6) + lowest(words[first + place])
    return place
