"""WITHIN and SLIDE: units by their many spellings, and windows that make sense."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from trendloom.errors import Place, QueryMeaningError, QuerySyntaxError, did_you_mean
from trendloom.language.limits import BeyondLimitError, check_number, check_text
from trendloom.language.nodes import CountWindow, Duration, TimeWindow, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPELLINGS: Mapping[Unit, str] = {
    Unit.NANOSECOND: "ns nanosecond nanoseconds",
    Unit.MICROSECOND: "us µs μs microsecond microseconds",
    Unit.MILLISECOND: "ms msec msecs millisecond milliseconds",
    Unit.SECOND: "s sec secs second seconds",
    Unit.MINUTE: "min mins minute minutes",
    Unit.HOUR: "h hr hrs hour hours",
    Unit.DAY: "d day days",
    Unit.WEEK: "w week weeks",
}
UNITS = {word: unit for unit, words in _SPELLINGS.items() for word in words.split()}
EVENTS = frozenset({"event", "events"})
_CALENDAR = frozenset({"month", "months", "quarter", "quarters", "year", "years", "mon", "y", "yr"})
MOST_TICKS = 2**62
"""Longest window: its bounds are 64-bit integers, and so are the times of events."""
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([^\W\d]\w*)?\s*")
_EXAMPLE = "Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS."


@dataclass(frozen=True, slots=True)
class Amount:
    """`10 minutes` or `100 EVENTS` (then `unit` is None)."""

    number: Fraction
    unit: Unit | None
    place: Place


def amount(number: str, unit: str | None, *, text: str, place: Place, unit_place: Place) -> Amount:
    """The amount that a number and a unit word state."""
    if unit is None:
        raise QuerySyntaxError(
            f"{number} of what? The unit is missing", text=text, place=place, remedy=_EXAMPLE
        )
    word = unit.lower()
    if word == "m":
        raise QuerySyntaxError(
            f"'{unit}' could be minutes or months",
            text=text,
            place=unit_place,
            remedy=f"Write {number} min or {number} minutes. {_NO_MONTHS}",
        )
    if word in _CALENDAR:
        raise QuerySyntaxError(
            f"The unit '{unit}' is not offered", text=text, place=unit_place, remedy=_NO_MONTHS
        )
    if word not in UNITS and word not in EVENTS:
        shown = ("ms", "seconds", "minutes", "hours", "days", "weeks", "EVENTS")
        remedy = did_you_mean(word, [*UNITS, "events"])
        if remedy.startswith("Known"):
            remedy = f"Known: {', '.join(shown)}."
        raise QuerySyntaxError(
            f"There is no unit '{unit}'", text=text, place=unit_place, remedy=remedy
        )
    try:
        check_number(number, place)
    except BeyondLimitError as error:
        raise error.of(text) from None
    return Amount(Fraction(number), UNITS.get(word), place)


def read_amount(text: str) -> Amount:
    """An amount that stands by itself, outside of a query."""
    check_text(text)
    place = Place(0, len(text))
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise QuerySyntaxError(
            "This is not an amount",
            text=text,
            place=place,
            remedy="Write a number and a unit, as in 10 seconds or 100 EVENTS.",
        )
    return amount(found[1], found[2], text=text, place=place, unit_place=place)


def window(
    within: Amount, slide: Amount | None, *, emit: Place | None, text: str, place: Place
) -> TimeWindow | CountWindow:
    """The window of WITHIN and SLIDE, or an error that says why there is none."""

    def meaningless(cause: str, where: Amount, remedy: str | None = None) -> QueryMeaningError:
        return QueryMeaningError(cause, text=text, place=where.place, remedy=remedy)

    if slide is not None and (within.unit is None) != (slide.unit is None):
        raise QuerySyntaxError(
            "WITHIN and SLIDE mix EVENTS with a unit of time",
            text=text,
            place=slide.place,
            remedy="Give both in EVENTS or both in units of time.",
        )
    for clause, part in (("WITHIN", within), ("SLIDE", slide)):
        if part is not None and part.number <= 0:
            raise meaningless(f"{clause} must be more than zero", part, _EXAMPLE)
        if part is not None and part.unit is None and part.number.denominator != 1:
            raise meaningless(f"{clause} must be a whole number of EVENTS", part, _EXAMPLE)
        if part is not None and part.unit is None and part.number > MOST_TICKS:
            raise meaningless(f"{clause} is beyond 2^62 EVENTS", part, "Write a smaller number.")
    if emit is not None and (slide is not None or within.unit is None):
        raise QuerySyntaxError(
            "EMIT ON CHANGE goes with a WITHIN of time that has no SLIDE",
            text=text,
            place=emit,
            remedy="Leave out either SLIDE or EMIT ON CHANGE.",
        )
    if within.unit is None:
        if slide is None:
            raise QuerySyntaxError(
                "WITHIN … EVENTS needs a SLIDE",
                text=text,
                place=place,
                remedy=f"Write WITHIN {within.number} EVENTS SLIDE {within.number} EVENTS, "
                "or a smaller SLIDE for windows that overlap.",
            )
        return CountWindow(int(within.number), int(slide.number), place)
    span = Duration(within.number, within.unit, within.place)
    if slide is None or slide.unit is None:
        return TimeWindow(span, None, place)
    return TimeWindow(span, Duration(slide.number, slide.unit, slide.place), place)


def ticks(duration: Duration, nanoseconds: int, text: str) -> int:
    """The duration in ticks of a time column, `nanoseconds` each."""
    found = duration.nanoseconds / Fraction(nanoseconds)
    if found.denominator != 1:
        raise QueryMeaningError(
            "The window is not a whole number of ticks of the time column.",
            text=text,
            place=duration.place,
            remedy=f"One tick is {_human(nanoseconds)}; use a multiple, or name another tick.",
        )
    if found > MOST_TICKS:
        raise QueryMeaningError(
            "The window is longer than 2^62 ticks of the time column.",
            text=text,
            place=duration.place,
            remedy=f"One tick is {_human(nanoseconds)}; write a shorter window, or none at all.",
        )
    return int(found)


def _human(nanoseconds: int) -> str:
    for size, unit in ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")):
        if nanoseconds % size == 0:
            return f"{nanoseconds // size} {unit}"
    return f"{nanoseconds} ns"


_NO_MONTHS = "Months and years differ in length; write days or weeks, as in 30 days."
