"""Events in the orders that a host can find them in."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = list[dict[str, Any]]
SIMPLE = ("none", "time", "change")
"""Windows whose events are the same in any order; windows of events count ties as they come."""


def _moment(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["time"], row.get("rank", 0)


def _with_keys(row: dict[str, Any]) -> tuple[Any, ...]:
    values = (v for name, v in row.items() if name not in ("time", "type", "rank"))
    return (*((v is None, v) for v in values), *_moment(row))


def _nearly(rows: Rows) -> Rows:
    """The first of them last: disorder is found when all others have been worked on."""
    rows = sorted(rows, key=_moment)
    return rows[1:] + rows[:1]


ARRANGED: dict[str, Callable[[Rows], Rows]] = {
    "by time": lambda rows: sorted(rows, key=_moment),
    "by keys": lambda rows: sorted(rows, key=_with_keys),
    "nearly": _nearly,
    "shuffled": lambda rows: random.Random(7).sample(rows, len(rows)),
}
