"""What the caller of a listing wants, checked."""

from __future__ import annotations

from dataclasses import dataclass

from trendloom.cet.memory import read_limit
from trendloom.errors import TrendloomError, one_of

ALGORITHMS = ("auto", "m", "t", "h", "baseline")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which trends, how, and within how many bytes."""

    every: bool = False
    """All trends, not only complete ones."""
    algorithm: str = "auto"
    limit: int | None = None
    memory: int = 1 << 30

    @classmethod
    def read(
        cls,
        *,
        every: bool,
        algorithm: str,
        limit: int | None,
        memory_limit: str | int | None,
    ) -> Wanted:
        one_of("algorithm", algorithm, ALGORITHMS)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise TrendloomError("The limit is a number of trends.", remedy="As in limit=1000.")
        if limit is not None and limit < 1:
            raise TrendloomError(
                f"A limit of {limit} trends lists nothing.", remedy="Give at least 1."
            )
        return cls(every, algorithm, limit, read_limit(memory_limit))
