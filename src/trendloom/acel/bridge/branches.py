"""ABS and COALESCE neither grow nor fall, but each of their branches may: terms by branches."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel.demands import attributes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Branch = tuple[tuple[on.Condition, ...], on.Term]

ZERO = on.Literally(0)


def branches(term: on.Term, prefix: str) -> Iterator[Branch]:
    """When the term is which one; what has no attribute of this prefix stays as it is."""
    if not any(name.startswith(prefix) for name in attributes_of(term)):
        yield (), term
        return
    match term:
        case on.Call("ABS", (inner,)):
            for when, one in branches(inner, prefix):
                yield (*when, on.Comparison(">=", one, ZERO)), one
                yield (*when, on.Comparison("<", one, ZERO)), on.Negative(one)
        case on.Call("COALESCE", (first, *others)) if others:
            for when, one in branches(first, prefix):
                yield (*when, on.Not(on.IsNull(one))), one
                for otherwise, other in branches(on.Call("COALESCE", tuple(others)), prefix):
                    yield (*when, on.IsNull(one), *otherwise), other
        case on.Call("COALESCE", (inner,)):
            yield from branches(inner, prefix)
        case on.Negative(inner):
            yield from ((when, on.Negative(one)) for when, one in branches(inner, prefix))
        case on.Arithmetic(operator, left, right):
            for (when, one), (also, other) in product(
                branches(left, prefix), branches(right, prefix)
            ):
                yield (*when, *also), on.Arithmetic(operator, one, other)
        case _:
            yield (), term
