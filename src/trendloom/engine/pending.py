"""The router's passes where partial trends wait in the order of values (`kernels/pending.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.engine.ranked import compile_steps
from trendloom.engine.router import Router
from trendloom.kernels.pending import cells_needed, take_next

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.ranks import Ranking
    from trendloom.kernels.program import Work
    from trendloom.kernels.ranks import Ranks
    from trendloom.kernels.replay import Lanes
    from trendloom.language.nodes import Semantics
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]


class Pending(Router):
    """skip-till-next-match with conditions that are all lookups, for every semiring."""

    def __init__(
        self,
        part: Part,
        semantics: Semantics,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        codes: Ints,
        work: Work,
        slots: int,
        rankings: Sequence[Ranking],
        ranks: Ranks,
    ) -> None:
        super().__init__(part, semantics, chunk, masks, codes, work, slots)
        self.steps = compile_steps(part, rankings, consuming=True)
        self.ranks = ranks
        self.cells = cells_needed(self.steps, self.span, self.width)

    def make(self, work: Work, lanes: Lanes) -> None:
        take_next(
            self.steps,
            self.ranks,
            self.chunk.order,
            self.masks,
            work,
            lanes,
            self.span,
            self.width,
            self.found,
        )
