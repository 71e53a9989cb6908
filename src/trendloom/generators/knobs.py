"""What can be turned on a generator, and the refusal of what cannot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Number = int | float


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of a stream. A whole-numbered default makes it a whole-numbered knob."""

    name: str
    default: Number
    low: Number
    high: Number
    meaning: str

    @property
    def whole(self) -> bool:
        return isinstance(self.default, int)

    @property
    def range(self) -> str:
        return f"{self.low:,} to {self.high:,}"

    def check(self, value: object) -> Number:
        """The value as a number in range. Text is read, so that a command line can pass it on."""
        number = self._read(value)
        if number is None or not self.low <= number <= self.high:
            kind = "a whole number" if self.whole else "a number"
            raise InputError(
                f"{self.name}={value!r} is not {kind} from {self.range}.",
                remedy=f"{self.name}: {self.meaning}; default {self.default}.",
            )
        return number

    def _read(self, value: object) -> Number | None:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
            if not math.isfinite(number):
                return None
            if self.whole:
                # Through int where possible: a float would blur large whole numbers.
                return int(value) if not isinstance(value, float) or number.is_integer() else None
        except (ValueError, OverflowError):
            return None
        return number


def settle(owner: str, knobs: Iterable[Knob], given: Mapping[str, object]) -> dict[str, Number]:
    """The value of every knob: as given, else its default."""
    known = {knob.name: knob for knob in knobs}
    for name in given:
        if name not in known:
            raise InputError(
                f"The stream '{owner}' has no knob '{name}'.", remedy=did_you_mean(name, known)
            )
    return {
        name: knob.check(given[name]) if name in given else knob.default
        for name, knob in known.items()
    }


# ── the knobs that streams have in common ────────────────────────────────────────────────────


def rate(default: float) -> Knob:
    """Events per second."""
    return Knob("rate", default, 0.001, 1e6, "mean number of events per second")


def keys(default: int, what: str) -> Knob:
    """How many groups the events fall into."""
    return Knob("keys", default, 1, 10_000_000, f"number of {what}")


def burst(what: str) -> Knob:
    """How many events come in one go."""
    meaning = f"mean number of events drawn in a row for one {what}; 1: each event on its own"
    return Knob("burst", 1.0, 1.0, 1e6, meaning)


def skew(what: str) -> Knob:
    """How unequal the groups are."""
    meaning = f"Zipf exponent of the {what}: 0 all alike, 1 the first twice the second"
    return Knob("skew", 0.0, 0.0, 5.0, meaning)


def selectivity(predicate: str, group: str) -> Knob:
    """How often the adjacent predicate that comes naturally to the stream holds."""
    meaning = f"share of consecutive events of one {group} with {predicate}"
    return Knob("selectivity", 0.5, 0.01, 0.99, meaning)


TIES = Knob("ties", 0.0, 0.0, 0.99, "share of events at the same time as the event before")
