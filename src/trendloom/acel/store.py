"""Room for the histories of runs (`kernels.histories`), and for the results that leave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trendloom.kernels import histories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST_FOUND = 1 << 14
MOST_MARKS = 1 << 17
"""Of one buffer of results; a single longer one gets a longer buffer."""


class Found(NamedTuple):
    """Complex events. Of number k: `event[offset[k] : offset[k + 1]]` are marked with `label`.

    Events are numbers in the order of the scan; `key` is that of the start.
    """

    start: Ints
    key: Ints
    end: Ints
    offset: Ints
    event: Ints
    label: Ints

    def __len__(self) -> int:
        return len(self.start)


def chosen(found: Found, rows: Ints) -> Found:
    """Some of the complex events, with their marks."""
    many = np.diff(found.offset)[rows]
    offset = np.concatenate([[0], np.cumsum(many)])
    where = np.repeat(found.offset[:-1][rows] - offset[:-1], many) + np.arange(offset[-1])
    return Found(
        found.start[rows], found.key[rows], found.end[rows], offset,
        found.event[where], found.label[where],
    )  # fmt: skip


@dataclass
class Store:
    """Arrays that kernels work on. They are exchanged for longer ones, so keep none of them."""

    nodes: Ints = field(default_factory=lambda: np.empty((1 << 12, histories.WIDTH), np.int64))
    where: Ints = field(default_factory=lambda: np.zeros(5, np.int64))
    stack: Ints = field(default_factory=lambda: np.empty((64, 2), np.int64))
    path: Ints = field(default_factory=lambda: np.empty(64, np.int64))
    found: Ints = field(default_factory=lambda: np.empty((MOST_FOUND, 3), np.int64))
    offset: Ints = field(default_factory=lambda: np.zeros(MOST_FOUND + 1, np.int64))
    marks: Ints = field(default_factory=lambda: np.empty((MOST_MARKS, 2), np.int64))
    spine: Ints = field(default_factory=lambda: np.empty(histories.SPINE, np.int64))

    def make_room(self, roots: Ints, bound: int, nodes: int) -> None:
        """For so many nodes: what nothing needs is dropped, and half of the room is kept free."""
        histories.compact(self.nodes, self.where, roots, bound)
        wanted = 2 * int(self.where[histories.NODES]) + nodes
        if wanted > len(self.nodes):
            self.lengthen(wanted)

    def lengthen(self, nodes: int) -> None:
        """At least so many more nodes, and twice as many as there were."""
        size = int(self.where[histories.NODES])
        longer = np.empty((max(size + nodes, 2 * len(self.nodes)), histories.WIDTH), np.int64)
        longer[:size] = self.nodes[:size]
        self.nodes = longer

    def deepen(self) -> None:
        """A longer stack."""
        self.stack = np.concatenate([self.stack, np.empty_like(self.stack)])
        self.path = np.concatenate([self.path, np.empty_like(self.path)])

    def take(self) -> Found | None:
        """The results that were written, as copies; None if there are none.

        Called when there is no room: if nothing was written, one result is too long.
        """
        count, marks = int(self.where[histories.FOUND]), int(self.where[histories.MARKS])
        if count == 0:
            if self.where[histories.TOP] > 0:
                self.marks = np.empty((max(2 * len(self.marks), len(self.path)), 2), np.int64)
            return None
        self.where[histories.FOUND] = self.where[histories.MARKS] = 0
        start, key, end = self.found[:count].T.copy()
        event, label = self.marks[:marks].T.copy()
        return Found(start, key, end, self.offset[: count + 1].copy(), event, label)

    def walk(self, root: int, end: int, bound: int) -> list[Found]:
        """All histories of a set that start at `bound` or later."""
        taken = []
        if root != histories.NONE and self.nodes[root, histories.LATEST] >= bound:
            self.stack[0] = root, 0
            self.where[histories.TOP] = 1
        while self.where[histories.TOP] > 0:
            reason = histories.walk(
                self.nodes, self.where, end, bound, self.stack, self.path,
                self.found, self.offset, self.marks,
            )  # fmt: skip
            if reason == histories.STACK:
                self.deepen()
            elif (some := self.take()) is not None:
                taken.append(some)
        return taken
