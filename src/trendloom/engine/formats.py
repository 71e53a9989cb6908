"""What every kind of bytes must hold: the one place where the shape of their facts is written down.

A shape is a type, a `Between`, an `Option`, an `Each`, a tuple (a list of exactly these) or a
dictionary (a mapping with these names, and perhaps with others).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Between:
    """A number of a range, both ends included."""

    kind: type[int] | type[float]
    least: float
    most: float


@dataclass(frozen=True)
class Option:
    """Something of the shape, or null."""

    of: Shape


@dataclass(frozen=True)
class Each:
    """A list, or a mapping from text, of any length."""

    kind: type[list[Any]] | type[dict[str, Any]]
    of: Shape


Shape: TypeAlias = (
    "type[object] | Between | Option | Each | tuple[Shape, ...] | Mapping[str, Shape]"
)

TICKS = Between(int, -(1 << 63), (1 << 63) - 1)
COUNT = Between(int, 0, (1 << 63) - 1)
_LARGEST = math.ldexp(1.0, 1023)
_CENTRE = (Between(float, -_LARGEST, _LARGEST), Between(float, math.ldexp(1.0, -1022), _LARGEST))
"""A middle and a scale, which something is divided by."""


@dataclass(frozen=True)
class Format:
    """Of one kind of bytes."""

    facts: Mapping[str, Shape]
    tables: tuple[str, ...] = ()
    """Those that must be there."""
    name: str = ""
    version: int = 0
    """Of facts and tables; grows when an older reader could misread them. 0: has none."""


_ROWS = Format({}, ("rows",))
FORMATS: Mapping[str, Format] = {
    "live": Format(
        {
            "format": COUNT,
            "query": str,
            "types": Each(dict, str),
            "numbers": str,
            "nanoseconds": COUNT,
            "mode": str,
            "keeps": str,
            "shape": COUNT,
            "watermark": Option(TICKS),
            "events": COUNT,
            "late": COUNT,
            "rows": COUNT,
            "centres": Each(list, Each(dict, _CENTRE)),
        },
        name="live state",
        version=1,
    ),
    "live workload": Format(
        {
            "format": COUNT,
            "queries": Each(dict, str),
            "terms": Each(dict, object),
            "stated": bool,
            "owed": (COUNT, COUNT),
            "watermark": Option(TICKS),
            "greatest": Option(TICKS),
            "late_events": COUNT,
        },
        ("columns", "states"),
        name="live workload",
        version=1,
    ),
    "guard": Format({"queries": Each(list, str)}),
    "events": _ROWS,
    "maps": _ROWS,
    "share": _ROWS,
    "rows": _ROWS,
}
HEADER: Mapping[str, Shape] = {"kind": str, "facts": {}, "tables": Each(dict, COUNT)}


def misfit(value: object, shape: Shape, name: str) -> str | None:
    """What is wrong with a value that should have this shape; None if nothing is."""
    match shape:
        case Option(of=inner):
            return None if value is None else misfit(value, inner, name)
        case Between():
            # A boolean is an integer to Python.
            fits = isinstance(value, int | shape.kind) and not isinstance(value, bool)
            if not (fits and shape.least <= value <= shape.most):  # type: ignore[operator]
                return f"'{name}' is {_shown(value)}"
            return None
        case Each(kind=kind, of=inner):
            if not isinstance(value, kind):
                return f"'{name}' is {_shown(value)}"
            inside = value.values() if isinstance(value, dict) else value
            return next(filter(None, (misfit(one, inner, name) for one in inside)), None)
        case tuple():
            if not isinstance(value, list) or len(value) != len(shape):
                return f"'{name}' is {_shown(value)}"
            pairs = zip(value, shape, strict=True)
            return next(filter(None, (misfit(one, inner, name) for one, inner in pairs)), None)
        case Mapping():
            if not isinstance(value, dict):
                return f"'{name}' is {_shown(value)}"
            missing = next((f"there is no '{key}'" for key in shape if key not in value), None)
            return missing or next(
                filter(None, (misfit(value[key], inner, key) for key, inner in shape.items())), None
            )
        case kind:
            return None if isinstance(value, kind) else f"'{name}' is {_shown(value)}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"
