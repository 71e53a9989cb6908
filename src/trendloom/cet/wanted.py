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
    best: int | None = None
    """So many per window and partition, of those with the largest `by`."""
    by: tuple[str, str] | None = None
    """A variable and an attribute, summed; None: the length."""
    sample: int | None = None
    """So many per window and partition, drawn uniformly with replacement."""
    seed: int = 0

    @classmethod
    def read(
        cls,
        *,
        every: bool,
        algorithm: str,
        limit: int | None,
        memory_limit: str | int | None,
        best: int | None = None,
        by: str = "length",
        sample: int | None = None,
        seed: int = 0,
    ) -> Wanted:
        one_of("algorithm", algorithm, ALGORITHMS)
        for name, value in (("limit", limit), ("best", best), ("sample", sample)):
            _check_number(name, value)
        if best is not None and sample is not None:
            raise TrendloomError(
                "The best trends are no sample.", remedy="Give best or sample, not both."
            )
        if by != "length" and best is None:
            raise TrendloomError(
                f"by='{by}' says what the best trends are.", remedy="Add best, as in best=10."
            )
        if algorithm != "auto" and (best is not None or sample is not None):
            raise TrendloomError(
                f"algorithm='{algorithm}' lists all trends.",
                remedy="Leave it out: best and sample have ways of their own.",
            )
        return cls(
            every, algorithm, limit, read_limit(memory_limit), best, _summed(by), sample, seed
        )


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TrendloomError(f"The {name} is a number of trends.", remedy=f"As in {name}=1000.")
    if value < 1:
        raise TrendloomError(
            f"A {name} of {value} trends lists nothing.", remedy="Give at least 1."
        )


def _summed(by: str) -> tuple[str, str] | None:
    if by == "length":
        return None
    variable, dot, attribute = by.partition(".")
    if not (variable and dot and attribute):
        raise TrendloomError(
            f"Cannot read by='{by}'.",
            remedy='Write "length", or a variable and an attribute, as in "S.price".',
        )
    return variable, attribute
