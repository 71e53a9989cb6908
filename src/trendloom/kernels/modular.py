"""Sums modulo 31-bit primes: exact integers of any size, put together again outside (CRT).

Aggregation is linear, so it commutes with taking residues. Column `lane * primes + j` of a cell is
lane `lane` modulo prime j. Products of two residues fit 62 bits. Lanes as in `scaled`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.tape import ADD, CLEAR, ONE


class Modular(NamedTuple):
    """The residues of every lane."""

    u: NDArray[np.int64]
    var: NDArray[np.int64]
    x: NDArray[np.int64]
    primes: NDArray[np.int64]
    out: NDArray[np.int64]


@kernel
def replay_modular(tape: NDArray[np.int64], length: int, lanes: Modular) -> None:
    u, primes = lanes.u, lanes.primes
    width = lanes.var.shape[0]
    count = primes.shape[0]
    for step in range(length):
        what = tape[step, 0]
        cell = tape[step, 1]
        argument = tape[step, 2]
        if what == ADD:
            for lane in range(width):
                for j in range(count):
                    column = lane * count + j
                    s = u[cell, column] + u[argument, column]
                    u[cell, column] = s - primes[j] if s >= primes[j] else s
        elif what == CLEAR:
            for column in range(width * count):
                u[cell, column] = 0
        elif what == ONE:
            for j in range(count):
                s = u[cell, j] + 1
                u[cell, j] = s - primes[j] if s >= primes[j] else s
        else:
            variable = what - 3
            for lane in range(1, width):
                if lanes.var[lane] == variable or lanes.var[lane] == -1:
                    x = lanes.x[lane, argument]
                    if x != 0:
                        for j in range(count):
                            p = primes[j]
                            column = lane * count + j
                            residue = x % p
                            if residue < 0:
                                residue += p
                            u[cell, column] = (u[cell, column] + residue * u[cell, j]) % p
