"""Paths of nodes → rows and variables, in one pass: most of what a listing writes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.paths import Nodes
from trendloom.kernels.steps import Ints


@kernel
def gather(
    node: Nodes, row_of: Ints, variable_of: NDArray[np.int8]
) -> tuple[Ints, NDArray[np.int8]]:
    """The row and the variable of every node of some paths."""
    row = np.empty(node.shape[0], np.int64)
    variable = np.empty(node.shape[0], np.int8)
    for k in range(node.shape[0]):
        row[k] = row_of[node[k]]
        variable[k] = variable_of[node[k]]
    return row, variable
