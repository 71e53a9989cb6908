"""Events by their masks: a class is one mask, numbered as it is first met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class Classes:
    """Masks and their numbers."""

    def __init__(self) -> None:
        self.masks: list[int] = []
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.masks)

    def of(self, mask: NDArray[Any]) -> Ints:
        """The class of every event."""
        if mask.dtype.itemsize <= 2:
            values = np.flatnonzero(np.bincount(mask, minlength=1))
            inverse = None
        else:
            values, inverse = np.unique(mask, return_inverse=True)
        numbers = np.array([self._number(value) for value in values.tolist()], np.int64)
        if inverse is not None:
            classes: Ints = numbers[inverse]
            return classes
        table = np.zeros(int(values[-1]) + 1 if len(values) else 1, np.int64)
        table[values] = numbers
        found: Ints = table[mask]
        return found

    def _number(self, mask: int) -> int:
        if mask not in self._numbers:
            self._numbers[mask] = len(self.masks)
            self.masks.append(mask)
        return self._numbers[mask]
