"""What is done to one cell of all three semirings at once: sums, checked sums and extremes."""

from __future__ import annotations

from trendloom.kernels.checked import Checked, plus_checked, times_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.scaled import Scaled, plus, times


@kernel
def clear(cell: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    for lane in range(scaled.m.shape[1]):
        scaled.m[cell, lane] = 0.0
        scaled.e[cell, lane] = 0
    for lane in range(checked.v.shape[1]):
        checked.v[cell, lane] = 0
    for lane in range(extreme.k.shape[1]):
        extreme.k[cell, lane] = ABSENT


@kernel
def begin(cell: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    """Adds the empty trend."""
    if scaled.m.shape[1] > 0:
        scaled.m[cell, 0], scaled.e[cell, 0] = plus(scaled.m[cell, 0], scaled.e[cell, 0], 1.0, 0)
    if checked.v.shape[1] > 0:
        checked.v[cell, 0] = plus_checked(checked.v[cell, 0], 1, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        if extreme.step[lane] != 0:
            extreme.k[cell, lane] = min(extreme.k[cell, lane], 0)


@kernel
def add(cell: int, other: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    for lane in range(scaled.m.shape[1]):
        scaled.m[cell, lane], scaled.e[cell, lane] = plus(
            scaled.m[cell, lane], scaled.e[cell, lane],
            scaled.m[other, lane], scaled.e[other, lane],
        )  # fmt: skip
    for lane in range(checked.v.shape[1]):
        checked.v[cell, lane] = plus_checked(
            checked.v[cell, lane], checked.v[other, lane], checked.overflow
        )
    for lane in range(extreme.k.shape[1]):
        extreme.k[cell, lane] = min(extreme.k[cell, lane], extreme.k[other, lane])


@kernel
def take(
    cell: int, variable: int, event: int, scaled: Scaled, checked: Checked, extreme: Extreme
) -> bool:
    """All trends of the cell take the event; false if there are none."""
    found = False
    if scaled.m.shape[1] > 0:
        count_m, count_e = scaled.m[cell, 0], scaled.e[cell, 0]
        found = count_m != 0.0
        for lane in range(1, scaled.m.shape[1]):
            if scaled.var[lane] == variable or scaled.var[lane] == -1:
                x = scaled.x[lane, event]
                if x != 0.0:
                    m, e = times(x, count_m, count_e)
                    scaled.m[cell, lane], scaled.e[cell, lane] = plus(
                        scaled.m[cell, lane], scaled.e[cell, lane], m, e
                    )
    if checked.v.shape[1] > 0:
        count = checked.v[cell, 0]
        found = found or count != 0
        for lane in range(1, checked.v.shape[1]):
            if checked.var[lane] == variable or checked.var[lane] == -1:
                more = times_checked(checked.x[lane, event], count, checked.overflow)
                checked.v[cell, lane] = plus_checked(checked.v[cell, lane], more, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        if extreme.step[lane] != 0:
            if extreme.k[cell, lane] != ABSENT:
                extreme.k[cell, lane] += extreme.step[lane]
        elif extreme.var[lane] == variable and found:
            extreme.k[cell, lane] = min(extreme.k[cell, lane], extreme.key[lane, event])
    return found


@kernel
def holds(cell: int, scaled: Scaled, checked: Checked) -> bool:
    """Whether there is any trend in the cell."""
    if scaled.m.shape[1] > 0 and scaled.m[cell, 0] != 0.0:
        return True
    return checked.v.shape[1] > 0 and checked.v[cell, 0] != 0
