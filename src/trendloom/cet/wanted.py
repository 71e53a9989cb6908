"""What the caller of a listing wants, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.cet.memory import read_limit
from trendloom.errors import QueryError, TrendloomError, one_of
from trendloom.language import parse
from trendloom.language.nodes import Aggregate, Function, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

ALGORITHMS = ("auto", "m", "t", "h", "baseline")
OPTIMIZERS = ("bnb", "greedy")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which trends, how, and within how many bytes."""

    every: bool = False
    """All trends, not only complete ones."""
    algorithm: str = "auto"
    optimizer: str = "bnb"
    """How H-CET's cuts are looked for."""
    limit: int | None = None
    after: int | None = None
    """The number of the last trend that is known already."""
    memory: int = 1 << 30
    best: int | None = None
    """So many per window and partition, of those with the largest `by`."""
    by: tuple[str, str] | None = None
    """A variable and an attribute, summed; None: the length."""
    sample: int | None = None
    """So many per window and partition, drawn uniformly with replacement."""
    seed: int = 0
    attributes: tuple[str, ...] = ()
    """Of the events, to be listed with each trend."""
    most: int | None = None
    """More trends than that are refused before the first is listed."""
    share: bool = True
    """Whether windows that overlap share what they can; off only to compare."""

    @property
    def counts_first(self) -> bool:
        """Whether the number of trends decides if any is listed."""
        return self.most is not None and (self.limit is None or self.limit > self.most)

    @classmethod
    def read(
        cls,
        *,
        every: bool = False,
        algorithm: str = "auto",
        optimizer: str = "bnb",
        limit: int | None = None,
        after: int | None = None,
        memory_limit: str | int | None = None,
        longest: int | None = None,
        top: int | None = None,
        by: str | None = None,
        sample: int | None = None,
        seed: int = 0,
        attributes: str | Sequence[str] = (),
        max_results: int | None = None,
    ) -> Wanted:
        one_of("algorithm", algorithm, ALGORITHMS)
        one_of("optimizer", optimizer, OPTIMIZERS)
        some = {"longest": longest, "top": top, "sample": sample}
        for name, value in ({"limit": limit, "max_results": max_results} | some).items():
            _check_number(name, value)
        _check_after(after)
        given = [name for name, value in some.items() if value is not None]
        if len(given) > 1:
            raise TrendloomError(
                f"{' and '.join(given)} are different choices of trends.", remedy="Give one."
            )
        if (by is None) != (top is None):
            raise TrendloomError(
                "top=k takes the k trends of the largest sum, by=… says of what.",
                remedy='Give both, as in top=10, by="SUM(S.price)"; longest=10 needs no by.',
            )
        if max_results is not None and given:
            raise TrendloomError(
                f"max_results counts all trends; {given[0]} lists some.",
                remedy="Leave max_results out.",
            )
        if algorithm != "auto" and given:
            raise TrendloomError(
                f"algorithm='{algorithm}' lists all trends.",
                remedy=f"Leave it out: {given[0]} has a way of its own.",
            )
        return cls(
            every, algorithm, optimizer, limit, after, read_limit(memory_limit),
            longest if top is None else top, None if by is None else _summed(by), sample, seed,
            _named(attributes), max_results,
        )  # fmt: skip


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TrendloomError(f"{name} is a number of trends.", remedy=f"As in {name}=1000.")
    if value < 1:
        raise TrendloomError(f"{name}={value} lists nothing.", remedy="Give at least 1.")


def _named(attributes: str | Sequence[str]) -> tuple[str, ...]:
    named = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    if not all(isinstance(name, str) for name in named):
        raise TrendloomError(
            "attributes are names of columns.", remedy='As in attributes=["src", "amount"].'
        )
    for name in named:
        if named.count(name) > 1:
            raise TrendloomError(f"attributes name '{name}' twice.", remedy="Name it once.")
    return named


def _check_after(after: object) -> None:
    if after is None:
        return
    if isinstance(after, bool) or not isinstance(after, int) or after < 0:
        raise TrendloomError(
            f"after={after!r} is not the number of a trend.",
            remedy="Give the last one that you have, from the column trend.",
        )


def _summed(by: str) -> tuple[str, str]:
    """Read by the language itself, so that names are quoted as they are in queries."""
    try:
        items = parse(f"RETURN {by} PATTERN A").returns
    except QueryError:
        items = ()
    match [item.value for item in items]:
        case [Aggregate(function=Function.SUM, distinct=False, argument=Values() as values)]:
            return values.variable, values.attribute
    raise TrendloomError(
        f"Cannot read by='{by}'.",
        remedy='Write a sum over a variable\'s attribute, as in by="SUM(S.price)".',
    )
