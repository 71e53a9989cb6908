"""A query answered by the engine and by the oracle, under one signature."""

from collections.abc import Callable
from typing import Any

import pytest

from trendloom.api import run
from trendloom.testing import naive, stream

Rows = list[dict[str, Any]]
Answer = Callable[[str, str | Rows], Rows]


def by_engine(query: str, events: str | Rows) -> Rows:
    rows = stream(events) if isinstance(events, str) else events
    return run(query, rows, time="time").rows()


def by_oracle(query: str, events: str | Rows) -> Rows:
    return naive(query, events)


both = pytest.mark.parametrize("answer", [by_engine, by_oracle], ids=["engine", "oracle"])


def count(answer: Answer, query: str, events: str | Rows) -> int:
    """COUNT(*) of a query without windows and groups; 0 where there is no row."""
    rows = answer(f"RETURN COUNT(*) {query}", events)
    assert len(rows) <= 1
    return rows[0]["COUNT(*)"] if rows else 0


def running_counts(answer: Answer, query: str, events: str) -> dict[str, int]:
    """COUNT(*) after each event of the stream, by the event's word without attributes."""
    words = events.split()
    return {
        word.partition(":")[0]: count(answer, query, " ".join(words[: n + 1]))
        for n, word in enumerate(words)
    }


def change(answer: Answer, query: str, before: str, event: str) -> int:
    """How many trends one more event adds: those that end at it."""
    return count(answer, query, f"{before} {event}") - count(answer, query, before)


def many(type: str, number: int, first: int = 0, **attributes: Any) -> Rows:  # noqa: A002
    """Events of one type, one per time point; an attribute is a function of the number."""
    return [
        {"type": type, "time": first + i} | {name: of(i) for name, of in attributes.items()}
        for i in range(number)
    ]
