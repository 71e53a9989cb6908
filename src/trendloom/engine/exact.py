"""Exact integers of any size: residues modulo enough primes, joined by Chinese remaindering."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS_PER_PRIME = 30
PRIMES_PER_PASS = 64


@cache
def primes(count: int) -> NDArray[np.int64]:
    """The `count` largest primes below 2**31."""
    small = _sieve(1 << 16)
    found: list[int] = []
    top = 1 << 31
    while len(found) < count:
        low = top - (1 << 16)
        window = np.ones(top - low, np.bool_)
        for p in small:
            window[-low % p :: p] = False
        found += [int(low + k) for k in np.flatnonzero(window)[::-1]]
        top = low
    return np.array(found[:count], np.int64)


def _sieve(limit: int) -> list[int]:
    flags = np.ones(limit, np.bool_)
    flags[:2] = False
    for p in range(2, int(limit**0.5) + 1):
        if flags[p]:
            flags[p * p :: p] = False
    return [int(p) for p in np.flatnonzero(flags)]


@cache
def _weights(count: int) -> tuple[int, list[int]]:
    """The primes' product, and per prime the number that is 1 modulo it, 0 modulo the others."""
    moduli = [int(p) for p in primes(count)]
    product = 1
    for p in moduli:
        product *= p
    return product, [(product // p) * pow(product // p, -1, p) for p in moduli]


def join_residues(residues: NDArray[np.int64]) -> int:
    """The integer of least magnitude with these residues modulo the first primes."""
    product, weights = _weights(len(residues))
    value = sum(int(r) * w for r, w in zip(residues, weights, strict=True)) % product
    return value - product if value > product // 2 else value


def primes_needed(bits: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many primes hold numbers of so many bits, sign and rounding included."""
    return np.ceil((np.maximum(bits, 0) + 4) / BITS_PER_PRIME).astype(np.int64)
