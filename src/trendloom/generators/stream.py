"""What a generated stream consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from trendloom.generators.draw import Ints
    from trendloom.generators.knobs import Knob, Number


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that can be generated: its name, what it shows, and what can be turned on it."""

    name: str
    description: str
    types: tuple[str, ...]
    knobs: tuple[Knob, ...]
    draw: Callable[[np.random.Generator, Ints, Mapping[str, Number]], dict[str, Any]]
