"""Every error and warning that Trendloom raises on purpose: the place, the cause, the remedy.

Anything else that escapes is a bug. The message is the whole story, so that a notebook, a log
line and the command line show the same text.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the query text, by character offsets, half open."""

    start: int
    end: int


class TrendloomError(Exception):
    """Base of the tree; catches everything that Trendloom refuses."""

    def __init__(self, cause: str, *, remedy: str | None = None) -> None:
        self.cause = cause
        self.remedy = remedy
        super().__init__(self.render())

    def render(self) -> str:
        return self.cause if self.remedy is None else f"{self.cause}\n{self.remedy}"


class QueryError(TrendloomError):
    """The query text is wrong; shows the line with a caret under the place."""

    def __init__(
        self, cause: str, *, text: str, place: Place | None = None, remedy: str | None = None
    ) -> None:
        self.text = text
        self.place = place
        super().__init__(cause, remedy=remedy)

    @property
    def line(self) -> int | None:
        """1-based line of the place."""
        return None if self.place is None else self.text.count("\n", 0, self.place.start) + 1

    @property
    def column(self) -> int | None:
        """1-based column of the place."""
        if self.place is None:
            return None
        return self.place.start - (self.text.rfind("\n", 0, self.place.start) + 1) + 1

    def render(self) -> str:
        parts = [self.cause]
        if self.place is not None and self.line is not None and self.column is not None:
            line = self.text.split("\n")[self.line - 1]
            width = max(1, min(self.place.end - self.place.start, len(line) - self.column + 1))
            parts = [f"{self.cause} (line {self.line}, column {self.column})"]
            parts += [f"  {line}", "  " + " " * (self.column - 1) + "^" * width]
        if self.remedy is not None:
            parts.append(self.remedy)
        return "\n".join(parts)


class QuerySyntaxError(QueryError):
    """The text does not parse."""


class QueryMeaningError(QueryError):
    """The text parses, but says something that has no meaning or is not supported."""


class InputError(TrendloomError):
    """The events are not what the query needs: columns, types, nulls, files."""


class NumberError(TrendloomError):
    """A result does not fit the number type that was asked for."""


class LimitError(TrendloomError):
    """A stated limit would be passed; nothing was computed."""


class StateError(TrendloomError):
    """Saved state cannot be read, or belongs to another query."""


class OutputError(TrendloomError):
    """Results could not be written where asked."""


class WorkloadError(TrendloomError):
    """Some queries of a workload are wrong, or failed: each is named, with its own error."""

    def __init__(self, errors: Mapping[str, TrendloomError], of: int, *, ran: bool = False) -> None:
        self.errors = dict(errors)
        """Query (or file) → what is wrong with it."""
        count = f"{len(errors)} of {of} {'query' if of == 1 else 'queries'}"
        verb = "is" if len(errors) == 1 else "are"
        what = "failed." if ran else f"{verb} wrong; nothing was run."
        told = [f"{name}: " + str(e).replace("\n", "\n  ") for name, e in errors.items()]
        super().__init__("\n".join([f"{count} {what}", *told]))


class MissingExtraError(TrendloomError):
    """An optional part is not installed."""


class TrendloomWarning(UserWarning):
    """The answer is right, but the input or the query is probably not what was meant."""

    def __init__(self, cause: str, *, remedy: str | None = None) -> None:
        self.cause = cause
        self.remedy = remedy
        super().__init__(cause if remedy is None else f"{cause}\n{remedy}")


_collector: ContextVar[list[TrendloomWarning] | None] = ContextVar("collector", default=None)
_PACKAGE = str(Path(__file__).parent)


def warn(warning: TrendloomWarning) -> None:
    """Issue a warning at the caller's line, and add it to what the current run collects."""
    collected = _collector.get()
    if collected is not None:
        if any(str(warning) == str(other) for other in collected):
            return
        collected.append(warning)
    warnings.warn(warning, stacklevel=_frames_to_caller())


@contextmanager
def collecting_warnings() -> Iterator[list[TrendloomWarning]]:
    """The warnings of everything that runs inside, each once; a result shows them."""
    collected: list[TrendloomWarning] = []
    token = _collector.set(collected)
    try:
        yield collected
    finally:
        _collector.reset(token)


def _frames_to_caller() -> int:
    """How many frames above `warn` the first one outside of this package is."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?`, else the list of what exists, as a remedy."""
    candidates = sorted(set(known))
    folded = {candidate.lower(): candidate for candidate in candidates}
    near = get_close_matches(word.lower(), list(folded), n=2, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(f"'{folded[match]}'" for match in near) + "?"
    if not candidates:
        return "There are none to choose from."
    shown = ", ".join(candidates[:12]) + (", …" if len(candidates) > 12 else "")
    return f"Known: {shown}."


def one_of(option: str, value: str, known: Iterable[str]) -> None:
    """Refuses a word that an option does not know."""
    words = tuple(known)
    if value not in words:
        raise TrendloomError(f"Unknown {option} '{value}'.", remedy=did_you_mean(value, words))
