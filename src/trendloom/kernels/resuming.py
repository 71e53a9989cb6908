"""Where a walk over paths stands after the first of them, told from path counts alone."""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.paths import DEPTH, NEXT_END, PENDING, Floats
from trendloom.kernels.steps import Flags, Ints


@kernel
def walk_after(
    begins: Flags,
    pred_start: Ints,
    pred: Ints,
    last: Ints,
    count: Floats,
    skip: int,
    stack: Ints,
    cursor: Ints,
    where: Ints,
) -> None:
    """Sets `stack`, `cursor` and `where` as `walk` leaves them after `skip` paths.

    `count` is the number of paths to each node, of which there must be fewer than 2^53 in all:
    whole ends and whole predecessors are passed over by their counts.
    """
    left = np.float64(skip)
    for end in range(last.shape[0]):
        if left >= count[last[end]]:
            left -= count[last[end]]
            continue
        where[NEXT_END] = end + 1
        node = last[end]
        depth = 0
        while True:
            stack[depth] = node
            cursor[depth] = pred_start[node]
            depth += 1
            if begins[node]:
                if left == 0.0:
                    where[PENDING] = 1
                    break
                left -= 1.0
            for k in range(pred_start[node], pred_start[node + 1]):
                if left >= count[pred[k]]:
                    left -= count[pred[k]]
                else:
                    cursor[depth - 1] = k + 1
                    node = pred[k]
                    break
        where[DEPTH] = depth
        return
    where[NEXT_END] = last.shape[0]
