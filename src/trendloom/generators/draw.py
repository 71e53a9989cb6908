"""How times, groups, runs and walks are drawn: whole columns at a time.

Nothing here loops over events, so ten million of them take seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# A Monday at midnight. Fixed: a stream depends on its seed, never on the day it is drawn.
EPOCH = int(np.datetime64("2024-01-01", "us").astype(np.int64))


def times(rng: np.random.Generator, events: int, rate: float, ties: float) -> Ints:
    """Sorted microseconds, `rate` a second on average, a share `ties` equal to the one before.

    Gaps are geometric, the whole-numbered exponential: never 0, so every tie is a wanted one.
    """
    mean_gap = max(1.0, 1e6 / (rate * (1.0 - ties)))
    gaps = rng.geometric(1.0 / mean_gap, events)
    if ties > 0.0:
        gaps[rng.random(events) < ties] = 0
    if events:
        gaps[0] = 0
    arrivals: Ints = np.cumsum(gaps, dtype=np.int64) + EPOCH
    return arrivals


def weighted(rng: np.random.Generator, size: int, weights: NDArray[np.float64]) -> Ints:
    """`size` draws of 0, 1, …, each in proportion to its weight."""
    reach = np.cumsum(weights)
    draws: Ints = np.searchsorted(reach, rng.random(size) * reach[-1], side="right")
    # The product may round up to the very end, one past the last weight.
    return draws.clip(max=len(weights) - 1)


def zipf(rng: np.random.Generator, size: int, keys: int, skew: float) -> Ints:
    """`size` draws of 0 … keys - 1, the k-th with weight k^-skew."""
    if skew == 0.0:
        return rng.integers(0, keys, size, dtype=np.int64)
    return weighted(rng, size, np.arange(1, keys + 1, dtype=np.float64) ** -skew)


def run_starts(rng: np.random.Generator, events: int, mean: float) -> Flags:
    """True where a new run begins; runs are `mean` events long on average, geometrically."""
    starts = rng.random(events) < 1.0 / mean
    if events:
        starts[0] = True
    return starts


def in_runs(starts: Flags, per_run: Ints) -> Ints:
    """Spreads one value per run over the events of the run."""
    spread: Ints = per_run[np.cumsum(starts) - 1]
    return spread


def by_group(groups: Ints) -> Ints:
    """The order that puts each group together and keeps time inside it."""
    largest = int(groups.max(initial=0))
    # numpy sorts 16-bit numbers by radix, several times faster.
    narrow = groups.astype(np.uint16) if largest < 1 << 16 else groups
    return np.argsort(narrow, kind="stable").astype(np.int64, copy=False)


def group_starts(sorted_groups: Ints) -> Flags:
    """True at the first event of each group, for groups that lie together."""
    starts = np.ones(len(sorted_groups), dtype=np.bool_)
    np.not_equal(sorted_groups[1:], sorted_groups[:-1], out=starts[1:])
    return starts


def ordinal(starts: Flags) -> Ints:
    """0, 1, 2, … from each start on."""
    position = np.arange(len(starts), dtype=np.int64)
    return position - np.maximum.accumulate(np.where(starts, position, 0))


def walk(rng: np.random.Generator, order: Ints, levels: int, step: int, rising: float) -> Ints:
    """Whole numbers below `levels` that rise from one event to the next with share `rising`.

    `order` lays the groups end to end; the walk of a group goes on where the last one ended.

    1. Each step is up (with probability `rising`) or down, never 0: `<` and `<=` agree.
    2. Up and down steps differ in size so that the walk as a whole goes nowhere.
    3. A walk that leaves at one end comes back at the other. That turns a rise into a fall as
       often as a fall into a rise, exactly because of 2, so the share stays what was asked for.
    """
    ratio = rising / (1.0 - rising)
    longest = min(max(step, step * ratio, step / ratio), levels / 4)
    up = max(1, round(longest if ratio <= 1.0 else longest / ratio))
    down = max(1, round(longest if ratio >= 1.0 else longest * ratio))
    rises = rng.random(len(order)) < rising
    steps = np.where(
        rises,
        rng.integers(1, 2 * up, len(order)),
        -rng.integers(1, 2 * down, len(order)),
    )
    values = np.empty(len(order), dtype=np.int64)
    values[order] = (rng.integers(0, levels) + np.cumsum(steps)) % levels
    return values


def labels(codes: Ints, names: Sequence[str]) -> Any:
    """A dictionary-encoded column of names."""
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(names, pa.string())
    )


def numbered(prefix: str, count: int) -> list[str]:
    """`C000`, `C001`, …: as many digits as the last one needs, so that they sort."""
    digits = max(3, len(str(count - 1)))
    return [f"{prefix}{number:0{digits}}" for number in range(count)]


def scaled(units: Ints, per_one: int, low: float = 0.0) -> NDArray[np.float64]:
    """Whole units as decimals: 1234 hundredths are 12.34, to the last bit."""
    return (units + round(low * per_one)) / per_one
