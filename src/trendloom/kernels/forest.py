"""Indexes of entries by place, in all three semirings: trees, and lists where groups are small.

Equal values of equalities share a tree of their own (`ranks`). Small ones are no tree but a list,
and where there is nothing to compare, one cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import Checked, plus_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.prefix import (
    BITS,
    LAST,
    WIDE,
    add_checked,
    add_extreme,
    add_scaled,
    before_checked,
    before_extreme,
    before_scaled,
)
from trendloom.kernels.program import Ints
from trendloom.kernels.ranks import EQUAL, ORDERED
from trendloom.kernels.scaled import Scaled, plus

SPREAD = 3
"""Cells of a tree over s >= 16 places are at most so many times s."""


class Forest(NamedTuple):
    """The indexes of a run, [lane, …]: trees, and lists of the entries of small groups."""

    scaled: NDArray[np.float64]
    list_m: NDArray[np.float64]
    list_e: Ints
    checked: Ints
    list_v: Ints
    extreme: Ints
    list_k: Ints


@kernel
def new_forest(blocks: int, items: int, scaled: int, checked: int, extreme: int) -> Forest:
    return Forest(
        np.zeros((scaled, blocks * 2 * WIDE)),
        np.zeros((scaled, items)),
        np.zeros((scaled, items), np.int64),
        np.zeros((checked, blocks * WIDE), np.int64),
        np.zeros((checked, items), np.int64),
        np.full((extreme, blocks * WIDE), ABSENT, np.int64),
        np.full((extreme, items), ABSENT, np.int64),
    )


@kernel
def empty_forest(forest: Forest, blocks: int, items: int) -> None:
    """Only what the run will use: short windows must not pay for a long one."""
    forest.scaled[:, : blocks * 2 * WIDE] = 0.0
    forest.list_m[:, :items] = 0.0
    forest.list_e[:, :items] = 0
    forest.checked[:, : blocks * WIDE] = 0
    forest.list_v[:, :items] = 0
    forest.extreme[:, : blocks * WIDE] = ABSENT
    forest.list_k[:, :items] = ABSENT


@kernel
def _tree(kind: int, start: int, first_block: int) -> int:
    return first_block if kind == ORDERED else first_block + (SPREAD * start + LAST >> BITS)


@kernel
def _listed(kind: int, size: int) -> bool:
    return kind == EQUAL or (kind != ORDERED and size < WIDE)


@kernel
def read_index(
    kind: int, start: int, end: int, size: int, first_block: int, first_item: int,
    forest: Forest, cell: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Adds what an index holds at the places `start : end` to a cell."""
    if _listed(kind, size):
        lo = first_item + start
        hi = lo + 1 if kind == EQUAL else first_item + end
        for item in range(lo, hi):
            for lane in range(scaled.m.shape[1]):
                scaled.m[cell, lane], scaled.e[cell, lane] = plus(
                    scaled.m[cell, lane], scaled.e[cell, lane],
                    forest.list_m[lane, item], forest.list_e[lane, item],
                )  # fmt: skip
            for lane in range(checked.v.shape[1]):
                checked.v[cell, lane] = plus_checked(
                    checked.v[cell, lane], forest.list_v[lane, item], checked.overflow
                )
            for lane in range(extreme.k.shape[1]):
                extreme.k[cell, lane] = min(extreme.k[cell, lane], forest.list_k[lane, item])
        return
    block = _tree(kind, start, first_block)
    for lane in range(scaled.m.shape[1]):
        m, e = before_scaled(forest.scaled[lane], block, size, end - start)
        scaled.m[cell, lane], scaled.e[cell, lane] = plus(
            scaled.m[cell, lane], scaled.e[cell, lane], m, e
        )
    for lane in range(checked.v.shape[1]):
        more = before_checked(forest.checked[lane], block, size, end - start, checked.overflow)
        checked.v[cell, lane] = plus_checked(checked.v[cell, lane], more, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        least = before_extreme(forest.extreme[lane], block, size, end - start)
        extreme.k[cell, lane] = min(extreme.k[cell, lane], least)


@kernel
def enter_index(
    kind: int, start: int, place: int, size: int, first_block: int, first_item: int,
    forest: Forest, cell: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Adds a cell to an index, at a place."""
    if _listed(kind, size):
        item = first_item + (start if kind == EQUAL else place)
        for lane in range(scaled.m.shape[1]):
            forest.list_m[lane, item], forest.list_e[lane, item] = plus(
                forest.list_m[lane, item], forest.list_e[lane, item],
                scaled.m[cell, lane], scaled.e[cell, lane],
            )  # fmt: skip
        for lane in range(checked.v.shape[1]):
            forest.list_v[lane, item] = plus_checked(
                forest.list_v[lane, item], checked.v[cell, lane], checked.overflow
            )
        for lane in range(extreme.k.shape[1]):
            forest.list_k[lane, item] = min(forest.list_k[lane, item], extreme.k[cell, lane])
        return
    block = _tree(kind, start, first_block)
    for lane in range(scaled.m.shape[1]):
        m, e = scaled.m[cell, lane], scaled.e[cell, lane]
        if m != 0.0:
            add_scaled(forest.scaled[lane], block, size, place - start, m, e)
    for lane in range(checked.v.shape[1]):
        v = checked.v[cell, lane]
        if v != 0:
            add_checked(forest.checked[lane], block, size, place - start, v, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        k = extreme.k[cell, lane]
        if k != ABSENT:
            add_extreme(forest.extreme[lane], block, size, place - start, k)
