"""Formulas that nest deeper than Python's stack are refused, wherever one walks through them."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Made = TypeVar("Made")


def bounded(walk: Callable[Given, Made]) -> Callable[Given, Made]:
    """The function, with an error in the place of Python's."""

    @wraps(walk)
    def bounded_walk(*args: Given.args, **named: Given.kwargs) -> Made:
        try:
            return walk(*args, **named)
        except RecursionError:
            raise LimitError(
                "The formula nests too deeply.", remedy="Use fewer operators inside each other."
            ) from None

    return bounded_walk
