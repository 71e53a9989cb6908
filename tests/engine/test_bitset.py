"""Sets of places against Python's."""

from __future__ import annotations

import numpy as np
import pytest

from trendloom.kernels.bitset import following, insert, lowest, remove, words_needed


def test_the_lowest_bit() -> None:
    for bit in range(64):
        assert lowest(np.uint64(1 << bit)) == bit
        assert lowest(np.uint64((1 << 63) | (1 << bit))) == bit


@pytest.mark.parametrize("size", [1, 63, 64, 65, 4_096, 4_097, 300_000])
def test_members_in_order(size: int) -> None:
    rng = np.random.default_rng(size)
    base = 3
    words = np.zeros(base + words_needed(size) + 1, np.uint64)
    members: set[int] = set()
    for _ in range(400):
        at = int(rng.integers(size))
        if rng.random() < 0.4 and members:
            at = sorted(members)[at % len(members)]
            members.remove(at)
            remove(words, base, size, at)
        else:
            members.add(at)
            insert(words, base, size, at)
        probe = int(rng.integers(size + 1))
        expected = min((one for one in members if one >= probe), default=size)
        assert following(words, base, size, probe) == expected
    assert words[:base].sum() == words[-1] == 0
