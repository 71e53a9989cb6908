"""A group of members as the kernels' arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.inputs import EVERY_VARIABLE, doubles, feeding_variables
from trendloom.engine.lanes import Sum
from trendloom.engine.layout import Numbers, lay_out
from trendloom.engine.program import grouped, ints
from trendloom.kernels.burst_net import LISTS, Net

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.inputs import Centre
    from trendloom.engine.lanes import Extremum
    from trendloom.workloads.hamlet.joint import Joint
    from trendloom.workloads.hamlet.member import Member


@dataclass(frozen=True)
class Wiring:
    """The net of some members, and what feeds its lanes."""

    net: Net
    lanes: tuple[tuple[Sum, ...], ...]
    """Per member, without the count of trends; operands as in its own scan."""
    extremes: tuple[tuple[Extremum, ...], ...]
    feeds: tuple[Sum, ...]
    """Rows of inputs, over the joint scan."""
    types: tuple[str, ...]
    type_of_bit: NDArray[np.int64]

    @property
    def letters(self) -> np.uint64:
        """Bits of the members' letters."""
        return np.uint64(
            np.bitwise_or.reduce(np.uint64(1) << self.net.letter_bit.astype(np.uint64))
        )

    def inputs(self, chunk: Chunk, centres: dict[int, Centre]) -> NDArray[np.float64]:
        """[feed, event]; 0 for nulls. Centres are by operand of the joint scan."""
        rows = np.zeros((len(self.feeds), len(chunk)))
        for row, feed in zip(rows, self.feeds, strict=True):
            row[:] = doubles(chunk, feed, centres)
        return rows


def wire(
    members: Sequence[Member], numbers: Sequence[int], joint: Joint, types: Sequence[pa.DataType]
) -> Wiring:
    """`numbers` are the members' places in the joint scan, `types` those of its operands."""
    names = tuple(dict.fromkeys(letter.type for letter in joint.scan.letters))
    lanes: list[tuple[Sum, ...]] = []
    extremes: list[tuple[Extremum, ...]] = []
    feeds: dict[Sum, int] = {}
    letters: list[int] = []
    steps: list[list[tuple[int, ...]]] = []
    sources: list[list[tuple[int, ...]]] = []
    clears: list[list[tuple[int, ...]]] = []
    rows: list[list[int]] = []
    intakes: list[list[list[int]]] = []
    intake = np.full((len(members), len(names)), -1, np.int64)
    users: list[list[tuple[int, ...]]] = [[] for _ in names]
    type_feeds: list[dict[int, None]] = [{} for _ in names]
    for query, (member, number) in enumerate(zip(members, numbers, strict=True)):
        layout = lay_out(member.plan, joint.own_types(number, types), Numbers.AUTO, member.part)
        assert layout.scaled is not None, "exponential counts are doubles"
        lanes.append(layout.scaled)
        extremes.append(layout.extremes)
        variables = member.part.automaton.variables
        feeding = feeding_variables(variables, layout.scaled)
        first = len(letters)
        for letter in range(member.letters):
            bit = joint.letters[number][member.part.bits[letter][0]]
            name = names.index(joint.scan.letters[bit].type)
            letters.append(bit)
            steps.append([(s.target, int(s.begins)) for s in member.steps[letter]])
            sources += [[(cell,) for cell in s.sources] for s in member.steps[letter]]
            clears.append([(cell,) for cell in member.folding.clears[letter]])
            row = [-1]
            for lane, variable in zip(layout.scaled, feeding[1:], strict=True):
                fed = variable in (EVERY_VARIABLE, letter) and letter < len(variables)
                operand = None if lane.operand is None else joint.operands[number][lane.operand]
                feed = Sum(None, operand, lane.power, lane.centred)
                row.append(feeds.setdefault(feed, len(feeds)) if fed else -1)
            rows.append(row)
            if (query,) not in users[name]:
                users[name].append((query,))
        for word, one in member.intakes.items():
            name, letter = names.index(word), first + one.letter
            intake[query, name] = len(intakes)
            own = member.steps[one.letter]
            head = [letters[letter], int(one.own is not None), int(own[0].begins)]
            sources_ = [c for c in own[0].sources if one.adjacent is None or c != one.own]
            head += [len(sources_), len(own)]
            intakes.append([head, sources_, [s.target for s in own], rows[letter]])
            type_feeds[name].update(dict.fromkeys(row for row in rows[letter] if row >= 0))
    width = max(len(one) + 1 for one in lanes)
    fed_by = np.array([_padded(row, width) for row in rows], np.int64)
    room = max((len(cells) for row in intakes for cells in row[1:3]), default=0)
    step_start, target, begins = grouped(steps, 2)
    source_start, source = grouped(sources, 1)
    clear_start, clear = grouped(clears, 1)
    accept_start, accept = grouped([[(c,) for c in m.folding.accepts] for m in members], 1)
    use_start, use = grouped(users, 1)
    feed_start, feed_row = grouped([[(row,) for row in rows_] for rows_ in type_feeds], 1)
    net = Net(
        width=ints(len(one) + 1 for one in lanes),
        cells=ints(member.folding.cells for member in members),
        letter_start=np.cumsum([0] + [m.letters for m in members]).astype(np.int64),
        letter_bit=ints(letters),
        step_start=step_start,
        target=target,
        begins=begins,
        source_start=source_start,
        source=source,
        clear_start=clear_start,
        clear=clear,
        feed=fed_by,
        intake=intake,
        intakes=np.array(
            [
                [*head, *_padded(sources, room), *_padded(targets, room), *_padded(fed, width)]
                for head, sources, targets, fed in intakes
            ],
            np.int64,
        ).reshape(len(intakes), LISTS + 2 * room + width),
        room=room,
        accept_start=accept_start,
        accept=accept,
        use_start=use_start,
        use=use,
        type_feed_start=feed_start,
        type_feed=feed_row,
    )
    type_of_bit = ints(names.index(letter.type) for letter in joint.scan.letters)
    return Wiring(net, tuple(lanes), tuple(extremes), tuple(feeds), names, type_of_bit)


def _padded(numbers: list[int], size: int) -> list[int]:
    return numbers + [-1] * (size - len(numbers))
