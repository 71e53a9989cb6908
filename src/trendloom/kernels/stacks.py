"""Windows that overlap, by two stacks of maps: each event is looked at once, for all of them.

Events are cut into panes, so that every window is a run of panes. Maps compose, but cannot be taken
out again: what is done for a queue of windows is what makes a queue of two stacks.

1. The *front* holds, for each of its panes, the product from that pane to the end of the front.
2. The *back* holds only the product of the panes after it.
3. A window that begins in the front is the front's product there, then the back's: what these make
   of its vector, which is nothing unless the window began before the first pane.
4. Once a window begins behind the front, the panes of the back become the front, last one first.

So a pane is put behind a map once and before a map once, and a window is one vector through two
maps. Cut at the windows' bounds, there are at most two panes per window, and none where no events
are.

Here is only what to do, on a tape: the same for sums (`sum_products`) and keys (`key_products`).
"""

from __future__ import annotations

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints

APPEND = 0
"""pane, is_first: the back's map becomes itself, then the pane's; or the pane's alone."""
PREPEND = 1
"""pane, out, next: map `out` becomes the pane's, then map `next`, if that is not NONE."""
ANSWER = 2
"""run, front, is_back: the run's vector goes through map `front`, if that is not NONE, and then
through the back's, if there is one."""
NONE = -1


@kernel
def schedule(stacks: Ints, lo: Ints, hi: Ints, tape: Ints) -> int:
    """Writes what to do next for runs of panes `lo[r] : hi[r]`; returns how much, 0 at the end.

    Neither `lo` nor `hi` decreases. The front is panes `start : mid`, from map 0 on, the back is
    `mid : end`. `stacks` keeps where it stopped, all 0 at first. The tape, [step, 4], must have
    room for what one run needs: two steps for each of its panes, and one.
    """
    start, mid, end, run = stacks
    n = 0
    while run < lo.shape[0]:
        first, last = lo[run], hi[run]
        need = (end - first if mid <= first < end else 0) + last - max(end, first) + 1
        if n + need > tape.shape[0]:
            break
        run += 1
        if first == last:
            continue
        if first >= end:
            start = mid = end = first
        elif first >= mid:
            for pane in range(end - 1, first - 1, -1):
                tape[n, 0], tape[n, 1], tape[n, 2] = PREPEND, pane, pane - first
                tape[n, 3] = pane - first + 1 if pane + 1 < end else NONE
                n += 1
            start, mid = first, end
        while end < last:
            tape[n, 0], tape[n, 1], tape[n, 2] = APPEND, end, end == mid
            end += 1
            n += 1
        tape[n, 0], tape[n, 1] = ANSWER, run - 1
        tape[n, 2] = first - start if first < mid else NONE
        tape[n, 3] = end > mid
        n += 1
    stacks[0], stacks[1], stacks[2], stacks[3] = start, mid, end, run
    return n
