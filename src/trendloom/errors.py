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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the query text, by character offsets, half open."""

    start: int
    end: int


class TrendloomError(Exception):
    """Base of the tree; catches everything that Trendloom refuses."""

    def __init__(self, cause: str, *, remedy: str | None = None, said: Iterable[str] = ()) -> None:
        self.cause = cause
        self.remedy = remedy
        self.said = tuple(said)
        """Lines of another program that tell more of the cause."""
        super().__init__(self.render())

    def render(self) -> str:
        return _lines(self.cause, *self.said, self.remedy)


_LONG_LINE = 300


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
        cause = printable(self.cause)
        parts = [cause]
        if self.place is not None and self.line is not None and self.column is not None:
            line, start = _shown(self.text.split("\n")[self.line - 1].rstrip("\r"), self.column - 1)
            width = max(1, min(self.place.end - self.place.start, len(line) - start))
            # One for one, so that the caret stays under its place.
            line = "".join(char if char.isprintable() or char == "\t" else "�" for char in line)
            blank = "".join("\t" if char == "\t" else " " for char in line[:start])
            parts = [f"{cause} (line {self.line}, column {self.column})"]
            parts += [f"  {line}", "  " + blank.ljust(start) + "^" * width]
        if self.remedy is not None:
            parts.append(printable(self.remedy))
        return "\n".join(parts)


def _shown(line: str, start: int) -> tuple[str, int]:
    """A line and a place in it; of a long line only what is around the place."""
    if len(line) <= _LONG_LINE:
        return line, start
    first = max(0, start - _LONG_LINE // 2)
    cut = line[first : first + _LONG_LINE]
    before = "…" if first else ""
    after = "…" if first + _LONG_LINE < len(line) else ""
    return before + cut + after, start - first + len(before)


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


class CancelledError(TrendloomError):
    """The caller's `cancel` was set: the work was stopped, and its result does not exist."""


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
        told = [f"{printable(name)}: " + str(e).replace("\n", "\n  ") for name, e in errors.items()]
        super().__init__("\n".join([f"{count} {what}", *told]))

    def render(self) -> str:
        return self.cause


class MissingExtraError(TrendloomError):
    """An optional part is not installed."""


class TrendloomWarning(UserWarning):
    """The answer is right, but the input or the query is probably not what was meant."""

    def __init__(
        self, cause: str, *, remedy: str | None = None, queries: Sequence[str] = ()
    ) -> None:
        self.cause = cause
        self.remedy = remedy
        self.queries = tuple(queries)
        """Of a workload: the queries that it is about; (): all of them."""
        about = f"{', '.join(self.queries)}: {cause}" if self.queries else cause
        super().__init__(_lines(about, remedy))


class TieWarning(TrendloomWarning):
    """Events share their time, so that none of them comes before the other."""


class TypeNameWarning(TrendloomWarning):
    """A name in the pattern is probably not the event type that is meant."""


class GapWarning(TrendloomWarning):
    """Windows leave out times, so that no trend has the events of these."""


_collector: ContextVar[list[TrendloomWarning] | None] = ContextVar("collector", default=None)
issue_warning: ContextVar[Callable[[Callable[[], None]], None] | None] = ContextVar(
    "issue_warning", default=None
)
"""How a thread that no caller sees has its warnings issued by one whose line they can name."""
_PACKAGE = str(Path(__file__).parent)


def warn(warning: TrendloomWarning) -> None:
    """Issue a warning at the caller's line, and add it to what the current run collects."""
    collected = _collector.get()
    if collected is not None:
        if any(str(warning) == str(other) for other in collected):
            return
        collected.append(warning)

    def issue() -> None:
        warnings.warn(warning, stacklevel=_frames_to_caller())

    elsewhere = issue_warning.get()
    if elsewhere is None:
        issue()
    else:
        elsewhere(issue)


@contextmanager
def collecting_warnings(
    into: list[TrendloomWarning] | None = None,
) -> Iterator[list[TrendloomWarning]]:
    """The warnings of everything that runs inside, each once; a result shows them.

    Those that `into` has are not issued again. Work that moves to another thread takes the
    collector along with `contextvars.copy_context`.
    """
    collected: list[TrendloomWarning] = [] if into is None else into
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


def printable(text: str) -> str:
    """The text, its characters that move the cursor, hide or reorder others as escapes.

    Names and values come from data, and messages go to terminals, logs and pages.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in text
    )


def _lines(*parts: str | None) -> str:
    return "\n".join(printable(part) for part in parts if part is not None)


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
